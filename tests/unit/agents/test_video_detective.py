"""VideoDetective over a synthetic video: steps, budgets, evidence, and failing roles."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from rag.agents.runtime.trace import Step
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.evidence import weak_evidence
from rag.agents.video_detective.features import described, evenly, facets_of, keyword_stems, whole_question
from rag.agents.video_detective.records import PRESETS, TUNED, DetectiveResult, DetectiveSettings
from rag.agents.video_detective.view import record_json
from rag.errors import BudgetSpent, UsageError
from rag.library import Library
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.decompose_facets import Facet, Facets
from rag.reasoners.roles.timeline import TimelineEvent
from rag.records import Question
from tests.fakes.detective_world import RuleReasoner, open_world, pixels, question


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_world(tmp_path_factory.mktemp("detective")) as opened:
        yield opened


def run(
    library: Library, reasoner: RuleReasoner | None = None, **changes: Any
) -> tuple[DetectiveResult, RuleReasoner]:
    chosen = reasoner or RuleReasoner()
    settings = dataclasses.replace(TUNED, **changes)
    detective = VideoDetective(library, settings, reasoner=cast("Reasoner", chosen))
    return detective.investigate("workshop", question()), chosen


def test_it_finds_the_part_and_answers(library: Library) -> None:
    found, reasoner = run(library)
    assert found.answer.choice == "D"
    assert found.answer.text == "the hammer of part 9"
    right = [pack for pack in found.selected.packs if pack.start < 200.0 and pack.end > 180.0]
    assert right
    assert reasoner.asked[:2] == ["timeline", "decompose_facets"]
    assert reasoner.asked[-1] == "answer_choice"
    assert [facet.name for facet in found.plan.facets] == ["question", "A", "B", "C", "D"]
    cited = found.answer.citations[0]
    assert cited.kind == "video"
    assert cited.path == "/videos/workshop.mp4"


def test_it_keeps_to_its_budgets(library: Library) -> None:
    found, reasoner = run(library)
    assert len(found.looks) <= TUNED.steps(4) == 10
    assert TUNED.steps(6) == 12
    assert len({look.node for look in found.looks}) == len(found.looks)
    assert len(found.frame_times) <= 32
    assert len(set(found.frame_times.tolist())) == len(found.frame_times)
    assert sum(pack.chosen for pack in found.selected.packs) <= 8
    for look in found.looks:
        assert len(look.times) <= 9
        assert all(look.start - 1e-6 <= time < look.end for time in look.times)
    shown = sum(
        len(window.frame_times) for window in reasoner.readings[0].windows if window.frame_times is not None
    )
    assert shown == len(found.frame_times)


def test_segments_are_the_parts_of_the_video(library: Library) -> None:
    found, _ = run(library)
    starts = np.array(found.plan.starts)
    # The two parts in the middle, and those where the order turns, show the same thing side by side.
    assert set(starts.tolist()) <= {20.0 * part for part in range(24)}
    assert len(starts) >= 20


def test_the_first_looks_go_to_the_anchors_of_the_facets(library: Library) -> None:
    found, _ = run(library)
    anchored = [look for look in found.looks if look.policy == "anchor"]
    assert found.looks[: len(anchored)] == tuple(anchored)
    assert {name for look in anchored for name in look.facets} == {"question", "A", "B", "C", "D"}
    by_name = dict(zip([facet.name for facet in found.plan.facets], found.plan.anchors, strict=True))
    assert anchored[0].node == by_name[anchored[0].facets[0]]
    confirmed = [name for look in found.looks for name in look.confirmed]
    assert len(confirmed) == len(set(confirmed))
    gaps = [look for look in found.looks if look.policy == "gap"]
    if gaps:
        assert set(confirmed) == set(by_name)


def test_belief_is_one_number_a_segment_and_moves(library: Library) -> None:
    found, _ = run(library)
    for look in found.looks:
        assert len(look.belief) == len(found.plan.starts)
    assert found.looks[0].belief != found.plan.belief
    still, _ = run(library, propagation=False)
    first = still.looks[0]
    moved = [i for i, (a, b) in enumerate(zip(still.plan.belief, first.belief, strict=True)) if a != b]
    assert moved in ([], [first.node])


def test_the_same_question_gives_the_same_investigation(library: Library) -> None:
    first, _ = run(library)
    second, _ = run(library)
    unclocked = [dataclasses.replace(each.answer, timings={}) for each in (first, second)]
    assert unclocked[0] == unclocked[1]
    assert (first.plan, first.looks, first.selected) == (second.plan, second.looks, second.selected)


def test_ablations_take_away_what_they_say(library: Library) -> None:
    bare, reasoner = run(library, facets=False)
    assert "decompose_facets" not in reasoner.asked
    assert [facet.name for facet in bare.plan.facets] == ["question"]
    once, _ = run(library, refinement=False)
    assert {look.policy for look in once.looks} == {"anchor"}
    _, reasoner = run(library, texts=False)
    assert all(not window.texts for window in reasoner.readings[0].windows)
    assert all(not request.view.texts for request in reasoner.requests)
    spread, reasoner = run(library, sampling="uniform")
    steps = np.diff(spread.frame_times)
    assert steps.max() - steps.min() <= 1.0
    assert len(spread.frame_times) == 32
    assert [len(pack.times) for pack in spread.selected.packs] == [4] * 8
    assert any(window.texts for window in reasoner.readings[0].windows)


def test_the_callback_gets_every_step_in_order(library: Library) -> None:
    steps: list[Step] = []
    detective = VideoDetective(library, reasoner=cast("Reasoner", RuleReasoner()))
    found = detective.investigate("workshop", question(), steps.append)
    records = [found.plan, *found.looks, found.selected]
    assert [step.line() for step in steps] == [record_json(record) for record in records]


def test_an_open_question_is_answered_openly(library: Library) -> None:
    detective = VideoDetective(library, reasoner=cast("Reasoner", RuleReasoner()))
    found = detective.investigate("workshop", Question("q", "What is shown in part 5?"))
    assert found.answer.choice is None
    assert found.answer.matched
    with pytest.raises(UsageError, match="no such video"):
        detective.investigate("elsewhere", question())


def test_decoded_frames_go_to_a_reasoner_that_reads_pixels(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library.engine, "read_frames", pixels)
    reasoner = RuleReasoner()
    reasoner.reads_pixels = True
    found, _ = run(library, reasoner)
    assert all(request.view.frames is not None for request in reasoner.requests)
    decoded = [window.frames for window in reasoner.readings[0].windows if window.frames is not None]
    assert sum(len(frames.times) for frames in decoded) == len(found.frame_times)
    reasoner.requests.clear()
    monkeypatch.setattr("rag.store.lookup.file_state", lambda _: "changed")
    run(library, reasoner)
    assert [request.view.frames for request in reasoner.requests] == [None] * len(reasoner.requests) != []


def test_a_library_without_frames_is_searched_by_its_words(tmp_path: Path) -> None:
    with open_world(tmp_path, images=False) as library:
        found, reasoner = run(library)
        assert found.answer.choice == "D"
        assert all(window.frame_vectors is None for window in reasoner.readings[0].windows)


@pytest.mark.parametrize("role", ["decompose_facets", "timeline", "observe"])
def test_a_role_that_fails_is_noted_and_the_rest_goes_on(library: Library, role: str) -> None:
    found, _ = run(library, RuleReasoner(fails=[role]))
    assert found.answer.choice in set("ABCD")
    noted = [*found.plan.problems, *(look.problem for look in found.looks)]
    assert any("today" in line for line in noted)


def test_a_spent_budget_ends_the_looking_and_keeps_what_was_seen(library: Library) -> None:
    found, reasoner = run(library, RuleReasoner(fails=["observe"], error=BudgetSpent))
    assert len(found.looks) == 1
    assert found.answer.choice in set("ABCD")
    found, _ = run(library, RuleReasoner(fails=["answer_choice"], error=BudgetSpent))
    assert found.answer.choice is None
    assert not found.answer.matched
    assert "today" in found.answer.explanation
    assert reasoner.asked.count("observe") == 1


def test_weak_evidence_spreads_the_frames() -> None:
    assert weak_evidence([0.41, 0.0, 0.0], TUNED) == ""
    assert weak_evidence([0.3, 0.1, 0.1], TUNED).startswith("weak")
    assert weak_evidence([0.35, 0.3, 0.3], TUNED).startswith("flat")
    assert weak_evidence([0.39, 0.2, 0.1], TUNED) == ""
    assert weak_evidence([], TUNED).startswith("weak")


def test_weak_evidence_is_said(library: Library) -> None:
    reasoner = RuleReasoner()
    detective = VideoDetective(
        library, dataclasses.replace(TUNED, texts=False), reasoner=cast("Reasoner", reasoner)
    )
    found = detective.investigate("workshop", Question("q", "Zebra?", ("giraffe", "okapi")))
    assert found.selected.fallback.startswith("weak")
    assert found.answer.details["fallback"] == found.selected.fallback
    assert np.diff(found.frame_times).max() <= 16.0


def test_settings_refuse_what_cannot_be() -> None:
    for wrong in ({"alpha": 1.5}, {"nodes": 0}, {"beta": 1.0}, {"suppression": 0.0}, {"tau": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            DetectiveSettings(**wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("preset", PRESETS)
def test_both_presets_have_the_numbers_of_the_tables(preset: str) -> None:
    chosen = PRESETS[preset]
    five = (chosen.alpha, chosen.tau, chosen.neighbours, chosen.similarity, chosen.shortest)
    assert (*five, chosen.iterations, chosen.beta) == (0.6, 30.0, 8, 0.82, 10, 7, 0.6)
    six = (chosen.frames, chosen.base_steps, chosen.steps_per_extra_option, chosen.window_frames)
    assert (*six, chosen.retry_relevance, chosen.flat_gap) == (32, 10, 1, 9, 0.2, 0.15)
    more = (chosen.fallback_max_relevance, chosen.fallback_mean_relevance, chosen.prior_weight)
    assert more == (0.4, 0.2, 0.5)
    seven = (chosen.nodes, chosen.frames_per_node, chosen.least_uniform, chosen.suppression)
    assert (*seven, chosen.lexical_clip) == (8, 4, 4, 0.2, 3.0)
    assert (chosen.duplicate, chosen.relaxed_duplicate, chosen.fallback_similarity) == (0.92, 0.95, 0.90)


def test_facets_by_words() -> None:
    asked = question()
    (whole,) = whole_question(asked)
    assert "hammer" in whole.keywords
    assert facets_of(Facets(general_semantic_query="x"), asked)[0].queries == ("x",)
    assert keyword_stems(Facet("A", ("torque wrench", "wrenches"), ())) == ("torqu", "wrench")


def test_events_of_the_timeline_are_given_to_segments(library: Library) -> None:
    detective = VideoDetective(library, reasoner=cast("Reasoner", RuleReasoner()))
    material = detective.features("workshop")
    events = (
        TimelineEvent(start=0.0, end=25.0, description="one"),
        TimelineEvent(start=10.0, end=20.0, description="two"),
        TimelineEvent(start=460.0, end=480.0, description="last"),
    )
    reported = described(material, events)
    assert reported[0] == "one two"
    assert reported[1] == "one"
    assert reported[-1] == "last"
    assert reported[3] == "two"
    assert described(material, ())[0] == ""


def test_evenly_spread_frames() -> None:
    times = np.arange(0.0, 10.0, 0.5)
    assert evenly(times, 0.0, 10.0, 2) == [5, 15]
    assert evenly(times, 0.0, 1.0, 8) == [0, 1, 2]
    assert evenly(times[:0], 0.0, 1.0, 8) == []
