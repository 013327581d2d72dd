"""Decomposing, planning, picking and imagining by rules."""

from dataclasses import replace

import pytest

from rag.reasoners.embedded.rewriting import decompose_facets
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.searching import decompose, imagine_queries, plan, select_candidates
from rag.reasoners.roles.material import Memory
from rag.reasoners.roles.searching import (
    Candidate,
    ImagineRequest,
    KnownVideo,
    PlanRequest,
    SelectRequest,
    TriedQuery,
)
from rag.records import Question
from tests.fakes.embedded_reasoner import sentences

TWO = Question(
    "q",
    "In one video, Ola Berg shows the tool that she buys at the market; "
    "in another video, what does the person tighten with it?",
)
FOUND = "Ola Berg shows the tool that she bought at the market: a torque wrench."


@pytest.fixture(scope="module")
def vectors():
    return SentenceVectors(sentences())


@pytest.mark.parametrize(
    ("question", "count"),
    [
        (TWO.text, 2),
        ("In the video where she paints a wall, what does she drop?", 1),
        ("What does she paint? Why?", 1),
        ("A man wins a race. Which car does he drive in another film?", 2),
        ("", 1),
    ],
)
def test_a_question_of_several_steps_has_several_parts(question, count):
    assert len(decompose(question)) == count


def test_only_what_is_missing_is_searched_and_with_what_was_found(vectors):
    first = plan(PlanRequest(TWO), vectors)
    assert [part.status for part in first.sub_questions] == ["missing", "missing"]
    assert first.focus == 0
    assert first.search_queries[0] == "Ola Berg tool buys market"
    known = (KnownVideo("u", "Market", "verified", FOUND, read=(FOUND,)),)
    tried = tuple(TriedQuery(query, 2) for query in first.search_queries)
    second = plan(PlanRequest(TWO, first.sub_questions, tried, known, step=2), vectors)
    assert [part.status for part in second.sub_questions] == ["solved", "missing"]
    assert second.sub_questions[0].finding == FOUND
    assert second.focus == 1
    assert "torque wrench" in second.search_queries[0]
    assert not {*first.search_queries} & {*second.search_queries}


def test_a_watched_video_is_partial_and_a_rejected_one_only_leads(vectors):
    for status, expected in (("watched", "partial"), ("rejected", "missing")):
        known = (KnownVideo("u", "Market", status, FOUND, read=(FOUND,)),)
        reply = plan(PlanRequest(TWO, known=known), vectors)
        assert reply.sub_questions[0].status == expected
        assert reply.leads == ("torque wrench",)


def test_a_message_leads_nowhere(vectors):
    """Neither why a video was rejected nor which frame fits is searched for."""
    bought = "Ola Berg buys a tool at a market: the frame at 12.0 s fits (z = 3.10)."
    why = "no frame and no line speaks to it. The channel Tea uploaded it."
    rejected = KnownVideo("u", "Bread", "rejected", why, read=("Tea",))
    known = (KnownVideo("v", "Market", "verified", bought), rejected)
    reply = plan(PlanRequest(TWO, known=known, step=2, max_queries=20), vectors)
    assert reply.sub_questions[0].status == "solved"
    assert reply.leads == ("Tea",)
    assert not {"frame", "frames", "line", "speaks", "fits", "12.0", "z", "channel"} & {
        word.casefold() for query in reply.search_queries for word in query.split()
    }


def test_at_the_last_step_all_that_is_missing_is_searched_and_no_query_twice(vectors):
    reply = plan(PlanRequest(TWO, step=5, max_steps=5, max_queries=2), vectors)
    assert reply.search_queries[0] == "Ola Berg tool buys market"
    assert "tighten" in reply.search_queries[1]
    request = PlanRequest(TWO, tried=(TriedQuery("market buys tool Berg Ola", 0),))
    assert "Ola Berg tool buys market" not in plan(request, vectors).search_queries


def test_what_all_options_share_sets_none_apart():
    reply = decompose_facets(
        Question("q", "What does she drop?", ("the red mug", "the red plate", "the red spoon"))
    )
    assert reply.option_keywords["B"] == ("red plate",)
    assert reply.semantic_queries["B"] == "she drop: the red plate"
    assert len(reply.facets) == 4
    same = decompose_facets(Question("q", "What does she drop?", ("mug", "mug")))
    assert same.option_keywords == {}
    assert len(same.facets) == 3


def test_results_are_picked_by_words_dates_and_sense(vectors):
    results = (
        Candidate("a", "Cat video", channel="cats"),
        Candidate("b", "Rinsing my mug", upload_date="20240305"),
        Candidate("d", "Doing the dishes", "mug, plates, tap"),
    )
    request = SelectRequest("what colour is the mug?", "a mug rinsed under a tap on 5 March 2024", results, 2)
    assert select_candidates(request, vectors).selected == (1,)  # the one of that very day, plainly ahead
    undated = replace(request, sub_question="a mug rinsed under a tap")
    assert select_candidates(undated, vectors).selected == (1, 2)
    assert select_candidates(replace(request, candidates=results[:1]), vectors).selected == ()
    files = (Candidate("e", "clip_047"), Candidate("f", "clip_012"))
    assert select_candidates(replace(request, candidates=(*files, results[1])), vectors).selected == (2, 0)


def test_a_statement_that_only_asks_for_a_clip_is_not_searched_for():
    memory = Memory(key_moment="I am looking for a clip. Somebody lets a candle stick fall in an office.")
    assert imagine_queries(ImagineRequest(memory, 1)).queries == ("lets candle stick fall office",)


def test_imagined_queries_are_the_memorys_own_words_and_begin_with_what_the_whole_is_about():
    memory = Memory("A documentary about bread in Lyon", "a baker slides loaves into an oven")
    reply = imagine_queries(ImagineRequest(memory, 3))
    assert len(reply.queries) == 3
    assert "Lyon" in reply.queries[0]


def test_a_moment_is_searched_by_its_action_first_then_with_its_surroundings():
    sentence = "Somebody decants a coffee cup into the sink in a garage. A wall clock is on the wall."
    assert imagine_queries(ImagineRequest(Memory(key_moment=sentence), 2)).queries == (
        "decants coffee cup sink garage",
        "decants coffee cup sink garage wall clock",
    )
