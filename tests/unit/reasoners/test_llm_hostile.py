"""Recordings and replies that are damaged or made up: one line each, and no file is changed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import httpx
import pytest

from rag.errors import SettingsError
from rag.reasoners.llm.messages import ChatReply
from rag.reasoners.llm.openai_client import NotAChatReply, _chat_only, _retry_after
from rag.reasoners.llm.recording import HEAD, Exchange, ExchangeInput, open_recording
from rag.reasoners.llm.replies import parse_reply
from rag.reasoners.protocol import BadReply
from rag.reasoners.roles.anchor_event import AnchorEvent
from rag.settings import ReasonerSettings


@pytest.mark.parametrize("held", ['{"precious": "one line"}', "notes without an end", HEAD + "x", "x\n"])
def test_recording_never_touches_a_file_of_another_kind(tmp_path, held):
    path = tmp_path / "one.json"
    path.write_text(held)
    with pytest.raises(SettingsError, match="no recording; name another file"):
        open_recording(ReasonerSettings(record=path))
    assert path.read_text() == held


@pytest.mark.parametrize("held", ["", HEAD[:9], HEAD])
def test_a_recording_that_was_killed_in_its_first_line_goes_on(tmp_path, held):
    path = tmp_path / "run.jsonl"
    path.write_text(held)
    open_recording(ReasonerSettings(record=path))
    assert path.read_text() == f"{HEAD}\n"


def test_a_device_is_no_recording():
    for role in ("record", "replay"):
        with pytest.raises(SettingsError, match="no regular file"):
            open_recording(ReasonerSettings(**{role: Path("/dev/zero")}))


def line_of(sent: object, seconds: object = 1.0, messages: tuple = ()) -> str:
    asked = ExchangeInput("judge", "0" * 12, {"model": "m"}, messages)
    whole = json.loads(
        Exchange(ExchangeInput("judge", "0" * 12, {"model": "m"}, ()), ChatReply("x"), 1.0).line()
    )
    changed = {**whole, "reply": sent, "seconds": seconds, "messages": list(messages)}
    return json.dumps({**changed, "key": asked.key, "input": asked.input})


@pytest.mark.parametrize(
    "line",
    [
        '{"key": ' + "[" * 100_000,
        line_of({"text": None}),
        line_of({"text": 7}),
        line_of({"text": "x", "cut": "no"}),
        line_of({"text": "x", "prompt_tokens": "x"}),
        line_of({"text": "x", "prompt_tokens": 10**400}),
        line_of({"text": "x", "completion_tokens": -1}),
        line_of({"text": "x"}, math.nan),
        line_of({"text": "x"}, -1.0),
        line_of({"text": "x"}, 10**400),
        line_of({"text": "x"}, 1.0, ("not a message",)),
        line_of({"text": "x"}, 1.0, ({"speaker": "user", "parts": [7]},)),
        "[]",
        "1" * 5000,
    ],
)
def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "run.jsonl"
    path.write_text(f"{HEAD}\n{line}\n")
    with pytest.raises(SettingsError, match="line 2 is damaged"):
        open_recording(ReasonerSettings(replay=path))


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 400, "1e999", "-1e999"])
def test_a_number_that_nothing_can_hold_is_a_bad_reply(number):
    with pytest.raises(BadReply, match="too large"):
        parse_reply(f'{{"description": {number}}}', AnchorEvent)


def test_of_a_chat_reply_only_what_is_used_comes_through():
    hostile = {
        "choices": [{"message": {"content": "a\ud800", "tool_calls": "x", "audio": 7}, "logprobs": 3}],
        "usage": {"prompt_tokens": 10**400, "completion_tokens": 4, "prompt_tokens_details": "x"},
    }
    plain = json.loads(_chat_only(json.dumps(hostile).encode()))
    assert plain["choices"][0]["message"] == {"role": "assistant", "content": "a?"}
    assert plain["usage"]["prompt_tokens"] is None
    assert plain["usage"]["completion_tokens"] == 4
    for body in (b"", b"[]", b"9" * 5000, b'{"choices": [{"message": {"content": 7}}]}'):
        with pytest.raises(NotAChatReply):
            _chat_only(body)


@pytest.mark.parametrize("asked", ["Fri, 31 Dec 99999999999 23:59:59 GMT", "0 0", "x", ""])
def test_a_wait_that_no_clock_knows_is_no_wait(asked):
    import openai

    request = httpx.Request("POST", "http://127.0.0.1/v1")
    response = httpx.Response(429, headers={"retry-after": asked}, request=request)
    assert _retry_after(openai.APIStatusError("x", response=response, body=None)) is None
