"""Progress as JSON lines, which the server reads."""

from __future__ import annotations

import json

import pytest

from corpora.records import Problem
from rag._cli.progress import open_progress

pytestmark = pytest.mark.usefixtures("tiny_text")


def test_events_have_the_seconds_the_file_and_the_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with open_progress(events=True) as progress:
        progress.start(20.0, 3)
        progress.start_documents(1, 5.0)
        progress.file("/x/a.mp4")
        progress.advance(5.0)
        progress.problem(Problem("/x/\udce9.mp4", "not a video", "skipped"))
        progress.file("/x/b.mp4")
        progress.advance(15.0)
        progress.file("/x/c.md")
        progress.advance_documents(1, 5.0)
    rows = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(row["event"], row.get("stage"), row.get("files_begun")) for row in rows] == [
        ("progress", "prepare", 0),
        ("progress", "index", 1),
        ("problem", None, None),
        ("progress", "index", 2),
        ("progress", "index", 3),
        ("progress", "finish", 3),
    ]
    assert (rows[3]["media_seconds_done"], rows[3]["file"]) == (5.0, "/x/b.mp4")
    assert (rows[4]["media_seconds_done"], rows[4]["documents_done"], rows[4]["share"]) == (20.0, 0, 0.8)
    assert (rows[5]["media_seconds_done"], rows[5]["documents_done"], rows[5]["share"]) == (20.0, 1, 1.0)
    assert rows[2]["path"] == "/x/\udce9.mp4"
