"""Decomposing, planning, picking and imagining by rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag.reasoners.embedded.imagine_queries import imagine_queries
from rag.reasoners.embedded.locate import asking_sentences
from rag.reasoners.embedded.phrases import content_runs, entities, names, query_words, statements
from rag.reasoners.embedded.plan import plan
from rag.reasoners.embedded.question_parts import decompose, refers_back, without_source_sentences
from rag.reasoners.embedded.rewriting import decompose_facets
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.select_candidates import days_in, select_candidates
from rag.reasoners.roles.imagine_queries import ImagineRequest
from rag.reasoners.roles.material import Memory
from rag.reasoners.roles.plan import KnownVideo, PlanRequest, TriedQuery
from rag.reasoners.roles.select_candidates import Candidate, SelectRequest
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


def test_names_quotations_and_runs():
    text = "In the video 'Bench day' by Ola Berg, who lifts the torque wrench, NASA is named."
    assert names(text) == ["Bench day", "Ola Berg", "NASA"]
    assert content_runs("the torque wrench clicks on the bench") == ["torque wrench clicks", "bench"]
    assert entities("a red mug, the 2024 race and Mara Lind", 2) == ("Mara Lind", "2024 race")
    assert query_words("which bird does the winner keep at home, the bird?", 10) == "bird winner home"


@pytest.mark.parametrize(
    ("question", "count"),
    [
        (TWO.text, 2),
        ("What colour is the mug that the person rinses?", 1),
        ("In the video where she paints a wall, what does she drop?", 1),
        ("A man wins a race. Which car does he drive in another film?", 2),
        ("", 1),
    ],
)
def test_a_question_of_several_steps_has_several_parts(question, count):
    assert len(decompose(question)) == count


def test_a_part_may_point_back():
    assert refers_back("what does the person tighten with it?")
    assert not refers_back("what does Ola tighten?")


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


def test_a_narrator_is_no_lead_and_a_sentence_of_a_quotation_has_no_mark(vectors):
    said = f"First I walk there. Finally, {FOUND} I'll wait."
    known = (KnownVideo("u", "Market", "verified", f"Market. “{said}”", read=(said,)),)
    reply = plan(PlanRequest(TWO, known=known), vectors)
    assert reply.sub_questions[0].finding == f"Finally, {FOUND}"
    assert not {"First", "Finally", "I"} & {word for lead in reply.leads for word in lead.split()}
    (found,) = plan(
        PlanRequest(TWO, known=(replace(known[0], summary=f"“{FOUND}”"),)), vectors
    ).sub_questions[:1]
    assert found.finding == f"“{FOUND}”"


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


def test_with_the_last_step_all_missing_parts_are_searched(vectors):
    reply = plan(PlanRequest(TWO, step=5, max_steps=5, max_queries=2), vectors)
    assert reply.search_queries[0] == "Ola Berg tool buys market"
    assert "tighten" in reply.search_queries[1]


def test_a_query_that_was_tried_is_not_tried_in_another_order(vectors):
    request = PlanRequest(TWO, tried=(TriedQuery("market buys tool Berg Ola", 0),))
    assert "Ola Berg tool buys market" not in plan(request, vectors).search_queries


def test_what_all_options_share_sets_none_apart():
    reply = decompose_facets(
        Question("q", "What does she drop?", ("the red mug", "the red plate", "the red spoon"))
    )
    assert reply.option_keywords["B"] == ("red plate",)
    assert reply.semantic_queries["B"] == "she drop the red plate"
    assert len(reply.facets) == 4
    same = decompose_facets(Question("q", "What does she drop?", ("mug", "mug")))
    assert same.option_keywords == {}
    assert len(same.facets) == 3


def test_a_plan_for_time_follows_the_words_of_the_question():
    before = decompose_facets(Question("q", "What does she hold before the lights go out?"))
    assert before.temporal_plan == "find “the lights go out” first, then watch what comes just before it"
    assert "count" in decompose_facets(Question("q", "How many times does she wipe the table?")).temporal_plan
    assert decompose_facets(Question("q", "What does she hold?")).temporal_plan == ""


def test_results_are_picked_by_words_dates_and_sense_and_a_reupload_once(vectors):
    results = (
        Candidate("a", "Cat video"),
        Candidate("b", "Rinsing my mug", upload_date="20240305", duration=30),
        Candidate("c", "rinsing my mug", duration=30.4),
        Candidate("d", "Doing the dishes", "mug, plates, tap"),
    )
    request = SelectRequest("what colour is the mug?", "a mug rinsed under a tap on 5 March 2024", results, 2)
    assert select_candidates(request, vectors).selected == (1,)  # the one of that very day, plainly ahead
    undated = replace(request, sub_question="a mug rinsed under a tap")
    assert select_candidates(undated, vectors).selected == (2, 3)
    assert select_candidates(replace(request, candidates=results[:1]), vectors).selected == ()


def test_an_upload_of_another_day_than_the_one_named_ranks_lower(vectors):
    results = tuple(
        Candidate(name, f"kitchen diary {name}", channel="Tea", upload_date=f"202{number}-05-02")
        for number, name in enumerate("abc")
    )
    request = SelectRequest("what is poured?", "The channel Tea uploaded a film on 2 May 2021.", results, 3)
    assert select_candidates(request, vectors).selected == (1,)


def test_sentences_that_only_name_the_video_are_not_asked():
    asked = "In it, what does she pour into the mug?"
    assert without_source_sentences(f"The channel Tea uploaded a film in May. {asked}") == asked
    assert asking_sentences(f"The channel Tea uploaded a film in May. {asked}") == [asked]
    kept = "My bicycle is a folding one. How do I fold it?"
    assert without_source_sentences(kept) == kept
    assert without_source_sentences("Look at the film.") == "Look at the film."


def test_imagined_queries_are_the_memorys_own_words():
    memory = Memory("A documentary about bread in Lyon", "a baker slides loaves into an oven")
    reply = imagine_queries(ImagineRequest(memory, 3))
    assert len(reply.queries) == 3
    assert "Lyon" in reply.queries[0]
    assert {guess.kind for guess in reply.hypotheses} == {"source", "format", "literal"}


def test_a_moment_is_searched_by_its_action_first_then_with_its_surroundings():
    sentence = (
        "I need a shot. I vaguely remember the frame shows how somebody decants a coffee cup into the sink "
        "in a garage. In the background I see a wall clock."
    )
    assert imagine_queries(ImagineRequest(Memory(key_moment=sentence), 2)).queries == (
        "decants coffee cup sink garage",
        "decants coffee cup sink garage wall clock",
    )


@pytest.mark.parametrize(
    ("sentence", "plain"),
    [
        ("I am looking for a clip of a man who cuts bread.", ["a man who cuts bread."]),
        ("I want to find a video segment. Show me the shot where she opens the door", ["she opens the door"]),
        ("I'm searching for some footage with a kite", ["a kite"]),
        ("Looking out of the window, a cat", ["Looking out of the window, a cat"]),
        ("Find the keys under the doormat", ["Find the keys under the doormat"]),
    ],
)
def test_the_words_of_asking_go(sentence, plain):
    assert statements(sentence) == plain


@pytest.mark.parametrize(
    "text",
    ["uploaded on 5 March 2024", "the 5th of March, 2024", "Mar. 5, 2024", "March 5th 2024", "2024-03-05"],
)
def test_a_date_is_read_in_any_common_form(text):
    assert days_in(text) == {(2024, 3, 5)}
