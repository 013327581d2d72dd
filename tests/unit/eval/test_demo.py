"""The corpus of the first demo: its sources, and what counts as a right answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.outputs import OverwritePolicy
from eval.demo import CLIPS, QUESTIONS, DemoQuestion, Proof, copy_corpus
from rag.records import Answer, Question, VideoCitation

PROOF = Proof("a.mp4", 4.0, 9.0)


def answer(text: str, video: str, start: float, choice: str | None = None) -> Answer:
    """One that cites five seconds of a video."""
    cited = VideoCitation(video_id="0", path=f"/videos/{video}", start=start, end=start + 5, score=1.0)
    return Answer(Question("q", "?"), choice, text, 0.9, "", True, (cited,))


def test_the_clips_are_copied_once_with_their_sources(tmp_path: Path) -> None:
    clips = copy_corpus(tmp_path / "corpus", OverwritePolicy())
    assert sorted(path.name for path in clips.iterdir()) == list(CLIPS)
    sources = (tmp_path / "corpus" / "SOURCES.md").read_text(encoding="utf-8")
    listed = [line for line in sources.splitlines() if line.startswith("- ")]
    assert all(line.endswith(("; CC0.", "; public domain.")) for line in listed)
    assert not any(f" {asked.expected} " in sources for asked in QUESTIONS if not asked.options)
    (clips / CLIPS[0]).write_bytes(b"mine")
    copy_corpus(tmp_path / "corpus", OverwritePolicy())
    assert (clips / CLIPS[0]).read_bytes() == b"mine"


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
