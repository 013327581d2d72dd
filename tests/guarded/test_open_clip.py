"""open_clip models of a local folder: the contract of every image encoder, and open_clip's own values."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from indexers.devices import BACKENDS, has_device
from indexers.protocol import ImageEncoder
from indexers.registry import open_image_encoder, open_text_tower
from indexers.settings import EncoderSettings
from indexers.testing import ImageEncoderContract, probe_images
from indexers.torch_backend import guard_torchvision
from rag.errors import WeightsInvalid

SETTINGS = EncoderSettings()
TEXTS = ["a man is eating food", "", "drill " * 200, "Ünïcode 😀"]
SIZES = [(64, 114), (64, 113), (113, 64), (224, 398), (48, 60)]
MODEL: dict[str, Any] = {
    "embed_dim": 24,
    "quick_gelu": True,
    "vision_cfg": {"image_size": 64, "layers": 2, "width": 64, "head_width": 16, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 4, "layers": 2},
}


def save_open_clip(folder: Path, *, resize_mode: str = "shortest") -> Path:
    guard_torchvision()
    import open_clip
    import torch
    from safetensors.torch import save_file

    folder.mkdir()
    config = {"model_cfg": MODEL, "preprocess_cfg": {"size": 64, "resize_mode": resize_mode}}
    (folder / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")
    torch.manual_seed(0)
    model = open_clip.create_model(f"local-dir:{folder}", load_weights=False, pretrained_text=False)
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return folder


@pytest.fixture(scope="module", params=["shortest", "squash"])
def folder(request, tmp_path_factory) -> Path:
    return save_open_clip(tmp_path_factory.mktemp("open_clip") / request.param, resize_mode=request.param)


@pytest.fixture(scope="module", params=[name for device, name in BACKENDS.items() if has_device(device)])
def encoder(request, folder: Path) -> ImageEncoder:
    return open_image_encoder(f"openclip:local-dir:{folder}", SETTINGS, backend=request.param, batch=8)


def _own(folder: Path) -> tuple[Any, Any, Any]:
    import open_clip

    model, _, transform = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    return model.eval(), transform, open_clip.get_tokenizer(f"local-dir:{folder}")


class TestOpenClip(ImageEncoderContract):
    """The suite that every image encoder passes."""

    @pytest.fixture(autouse=True)
    def _named(self, encoder: ImageEncoder) -> None:
        self.encoder = encoder.name


def test_it_keeps_the_vectors(encoder: ImageEncoder, folder: Path) -> None:
    images = probe_images(8)
    plain = open_image_encoder(f"openclip:local-dir:{folder}", SETTINGS, batch=8)
    assert (encoder.encode_images(images) * plain.encode_images(images)).sum(axis=1).min() > 0.999


@pytest.mark.parametrize("size", SIZES)
def test_images_equal_open_clips_own(folder: Path, size: tuple[int, int]) -> None:
    import torch
    from PIL import Image

    model, transform, _ = _own(folder)
    images: NDArray[np.uint8] = np.random.default_rng(0).integers(0, 256, (3, *size, 3), dtype=np.uint8)
    pixels = torch.stack([transform(Image.fromarray(image)) for image in images])
    encoder: Any = open_image_encoder(f"openclip:local-dir:{folder}", SETTINGS, batch=8)
    np.testing.assert_allclose(encoder.preprocessing(images), pixels.numpy(), atol=2e-6)
    with torch.inference_mode():
        expected = model.encode_image(pixels, normalize=True).numpy()
    np.testing.assert_allclose(encoder.encode_images(images), expected, atol=1e-5)


def test_texts_equal_open_clips_own(folder: Path) -> None:
    import torch

    model, _, tokenizer = _own(folder)
    with torch.inference_mode():
        expected = model.encode_text(tokenizer(TEXTS), normalize=True).numpy()
    tower = open_text_tower(f"openclip:local-dir:{folder}", SETTINGS)
    rows = tower.encode_text(TEXTS)
    np.testing.assert_allclose(rows, expected, atol=1e-5)
    assert np.array_equal(tower.encode_text(TEXTS[:1])[0], rows[0])


def test_weights_that_do_not_fit_are_refused(tmp_path) -> None:
    folder = save_open_clip(tmp_path / "other")
    config = json.loads((folder / "open_clip_config.json").read_text(encoding="utf-8"))
    config["model_cfg"]["vision_cfg"]["layers"] = 3
    (folder / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(WeightsInvalid, match="open_clip cannot read it"):
        open_image_encoder(f"openclip:local-dir:{folder}", SETTINGS)


def test_a_text_tower_from_the_hub_is_refused(tmp_path) -> None:
    folder = save_open_clip(tmp_path / "hub")
    config = json.loads((folder / "open_clip_config.json").read_text(encoding="utf-8"))
    config["model_cfg"]["text_cfg"]["hf_model_name"] = "some/model"
    (folder / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(WeightsInvalid, match="hub"):
        open_text_tower(f"openclip:local-dir:{folder}", SETTINGS)
