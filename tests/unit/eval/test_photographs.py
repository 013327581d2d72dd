"""The corpus of the first demo: its clips, their sources, the voice, and what counts as a right answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest

from corpora.outputs import OverwritePolicy
from eval import photographs
from eval.demo_question import DemoQuestion, Proof
from eval.photographs import CLIPS, demo_questions, make_corpus
from eval.voice import speak
from eval.workbench.video import Render
from indexers.errors import ExtraMissing
from rag.errors import UsageError
from rag.records import Answer, Question, VideoCitation

PROOF = Proof("a.mp4", 4.0, 9.0)


def answer(text: str, video: str, start: float, choice: str | None = None) -> Answer:
    """One that cites five seconds of a video."""
    cited = VideoCitation(video_id="0", path=f"/videos/{video}", start=start, end=start + 5, score=1.0)
    return Answer(Question("q", "?"), choice, text, 0.9, "", True, (cited,))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """In small: `rag demo` is tested as it is in tests/e2e/test_demo_offline.py."""
    folder = tmp_path_factory.mktemp("photographs") / "corpus"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(photographs, "RENDER", Render(height=90, fps=4))
        make_corpus(folder, OverwritePolicy())
        yield folder


@pytest.mark.slow
def test_a_clip_has_its_length_in_frames_and_in_sound(corpus: Path) -> None:
    for clip in CLIPS:
        with av.open(str(corpus / "clips" / clip.name)) as container:
            seconds = [float(stream.duration * stream.time_base) for stream in container.streams]
        assert seconds == pytest.approx([clip.seconds, clip.seconds], abs=0.1)
        assert 20 <= clip.seconds <= 40


@pytest.mark.slow
def test_every_photograph_is_named_with_its_licence_and_no_answer_is(corpus: Path) -> None:
    sources = (corpus / "SOURCES.md").read_text()
    for shot in (shot for clip in CLIPS for shot in clip.shots):
        (line,) = (line for line in sources.splitlines() if f"`{shot.photograph.file}`" in line)
        assert line.endswith(("; CC0.", "; public domain."))
    assert not any(f" {asked.expected} " in sources for asked in demo_questions() if not asked.options)


@pytest.mark.slow
def test_made_again_it_has_the_same_bytes(corpus: Path) -> None:
    before = {path: path.read_bytes() for path in corpus.rglob("*.mp4")}
    assert make_corpus(corpus, OverwritePolicy()) == corpus / "clips"
    assert {path: path.read_bytes() for path in corpus.rglob("*.mp4")} == before
    assert len(before) == len(CLIPS)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.mp4").write_bytes(b"mine")
    with pytest.raises(UsageError, match="is not empty"):
        make_corpus(tmp_path, OverwritePolicy())


def test_the_voice_says_the_same_text_the_same_way_and_more_text_longer() -> None:
    once, again = speak("a radar failed", 16000), speak("a radar failed", 16000)
    assert np.array_equal(once, again)
    assert np.abs(once).max() > 0.1
    assert 0.5 < len(once) / 16000 < 2.5
    assert len(speak("on Sunday a radar failed, and the rocket stayed", 16000)) > 1.5 * len(once)


def test_without_a_package_of_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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


def test_a_choice_is_right_with_the_label_and_the_seconds() -> None:
    asked = DemoQuestion("seen", "?", ("beer", "coffee"), "B", PROOF)
    assert asked.is_right(answer("coffee", "a.mp4", 5.0, "B"))
    assert not asked.is_right(answer("beer", "a.mp4", 5.0, "A"))
    assert not asked.is_right(answer("coffee", "a.mp4", 20.0, "B"))
