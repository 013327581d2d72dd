"""Names that several files have in common, under `--ids stem`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rag._cli.batch import DocumentNames, IdKind

VIDEOS = ("/a/intro.mp4", "/b/intro.mov", "/b/v_0.0_60.0.mp4", "/b/v_60.0_120.0.mp4")
TEXTS = ("/a/v_0.0_60.0.txt", "/a/notes.md")


def names(ids: IdKind, passages: Any = None) -> DocumentNames:
    reader = SimpleNamespace(
        videos=lambda: [SimpleNamespace(path=path) for path in VIDEOS],
        passage_files=lambda: list(TEXTS),
        passages=passages,
        video=lambda video_id: SimpleNamespace(path={"5f": VIDEOS[-1]}[video_id]),
    )
    library: Any = SimpleNamespace(engine=SimpleNamespace(reader=reader))
    return DocumentNames(library, ids)


def test_files_of_one_stem_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A video and its own text are not: they are one document on purpose."""
    names("stem").say_ambiguous()
    assert capsys.readouterr().err == (
        "rag: --ids stem: 1 names belong to several files, which count as one document: intro "
        "(/a/intro.mp4, /b/intro.mov); --ids path keeps them apart\n"
    )
    names("path").say_ambiguous()
    names("hash").say_ambiguous()
    assert capsys.readouterr().err == ""
