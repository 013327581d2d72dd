"""ImageBind with a few blocks of random weights: our preprocessing in front of its own model."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Frames
from indexers import imagebind
from indexers.devices import BACKENDS, has_device
from indexers.imagebind import IMAGES, ImageBindEncoder, ImageBindText, import_models
from indexers.registry import open_image_encoder
from indexers.settings import EncoderSettings
from indexers.testing import probe_images
from rag._cli.main import main
from rag.errors import WeightsInvalid
from rag.library import Library
from tests.fakes.published_layouts import render_videos, write_video_detective

SIZES = {
    "vision_embed_dim": 64,
    "vision_num_blocks": 2,
    "vision_num_heads": 4,
    "text_embed_dim": 64,
    "text_num_blocks": 2,
    "text_num_heads": 4,
    "audio_embed_dim": 48,
    "audio_num_blocks": 2,
    "audio_num_heads": 4,
    "out_embed_dim": 32,
}
TEXTS = ["a drill", "", "a hand holds a red lamp " * 40, "Ünïcode 😀"]


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    """Saved with all six modalities, as the published file is."""
    models = import_models("imagebind_model")
    import torch

    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("imagebind") / "tiny.pth"
    torch.save(models.ImageBindModel(**SIZES).state_dict(), path)
    return path


@pytest.fixture(scope="module", params=[name for device, name in BACKENDS.items() if has_device(device)])
def encoder(request, weights: Path) -> ImageBindEncoder:
    return ImageBindEncoder("imagebind:tiny", weights, backend=request.param, batch=8, sizes=SIZES)


@pytest.fixture(scope="module")
def whole(weights: Path) -> Iterator[Any]:
    """The package's own model, loaded its own way."""
    import torch

    model = import_models("imagebind_model").ImageBindModel(**SIZES)
    model.load_state_dict(torch.load(weights, weights_only=True))
    with torch.inference_mode():
        yield model.eval()


def _unit(rows: Any) -> NDArray[np.float32]:
    rows = np.asarray(rows)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def test_rows_are_unit_and_the_same_in_any_company(encoder: ImageBindEncoder) -> None:
    images = probe_images(11)
    together = encoder.encode_images(images)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for place in (0, 7, 8, 10):
        assert np.array_equal(encoder.encode_images(images[place:])[0], together[place])


def test_it_keeps_the_vectors(encoder: ImageBindEncoder, weights: Path) -> None:
    images = probe_images(8)
    plain = ImageBindEncoder("plain", weights, backend="torch-fp32", batch=8, sizes=SIZES)
    assert (encoder.encode_images(images) * plain.encode_images(images)).sum(axis=1).min() > 0.999


def test_images_equal_the_packages_own(weights: Path, whole: Any) -> None:
    """The package's `load_and_transform_vision_data`, written out with torchvision's own transforms."""
    import torch
    from PIL import Image
    from torchvision import transforms

    transform = transforms.Compose(
        [
            transforms.Resize(224, interpolation=transforms.InterpolationMode.BICUBIC),
            transforms.CenterCrop(224),
            transforms.ToTensor(),
            transforms.Normalize(
                mean=(0.48145466, 0.4578275, 0.40821073), std=(0.26862954, 0.26130258, 0.27577711)
            ),
        ]
    )
    encoder = ImageBindEncoder("plain", weights, backend="torch-fp32", batch=4, sizes=SIZES)
    for height, width in ((224, 398), (224, 399), (300, 200)):
        images = probe_images(3, height, width)
        pixels = torch.stack([transform(Image.fromarray(image)) for image in images])
        np.testing.assert_allclose(IMAGES(images), pixels.numpy(), atol=2e-6)
        expected = _unit(whole({"vision": pixels})["vision"])
        np.testing.assert_allclose(encoder.encode_images(images), expected, atol=1e-5)


def test_texts_equal_the_packages_own(weights: Path, whole: Any) -> None:
    import torch

    preprocessors = import_models("multimodal_preprocessors")
    vocabulary = Path(preprocessors.__file__).parents[1] / "bpe" / "bpe_simple_vocab_16e6.txt.gz"
    own = preprocessors.SimpleTokenizer(str(vocabulary))
    tokens = torch.stack([own(text) for text in TEXTS])
    tower = ImageBindText("tiny", weights, sizes=SIZES)
    np.testing.assert_allclose(tower.encode_text(TEXTS), _unit(whole({"text": tokens})["text"]), atol=1e-5)


