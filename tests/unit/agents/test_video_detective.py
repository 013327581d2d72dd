"""VideoDetective over a synthetic video: steps, budgets, both presets by their equations, and evidence."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from corpora.records import Evidence
from eval.tasks.libraries import fingerprints
from localization.graph import affinity_graph, centred
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.evidence import pack_citations, read_packs, weak_evidence
from rag.agents.video_detective.features import Scorer, VideoFeatures, evidence_items
from rag.agents.video_detective.records import (
    PAPER,
    PRESETS,
    TUNED,
    WINDOW_FRAMES,
    DetectiveResult,
    DetectiveSettings,
    Pack,
    Words,
    with_frames,
)
from rag.errors import BudgetSpent, ReasonerUnreachable
from rag.library import Library
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.questions import Facet
from rag.reasoners.roles.reading import Reading
from rag.records import Question, VideoCitation
from rag.settings import load_settings
from tests.fakes.answer_world import BagOfWords, blank_frames
from tests.fakes.detective_world import RuleReasoner, open_world, question


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Iterator[Library]:
    with open_world(tmp_path_factory.mktemp("detective")) as opened:
        yield opened


def run(
    library: Library, reasoner: RuleReasoner | None = None, **changes: Any
) -> tuple[DetectiveResult, RuleReasoner]:
    chosen = reasoner or RuleReasoner()
    settings = dataclasses.replace(TUNED, **changes)
    detective = VideoDetective(library, settings, reasoner=chosen)
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


def test_decoded_frames_go_to_a_reasoner_that_reads_pixels(library: Library, monkeypatch) -> None:
    monkeypatch.setattr(library.engine, "read_frames", blank_frames)
    reasoner = RuleReasoner()
    reasoner.reads_pixels = True
    found, _ = run(library, reasoner)
    assert all(request.view.frames is not None for request in reasoner.requests)
    decoded = [window.frames for window in reasoner.readings[0].windows if window.frames is not None]
    assert sum(len(frames.times) for frames in decoded) == len(found.frame_times)
    reasoner = RuleReasoner()
    reasoner.reads_pixels = True
    monkeypatch.setattr("rag.store.lookup.file_state", lambda _: "changed")
    run(library, reasoner)
    assert [request.view.frames for request in reasoner.requests] == [None] * len(reasoner.requests) != []


def test_a_library_without_frames_is_searched_by_its_words(tmp_path) -> None:
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


def test_the_papers_look_sees_frames_alone(library: Library) -> None:
    found, reasoner = run(library, look="frames")
    assert all(request.view.frame_times is not None for request in reasoner.requests)
    assert not any(request.view.texts for request in reasoner.requests)
    # What is said there is evidence all the same.
    assert any(look.words is not None and look.words.source == "asr" for look in found.looks)
    assert any(window.texts for window in reasoner.readings[0].windows)
    assert PAPER.look == "frames"


@pytest.mark.parametrize("count", [8, 16, 32])
def test_so_many_frames_are_timeline_and_answer(library: Library, count: int) -> None:
    reasoner = RuleReasoner()
    settings = with_frames(PAPER, count)
    found = VideoDetective(library, settings, reasoner=reasoner).investigate("workshop", question())
    assert len(found.frame_times) == count
    assert len(found.plan.timeline) == count // 8, "an event every eighth frame"
    assert len({pack.node for pack in found.selected.packs if pack.times}) > 2
    assert with_frames(PAPER, 32) == PAPER


def test_an_unreachable_reasoner_is_not_called_again(library: Library) -> None:
    reasoner = RuleReasoner(fails=["timeline"], error=ReasonerUnreachable)
    found = VideoDetective(library, reasoner=reasoner).investigate("workshop", question())
    assert found.looks == ()
    assert reasoner.asked == ["timeline", "answer_choice"]
    assert found.plan.problems == ("timeline: no timeline today",)


FACET = Facet("A", ("kettle", "torque wrench"), ("the kettle is shown", "a hammer of part 9"))


def run_with(library: Library, settings: DetectiveSettings) -> DetectiveResult:
    detective = VideoDetective(library, settings, reasoner=RuleReasoner())
    return detective.investigate("workshop", question())


def scorer(library: Library, settings: DetectiveSettings) -> Scorer:
    features = VideoDetective(library, settings).features("workshop")
    return Scorer(features, [FACET], library.engine.tower, settings)


def test_the_graph_is_of_plain_or_centred_vectors(library: Library) -> None:
    for settings in PRESETS.values():
        features = VideoDetective(library, settings).features("workshop")
        nodes = features.segments.vectors
        rows = nodes if settings is PAPER else centred(nodes)
        expected = affinity_graph(rows, features.segments.centres, alpha=0.6, tau=30.0, neighbours=8)
        assert (features.graph != expected).nnz == 0


def test_the_prior_is_equation_5_in_the_towers_own_space(library: Library) -> None:
    tower = library.engine.tower
    nodes = VideoDetective(library, PAPER).features("workshop").segments.vectors
    descriptions = [f"something with a kettle at {node}" for node in range(len(nodes))]
    phi, psi = tower.encode_text(FACET.keywords), tower.encode_text(FACET.queries)
    visual = (phi.astype(np.float64) @ nodes.T).max(axis=0)
    semantic = (psi.astype(np.float64) @ tower.encode_text(descriptions).astype(np.float64).T).max(axis=0)
    (prior,) = scorer(library, PAPER).priors(descriptions)
    assert prior == pytest.approx(0.5 * visual + 0.5 * semantic, abs=2e-6)
    (tuned,) = scorer(library, TUNED).priors(descriptions)
    assert np.abs(tuned - prior).max() > 0.05


def test_a_score_is_equations_8_to_10(library: Library) -> None:
    tower = library.engine.tower
    frequencies, unknown = VideoDetective(library, PAPER).features("workshop").idf
    text = "the kettle and a torque wrench"
    # "wrench" is in no line: a default IDF; the "+ 1" of the usual smoothing is in both.
    shared = sum(frequencies.get(word, unknown) for word in ("kettl", "torqu", "wrench"))
    assert unknown == pytest.approx(math.log(25.0) + 1.0)
    rows = tower.encode_text([text, *FACET.queries]).astype(np.float64)
    semantic = float((rows[1:] @ rows[0]).max())
    expected = 0.3 * min(1.0, shared / 3.0) + 0.7 * semantic
    assert scorer(library, PAPER).by_facet(text, "caption") == [pytest.approx(expected, abs=2e-6)]


def test_a_look_is_nine_seconds_in_the_middle_of_a_segment(library: Library) -> None:
    for look in run_with(library, PAPER).looks:
        assert np.diff(look.times) == pytest.approx(1.0)
        assert len(look.times) == 9
        assert look.times[4] == pytest.approx((look.start + look.end) / 2, abs=1.0)
    for look in run_with(library, TUNED).looks:
        assert np.diff(look.times) == pytest.approx(0.5)


def test_texts_are_scored_by_source() -> None:
    texts = [
        Evidence("v", 0.0, 2.0, "subtitle", "one"),
        Evidence("v", 1.0, 5.0, "ocr", "SIGN"),
        Evidence("v", 2.0, 4.0, "asr", "two"),
        Evidence("v", 4.0, 6.0, "subtitle", "one"),
    ]
    assert evidence_items(texts, TUNED) == texts
    assert evidence_items(texts, PAPER) == [replace(texts[0], end=6.0, text="one two"), texts[1]]


def test_each_threshold_of_table_6_spreads_the_frames_by_itself() -> None:
    assert weak_evidence([0.9, 0.1, 0.1, 0.1], PAPER) == ""
    for scores in ([0.39, 0.21, 0.1], [0.9, 0.0, 0.0, 0.0, 0.0], [0.9, 0.8, 0.8]):
        assert weak_evidence(scores, PAPER)
    assert weak_evidence([0.39, 0.21, 0.1], TUNED) == weak_evidence([0.9, 0.8, 0.8], TUNED) == ""


def test_four_even_frames_keep_their_places(library: Library) -> None:
    even = {60.0, 180.0, 300.5, 420.5}
    trusting = {"fallback_max_relevance": 0.0, "fallback_mean_relevance": 0.0, "flat_gap": 0.0}
    reserved = run_with(library, replace(PAPER, **trusting))
    assert not reserved.selected.fallback
    assert even <= set(reserved.frame_times.tolist())
    small = replace(PAPER, frames=8, **trusting)
    assert even <= set(run_with(library, small).frame_times.tolist())
    assert not even <= set(run_with(library, replace(small, uniform="free")).frame_times.tolist())


def test_without_subtitles_nothing_of_them_is_evidence(library: Library) -> None:
    assert VideoDetective(library).features("workshop").texts
    chosen = load_settings(flags={"search.subtitles": False})
    with Library.open(library.engine.reader.folder, settings=chosen) as silent:
        silent.engine.__dict__.update(text_encoder=BagOfWords(), tower=library.engine.tower)
        assert VideoDetective(silent).features("workshop").texts == ()
        assert fingerprints(silent)["subtitles"] == "left out"
        assert "subtitles" not in fingerprints(library)


CUES = tuple(
    Evidence("v", start, start + 2.0, "subtitle", text)
    for start, text in (
        (10.0, "Good morning."),
        (12.0, "Before you close the lid,"),
        (14.5, "wipe the rim with a dry"),
        (17.0, "cloth so that it seals."),
        (19.5, "Then let it rest."),
        (40.0, "Far away."),
    )
)
SCREEN = Evidence("v", 15.0, 16.0, "ocr", "STEP 3")


@pytest.fixture(scope="module")
def material(library: Library) -> VideoFeatures:
    return replace(VideoDetective(library).features("workshop"), texts=(*CUES, SCREEN))


def pack(start: float, end: float, kind: str = "subtitle", text: str = CUES[2].text) -> Pack:
    source = "caption" if kind == "caption" else "asr"
    words = Words(text, source, kind, 0.5, "question", start, end)
    return Pack(0, start, end, (start,), words, 0.5, True)


def test_a_citation_reaches_the_lines_that_it_quotes(library: Library, material: VideoFeatures) -> None:
    """Of a sentence that the pack cuts; and where one segment has several packs of even frames."""
    reading = read_packs(
        Question("q", "What?"), material, [pack(14.5, 16.0)], "a jar", None, must_choose=False
    )
    said = OpenAnswer(
        text=" ".join(cue.text for cue in CUES[1:4]), confidence=0.5, explanation="", windows=(0,)
    )
    (cited,) = pack_citations(reading, said)
    assert (cited.start, cited.end, cited.evidence) == (12.0, 19.0, CUES[1:4])
    even = DetectiveSettings(sampling="uniform", frames_per_node=2)
    found = VideoDetective(library, even).investigate("workshop", Question("q", "Which?", ("a", "b")))
    packs = found.selected.packs
    assert [one.end for one in packs[:-1]] == [one.start for one in packs[1:]]
    assert len({one.node for one in packs}) < len(packs)
    assert all(one.words.start < one.end and one.words.end > one.start for one in packs if one.words)


def test_a_citation_is_the_seconds_of_the_evidence(library: Library) -> None:
    """Not those of the segment, which may be minutes: of a line, or of the frames that fit best."""
    found, _ = run(library)
    segments = {(look.start, look.end) for look in found.looks}
    cited = [one for one in found.answer.citations if isinstance(one, VideoCitation)]
    assert cited
    for one in cited:
        (line,) = one.evidence
        assert (one.start, one.end) == (line.start, line.end)
    found, _ = run(library, WordlessReasoner(), texts=False)
    (bare,) = (one for one in found.answer.citations if isinstance(one, VideoCitation))
    assert bare.end - bare.start == pytest.approx(WINDOW_FRAMES * 0.5)
    assert not any(start == bare.start and end == bare.end for start, end in segments)
    for look in found.looks:
        assert look.words is None or look.words.end - look.words.start <= WINDOW_FRAMES * 0.5 + 0.01


class WordlessReasoner(RuleReasoner):
    """Answers by the first pack that it is shown."""

    def answer_choice(self, _: Reading) -> ChosenOption:
        return ChosenOption(choice="D", confidence=0.5, explanation="seen", windows=(0,))
