"""One call of a role: repair, bounds of a run and the count of tokens, with a client that replies by rote."""

from __future__ import annotations

import json

import pytest

from rag.errors import BudgetSpent, ReplyInvalid
from rag.reasoners.examples import CHOICE, OPEN, sample_reading
from rag.reasoners.llm.messages import ChatReply
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.roles.answers import ANSWER_CHOICE, ANSWER_OPEN
from rag.reasoners.roles.questions import ANCHOR_EVENT
from rag.settings import ReasonerSettings
from tests.fakes.scripted_client import ANCHOR, CHOSEN, Scripted


def make_reasoner(client: Scripted, **settings) -> LlmReasoner:
    return LlmReasoner(client, ReasonerSettings(kind="openai", model="m", **settings))


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


def test_repair_is_bounded():
    client = Scripted("nonsense", "more nonsense", "and more")
    with pytest.raises(ReplyInvalid, match="anchor_event in 3 attempts: there is no JSON"):
        make_reasoner(client, repairs=2).run(ANCHOR_EVENT, OPEN)
    assert len(client.requests) == 3


def test_a_runaway_or_empty_reply_is_not_fed_back_whole():
    client = Scripted("x" * 100_000, ChatReply("{", cut=True), ANCHOR)
    make_reasoner(client).run(ANCHOR_EVENT, OPEN)
    assert len(client.requests[1][2].text) == 2000
    assert "cut at 512 tokens" in client.requests[2][3].text


def test_a_model_that_reads_words_only_is_sent_no_image():
    with_images, without = Scripted(json.dumps(CHOSEN)), Scripted(json.dumps(CHOSEN))
    reasoner = make_reasoner(without, images=False)
    assert not reasoner.reads_pixels
    reasoner.run(ANSWER_CHOICE, sample_reading(CHOICE))
    make_reasoner(with_images).run(ANSWER_CHOICE, sample_reading(CHOICE))
    assert len(without.requests[0][1].images) == 0
    assert len(with_images.requests[0][1].images) == 8
    assert "This mirror is made of glass." in without.requests[0][1].text


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


ANSWER = json.dumps({"text": "glass", "confidence": 0.7, "explanation": "It says so."})


def test_a_share_of_the_calls_is_kept_for_the_answer():
    spent = make_reasoner(Scripted(ANCHOR, ANCHOR, ANCHOR, ANSWER), max_calls=4)
    for _ in range(3):
        spent.run(ANCHOR_EVENT, OPEN)
    with pytest.raises(BudgetSpent, match=r"3 calls spent .*reasoner\.max_calls"):
        spent.run(ANCHOR_EVENT, OPEN)
    assert spent.run(ANSWER_OPEN, sample_reading(OPEN)).text == "glass"
    with pytest.raises(BudgetSpent, match="4 calls"):
        spent.run(ANSWER_OPEN, sample_reading(OPEN))
