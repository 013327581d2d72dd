"""Video-Browser: the loop and its bounds, the pyramid and what is taken from it, and what failures cost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from corpora.records import Evidence
from rag.agents.runtime.frame_source import FrameSource, RetryPolicy
from rag.agents.runtime.view import render_page
from rag.agents.video_browser.agent import run_video_browser
from rag.agents.video_browser.records import ABLATION, EFFICIENCY, MAIN, BrowserSettings, BrowseRun, scaling
from rag.agents.video_browser.view import result_json, result_page, step_lines
from rag.errors import BudgetSpent, NoTranscript, PageGone, ReplyInvalid, UsageError, WebError, WebTimeout
from rag.library import Library
from rag.reasoners.roles.locate import Located, LocateRequest
from rag.reasoners.roles.material import VideoView
from rag.records import Question, Usage
from rag.web import Faults, MockWeb, Page, Transcript, WebTrace
from tests.fakes.browser_world import ASKED, RuleReasoner, any_frames, frame_source, make_web


def run(
    tmp_path: Path, reasoner: RuleReasoner, settings: BrowserSettings = MAIN, seen: list[int] | None = None
) -> BrowseRun:
    return run_video_browser(ASKED, make_web(tmp_path / "web"), reasoner, frame_source(seen), settings)


def test_settings_are_those_of_the_appendix() -> None:
    assert (MAIN.max_steps, MAIN.videos, MAIN.sparse_frames) == (5, 3, 16)
    assert (MAIN.zoom_rate, MAIN.window_frames, MAIN.whole_frames) == (1.0, 32, 128)
    assert (EFFICIENCY.max_steps, EFFICIENCY.videos) == (1, 3)
    assert (ABLATION.max_steps, ABLATION.videos) == (1, 2)
    assert scaling("videos", 4) == replace(MAIN, max_steps=1, videos=4)
    assert scaling("loops", 4) == replace(MAIN, max_steps=4, videos=2)
    assert scaling("frames", 64) == replace(MAIN, max_steps=1, videos=2, sparse_frames=64)


def test_settings_refuse_what_cannot_be() -> None:
    for changes in ({"videos": 0}, {"zoom_rate": 0.0}, {"transcript": False, "images": False}):
        with pytest.raises(UsageError):
            replace(MAIN, **changes)
    with pytest.raises(UsageError, match="no axis"):
        scaling("width", 3)


def test_it_answers_with_the_window_that_proves_it(tmp_path: Path) -> None:
    found = run(tmp_path, RuleReasoner())
    assert (found.answer.text, found.failure) == ("PLUM", "")
    (cited,) = found.answer.citations
    assert cited.kind == "video"
    assert (cited.start, cited.end) == (35.0, 48.0)
    assert cited.path.endswith("video07")


def test_it_stops_as_soon_as_every_part_is_solved(tmp_path: Path) -> None:
    reasoner = RuleReasoner()
    found = run(tmp_path, reasoner)
    assert found.loops == 2  # the second plan says that all is solved
    assert reasoner.asked.count("select_candidates") == 1


def test_it_stops_at_the_last_loop(tmp_path: Path) -> None:
    reasoner = RuleReasoner()
    web = make_web(tmp_path / "web", 7)  # without the video that has the answer
    found = run_video_browser(ASKED, web, reasoner, frame_source(), replace(MAIN, max_steps=2))
    assert (found.loops, reasoner.asked.count("plan"), found.answer.matched) == (2, 2, False)
    assert all(video.status == "rejected" for video in found.watched)
    # What was read of it leads on, the message does not.
    assert {video.read[0] for video in found.watched} == {"Tea"}
    assert not any("no secret here" in text for video in found.watched for text in video.read)


def test_history_reaches_the_planner(tmp_path: Path) -> None:
    reasoner = RuleReasoner()
    run(tmp_path, reasoner)
    second = reasoner.plans[1]
    assert [tried.query for tried in second.tried] == ["kettle video 1", "kettle"]
    assert {video.status for video in second.known} == {"verified", "rejected"}
    assert "PLUM" in next(video.summary for video in second.known if video.status == "verified")


def test_the_pyramid_looks_sparsely_and_then_densely(tmp_path: Path) -> None:
    seen: list[int] = []
    run(tmp_path, RuleReasoner(), EFFICIENCY, seen)
    assert sorted(seen) == [13, 16, 16, 16]  # three sparse looks, one window of 13 s at 1 fps


def test_a_window_has_at_most_32_frames(tmp_path: Path) -> None:
    seen: list[int] = []
    run(tmp_path, RuleReasoner(), replace(EFFICIENCY, window_frames=8, zoom_rate=5.0), seen)
    assert 8 in seen
    assert 65 not in seen


def test_without_a_stage(tmp_path: Path) -> None:
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
    assert window.frames is not None
    assert all(35 <= time < 48 for time in window.frames.times)


def test_without_a_modality(tmp_path: Path) -> None:
    seen: list[int] = []
    found = run(tmp_path / "words", RuleReasoner(), replace(ABLATION, images=False), seen)
    assert seen == []
    assert found.answer.text == "PLUM"
    found = run(tmp_path / "looks", RuleReasoner(), replace(ABLATION, transcript=False))
    assert not found.answer.matched  # the secret is only said


def test_other_paradigms(tmp_path: Path) -> None:
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


def test_a_dead_link_is_replaced_and_never_knowledge(tmp_path: Path) -> None:
    web = make_web(tmp_path / "web", video01="dead", video00="private")
    reasoner = RuleReasoner()
    settings = replace(EFFICIENCY, select=False)
    found = run_video_browser(ASKED, web, reasoner, frame_source(), settings)
    assert len(found.watched) == 3
    assert "PageGone" in found.failures
    assert not {"video00", "video01"} & {video.url[-7:] for video in found.watched}


class Deaf(MockWeb):
    """A web without transcripts, pages or a list of pages: each time by the error `kind`."""

    kind: type[WebError] = WebTimeout

    def transcript(self, url: str) -> Transcript:
        raise self.kind(url)

    def open(self, url: str) -> Page:
        raise self.kind(url)


def test_missing_transcripts_and_pages_are_reported(tmp_path: Path) -> None:
    """A video is watched without its words, a page is left out; both are failures that were got over."""
    with make_web(tmp_path / "web") as plain:
        web = Deaf(plain._store, trace=WebTrace())
    found = run_video_browser(ASKED, web, RuleReasoner(), frame_source(), EFFICIENCY)
    assert len(found.watched) == 3
    assert found.failures == ("WebTimeout",) * 3
    reported = [step.text for step in found.steps if step.kind == "failure"]
    assert reported[0].startswith("the transcript of kettle video 7: WebTimeout")
    reading = run_video_browser(
        ASKED, web, RuleReasoner(), frame_source(), replace(EFFICIENCY, paradigm="text-search")
    )
    assert reading.failures == ("WebTimeout",)
    web.kind = NoTranscript
    assert run_video_browser(ASKED, web, RuleReasoner(), frame_source(), EFFICIENCY).failures == ()


def test_a_failed_search_for_pages_is_reported(tmp_path: Path) -> None:
    web = make_web(tmp_path / "web", faults=Faults(rate_limit=1.0))
    found = run_video_browser(
        ASKED, web, RuleReasoner(), frame_source(), replace(EFFICIENCY, paradigm="text-search")
    )
    queries = len([step for step in found.steps if step.kind == "failure"]) // 2
    assert queries == 2
    assert found.failures == ("RateLimited",) * 2 * queries


class Costly(RuleReasoner):
    """Its analyst was asked twice: what it was shown again counts, but is not what it was shown last."""

    def usage(self) -> Usage:
        row = {
            "calls": 2,
            "repairs": 1,
            "prompt_tokens": 900,
            "last_prompt_tokens": 500,
            "completion_tokens": 9,
        }
        return Usage(2, 900, 9, by_role={"answer_open": row})


def test_the_context_is_the_last_prompt_alone(tmp_path: Path) -> None:
    found = run(tmp_path, Costly(), EFFICIENCY)
    assert (found.context, found.tokens) == (500, 909)


def test_a_failed_look_is_no_verified_video(tmp_path: Path) -> None:
    reasoner = RuleReasoner(fails=("locate",), error=ReplyInvalid)
    found = run(tmp_path, reasoner, EFFICIENCY)
    assert found.watched == ()
    assert found.evidence == ()
    assert set(found.failures) == {"ReplyInvalid"}
    assert (found.answer.matched, found.failure) == (False, "")


def test_without_a_plan_the_question_itself_is_searched(tmp_path: Path) -> None:
    reasoner = RuleReasoner(fails=("plan",), error=ReplyInvalid)
    found = run(tmp_path, reasoner)
    assert found.answer.text == "PLUM"
    assert [step.data["query"] for step in found.steps if step.kind == "search"] == [ASKED.text]


def test_a_spent_budget_ends_the_search_and_still_asks_for_an_answer(tmp_path: Path) -> None:
    reasoner = RuleReasoner(fails=("locate",), error=BudgetSpent)
    found = run(tmp_path, reasoner)
    assert (reasoner.asked.count("locate"), reasoner.asked.count("answer_open")) == (1, 1)
    assert found.loops == 1


def test_a_failed_answer_has_a_name(tmp_path: Path) -> None:
    found = run(tmp_path, RuleReasoner(fails=("answer_open",), error=ReplyInvalid))
    assert (found.failure, found.answer.matched, found.answer.confidence) == ("ReplyInvalid", False, 0.0)


def test_options_are_chosen_from(tmp_path: Path) -> None:
    asked = Question("q", ASKED.text, ("PLUM", "FIG"))
    found = run_video_browser(asked, make_web(tmp_path / "web"), RuleReasoner(), frame_source(), EFFICIENCY)
    assert (found.answer.choice, found.answer.text) == ("A", "PLUM")


@pytest.mark.parametrize(
    ("options", "asked_to", "must_choose"), [(2, False, False), (2, True, True), (0, True, False)]
)
def test_an_option_must_be_chosen_only_where_it_is_asked_for(
    tmp_path: Path, options: int, asked_to: bool, must_choose: bool
) -> None:
    asked, reasoner = Question("q", ASKED.text, ("PLUM", "FIG")[:options]), RuleReasoner()
    web = make_web(tmp_path / "web")
    run_video_browser(asked, web, reasoner, frame_source(), EFFICIENCY, must_choose=asked_to)
    assert reasoner.readings[-1].must_choose == must_choose


def test_stored_vectors_need_a_library(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="library"):
        run(tmp_path, RuleReasoner(), replace(EFFICIENCY, sparse="stored"))


class StoredLibrary:
    """In place of a library that holds every video at 2 fps: its vectors say when a frame is."""

    tower = text_encoder = object()
    times = np.arange(0.0, 100.0, 0.5)

    def __init__(self) -> None:
        self.engine = self.reader = self

    def video(self, _: str) -> SimpleNamespace:
        return SimpleNamespace(duration=100.0)

    def new_retriever(self) -> StoredLibrary:
        return self

    def localize_video(self, _: str, text: str, count: int) -> list[SimpleNamespace]:
        assert (bool(text), count) == (True, EFFICIENCY.windows)
        return [SimpleNamespace(start=36.0, end=46.0)]

    def clips(self, _: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(clip_id="c")]

    def frames(self, _: list[str]) -> list[SimpleNamespace]:
        vectors = np.stack([self.times, np.ones_like(self.times)], axis=1).astype(np.float32)
        return [SimpleNamespace(times=self.times, vectors=vectors)]

    def evidence(self, video_id: str, *_: float) -> list[Evidence]:
        return [Evidence(video_id, 40.0, 43.0, "ocr", "PLUM"), Evidence(video_id, 0.0, 9.0, "asr", "speech")]


class MixedReasoner(RuleReasoner):
    """Takes pixels as a whole; the views that its watcher got are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.views: list[VideoView] = []

    def locate(self, request: LocateRequest) -> Located:
        self.views.append(request.view)
        return super().locate(request)


