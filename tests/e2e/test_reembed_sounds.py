"""Re-embedding with an audio encoder: the same vectors of sound as indexing with it from the first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from indexers.protocol import ImageEncoder, unit_rows
from rag.indexing import Progress, encoders, index, reembed
from rag.indexing.outcomes import IndexingStats
from rag.settings import load_settings
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.mean_colors import MeanColors
from tests.fakes.synthetic import write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


class Hearing(MeanColors):
    """Colours for images, length and loudness for sounds."""

    takes_audio = True

    def encode_audio(self, waveform: NDArray[np.float32]) -> NDArray[np.float32]:
        return unit_rows(np.array([len(waveform) / 16000, np.abs(waveform).mean() * 100, 1], np.float32))


def test_sounds_are_those_of_a_library_with_sounds_from_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write_video(corpus / "loud.mp4", 36, audio=True)
    write_video(corpus / "mute.mp4", 3)
    deaf, hearing = (
        load_settings(flags={"library": tmp_path / name, "ocr.mode": "off", "encoder.image": image})
        for name, image in (("deaf", "none"), ("hearing", "auto"))
    )
    index([corpus], settings=deaf)

    def open_configured_encoder(*_: object, **__: object) -> tuple[ImageEncoder, str]:
        return Hearing(), "image embeddings: hearing"

    monkeypatch.setattr(encoders, "open_configured_encoder", open_configured_encoder)
    monkeypatch.setattr(reembed, "open_configured_encoder", open_configured_encoder)
    monkeypatch.setattr(encoders, "open_text_tower", lambda *_: None)
    index([corpus], settings=hearing)
    with Writer.open(tmp_path / "deaf") as writer:
        reembed.reembed_library(writer, deaf, Progress(), IndexingStats())
    first, again = (
        [row for row in dump(tmp_path / name) if '"table": "sounds_' in row] for name in ("hearing", "deaf")
    )
    assert len(first) == 2
    assert again == first
