"""Every image encoder that runs here: unit rows, stable bits, its own preprocessing, clear errors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from indexers.imagenet import ENGLISH, VECTORS, class_texts
from indexers.preprocess import read_preprocessing
from indexers.registry import open_image_encoder, open_text_encoder, open_text_tower
from indexers.settings import EncoderSettings
from indexers.tensors import Tensors
from indexers.testing import ImageEncoderContract, probe_images
from rag.errors import ExtraMissing, WeightsInvalid
from tests.fakes.tiny_models import save_clip, save_siglip

# Loads PyTorch.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

SETTINGS = EncoderSettings()
BATCH = 8
SIZES = [(64, 113), (114, 64), (224, 398), (48, 60), (30, 200)]


class TestBundled(ImageEncoderContract):
    """The suite that other packages run."""

    encoder = "bundled"


class TestDefault(ImageEncoderContract):
    """With its real weights."""

    encoder = "efficientnet-lite2"

    def test_photographs_are_found_in_two_languages_and_named(self) -> None:
        from PIL import Image
        from skimage import data

        shown = {
            "Egyptian cat": (data.chelsea(), "a cat", "eine Katze"),
            "espresso": (data.coffee(), "a cup of coffee", "eine Tasse Kaffee"),
            "moped": (data.stereo_motorcycle()[0], "a motorcycle", "ein Motorrad"),
        }
        images = [np.asarray(Image.fromarray(image).resize((398, 224))) for image, *_ in shown.values()]
        rows = self._open().encode_images(np.stack(images))
        tower = open_text_tower(self.encoder, self.settings)
        for place, (name, (_, *texts)) in enumerate(shown.items()):
            assert (tower.encode_text(texts) @ rows.T).argmax(axis=1).tolist() == [place, place]
            assert name in tower.looks_like(rows[[place]])


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("image")
    return {"clip": save_clip(root / "clip"), "siglip": save_siglip(root / "siglip")}


@pytest.fixture(scope="module")
def name(folder: Path) -> str:
    return f"hf:{folder}"


@pytest.fixture(scope="module", params=["clip", "siglip"])
def folder(request, folders: dict[str, Path]) -> Path:
    return folders[request.param]


@pytest.fixture(scope="module")
def images() -> NDArray[np.uint8]:
    return probe_images(21, 64, 114)


class TestFolders(ImageEncoderContract):
    """Those of transformers."""

    @pytest.fixture(autouse=True)
    def _named(self, name: str) -> None:
        self.encoder = name


def test_images_of_another_kind_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="uint8"):
        open_image_encoder(name, SETTINGS).encode_images(np.zeros((1, 64, 64, 3), np.float32))


@pytest.mark.parametrize("size", SIZES)
def test_preprocessing_equals_the_models_own(folder: Path, size: tuple[int, int]) -> None:
    """Largest difference 2e-6 of values within +-2.7."""
    from transformers import AutoImageProcessor

    images = np.random.default_rng(0).integers(0, 256, (3, *size, 3), dtype=np.uint8)
    processor = AutoImageProcessor.from_pretrained(folder, backend="pil")
    expected = processor(list(images), return_tensors="np", input_data_format="channels_last").pixel_values
    np.testing.assert_allclose(read_preprocessing(folder)(images), expected, atol=2e-6)


def _reference(folder: Path, images: NDArray[np.uint8]) -> NDArray[Any]:
    import torch
    from transformers import AutoImageProcessor, AutoModel

    processor = AutoImageProcessor.from_pretrained(folder, backend="pil")
    pixels = processor(list(images), return_tensors="pt", input_data_format="channels_last").pixel_values
    with torch.inference_mode():
        rows = AutoModel.from_pretrained(folder).eval().get_image_features(pixels).pooler_output
    return np.asarray(torch.nn.functional.normalize(rows, dim=-1))


def test_vectors_equal_the_whole_models(folder: Path, images: NDArray[np.uint8]) -> None:
    rows = open_image_encoder(f"hf:{folder}", SETTINGS, batch=BATCH).encode_images(images)
    expected = _reference(folder, images)
    np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_fingerprints_differ(tmp_path, folders: dict[str, Path]) -> None:
    same, other = save_clip(tmp_path / "same"), save_clip(tmp_path / "other", seed=1)
    cropped = save_clip(tmp_path / "cropped")
    config = cropped / "preprocessor_config.json"
    written = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps({**written, "image_mean": [0.5, 0.5, 0.5]}), encoding="utf-8")

    def fingerprint(folder: Path, **shape: Any) -> str:
        return open_image_encoder(f"hf:{folder}", SETTINGS, **shape).fingerprint

    assert fingerprint(same) == fingerprint(folders["clip"])
    distinct = [
        fingerprint(same),
        fingerprint(same, batch=8),
        fingerprint(other),
        fingerprint(cropped),
        fingerprint(folders["siglip"]),
    ]
    assert len(set(distinct)) == len(distinct)


@pytest.mark.parametrize("fault", ["another architecture", "weights of another model", "cut off"])
def test_a_folder_that_is_not_a_whole_model_is_refused(
    fault: str, tmp_path, folders: dict[str, Path]
) -> None:
    folder = save_clip(tmp_path / "model")
    config, weights = folder / "config.json", folder / "model.safetensors"
    if fault == "another architecture":
        held = json.loads(config.read_text(encoding="utf-8"))
        config.write_text(json.dumps({**held, "model_type": "bert"}), encoding="utf-8")
    elif fault == "cut off":
        weights.write_bytes(weights.read_bytes()[:-1000])
    else:
        weights.write_bytes((folders["siglip"] / "model.safetensors").read_bytes())
    for opener in (open_image_encoder, open_text_tower):
        with pytest.raises(WeightsInvalid):
            opener(f"hf:{folder}", SETTINGS)


def test_extras_that_are_not_installed_are_named(tmp_path, monkeypatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    (tmp_path / "open_clip_config.json").write_text('{"model_cfg": {"embed_dim": 4}}', encoding="utf-8")
    save_file({"a": np.zeros(1)}, tmp_path / "open_clip_model.safetensors")
    (tmp_path / "weights.pth").touch()
    for missing, extra in (
        (f"openclip:local-dir:{tmp_path}", "openclip"),
        (f"imagebind:{tmp_path / 'weights.pth'}", "imagebind"),
    ):
        for opener in (open_image_encoder, open_text_tower):
            with pytest.raises(ExtraMissing, match=extra):
                opener(missing, SETTINGS)


@pytest.mark.parametrize("text", [ENGLISH, SETTINGS.text])
def test_the_class_vectors_that_are_shipped_are_those_of_the_encoder(text: str) -> None:
    shipped = Tensors((VECTORS,)).read(text)[:-1]
    chosen = np.arange(0, len(shipped), 50)
    texts = class_texts(text)
    assert len(texts) == len(shipped) == 1000
    made = open_text_encoder(text, SETTINGS).encode_text([texts[at] for at in chosen])
    # The products in 8 bits are not those of every processor.
    assert (made * shipped[chosen]).sum(axis=1) == pytest.approx(1, abs=0.03)
