"""One call of a role: repair, bounds and the count of tokens, with a client that replies with given lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag.errors import BudgetSpent, ReasonerUnreachable, ReplyInvalid
from rag.reasoners.llm.messages import ChatReply
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.llm.usage import KEYS
from rag.reasoners.roles.anchor_event import ANCHOR_EVENT, AnchorEvent
from rag.reasoners.roles.answer_choice import ANSWER_CHOICE
from rag.reasoners.roles.answer_open import ANSWER_OPEN
from rag.reasoners.roles.reading import sample_reading
from rag.reasoners.roles.rewrite_question import REWRITE_QUESTION
from rag.reasoners.roles.samples import CHOICE, OPEN
from rag.settings import ReasonerSettings
from tests.fakes.scripted_client import ANCHOR, CHOSEN, Scripted

ROOT = Path(__file__).resolve().parents[3]


def make_reasoner(client: Scripted, **settings) -> LlmReasoner:
    return LlmReasoner(client, ReasonerSettings(kind="openai", model="m", **settings))


def test_a_good_reply_takes_one_call():
    client = Scripted(ANCHOR)
    assert make_reasoner(client).run(ANCHOR_EVENT, OPEN) == AnchorEvent(description="she polishes something")
    (messages,) = client.requests
    assert [message.speaker for message in messages] == ["system", "user"]
    assert OPEN.text in messages[1].text
    assert client.schemas[0]["required"] == ["description"]


def test_a_bad_reply_is_shown_its_error_and_repaired():
    client = Scripted("The answer is B.", '{"position": "after"}', ANCHOR)
    reasoner = make_reasoner(client)
    reasoner.run(ANCHOR_EVENT, OPEN)
    assert [message.speaker for message in client.requests[1][2:]] == ["assistant", "user"]
    assert client.requests[1][2].text == "The answer is B."
    assert "there is no JSON object in the reply" in client.requests[1][3].text
    assert "description: Field required" in client.requests[2][3].text
    assert len(client.requests[2]) == 4, "only the last bad reply is shown"
    usage = reasoner.usage()
    assert (usage.calls, usage.by_role["anchor_event"]["repairs"]) == (3, 2)


def test_what_reading_took_is_counted_by_role():
    client = Scripted(ANCHOR, ANCHOR.replace("}", ",}"), "nonsense")
    reasoner = make_reasoner(client, repairs=1)
    for _ in range(2):
        reasoner.run(ANCHOR_EVENT, OPEN)
    with pytest.raises(ReplyInvalid):
        reasoner.run(ANCHOR_EVENT, OPEN)
    row = reasoner.usage().by_role["anchor_event"]
    assert (row["calls"], row["repairs"], row["repaired"], row["filtered"], row["unread"]) == (4, 1, 1, 0, 1)


@pytest.mark.parametrize("repairs", [0, 2])
def test_repair_is_bounded(repairs):
    client = Scripted("nonsense")
    with pytest.raises(ReplyInvalid, match=rf"anchor_event in {repairs + 1} attempts: there is no JSON"):
        make_reasoner(client, repairs=repairs).run(ANCHOR_EVENT, OPEN)
    assert len(client.requests) == repairs + 1


def test_a_runaway_or_empty_reply_is_not_fed_back_whole():
    client = Scripted("x" * 100_000, ChatReply("", cut=True), ANCHOR)
    make_reasoner(client).run(ANCHOR_EVENT, OPEN)
    assert len(client.requests[1][2].text) == 2000
    assert client.requests[2][2].text == "(empty reply)"
    assert "cut at 4096 tokens" in client.requests[2][3].text


def test_the_number_of_passage_queries_is_that_of_the_options():
    short = {"visual_query": "A video that shows a workshop.", "passage_queries": ["one"]}
    filled = make_reasoner(Scripted(json.dumps(short))).run(REWRITE_QUESTION, CHOICE)
    assert filled.passage_queries == ("one", *CHOICE.options[1:])
    assert make_reasoner(Scripted(json.dumps(short))).run(REWRITE_QUESTION, OPEN).passage_queries == ("one",)


def test_a_choice_outside_the_labels_is_never_taken():
    client = Scripted(json.dumps({**CHOSEN, "choice": "F"}), json.dumps(CHOSEN))
    reply = make_reasoner(client).run(ANSWER_CHOICE, sample_reading(CHOICE))
    assert (reply.choice, reply.windows, reply.passages) == ("A", (0,), (0,))
    assert "one of A, B, C or null" in client.requests[1][3].text


def test_what_the_model_does_not_cite_is_not_cited():
    bare = {"text": "glass", "confidence": 0.7, "explanation": "It says so."}
    reply = make_reasoner(Scripted(json.dumps(bare))).run(ANSWER_OPEN, sample_reading(OPEN))
    assert (reply.windows, reply.passages) == ((), ())


def test_a_model_that_reads_words_only_is_sent_no_image():
    with_images, without = Scripted(json.dumps(CHOSEN)), Scripted(json.dumps(CHOSEN))
    reasoner = make_reasoner(without, images=False)
    assert not reasoner.reads_pixels
    reasoner.run(ANSWER_CHOICE, sample_reading(CHOICE))
    make_reasoner(with_images).run(ANSWER_CHOICE, sample_reading(CHOICE))
    assert len(without.requests[0][1].images) == 0
    assert len(with_images.requests[0][1].images) == 8
    assert "This mirror is made of glass." in without.requests[0][1].text


def test_calls_are_bounded_for_each_question():
    reasoner = make_reasoner(Scripted("nonsense", ANCHOR), max_calls=2)
    reasoner.run(ANCHOR_EVENT, OPEN)
    with pytest.raises(BudgetSpent, match=r"2 calls spent .*reasoner\.max_calls"):
        reasoner.run(ANCHOR_EVENT, OPEN)
    assert reasoner.usage().calls == 2
    reasoner.run(ANCHOR_EVENT, OPEN)


def test_counts_of_the_server_are_taken_as_they_are():
    reasoner = make_reasoner(
        Scripted(ChatReply(ANCHOR, prompt_tokens=120, completion_tokens=15, image_tokens=0))
    )
    reasoner.run(ANCHOR_EVENT, OPEN)
    usage = reasoner.usage()
    assert (usage.prompt_tokens, usage.completion_tokens, usage.image_tokens) == (120, 15, 0)
    assert usage.by_role["anchor_event"]["estimated_text_calls"] == 0
    assert set(usage.by_role["anchor_event"]) == set(KEYS)
    assert reasoner.usage().calls == 0, "usage resets"


def test_missing_counts_are_estimated_and_marked():
    client = Scripted(ChatReply(json.dumps(CHOSEN)))
    reasoner = make_reasoner(client)
    reasoner.run(ANSWER_CHOICE, sample_reading(CHOICE))
    row = reasoner.usage().by_role["answer_choice"]
    text = sum(-(-len(message.text.encode()) // 4) for message in client.requests[0])
    assert row["image_tokens"] == 8 * 3 * 2, "eight frames of 64 x 48, patches of 28"
    assert row["prompt_tokens"] == text + 48
    assert row["completion_tokens"] == -(-len(json.dumps(CHOSEN)) // 4)
    assert (row["estimated_text_calls"], row["estimated_image_calls"]) == (1, 1)


def test_a_failed_call_is_counted():
    reasoner = make_reasoner(Scripted(ReasonerUnreachable("gone")))
    with pytest.raises(ReasonerUnreachable):
        reasoner.run(ANCHOR_EVENT, OPEN)
    usage = reasoner.usage()
    assert (usage.calls, usage.prompt_tokens) == (1, 0)