def test_where_parts_differ_each_gets_what_it_sees_by(tmp_path: Path) -> None:
    """An embedded watcher beside an analyst that takes pixels: vectors, text on the screen, and pixels."""
    reasoner = MixedReasoner()
    both = FrameSource.of(reasoner, cast(Library, StoredLibrary()), frame_source().read_frames)
    found = run_video_browser(
        ASKED, make_web(tmp_path / "web"), reasoner, both, replace(EFFICIENCY, sparse_frames=25)
    )
    assert len(reasoner.views) == 3
    for view in reasoner.views:
        assert view.frames is not None
        assert view.frame_times is not None
        assert view.frame_vectors is not None
        assert view.times == tuple(view.frame_times)
        assert len(view.frames.times) == 25
        assert np.abs(view.frame_vectors[:, 0] - view.frames.times).max() <= 0.25
        assert [text.text for text in view.texts if text.kind == "ocr"] == ["PLUM"]
    (window,) = found.evidence
    assert window.frames is not None
    assert window.frame_vectors is not None
    assert len(window.frame_vectors) == len(window.frames.times) == 13
    found = run_video_browser(
        ASKED, make_web(tmp_path / "web"), reasoner, both, replace(ABLATION, zoom=False)
    )
    (window,) = found.evidence
    assert window.frames is not None
    assert window.frame_vectors is not None
    assert np.abs(window.frame_vectors[:, 0] - window.frames.times).max() <= 0.25


