"""Requests with little to go by, and what a sound reply to them is."""

from __future__ import annotations

from typing import Any

from rag.questions import option_label
from rag.reasoners.roles import (
    DECOMPOSE_FACETS,
    IMAGINE_QUERIES,
    JUDGE,
    LOCATE,
    MATCH_FRAME,
    OBSERVE,
    PLAN,
    SELECT_CANDIDATES,
    TIMELINE,
    VERIFY_VIDEO,
    Candidate,
    Facets,
    FrameMatch,
    ImaginedQueries,
    ImagineRequest,
    JudgeRequest,
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
    Timeline,
    TimelineRequest,
    TriedQuery,
    Verdict,
    VerifyRequest,
    VideoVerdict,
    VideoView,
)
from rag.reasoners.testing import OPEN, Case, video_view
from rag.records import Question

BARE = VideoView("", 5.0, 9.0)
EMPTY = Question("q0", "?")
SPARSE = (
    Case(DECOMPOSE_FACETS, "nothing asked", EMPTY),
    Case(IMAGINE_QUERIES, "nothing remembered", ImagineRequest(Memory(), 2)),
    Case(PLAN, "nothing asked", PlanRequest(EMPTY, max_queries=1)),
    Case(PLAN, "last step", PlanRequest(OPEN, tried=(TriedQuery("x", 0),), step=5)),
    Case(SELECT_CANDIDATES, "no results", SelectRequest(OPEN.text, OPEN.text, (), 3)),
    Case(SELECT_CANDIDATES, "untitled", SelectRequest("", "", (Candidate("u", ""),), 1)),
    Case(LOCATE, "nothing", LocateRequest("", BARE)),
    Case(LOCATE, "nothing, and a must", LocateRequest("?", BARE, must_choose=True)),
    Case(LOCATE, "no frames", LocateRequest("x", BARE, "frame", must_choose=True)),
    Case(OBSERVE, "nothing", ObserveRequest(EMPTY, BARE)),
    Case(TIMELINE, "nothing", TimelineRequest(BARE)),
    Case(VERIFY_VIDEO, "nothing", VerifyRequest(Memory(), BARE)),
    Case(MATCH_FRAME, "nothing", MatchRequest("", BARE, BARE)),
    Case(MATCH_FRAME, "a colour", MatchRequest("a woman", video_view(count=1), None, "color", "warm")),
    Case(JUDGE, "no answer", JudgeRequest("", ("x",), " ")),
    Case(JUDGE, "no truth", JudgeRequest("", (), "x")),
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
            # Without knowledge, nothing is stated.
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
