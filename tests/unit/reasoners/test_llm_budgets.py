"""The bounds of a run: they stop it with a typed error, and leave enough for an answer."""

from __future__ import annotations

import json
import time

import pytest

from rag.errors import BudgetSpent, ReasonerUnreachable
from rag.reasoners.llm.messages import ChatReply
from rag.reasoners.llm.openai_client import OpenAIClient
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.roles.anchor_event import ANCHOR_EVENT
from rag.reasoners.roles.answer_open import ANSWER_OPEN
from rag.reasoners.roles.reading import sample_reading
from rag.reasoners.roles.samples import OPEN
from rag.settings import ReasonerSettings
from tests.fakes.chat_server import chat_server, dribble, hang, say
from tests.fakes.scripted_client import ANCHOR, Scripted

ANSWER = json.dumps({"text": "glass", "confidence": 0.7, "explanation": "It says so."})


def reasoner(*lines, **settings) -> LlmReasoner:
    return LlmReasoner(Scripted(*lines), ReasonerSettings(kind="openai", model="m", **settings))


def test_a_share_of_the_calls_is_kept_for_the_answer():
    spent = reasoner(ANCHOR, ANCHOR, ANCHOR, ANSWER, max_calls=4)
    for _ in range(3):
        spent.run(ANCHOR_EVENT, OPEN)
    with pytest.raises(BudgetSpent, match=r"3 calls spent .*reasoner\.max_calls"):
        spent.run(ANCHOR_EVENT, OPEN)
    assert spent.run(ANSWER_OPEN, sample_reading(OPEN)).text == "glass"
    with pytest.raises(BudgetSpent, match="4 calls"):
        spent.run(ANSWER_OPEN, sample_reading(OPEN))


def test_a_single_call_may_be_any_role():
    assert reasoner(ANCHOR, max_calls=1).run(ANCHOR_EVENT, OPEN)


def test_tokens_are_bounded_before_a_prompt_is_sent():
    client = Scripted(ChatReply(ANCHOR, prompt_tokens=900, completion_tokens=50))
    spent = LlmReasoner(client, ReasonerSettings(kind="openai", model="m", max_total_tokens=2000))
    spent.run(ANCHOR_EVENT, OPEN)
    with pytest.raises(
        BudgetSpent, match=r"950 tokens spent .* would read \d+ more; raise reasoner.max_total"
    ):
        spent.run(ANCHOR_EVENT, OPEN)
    assert len(client.requests) == 1
    assert spent.usage().prompt_tokens == 900
    assert spent.run(ANCHOR_EVENT, OPEN), "the next question starts with a full budget"


def test_seconds_break_off_a_call_that_is_under_way():
    with chat_server([hang()]) as server:
        settings = ReasonerSettings(
            kind="openai", model="m", base_url=server.base_url, max_total_seconds=0.4, timeout_seconds=60
        )
        spent = LlmReasoner(OpenAIClient(settings), settings)
        started = time.monotonic()
        with pytest.raises(BudgetSpent, match=r"0\.4 s spent .*reasoner\.max_total_seconds"):
            spent.run(ANCHOR_EVENT, OPEN)
        assert time.monotonic() - started < 30, "the server would have hung for a minute"
        with pytest.raises(BudgetSpent, match="max_total_seconds"):
            spent.run(ANCHOR_EVENT, OPEN)
    assert spent.usage().calls == 1


def test_a_timeout_is_no_spent_budget():
    with chat_server([dribble(b"HTTP/1.1 200 OK\r\n\r\n")]) as server:
        settings = ReasonerSettings(
            kind="openai", model="m", base_url=server.base_url, max_total_seconds=60, timeout_seconds=0.3
        )
        with pytest.raises(ReasonerUnreachable, match=r"no reply within 0\.3 s"):
            LlmReasoner(OpenAIClient(settings), settings).run(ANCHOR_EVENT, OPEN)


def test_a_run_within_its_bounds_is_left_alone():
    with chat_server([say(ANCHOR)]) as server:
        settings = ReasonerSettings(
            kind="openai", model="m", base_url=server.base_url, max_total_seconds=60, max_total_tokens=100_000
        )
        assert LlmReasoner(OpenAIClient(settings), settings).run(ANCHOR_EVENT, OPEN)
