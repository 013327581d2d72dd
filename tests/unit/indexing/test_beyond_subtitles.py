"""What of recognized speech is kept beside subtitles."""

from __future__ import annotations

from corpora.records import Evidence
from rag.indexing.media import beyond_subtitles


def test_recognized_speech_fills_the_gaps_of_subtitles() -> None:
    subtitles = [
        Evidence("v", 0.0, 4.0, "subtitle", "At NASA's Goddard"),
        Evidence("v", 0.0, 9.0, "ocr", "NASA"),
    ]
    spoken = [Evidence("v", start, end, "asr", "at Nasser's God") for start, end in ((0.5, 4.5), (3.0, 6.0))]
    assert beyond_subtitles(spoken, subtitles) == spoken[1:]
    assert beyond_subtitles(spoken, []) == spoken
