"""Servers whose 2xx is no chat completion, or an odd one: a typed error, or the words that are there."""

from __future__ import annotations

import json

import pytest

from rag.errors import ReasonerError, ReasonerUnreachable
from rag.reasoners.llm.openai_client import OpenAIClient
from rag.reasoners.prompts import Message
from rag.settings import ReasonerSettings
from tests.fakes.chat_server import Act, chat_server, raw, status

ASKED = (Message("user", ("well?",)),)


def send(act: Act):
    with chat_server([act]) as server:
        chosen = ReasonerSettings(kind="openai", model="m", base_url=server.base_url, timeout_seconds=20.0)
        return OpenAIClient(chosen, first_wait=0.01, longest_wait=0.05).send(ASKED, {})


@pytest.mark.parametrize(
    "message",
    [
        {"content": "yes"},
        {"content": "yes", "role": "assistant", "tool_calls": "x"},
        {"content": [{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}, {"type": "x"}, 7]},
        {"content": "yes", "role": 7, "tool_calls": [{"function": 3}], "audio": {"id": 1}},
    ],
)
def test_odd_messages_come_through_as_their_words(message):
    body = {"choices": [{"message": message}], "usage": "none"}
    sent = send(raw(json.dumps(body).encode(), "text/plain"))
    assert (sent.text, sent.prompt_tokens, sent.cut) == ("yes", None, False)


def test_a_reply_without_words_is_empty():
    body = {"choices": [{"message": {"content": None, "tool_calls": [{}]}, "finish_reason": "length"}]}
    sent = send(raw(json.dumps(body).encode()))
    assert (sent.text, sent.cut) == ("", True)


def test_a_success_without_a_body_is_no_reply():
    with pytest.raises(ReasonerError, match="no JSON"):
        send(status(204, ""))


def test_a_wait_beyond_all_calendars_is_waited_for_no_longer_than_any():
    with pytest.raises(ReasonerUnreachable, match="429"):
        send(status(429, Retry_After="Fri, 31 Dec 99999999999 23:59:59 GMT"))