def test_the_text_half_is_the_same_tower(encoder: ImageBindEncoder, weights: Path) -> None:
    tower = ImageBindText("tiny", weights, sizes=SIZES)
    assert tower.weights == encoder.weights
    assert (encoder.dim, encoder.weights) == (tower.dim, tower.weights)


def test_a_clip_is_the_mean_of_its_moments_and_crops(weights: Path, whole: Any) -> None:
    """The package's `load_and_transform_video_data` from its sampled frames on, its crops written out."""
    import torch

    images = probe_images(60)
    frames = Frames(np.arange(60) / 2, images)
    encoder = ImageBindEncoder("plain", weights, backend="torch-fp32", batch=8, sizes=SIZES)
    mean = torch.tensor((0.48145466, 0.4578275, 0.40821073))[:, None, None, None]
    std = torch.tensor((0.26862954, 0.26130258, 0.27577711))[:, None, None, None]
    views = []
    for start in (0.0, 6.875, 13.75, 20.625, 27.5):
        inside = [place for place in range(60) if start <= place / 2 < start + 2]
        clip = torch.from_numpy(images[[inside[0], inside[-1]]]).permute(3, 0, 1, 2) / 255.0
        clip = (clip - mean) / std
        views += [clip[..., left : left + 224] for left in (0, 87, 174)]
    expected = _unit(whole({"vision": torch.stack(views)[None]})["vision"])[0]
    np.testing.assert_allclose(encoder.encode_clip(frames), expected, atol=1e-5)


def test_a_clip_of_any_length_and_shape_has_a_vector(encoder: ImageBindEncoder) -> None:
    for count, height, width in ((1, 224, 398), (3, 398, 224), (61, 224, 224), (5, 120, 90)):
        frames = Frames(np.arange(count) / 2, probe_images(count, height, width))
        vector = encoder.encode_clip(frames)
        assert vector.shape == (32,)
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
        assert np.array_equal(vector, encoder.encode_clip(frames))
    with pytest.raises(ValueError, match="frames"):
        encoder.encode_clip(Frames(np.empty(0), np.empty((0, 224, 224, 3), np.uint8)))


def test_other_files_are_refused(tmp_path, weights: Path) -> None:
    import torch

    torch.save({"something": torch.zeros(2)}, tmp_path / "other.pth")
    (tmp_path / "text.pth").write_text("not weights", encoding="utf-8")
    torch.save(Path("a pickled object"), tmp_path / "pickle.pth")
    for path in (weights, *tmp_path.iterdir()):
        with pytest.raises(WeightsInvalid, match="imagebind_huge"):
            open_image_encoder(f"imagebind:{path}", EncoderSettings())


def test_a_run_of_the_page_retrieves_with_it(weights: Path, tmp_path, monkeypatch) -> None:
    """docs/reproduce.md, VideoDetective: indexed with ImageBind, asked with its text half."""
    for name, size in SIZES.items():
        monkeypatch.setitem(imagebind.HUGE, name, size)
    folder = tmp_path / "models" / "imagebind-huge"
    folder.mkdir(parents=True)
    shutil.copy(weights, folder / "imagebind_huge.pth")
    write_video_detective(tmp_path, render_videos(tmp_path / "world"))
    monkeypatch.chdir(tmp_path)
    environment = {"MODELS_DIR": str(folder.parent), "IMAGE": "imagebind-huge"}
    for name, value in environment.items():
        monkeypatch.setenv(f"RAG_ENCODER__{name}", value)
    monkeypatch.setenv("RAG_OCR__MODE", "off")
    command = ["eval", "run", "longvideo:duration=long,subtitles=off", "--data", "videomme", "--limit", "1"]
    assert main([*command, "--system", "video-detective-paper", "--out", "runs/videomme"]) == 0
    with Library.open("videomme/library") as library:
        meta = library.engine.reader.meta
        assert meta.image_encoder.name == "imagebind-huge"
    assert main(["eval", "report", "runs/videomme", "--out", "report"]) == 0
    assert "video-detective-paper" in Path("report/report.md").read_text(encoding="utf-8")
