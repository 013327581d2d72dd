"""The whole pipeline over a real library with made-up vectors: what is found, where, and what is cited."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.records import Frames
from indexers.protocol import TextEncoder
from localization.windows import Window
from rag.answering import NOT_SURE, NOTHING_MATCHES, STAGES, Context, Pipeline, Rewriting, answer_question
from rag.errors import DamagedFile
from rag.questions import parse_question
from rag.reasoners.embedded import EmbeddedReasoner
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.questions import ANCHOR_EVENT, REWRITE_QUESTION
from rag.reasoners.roles.reading import Reading
from rag.records import Answer, SearchFilter, Usage
from rag.retrieval import RetrievedClip, Retriever
from rag.retrieval.frames import LEAST_MATCH
from rag.settings import Settings
from rag.store.reading import Reader
from tests.fakes.answer_world import BagOfWords, ImageWords, Script, build_library
from tests.fakes.embedded_reasoner import encoder
from tests.fakes.role_methods import RoleMethods

VIDEOS = {
    "bench": [
        (0.0, 10.0, "lamp", "Good morning from the workshop in Lyon."),
        (10.0, 14.0, "drill", "First the wooden board gets four holes"),
        (14.0, 17.0, "hammer iron", "for the brass screws."),
        (17.0, 30.0, "hammer", "Then nails hold the frame together."),
        (30.0, 45.0, "brush", "Varnish dries within six hours."),
        (45.0, 60.0, "lamp", "Thanks for watching."),
    ],
    "kitchen": [
        (0.0, 12.0, "knife", ""),
        (12.0, 20.0, "kettle", "Green tea needs water at eighty degrees."),
        (20.0, 36.0, "spoon", ""),
    ],
}
PASSAGES = {
    "How to Drill Holes": "A drill bit makes clean holes in wood. A drill should not be used without glasses "
    "because chips harm the eyes.",
    "How to Descale Kettles": "Fill the kettle with vinegar and water. A kettle should be rinsed twice "
    "after descaling.",
    "How to Sharpen Scissors": "Cut through sandpaper ten times. Scissors stay sharp for a year.",
}


class World:
    def __init__(
        self,
        folder: Path,
        images: bool = True,
        videos: Script = VIDEOS,
        passages: Mapping[str, str] = PASSAGES,
        text: TextEncoder | None = None,
    ) -> None:
        self.text = text or BagOfWords()
        self.tower = ImageWords() if images else None
        self.reader = Reader.open(build_library(folder, videos, passages, self.tower, words=self.text))
        self.settings = Settings()
        self.retriever = Retriever(self.reader, self.tower, self.text, self.settings)
        self.reasoner = EmbeddedReasoner(self.text, self.tower)

    def ask(self, text: str, options: Sequence[str] = (), **how: Any) -> Answer:
        question = parse_question(text, options)
        return answer_question(question, self.retriever, self.reasoner, self.settings, **how)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory) -> dict[bool, World]:
    return {images: World(tmp_path_factory.mktemp("library") / "rag", images) for images in (True, False)}


@pytest.fixture
def bench(tmp_path) -> Callable[..., World]:
    """A world of videos alone."""
    return lambda shown, **how: World(tmp_path / "rag", videos={"bench": shown}, passages={}, **how)


@pytest.fixture(scope="module")
def worded(tmp_path_factory) -> World:
    """With the real encoder of text, which statements are compared by."""
    return World(tmp_path_factory.mktemp("worded") / "rag", text=encoder())


@pytest.mark.parametrize("images", [True, False])
def test_an_open_question_is_answered_by_the_whole_spoken_sentence(
    worlds: dict[bool, World], images: bool
) -> None:
    answer = worlds[images].ask("How many holes does the wooden board get for the screws?")
    assert answer.matched
    assert answer.text == "First the wooden board gets four holes for the brass screws."
    assert answer.choice is None
    cited = answer.citations[0]
    assert cited.path == "/videos/bench.mp4"
    assert (cited.start, cited.end) == (10.0, 17.0), "the whole cues that it quotes"
    assert any("board" in evidence.text for evidence in cited.evidence)
    assert "holes for the brass screws" not in answer.explanation
    assert tuple(answer.timings) == STAGES
    assert answer.usage == Usage()


@pytest.mark.parametrize("images", [True, False])
def test_nothing_matches_is_an_answer(worlds: dict[bool, World], images: bool) -> None:
    for options in ((), ("Paris", "Ulan Bator")):
        answer = worlds[images].ask("From which capital is Mongolia governed?", options)
        assert not answer.matched
        assert (answer.text, answer.choice, answer.citations) == (NOTHING_MATCHES, None, ())
        assert answer.confidence == 0.0
        assert re.search(r"Nearest is (?:[\d.-]+ s of .+\.mp4|“.+\.” in all\.csv)\.$", answer.explanation)
        assert tuple(answer.timings) == STAGES


@pytest.mark.parametrize("images", [True, False])
def test_the_line_beside_an_event_is_found_in_the_next_clip_and_cited(tmp_path, images: bool) -> None:
    lines = ["A butterfly lands on the rabbit.", "The rabbit wakes up.", "Three rodents throw nuts."]
    meadow = [(40.0 * at, 40.0 * at + 3.0, "", said) for at, said in enumerate(lines)]
    world = World(tmp_path / "rag", images, {"meadow": [(0.0, 120.0, "lamp", ""), *meadow]})
    for question, line, at in (
        ("What happens after the butterfly lands?", lines[1], 40.0),
        ("What happens right before three rodents throw nuts?", lines[1], 40.0),
        ("What does the rabbit do just after the butterfly lands?", lines[1], 40.0),
        ("What comes before the rabbit wakes up?", lines[0], 0.0),
    ):
        answer = world.ask(question)
        assert answer.text == line
        (cited,) = answer.citations
        assert cited.start < at + 3.0
        assert cited.end > at
        assert cited.end - cited.start <= 5.0
    for question in ("What happens after the rodents throw nuts?", "What comes before the butterfly lands?"):
        assert not world.ask(question).matched


def test_an_object_is_recognised_by_its_frame_before_an_event(worlds: dict[bool, World]) -> None:
    question = (
        "In a video where a lamp is on a table, after the drill makes a hole, what is the object by the iron?"
    )
    answer = worlds[True].ask(question, ["a kettle", "a hammer", "a spoon", "a knife"])
    assert answer.choice == "B"
    assert answer.details["anchor"] == {
        "description": "the drill makes a hole",
        "position": "after",
        "target": "the object by the iron",
    }
    cited = answer.citations[0]
    assert cited.path == "/videos/bench.mp4"
    assert 10.0 <= cited.start < 14.0 < cited.end
    assert sum(option.score for option in answer.options) == pytest.approx(1.0)
    assert [option.label for option in answer.options] == ["A", "B", "C", "D"]


def test_two_hops_join_the_frame_and_the_passage(worded: World) -> None:
    options = [
        "When drilling holes. The object should be used without glasses.",
        "When drilling holes. The object should not be used without glasses.",
        "When descaling. The object should never be rinsed after descaling.",
        "When descaling. The object should be rinsed twice after descaling.",
    ]
    asked = "In a video that shows a {}, which statement is true about the object that {}?"
    workshop = worded.ask(asked.format("drill", "makes holes in the wooden board"), options)
    kitchen = worded.ask(asked.format("kettle", "heats water to eighty degrees"), options)
    assert (workshop.choice, kitchen.choice) == ("B", "D")
    assert {citation.kind for citation in workshop.citations} == {"video", "passage"}


def test_times_of_two_videos_are_not_compared(tmp_path) -> None:
    videos = {
        "bench": [(0.0, 10.0, "lamp", ""), (10.0, 20.0, "iron", ""), (20.0, 40.0, "drill", "")],
        "kitchen": [(0.0, 20.0, "drill", ""), (20.0, 40.0, "spoon", "")],
    }
    options = ["a drill", "an iron"]
    answer = World(tmp_path / "rag", videos=videos, passages={}).ask("Which of these happens first?", options)
    assert answer.choice == "B"
    assert {window[0] for window in answer.details["windows"]} == {"bench"}
    assert set(answer.details["events"]) == set(options)


def test_an_option_is_looked_for_in_every_frame_of_the_video(bench: Callable[..., World]) -> None:
    """One second of a clip shows the drill; all of an earlier one show it beside a lamp."""
    shown = [(0.0, 30.0, "drill lamp", ""), (30.0, 60.0, "iron", ""), (60.0, 88.0, "lamp", "")]
    shown += [(88.0, 89.0, "drill", ""), (89.0, 300.0, "lamp", "")]
    world, asked = bench(shown), ("Which of these happens last?", ["a drill", "an iron"])
    answer = world.ask(*asked, top_k=2)
    early = world.ask(*asked, top_k=2, where=SearchFilter(end=60.0))
    assert not world.ask("Which of these happens first?", ["a zebra", "a yak"]).matched
    assert answer.choice == "A"
    assert any(start <= 88.0 and end >= 89.0 for _, start, end, _ in answer.details["windows"])
    assert early.choice == "B", "a filter holds"


def test_images_answer_an_open_question_where_no_sentence_does(bench: Callable[..., World]) -> None:
    shown = [(at * 30.0, at * 30.0 + 30.0, "kettle" if at == 4 else "lamp", "") for at in range(8)]
    world = bench(shown)
    replies = (OpenAnswer(text=text, confidence=0.2) for text in ("", "It is on the stove."))
    seen, said = (
        world.ask("Where is a kettle?", pipeline=Pipeline(answer=lambda *_, reply=reply: reply))
        for reply in replies
    )
    for answer in (seen, said):
        assert answer.verdict == "possibly"
        (cited,) = answer.citations
        assert 120.0 <= cited.start < cited.end <= 150.0
    assert "“It is on the stove.”" in said.explanation


def test_what_comes_near_and_does_not_answer_is_not_called_nothing(worlds: dict[bool, World]) -> None:
    silent = Pipeline(answer=lambda *_: OpenAnswer(text="", confidence=0.0, explanation="Unclear."))
    answer = worlds[False].ask("When does the varnish dry?", pipeline=silent)
    assert not answer.matched
    assert answer.text == NOT_SURE
    assert "Varnish dries within six hours." in answer.explanation


def test_an_event_is_counted_in_the_whole_video(bench: Callable[..., World]) -> None:
    shown = [(float(at), at + 30.0, "lamp" if at % 90 else "drill", "") for at in range(0, 330, 30)]
    world, asked = bench(shown), "How many times is a drill seen?"
    assert world.ask(asked, ["2", "4", "6"], top_k=1).choice == "B"
    counted = world.ask(asked, top_k=1)
    assert counted.text.startswith("4: at ")
    assert [int(cited.start) // 30 for cited in counted.citations if cited.kind == "video"] == [0, 3, 6, 9]
    few = world.ask(asked, top_k=1, where=SearchFilter(end=200.0))
    assert few.text.startswith("3: at "), "a filter holds"
    unseen = world.ask(asked, top_k=1, where=SearchFilter(kinds=frozenset({"subtitle"})))
    assert not unseen.matched, "text alone shows no event"


def test_the_text_that_an_option_claims_is_read_of_a_clip_found_by_its_images(
    bench: Callable[..., World],
) -> None:
    shown = [
        (0.0, 30.0, "lamp", ""),
        (30.0, 57.0, "kettle", ""),
        (57.0, 60.0, "kettle", "Gate seven."),
        *((float(at), at + 30.0, "spoon", "What is said in a clip of a spoon.") for at in range(60, 240, 30)),
    ]
    world, asked = bench(shown), "In a clip that shows a kettle, what is said?"
    answer, retriever = world.ask(asked, ["gate two", "gate seven"]), world.retriever
    found = retriever.find_clips(asked, "A video that shows a kettle.", 1)
    claimed = retriever.with_claims(found, ["gate seven", "gate two"])
    earlier, seen = (
        retriever.with_claims(found, ["gate seven"], where)
        for where in (SearchFilter(end=50.0), SearchFilter(kinds=frozenset({"ocr"})))
    )
    assert answer.choice == "B"
    assert [clip.clip.start for clip in found] == [30.0]
    asked, wanted = (
        {span.evidence.text: span.relevance for span in clip.spans} for clip in (found[0], claimed[0])
    )
    assert wanted["Gate seven."] > 0.9 > asked["Gate seven."]
    assert claimed[0].relevance == found[0].relevance
    assert earlier == seen == found, "a filter holds for claims too"
    assert any(cited.start < 60.0 and cited.end > 57.0 for cited in answer.citations)


def test_text_that_crosses_the_times_asked_for_is_found_inside_them(tmp_path) -> None:
    """A tag lasts as long as its video, and a sentence may be for the most part in the next clip."""
    script = {"talk": [(0.0, 90.0, "", "Talk of Anna."), (56.0, 66.0, "", "The beech board is planed.")]}
    world = World(tmp_path / "rag", False, script, {})
    for query in ("Anna", "beech board"):
        (hit,) = world.retriever.search(query, where=SearchFilter(start=32.0, end=60.0))
        assert (hit.clip.start, hit.clip.end) == (30.0, 60.0)
        assert 32.0 <= hit.start < hit.end <= 60.0


@pytest.mark.parametrize("times", [{"start": 0.0}, {"end": 1000.0}])
def test_a_search_by_time_finds_videos_alone(worlds: dict[bool, World], times: dict[str, float]) -> None:
    retriever = worlds[True].retriever
    anywhere = retriever.search("beech board", "all", 10)
    assert {hit.kind for hit in anywhere} == {"video", "passage"}
    inside = retriever.search("beech board", "all", 10, SearchFilter(**times))
    assert {hit.kind for hit in inside} == {"video"}


def test_search_ranks_clips_and_passages_on_one_scale(worlds: dict[bool, World]) -> None:
    retriever = worlds[True].retriever
    hits = retriever.search("descale kettle with vinegar", "all", 5)
    assert hits[0].kind == "passage"
    assert hits[0].relevance > 0.5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert {hit.kind for hit in retriever.search("kettle", "passage", 5)} == {"passage"}
    best = retriever.search("a drill", "video", 1)[0]
    assert best.kind == "video"
    assert best.start < 14.0
    assert best.end > 10.0
    assert (best.end - best.start, best.clip.clip_id) == (5.0, "bench:00000")


def test_clips_are_ranked_by_events_and_those_behind_the_compared_ones_follow(tmp_path) -> None:
    silent = {name: [(start, end, seen, "") for start, end, seen, _ in rows] for name, rows in VIDEOS.items()}
    world = World(tmp_path / "rag", videos=silent, passages={})

    def comparing(clips: int) -> Retriever:
        search = world.settings.search.model_copy(update={"interaction_clips": clips})
        settings = world.settings.model_copy(update={"search": search})
        return Retriever(world.reader, world.tower, world.text, settings)

    # Both clips of the bench begin or end with a lamp.
    best, *others = world.retriever.find_clips("any", "a lamp", 4, events=["a brush"])
    assert best.clip.clip_id == "bench:00001"
    assert best.match == pytest.approx(1 - sum(clip.match or 0 for clip in others), abs=1e-5)
    assert (best.match or 0) > 0.5
    found = comparing(1).find_clips("any", "a knife", 4)
    assert [clip.match for clip in found] == [1.0, *[LEAST_MATCH] * 3]
    assert [found[0].clip.clip_id, found[1].clip.clip_id] == ["kitchen:00000", "bench:00000"]
    whole = comparing(0).find_clips("any", "a knife", 4)
    assert (whole[0].clip.clip_id, {clip.match for clip in whole}) == ("kitchen:00000", {None})


def test_a_title_alone_is_nowhere_in_a_video(tmp_path) -> None:
    tower = ImageWords()
    bench = {"bench": [(0.0, 20.0, "drill", "Cut the board.")]}
    folder = build_library(tmp_path / "rag", bench, {}, tower, title="Saxophone lesson")
    with Reader.open(folder) as reader:
        retriever = Retriever(reader, tower, BagOfWords(), Settings())
        assert retriever.search("saxophone lesson", "video", 1)[0].relevance > 0.5
        windows = retriever.localize_video("bench", "saxophone lesson")
        assert all(window.relevance < 0.3 for window in windows)
        untitled = build_library(tmp_path / "untitled", bench, {}, tower)
        with Reader.open(untitled) as other:
            expected = Retriever(other, tower, BagOfWords(), Settings()).localize_video(
                "bench", "saxophone lesson"
            )
        assert [(one.start, one.score) for one in windows] == [(one.start, one.score) for one in expected]


def test_a_stage_is_replaced_and_the_others_stay(worlds: dict[bool, World]) -> None:
    world = worlds[True]

    def whole_clips(_: Context, __: Rewriting, clips: Sequence[RetrievedClip]) -> list[Window]:
        return [Window(c.clip.video_id, c.clip.start, c.clip.end, 0.0) for c in clips]

    question = parse_question("Which tool makes four holes in the wooden board?", ["a lamp", "a drill"])
    whole = (question, world.retriever, world.reasoner, world.settings, SearchFilter(), 5)
    context = Context(*whole, threshold=0.0, must_choose=True)
    ours = Pipeline().run(context)
    other = replace(Pipeline(), localize=whole_clips).run(context)
    assert all(window.end - window.start <= 5.0 for window in ours.windows)
    assert (other.rewriting, other.clips, other.passages) == (ours.rewriting, ours.clips, ours.passages)
    assert [(w.start, w.end) for w in other.windows] == [(c.clip.start, c.clip.end) for c in other.clips]
    assert max(len(sample.times) for sample in other.samples if sample.times is not None) == 15


def test_an_answer_just_below_the_threshold_is_said_to_be_below_it(worlds: dict[bool, World]) -> None:
    world = worlds[True]
    question = parse_question("How often should a kettle be rinsed after descaling?")
    context = Context(
        question, world.retriever, world.reasoner, world.settings, SearchFilter(), 5, threshold=0.3
    )
    replies = [OpenAnswer(text=text, confidence=0.2996) for text in ("twice", " ")]
    below, nothing = (
        replace(Pipeline(), answer=lambda *_, reply=reply: reply).run(context).answer for reply in replies
    )
    where = "Nearest is “A kettle should be rinsed twice after descaling.” in all.csv."
    assert below.explanation == f"The best answer found has confidence 0.29, below 0.30: “twice”. {where}"
    assert nothing.explanation == where
    assert (below.matched, below.confidence, below.best_confidence) == (False, 0.0, 0.2996)
    assert nothing.best_confidence is None


class Watcher(RoleMethods):
    """In place of a language model that reads images; keeps what it was shown."""

    name = "watcher"
    reads_pixels = True

    def __init__(self, inner: EmbeddedReasoner) -> None:
        super().__init__()
        self.rewrite_question = lambda question: inner.run(REWRITE_QUESTION, question)
        self.anchor_event = lambda question: inner.run(ANCHOR_EVENT, question)
        self.seen: list[Reading] = []

    def answer_choice(self, reading: Reading) -> ChosenOption:
        self.seen.append(reading)
        return ChosenOption(choice="B", confidence=0.9, explanation="seen", windows=(0, 7), passages=(0, 0))

    def answer_open(self, reading: Reading) -> OpenAnswer:
        self.seen.append(reading)
        return OpenAnswer(text="a drill", confidence=0.9, explanation="seen", windows=(0,))

    def usage(self) -> Usage:
        return Usage(calls=1, prompt_tokens=9)


def test_pixels_are_read_inside_the_windows_and_within_the_budget(worlds: dict[bool, World]) -> None:
    world = worlds[True]
    asked: list[tuple[str, int]] = []

    def read_frames(path: str, times: np.ndarray) -> Frames:
        if "kitchen" in path:
            raise DamagedFile("gone")
        asked.append((path, len(times)))
        return Frames(times, np.zeros((len(times), 4, 4, 3), np.uint8))

    watcher = Watcher(world.reasoner)
    question = parse_question("Which tool makes four holes in the wooden board?", ["a lamp", "a drill"])
    answer = answer_question(question, world.retriever, watcher, world.settings, read_frames=read_frames)
    assert asked
    assert {count for _, count in asked} == {15}
    for window in watcher.seen[0].windows:
        if window.frames is None:
            assert "kitchen" in window.path
            continue
        assert (window.frames.times >= window.window.start).all()
        assert (window.frames.times < window.window.end).all()
        assert window.frame_vectors is not None
        assert len(window.frame_vectors) == 10
    assert answer.details["unread"] == ["/videos/kitchen.mp4: gone"] * 2
    assert [option.score for option in answer.options] == [0.0, 1.0]
    assert answer.usage.prompt_tokens == 9
    assert [c.kind for c in answer.citations] == ["video", "passage"]