def test_who_takes_no_pixels_has_none_decoded(tmp_path: Path) -> None:
    reasoner, seen = MixedReasoner(), list[int]()
    reasoner.reads_pixels = False
    stored = FrameSource.of(reasoner, cast(Library, StoredLibrary()), frame_source(seen).read_frames)
    run_video_browser(ASKED, make_web(tmp_path / "web"), reasoner, stored, EFFICIENCY)
    assert seen == []
    for view in reasoner.views:
        assert view.frames is None
        assert view.frame_vectors is not None
        assert len(view.times) == 16
    reasoner.views.clear()
    found = run_video_browser(
        ASKED, make_web(tmp_path / "web"), reasoner, stored, replace(EFFICIENCY, sparse="stored")
    )
    assert [len(view.times) for view in reasoner.views] == [200, 200, 200]
    # The reasoner takes one video for relevant, and the library's localizer gives its window.
    assert [(read.window.start, read.window.end) for read in found.evidence] == [(36.0, 46.0)]


def test_the_planner_gets_channel_and_date(tmp_path: Path) -> None:
    found = run(tmp_path, RuleReasoner(), EFFICIENCY)
    reported = next(video.summary for video in found.watched if video.status == "verified")
    assert reported.startswith("The channel Tea uploaded it on 8 January 2020.")


