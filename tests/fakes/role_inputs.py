"""One input for each role of an agent, one with little to go by, and what a sound reply to any of them is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from corpora.records import Evidence, Frames
from rag.questions import option_label
from rag.reasoners.roles import (
    Candidate,
    Facet,
    Facets,
    FrameMatch,
    ImaginedQueries,
    ImagineRequest,
    JudgeRequest,
    KnownVideo,
    Located,
    LocateRequest,
    MatchRequest,
    Memory,
    Observation,
    ObserveRequest,
    Plan,
    PlanRequest,
    SelectedCandidates,
    SelectRequest,
    SubQuestion,
    Timeline,
    TimelineRequest,
    TriedQuery,
    Verdict,
    VerifyRequest,
    VideoVerdict,
    VideoView,
)
from rag.records import Question
from tests.fakes.readings import CHOICE, OPEN


@dataclass(frozen=True)
class Case:
    role: str
    name: str
    request: Any


def video_view(
    said: tuple[str, ...] = (), *, count: int = 4, start: float = 0.0, step: float = 10.0, dim: int = 8
) -> VideoView:
    """`count` frames, `step` seconds apart, and one line of speech in the middle of each."""
    rng = np.random.default_rng(count)
    times = start + step * (np.arange(count) + 0.5)
    vectors = rng.normal(size=(count, dim)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    lines = tuple(
        Evidence("v", start + step * at + 2, start + step * at + 6, "subtitle", text)
        for at, text in enumerate(said)
    )
    images = rng.integers(0, 256, (count, 24, 32, 3), dtype=np.uint8)
    return VideoView(
        title="Telescope workshop",
        start=start,
        end=start + step * max(count, 1),
        texts=lines,
        frame_times=times if count else None,
        frame_vectors=vectors if count else None,
        frames=Frames(times, images) if count else None,
    )


VIEW = video_view(("We polish the mirror.", "This mirror is made of glass.", "Now we cut the bread."))
BARE = VideoView("", 5.0, 9.0)
MEMORY = Memory(
    global_impression="A calm film about a telescope workshop",
    key_moment="a woman polishes a mirror",
    before="she opens a box",
    after="she cuts bread",
    auditory_memory="she says that it is made of glass",
)
FACETS = (Facet("question", ("mirror", "saxophone"), ("the mirror is polished",)), Facet("A", ("glass",), ()))
RESULTS = (
    Candidate("u0", "Bread for beginners", duration=300),
    Candidate("u1", "Telescope workshop", "We polish a mirror.", "Optics", "20240305", 600, ("telescope",)),
    Candidate("u2", "telescope workshop", duration=600.5),
)
KNOWN = (
    KnownVideo(
        "u1", "Telescope workshop", "verified", "The mirror is made of borosilicate glass.", ((1, 4),)
    ),
    KnownVideo("u2", "Bread", "rejected", "Only bread is cut, with a knife called Opinel."),
)

INPUTS = (
    Case("decompose_facets", "choice", CHOICE),
    Case("decompose_facets", "open", OPEN),
    Case("imagine_queries", "two", ImagineRequest(MEMORY)),
    Case("imagine_queries", "three", ImagineRequest(Memory(key_moment="a man cuts bread with a spoon"), 3)),
    Case("plan", "first", PlanRequest(OPEN)),
    Case(
        "plan",
        "later",
        PlanRequest(
            OPEN,
            (
                SubQuestion(text="What is the mirror of the telescope made of?"),
                SubQuestion(text="Who made it?"),
            ),
            (TriedQuery("telescope mirror", 4),),
            KNOWN,
            step=2,
            max_queries=2,
        ),
    ),
    Case("select_candidates", "two", SelectRequest(OPEN.text, "telescope mirror polishing", RESULTS, 2)),
    Case("locate", "windows", LocateRequest("What is the mirror made of?", VIEW)),
    Case("locate", "frame", LocateRequest("she polishes", VIEW, "frame", must_choose=True, memory=MEMORY)),
    Case("observe", "facets", ObserveRequest(CHOICE, VIEW, FACETS)),
    Case("observe", "whole", ObserveRequest(OPEN, VIEW, vlm_query="What is it made of?")),
    Case("timeline", "plain", TimelineRequest(VIEW)),
    Case("timeline", "for a question", TimelineRequest(VIEW, OPEN)),
    Case("verify_video", "memory", VerifyRequest(MEMORY, VIEW)),
    Case("match_frame", "alone", MatchRequest("a woman polishes", video_view(count=1))),
    Case(
        "match_frame",
        "against a reference",
        MatchRequest(
            "a woman polishes", video_view(count=1), video_view(count=1), "color", "warm", "a voice"
        ),
    ),
    Case("judge", "right", JudgeRequest(OPEN.text, ("glass", "made of glass"), "Glass.")),
    Case("judge", "open", JudgeRequest(OPEN.text, ("glass",), "It is a kind of ceramic.")),
)
EMPTY = Question("q0", "?")
SPARSE = (
    Case("decompose_facets", "nothing asked", EMPTY),
    Case("imagine_queries", "nothing remembered", ImagineRequest(Memory(), 2)),
    Case("plan", "nothing asked", PlanRequest(EMPTY, max_queries=1)),
    Case("plan", "last step", PlanRequest(OPEN, tried=(TriedQuery("x", 0),), step=5)),
    Case("select_candidates", "no results", SelectRequest(OPEN.text, OPEN.text, (), 3)),
    Case("select_candidates", "untitled", SelectRequest("", "", (Candidate("u", ""),), 1)),
    Case("locate", "nothing", LocateRequest("", BARE)),
    Case("locate", "nothing, and a must", LocateRequest("?", BARE, must_choose=True)),
    Case("locate", "no frames", LocateRequest("x", BARE, "frame", must_choose=True)),
    Case("observe", "nothing", ObserveRequest(EMPTY, BARE)),
    Case("timeline", "nothing", TimelineRequest(BARE)),
    Case("verify_video", "nothing", VerifyRequest(Memory(), BARE)),
    Case("match_frame", "nothing", MatchRequest("", BARE, BARE)),
    Case("judge", "no answer", JudgeRequest("", ("x",), " ")),
    Case("judge", "no truth", JudgeRequest("", (), "x")),
)


def assert_sound_reply(reply: Any, request: Any) -> None:
    """The reply says nothing that the request excludes, and comes back whole from JSON."""
    assert type(reply).model_validate_json(reply.model_dump_json(), strict=True) == reply
    match reply:
        case Facets():
            labels = [option_label(at) for at in range(len(request.options))]
            assert {*reply.option_keywords, *reply.semantic_queries} <= {*labels}
            assert [facet.name for facet in reply.facets] == ["question", *labels]
            assert all(facet.keywords or facet.queries for facet in reply.facets)
        case ImaginedQueries():
            assert len({query.casefold() for query in reply.queries}) == request.count
            assert reply.chosen is None or 0 <= reply.chosen < len(reply.hypotheses)
        case Plan():
            assert len(reply.search_queries) <= request.max_queries
            assert not {tried.query for tried in request.tried} & {*reply.search_queries}
            assert (reply.focus is None) == reply.solved
        case SelectedCandidates():
            assert len(set(reply.selected)) == len(reply.selected) <= request.top_k
            assert all(0 <= at < len(request.candidates) for at in reply.selected)
        case Located():
            assert reply.relevant or not request.must_choose
            assert len(reply.windows) <= request.max_windows
            assert all(one.start < request.view.end and one.end > request.view.start for one in reply.windows)
            if reply.frame is not None:
                assert 0 <= reply.frame < len(request.view.times)
        case Observation():
            known = {word for facet in request.facets for word in facet.keywords}
            assert {*reply.missing} <= known
            # Where nothing can be told, nothing is.
            assert reply.caption or not request.view.texts
        case Timeline():
            assert [event.start for event in reply.events] == sorted(event.start for event in reply.events)
        case FrameMatch():
            assert (reply.image_match is None) == (request.reference is None)
        case VideoVerdict():
            assert 0 <= reply.confidence <= 1
        case Verdict():
            if not request.prediction.strip():
                assert (reply.is_correct, reply.rule) == (False, "none")
        case _:
            raise AssertionError(f"no such reply: {reply!r}")
