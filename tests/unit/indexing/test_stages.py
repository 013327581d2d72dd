"""Texts of a video into vectors: all in one call, equal ones once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from corpora.records import Evidence
from corpora.settings import VideoSettings
from indexers.protocol import TextEncoder
from rag.indexing.measuring import Measuring
from rag.indexing.media import beyond_subtitles
from rag.indexing.stages import Stages


class Counting(TextEncoder):
    """The length of each text; keeps what it was given."""

    name, dim, batch, backend, weights, fingerprint = "counting", 2, 2, "", "", ""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        return np.array([[1, len(text)] for text in texts], np.float32)


def stages(text: Counting) -> Stages:
    measuring = Measuring(VideoSettings(), {"shots": "off", "sound": "off"}, lambda: None)
    return Stages(text=text, image=None, ocr=None, asr=None, reuse_still_frames=True, measuring=measuring)


def test_equal_texts_are_encoded_once_and_all_in_one_call() -> None:
    text = Counting()
    spans = ["[Music]", "oil the chain"] * 300 + ["wipe it", "[Music]"]
    rows = stages(text).encode(spans)
    assert (rows[:, 1] / rows[:, 0]).round().tolist() == [float(len(span)) for span in spans]
    assert text.calls == [["[Music]", "oil the chain", "wipe it"]]


def test_a_video_without_text_calls_no_encoder() -> None:
    text = Counting()
    assert stages(text).encode([]).shape == (0, 2)
    assert text.calls == []


def test_recognized_speech_fills_the_gaps_of_subtitles() -> None:
    subtitles = [
        Evidence("v", 0.0, 4.0, "subtitle", "At NASA's Goddard"),
        Evidence("v", 0.0, 9.0, "ocr", "NASA"),
    ]
    spoken = [Evidence("v", start, end, "asr", "at Nasser's God") for start, end in ((0.5, 4.5), (3.0, 6.0))]
    assert beyond_subtitles(spoken, subtitles) == spoken[1:]
    assert beyond_subtitles(spoken, []) == spoken