def test_equal_runs_have_equal_steps(tmp_path: Path) -> None:
    first, second = (
        [json.dumps(step.line()) for step in run(tmp_path / name, RuleReasoner()).steps]
        for name in ("a", "b")
    )
    assert first == second


def test_every_step_has_lines_and_a_page(tmp_path: Path) -> None:
    reported: list[str] = []
    web = make_web(tmp_path / "web", video01="dead")
    reasoner = RuleReasoner()
    found = run_video_browser(
        ASKED, web, reasoner, frame_source(), MAIN, watch=lambda step: reported.extend(step_lines(step, 60))
    )
    assert any(line.startswith("plan:") for line in reported)
    problems = [line for line in reported if line.startswith("  problem:")]
    assert max(len(line) for line in reported if line not in problems) <= 80
    assert not any(line.endswith("…") for line in problems), "what to do next is at the end"
    shape = result_json(found)
    assert shape["schema"] == "rag.agent.video-browser/1"
    json.dumps(shape, allow_nan=False)
    html = render_page(result_page(found), any_frames)
    assert "data:image/jpeg;base64," in html
    assert "http" not in html.replace("https://videos.example", "")


def test_transient_errors_are_retried() -> None:
    waited: list[float] = []
    calls: list[int] = []

    def slow() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise WebTimeout("late")
        return "here"

    assert RetryPolicy(3, waited.append).call(slow) == "here"
    assert waited == [1.0, 2.0]

    def gone() -> str:
        calls.append(1)
        raise PageGone("gone")

    calls.clear()
    with pytest.raises(PageGone):
        RetryPolicy(3).call(gone)
    assert len(calls) == 1


def test_without_a_transcript_the_recognized_speech_is_read(tmp_path: Path) -> None:
    reasoner = MixedReasoner()
    both = FrameSource.of(reasoner, cast(Library, StoredLibrary()), frame_source().read_frames)
    run_video_browser(ASKED, make_web(tmp_path / "mute", lines=False), reasoner, both, EFFICIENCY)
    assert {text.text for view in reasoner.views for text in view.texts if text.kind == "asr"} == {"speech"}
    reasoner.views.clear()
    run_video_browser(ASKED, make_web(tmp_path / "said"), reasoner, both, EFFICIENCY)
    assert not [text for view in reasoner.views for text in view.texts if text.kind == "asr"]
