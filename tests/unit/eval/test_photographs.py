"""The corpus of the first demo: its sources, and what counts as a right answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from corpora.outputs import OverwritePolicy
from eval import photographs
from eval.photographs import CLIPS, DemoQuestion, Proof, demo_questions, make_corpus
from indexers.errors import ExtraMissing
from rag.records import Answer, Question, VideoCitation

PROOF = Proof("a.mp4", 4.0, 9.0)


def answer(text: str, video: str, start: float, choice: str | None = None) -> Answer:
    """One that cites five seconds of a video."""
    cited = VideoCitation(video_id="0", path=f"/videos/{video}", start=start, end=start + 5, score=1.0)
    return Answer(Question("q", "?"), choice, text, 0.9, "", True, (cited,))


def test_every_photograph_is_named_with_its_licence_and_no_answer_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clips themselves are made and seen in tests/e2e/test_demo_offline.py."""
    monkeypatch.setattr(photographs, "write_video", lambda path, *_: path.touch())
    clips = make_corpus(tmp_path / "corpus", OverwritePolicy())
    monkeypatch.delattr(photographs, "write_video")
    assert make_corpus(tmp_path / "corpus", OverwritePolicy()) == clips, "they are made once"
    sources = (tmp_path / "corpus" / "SOURCES.md").read_text()
    for shot in (shot for clip in CLIPS for shot in clip.shots):
        (line,) = (line for line in sources.splitlines() if f"`{shot.photograph.file}`" in line)
        assert line.endswith(("; CC0.", "; public domain."))
    assert not any(f" {asked.expected} " in sources for asked in demo_questions() if not asked.options)


def test_without_a_package_of_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(photographs, "write_video", lambda path, frames, *_: path.write_bytes(next(frames)))
    for package in ("espeakng_loader", "skimage.data"):
        with monkeypatch.context() as hidden:
            hidden.setitem(sys.modules, package, None)
            with pytest.raises(ExtraMissing, match=r"offline-video-rag\[demo\]"):
                make_corpus(tmp_path / package, OverwritePolicy())


@pytest.mark.parametrize(
    ("given", "right"),
    [
        (answer("A radar failed.", "a.mp4", 6.0), True),
        (answer("The radar failed.", "a.mp4", 0.0), True),
        (answer("The wind was strong.", "a.mp4", 6.0), False),
        (answer("A radar failed.", "b.mp4", 6.0), False),
        (answer("A radar failed.", "a.mp4", 9.0), False),
    ],
)
def test_an_open_answer_is_right_with_the_words_and_the_seconds(given: Answer, right: bool) -> None:
    assert DemoQuestion("said", "?", (), "Radar", PROOF).is_right(given) is right
