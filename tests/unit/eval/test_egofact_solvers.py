"""EgoFact's solvers over a small library: which clips may be found, and what a language model is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.runs.records import TaskInput
from eval.tasks.controls import Blind
from eval.tasks.egofact.records import ClipRow
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.registry import Environment, solver_of
from tests.fakes.egofact_corpus import KETTLE, ScriptedReasoner, open_corpus

LONG = {
    "long": [(30.0 * at, 30.0 * (at + 1), "lamp" if at in (7, 9) else "kettle", "") for at in range(12)],
    "other": [(0.0, 60.0, "kettle", "")],
}
"""Fourteen clips; twelve of them show what is asked for."""
ROWS = [
    ClipRow("long:7", "/videos/long.mp4", 210.0, 240.0, "a lamp"),
    ClipRow("long:9", "/videos/long.mp4", 270.0, 300.0, "a lamp"),
]


@pytest.fixture
def reasoner() -> ScriptedReasoner:
    return ScriptedReasoner()


@pytest.fixture
def corpus(tmp_path: Path, reasoner: ScriptedReasoner) -> Corpus:
    return open_corpus(tmp_path, LONG, ROWS, reasoner, reasoner={"kind": "openai", "model": "m"})


@pytest.mark.parametrize("name", ["localized", "no-localization", "videorag-jeong", "video-split"])
def test_only_clips_of_the_benchmark_are_retrieved_from_long_videos(corpus: Corpus, name: str) -> None:
    """Twelve other clips fit better: taken over all of them, the top five hold none of the benchmark."""
    output = solver_of(name).open(Environment(corpus), 0).solve(KETTLE)
    assert {clip.clip_id for clip in output.clips} == {"long:7", "long:9"}


@pytest.mark.parametrize("name", ["localized", "localized-paper", "no-localization", "videorag-jeong"])
def test_fifteen_frames_of_each_clip_are_decoded_for_a_reasoner_that_reads_pixels(
    corpus: Corpus, reasoner: ScriptedReasoner, name: str
) -> None:
    output = solver_of(name).open(Environment(corpus), 0).solve(KETTLE)
    (reading,) = reasoner.asked("answer_choice")
    assert [len(window.frames.images) for window in reading.windows] == [15, 15]
    assert {len(times) for times in output.frames_read.values()} == {15}
    if name.startswith("localized"):
        assert all(window.window.end - window.window.start == 5.0 for window in reading.windows)


def test_blind_asks_the_tested_model_without_a_video(corpus: Corpus, reasoner: ScriptedReasoner) -> None:
    blind = Blind(corpus.library)
    output = blind.solve(TaskInput("q1", KETTLE.text, KETTLE.options))
    (reading,) = reasoner.asked("answer_choice")
    assert (reading.windows, reading.passages, reading.must_choose) == ((), (), True)
    assert output.choice == "A"
    assert blind.settings == {"answered_by": "reasoner"}


def test_blind_of_the_embedded_reasoner_takes_the_nearest_option(tmp_path: Path) -> None:
    reasoner = ScriptedReasoner()
    blind = Blind(open_corpus(tmp_path, LONG, ROWS, reasoner).library)
    assert blind.solve(TaskInput("q1", "a drill or what?", KETTLE.options)).choice == "B"
    assert (reasoner.requests, blind.settings) == ([], {})
