"""Subtitles in JSON, of the whole video that a clip was cut from."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from corpora.video.sidecars import read_sidecars
from eval.tasks.longvideo.published import read_published
from eval.tasks.longvideo.subtitles import FOLDER, SubtitleSource, write_subtitles
from eval.tasks.videos import FoundVideos, with_subtitles
from rag.settings import Settings

CLOCKED = [
    {"start": "00:00:01.000", "end": "00:00:05.000", "line": "before the clip"},
    {"start": "00:10:00.500", "end": "00:10:03.250", "line": "<i>into</i>\nthe clip --> now & then"},
    {"start": "00:10:12.000", "end": "00:10:20.000", "line": "out of the clip"},
    {"start": "00:10:16.000", "end": "00:10:20.000", "line": "after the clip"},
]
TIMED = [
    {"timestamp": [601.0, None], "text": "one"},
    {"timestamp": [603.5, 605.0], "text": "two"},
    {"timestamp": [606.0, None], "text": "three"},
]
SOURCE = SubtitleSource("v_en.json", 601.0, 15.0)


def written(folder: Path, entries: Any) -> list[tuple[float, float, str]]:
    (folder / "subtitles").mkdir()
    (folder / "subtitles" / "v_en.json").write_text(json.dumps(entries), encoding="utf-8")
    write_subtitles(
        folder, {"v.mp4": SOURCE, "gone.mp4": SOURCE}, FoundVideos({"v.mp4": "/videos/v.mp4"}, {})
    )
    texts = read_sidecars([folder / FOLDER / "v.vtt"]).texts
    return [(text.start, text.end, text.text) for text in texts]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (CLOCKED, [(0.0, 2.25, "into the clip --> now & then"), (11.0, 15.0, "out of the clip")]),
        (TIMED, [(0.0, 2.5, "one"), (2.5, 4.0, "two"), (5.0, 10.0, "three")]),
    ],
)
def test_both_layouts_are_cut_to_the_clip(
    tmp_path: Path, entries: Any, expected: list[tuple[float, float, str]]
) -> None:
    assert written(tmp_path, entries) == expected
    found = FoundVideos({"v.mp4": "/videos/v.mp4"}, {})
    assert with_subtitles(Settings(), tmp_path, found).scan.subtitles == (str(tmp_path / FOLDER),)


@pytest.mark.parametrize(
    "entries",
    [{"a": 1}, [1], [{"start": "x", "end": "y", "line": "z"}], [{"start": [], "end": 1, "line": "z"}]],
)
def test_another_layout_is_logged(tmp_path: Path, entries: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        written(tmp_path, entries)
    assert "v_en.json: no subtitles as LongVideoBench has them: " in caplog.text
    assert not (tmp_path / FOLDER).exists()


def test_a_row_names_its_subtitles(tmp_path: Path) -> None:
    row = {"video_path": "v.mp4", "question": "Who?", "candidates": ["a", "b"], "correct_choice": 1}
    row |= {"subtitle_path": "v_en.json", "starting_timestamp_for_subtitles": 601, "duration": 15.0}
    other = {**row, "video_path": "w.mp4", "subtitle_path": "./subtitle/w.srt"}
    (tmp_path / "lvb_val.json").write_text(json.dumps([row, other]), encoding="utf-8")
    assert read_published(tmp_path).subtitles == {"v.mp4": SOURCE}
