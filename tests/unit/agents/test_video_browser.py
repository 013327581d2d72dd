"""Video-Browser: the loop and its bounds, the pyramid and what is taken from it, and what failures cost."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from corpora.records import Evidence
from rag.agents.runtime.frame_source import FrameSource
from rag.agents.video_browser.agent import run_video_browser
from rag.agents.video_browser.records import ABLATION, EFFICIENCY, MAIN, BrowserSettings, BrowseRun
from rag.errors import BudgetSpent, ReasonerUnreachable, ReplyInvalid, UnsupportedFile
from rag.reasoners.roles.material import VideoView
from tests.fakes.browser_world import ASKED, RuleReasoner, frame_source, make_web


def run(
    tmp_path: Path, reasoner: RuleReasoner, settings: BrowserSettings = MAIN, seen: list[int] | None = None
) -> BrowseRun:
    return run_video_browser(ASKED, make_web(tmp_path / "web"), reasoner, frame_source(seen), settings)


def test_it_answers_with_the_window_that_proves_it(tmp_path) -> None:
    found = run(tmp_path, RuleReasoner())
    assert (found.answer.text, found.failure) == ("PLUM", "")
    (cited,) = found.answer.citations
    assert cited.kind == "video"
    assert (cited.start, cited.end) == (35.0, 48.0)
    assert cited.path.endswith("video07")


def test_it_stops_at_the_last_loop(tmp_path) -> None:
    reasoner = RuleReasoner()
    web = make_web(tmp_path / "web", 7)  # without the video that has the answer
    found = run_video_browser(ASKED, web, reasoner, frame_source(), replace(MAIN, max_steps=2))
    assert (found.loops, reasoner.asked.count("plan"), found.answer.matched) == (2, 2, False)
    assert all(video.status == "rejected" for video in found.watched)
    # What was read of it leads on, the message does not.
    assert {video.read[0] for video in found.watched} == {"Tea"}
    assert not any("no secret here" in text for video in found.watched for text in video.read)


def test_the_pyramid_looks_sparsely_and_then_densely(tmp_path) -> None:
    seen: list[int] = []
    run(tmp_path, RuleReasoner(), EFFICIENCY, seen)
    assert sorted(seen) == [13, 16, 16, 16]  # three sparse looks, one window of 13 s at 1 fps


def test_without_a_stage(tmp_path) -> None:
    reasoner, seen = RuleReasoner(), list[int]()
    run(tmp_path / "1", reasoner, replace(ABLATION, select=False), seen)
    assert "select_candidates" not in reasoner.asked
    reasoner, seen = RuleReasoner(), []
    run(tmp_path / "2", reasoner, replace(ABLATION, localize=False), seen)
    assert "locate" not in reasoner.asked
    assert seen == [100, 100]  # whole videos of 100 s at 1 fps
    reasoner, seen = RuleReasoner(), []
    found = run(tmp_path / "3", reasoner, replace(ABLATION, zoom=False), seen)
    assert seen == [16, 16]  # nothing is read again
    (window,) = found.evidence
    assert all(35 <= time < 48 for time in window.frames.times)


def test_without_a_modality(tmp_path) -> None:
    seen: list[int] = []
    found = run(tmp_path / "words", RuleReasoner(), replace(ABLATION, images=False), seen)
    assert seen == []
    assert found.answer.text == "PLUM"
    found = run(tmp_path / "looks", RuleReasoner(), replace(ABLATION, transcript=False))
    assert not found.answer.matched  # the secret is only said


def test_other_paradigms(tmp_path) -> None:
    seen: list[int] = []
    direct = replace(EFFICIENCY, paradigm="direct")
    found = run(tmp_path / "direct", RuleReasoner(), direct, seen)
    assert seen == [128, 128, 128]
    assert [window.window.start for window in found.evidence] == [0.0, 0.0, 0.0]
    reasoner = RuleReasoner()
    run(tmp_path / "words", reasoner, replace(EFFICIENCY, paradigm="summarization"))
    assert reasoner.asked.count("summarize") == 3
    assert not reasoner.readings[0].windows
    reasoner = RuleReasoner()
    run(tmp_path / "pages", reasoner, replace(EFFICIENCY, paradigm="text-search"))
    assert {read.passage.title for read in reasoner.readings[0].passages} >= {"Kettles", "kettle video 1"}
    reasoner = RuleReasoner()
    free = run(tmp_path / "free", reasoner, replace(EFFICIENCY, paradigm="tool-free"))
    assert "plan" not in reasoner.asked
    assert free.searches == 0


def test_a_spent_budget_ends_the_search_and_still_asks_for_an_answer(tmp_path) -> None:
    reasoner = RuleReasoner(fails=("locate",), error=BudgetSpent)
    found = run(tmp_path, reasoner)
    assert (reasoner.asked.count("locate"), reasoner.asked.count("answer_open")) == (1, 1)
    assert found.loops == 1


class StoredLibrary:
    """In place of a library that holds every video at 2 fps: its vectors say when a frame is."""

    tower = text_encoder = object()
    times = np.arange(0.0, 100.0, 0.5)

    def __init__(self) -> None:
        self.engine = self.reader = self

    def video(self, _: str) -> SimpleNamespace:
        return SimpleNamespace(duration=100.0)

    def clips(self, _: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(clip_id="c")]

    def frames(self, _: list[str]) -> list[SimpleNamespace]:
        vectors = np.stack([self.times, np.ones_like(self.times)], axis=1).astype(np.float32)
        return [SimpleNamespace(times=self.times, vectors=vectors)]

    def evidence(self, video_id: str, *_: float) -> list[Evidence]:
        return [Evidence(video_id, 40.0, 43.0, "ocr", "PLUM"), Evidence(video_id, 0.0, 9.0, "asr", "speech")]


def test_who_takes_no_pixels_has_none_decoded(tmp_path) -> None:
    seen: list[int] = []

    def browsed(settings: BrowserSettings) -> list[VideoView]:
        reasoner = RuleReasoner()
        reasoner.reads_pixels = False
        stored = FrameSource(StoredLibrary(), frame_source(seen).read_frames)
        run_video_browser(ASKED, make_web(tmp_path / "web"), reasoner, stored, settings)
        return [request.view for request in reasoner.located]

    views = browsed(EFFICIENCY)
    assert seen == []
    for view in views:
        assert view.frames is None
        assert view.frame_vectors is not None
        assert len(view.times) == 16
        assert "ocr" not in {text.kind for text in view.texts}, "the paper's watcher reads no screen"
    views = browsed(MAIN)
    assert all("ocr" in {text.kind for text in view.texts} for view in views)


@pytest.mark.parametrize("error", [BudgetSpent, ReplyInvalid])
@pytest.mark.parametrize("fails", [("rewrite_question",), ("anchor_event",)])
def test_the_answer_needs_no_rewording(tmp_path, fails: tuple[str], error: type) -> None:
    reasoner = RuleReasoner(fails=fails, error=error)
    reasoner.name = "embedded"
    found = run(tmp_path, reasoner, EFFICIENCY)
    assert (found.answer.text, found.failure, found.failures) == ("PLUM", "", (error.__name__,))
    assert reasoner.readings[-1].anchor.description == ASKED.text


def test_who_is_gone_is_not_asked_three_times(tmp_path) -> None:
    reasoner = RuleReasoner(fails=("plan", "rewrite_question", "answer_open"), error=ReasonerUnreachable)
    reasoner.name = "embedded"
    assert run(tmp_path, reasoner, EFFICIENCY).failure == "ReasonerUnreachable"
    assert reasoner.asked == ["plan", "rewrite_question"]


def deaf_and_blind(_path: str, _times: np.ndarray, *, zoomed: bool = False) -> None:
    raise UnsupportedFile(f"sound.mp4: no frames in it, {zoomed=}")


def test_a_video_without_frames_is_read_by_its_transcript(tmp_path) -> None:
    run = run_video_browser(
        ASKED, make_web(tmp_path), RuleReasoner(), FrameSource(None, deaf_and_blind), EFFICIENCY
    )
    assert (run.answer.text, run.failures) == ("PLUM", ())
