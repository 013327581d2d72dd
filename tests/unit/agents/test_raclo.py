"""RACLO over a small web: its cues, its turns, both judges, the moment, and failures of web and reasoner."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora.records import SoundTrack
from eval.tasks.rvms.solvers import VARIANTS
from localization.sampling import midpoints
from rag.agents.raclo.agent import run_raclo
from rag.agents.raclo.records import (
    CUE_SETS,
    FRAME_BUDGET,
    PAPER,
    RacloRun,
    RacloSettings,
    cues_of,
    only_cues,
    sweep,
)
from rag.agents.raclo.verification import measured_lines
from rag.agents.runtime.context import NOTHING_FOUND
from rag.agents.runtime.frame_source import FrameSource, fixed_budget
from rag.agents.runtime.trace import Step, step_lines
from rag.errors import ReplyInvalid, UsageError, WebError
from rag.reasoners.embedded import EmbeddedReasoner
from rag.reasoners.roles.material import Memory
from rag.reasoners.roles.searching import SearchStep, SearchStepRequest
from rag.web import Web
from tests.fakes.browser_world import HOST, RecallingReasoner, frame_source, make_web
from tests.fakes.embedded_reasoner import sentences

EVERYTHING = Memory("a video about kettles", "a hand lifts the lid", "steam", "a cup", "a word: plum")


def run(
    folder: Path,
    memory: Memory = EVERYTHING,
    reasoner: RecallingReasoner | None = None,
    settings: RacloSettings = PAPER,
    *,
    second: RecallingReasoner | None = None,
    watch: list[Step] | None = None,
    **closed: str,
) -> RacloRun:
    web = make_web(folder, **closed)
    shown = None if watch is None else watch.append
    return run_raclo(
        memory, web, reasoner or RecallingReasoner(), frame_source(), settings, second=second, watch=shown
    )


def test_the_video_and_its_moment_are_found(tmp_path) -> None:
    reasoner, steps = RecallingReasoner(), list[Step]()
    found = run(tmp_path, reasoner=reasoner, watch=steps)
    assert (found.answer.url, found.matched, found.cues) == (f"{HOST}video07", True, "GKTA")
    assert len(found.candidates) == 4
    assert abs(found.answer.moment.time - 40.0) < 2.0
    assert found.answer.moment.start < found.answer.moment.time < found.answer.moment.end
    assert found.answer.moment.frames == 32
    assert {"think", "search", "take", "verify", "localize", "answer"} == {step.kind for step in steps}
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert found.failures == ()


def test_the_second_verdict_has_frames_between_those_of_the_first(tmp_path) -> None:
    reasoner = RecallingReasoner()
    run(tmp_path, reasoner=reasoner)
    looks = [
        one.view.times for one in reasoner.verified if any("secret" in line.text for line in one.view.texts)
    ]
    assert [len(times) for times in looks] == [64, 64]
    assert looks[0] == tuple(midpoints(0.0, 100.0, 64))
    assert not set(looks[0]) & set(looks[1])


def test_open_models_are_shown_frames_alone(tmp_path) -> None:
    reasoner = RecallingReasoner()
    settings = VARIANTS.named["raclo-64"].settings
    run(tmp_path, reasoner=reasoner, settings=settings)
    for view in (*(one.view for one in reasoner.verified), *(one.view for one in reasoner.located)):
        assert (len(view.times), view.texts, view.read_audio) == (64, (), None)
    assert not any(one.screen for one in (settings, PAPER))


@pytest.mark.parametrize("cues", CUE_SETS)
def test_every_set_of_cues_is_verified_by_its_cues(cues: str, tmp_path) -> None:
    reasoner, memory = RecallingReasoner(), only_cues(EVERYTHING, cues)
    found = run(tmp_path, memory, reasoner)
    assert (found.cues, cues_of(memory)) == (cues, cues)
    shown = reasoner.verified[0].memory
    assert shown == (Memory(global_impression=memory.global_impression) if "G" in cues else memory)
    assert bool(reasoner.located) == ("K" in cues)
    if reasoner.located:
        assert reasoner.located[0].memory == replace(memory, global_impression="")
        assert reasoner.located[0].must_choose
    assert reasoner.verified[0].view.title == reasoner.verified[0].view.description == ""


@pytest.mark.parametrize(
    "memory", [Memory(), Memory(before="a cup"), Memory("a video", auditory_memory="a tune")]
)
def test_cues_that_belong_to_no_moment_are_refused(memory: Memory, tmp_path) -> None:
    with pytest.raises(UsageError, match="GKTA"):
        run(tmp_path, memory)


def test_one_judge_alone_accepts_nothing(tmp_path) -> None:
    found = run(tmp_path, second=RecallingReasoner(accepts=False))
    assert found.answer is not None
    assert not found.matched
    alone = run(tmp_path / "alone", settings=replace(PAPER, consensus=False))
    assert alone.matched
    unverified = run(tmp_path / "un", settings=replace(PAPER, verify=False))
    assert (unverified.chosen, unverified.matched) == (0, True)


def test_a_missing_transcript_is_reported_and_the_video_watched(tmp_path, monkeypatch) -> None:
    def silent(_: Web, url: str) -> None:
        raise WebError(f"{url}: no transcript in time")

    monkeypatch.setattr(Web, "transcript", silent)
    found = run(tmp_path)
    assert len(found.candidates) == 4
    assert found.failures == ("WebError",) * 4
    shown = [step for step in found.steps if step.kind == "failure"]
    assert all(step.text.startswith("the transcript of kettle video") for step in shown)
    # A problem is not cut, however narrow the terminal.
    assert [*step_lines(shown[0], 30)] == [f"problem: {shown[0].text}"]
    assert not found.matched
    deaf = run(tmp_path / "deaf", settings=replace(PAPER, sound=False))
    assert deaf.failures == ()


def test_it_thinks_again_where_nothing_is_found(tmp_path) -> None:
    reasoner = RecallingReasoner(("zzz", "yyy", "kettle video 7", "xxx"))
    found = run(tmp_path, reasoner=reasoner)
    assert (found.turns, found.queries) == (2, ("zzz", "yyy", "kettle video 7", "xxx"))
    assert [one.count for one in reasoner.imagined] == [2, 4]
    nothing = run(tmp_path / "none", reasoner=RecallingReasoner(("zzz", "yyy")))
    assert (nothing.answer, nothing.failure) == (None, NOTHING_FOUND)


@pytest.mark.parametrize("role", ["imagine_queries", "verify_video", "locate"])
def test_a_failing_role_costs_one_step(role: str, tmp_path) -> None:
    reasoner = RecallingReasoner(fails=(role,), error=ReplyInvalid)
    found = run(tmp_path, reasoner=reasoner)
    assert "ReplyInvalid" in found.failures
    assert found.failure == ""
    assert (found.answer.consensus is None) == (role == "verify_video")
    assert (found.answer.moment is None) == (role == "locate")


def test_settings_say_what_they_want() -> None:
    assert [*map(FRAME_BUDGET.frames, (179, 180, 600, 1800, 3600))] == [32, 64, 128, 192, 192]
    assert sweep("search", "3x1") == replace(PAPER, queries=3, urls=1)
    assert sweep("frames", "16").budget == fixed_budget(16)
    for point in ("search@3", "frames@many", "frames@²", "search@²x1", "search@0x1", "loops@2"):
        with pytest.raises(UsageError, match="there are"):
            sweep(*point.split("@"))
    with pytest.raises(ValueError, match="greater than 0"):
        RacloSettings(urls=0)


def test_a_video_that_cannot_be_shown_is_localized_by_what_is_said(tmp_path) -> None:
    web = make_web(tmp_path / "web")
    blind = FrameSource(library=None, read_frames=None)
    reasoner = EmbeddedReasoner(sentences())
    found = run_raclo(Memory(key_moment="kettle video 7: the secret is PLUM"), web, reasoner, blind)
    moments = [one.moment for one in found.candidates if one.moment is not None]
    assert [moment.frames for moment in moments] == [0]
    assert moments[0].start <= moments[0].time < moments[0].end
    assert any("by words alone" in step.text for step in found.steps)


class Searching(RecallingReasoner):
    """A model that searches once, learns from the results, searches again, and opens what it chose."""

    def __init__(self, *steps: SearchStep | Exception, **rules: Any) -> None:
        super().__init__(**rules)
        self.steps, self.searched = list(steps), list[SearchStepRequest]()

    def search_step(self, request: SearchStepRequest) -> SearchStep:
        self.searched.append(request)
        step = self.steps.pop(0) if self.steps else SearchStep(thought="nothing more")
        if isinstance(step, Exception):
            raise step
        return step


def numbers(request: SearchStepRequest, *titles: str) -> tuple[int, ...]:
    listed = [result.title for _, result in request.results]
    return tuple(listed.index(title) for title in titles)


def test_the_model_sees_its_results_searches_again_and_chooses_what_to_open(tmp_path) -> None:
    class Choosing(Searching):
        def search_step(self, request: SearchStepRequest) -> SearchStep:
            if len(self.searched) == 2:
                wanted = numbers(request, "kettle video 7", "kettle video 3", "kettle video 1")
                self.steps = [SearchStep(thought="number 7", open=wanted)]
            return super().search_step(request)

    first, second = SearchStep(thought="a kettle", queries=("kettle",)), "kettle video"
    reasoner = Choosing(first, SearchStep(thought="too many", queries=("Kettle", second)))
    found = run(tmp_path, reasoner=reasoner)
    assert found.queries == ("kettle", second)
    assert [[one.query for one in request.observed] for request in reasoner.searched] == [
        [],
        ["kettle"],
        ["kettle", second],
    ]
    assert [request.queries_left for request in reasoner.searched] == [2, 1, 0]
    assert [len(one.results) for one in reasoner.searched[1].observed] == [10]
    # Of one search two videos at most are opened, in the order in which the model gave them.
    assert [one.title for one in found.candidates] == ["kettle video 7", "kettle video 3"]
    assert (found.matched, found.failures, reasoner.imagined) == (True, (), [])


def test_sounds_of_the_whole_video_have_one_line() -> None:
    import numpy as np

    track = SoundTrack("v", ("music",) * 20 + ("speech",) * 4 + ("silence",) * 2, np.zeros(26, np.float32))
    shown = [(line.start, line.end, line.text, line.kind) for line in measured_lines(track)]
    assert shown == [
        (0.0, 26.0, "music plays most of the time", "tag"),
        (20.0, 24.0, "somebody speaks", "tag"),
    ]
