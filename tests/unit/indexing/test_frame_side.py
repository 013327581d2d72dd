"""The size of decoded frames: what the image encoder takes, or what the library was made with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag.indexing import IndexReport, Progress, index
from rag.indexing.outcomes import FileOutcomes
from rag.indexing.renewing import renew_videos
from rag.settings import load_settings
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.mean_colors import MeanColors, index_with
from tests.fakes.synthetic import write_video

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("tiny_text")]


class Large(MeanColors):
    """Takes 384 pixels, and keeps the short sides that it was given."""

    short_side = 384

    def __init__(self) -> None:
        self.sides: set[int] = set()

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.sides.add(min(images.shape[1:3]))
        return super()._encode_batch(images)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Large:
    encoder = Large()
    index_with(encoder, monkeypatch)
    return encoder


def indexed(folder: Path, name: str, **flags: Any) -> IndexReport:
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    write_video(corpus / name, 2, fps=4, size=(640, 480), card_seconds=1.0 + len(list(corpus.iterdir())))
    fixed = {"library": folder / "library", "ocr.mode": "off"}
    return index([corpus], settings=load_settings(flags=fixed | flags))


def side(folder: Path) -> object:
    with Reader.open(folder / "library") as reader:
        assert reader.meta is not None
        return reader.meta.settings["video.short_side"]


def test_an_encoder_of_384_pixels_is_given_384(tmp_path: Path, large: Large) -> None:
    indexed(tmp_path, "a.mp4")
    assert (large.sides, side(tmp_path)) == ({384}, 384)


def test_a_library_of_224_pixels_goes_on(tmp_path: Path, large: Large) -> None:
    indexed(tmp_path, "a.mp4", **{"video.short_side": 224})
    report = indexed(tmp_path, "b.mp4")
    assert report.indexed == 1
    assert (large.sides, side(tmp_path)) == ({224}, 224)


def test_reembedding_takes_the_new_encoders_size(tmp_path: Path, large: Large) -> None:
    indexed(tmp_path, "a.mp4", **{"encoder.image": "none"})
    assert side(tmp_path) == 224
    with Writer.open(tmp_path / "library") as writer:
        outcomes = FileOutcomes(writer, Progress(), IndexReport())
        renew_videos(writer, [], load_settings(), outcomes, Progress(), reembed=True)
    assert (large.sides, side(tmp_path)) == ({384}, 384)
