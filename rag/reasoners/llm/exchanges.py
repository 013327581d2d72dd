"""One exchange with a language model as it is kept: what was asked, under which settings, what came back.

An exchange is known by its key, a hash over the role, the prompt's version, the
rendered input (images by their bytes) and the settings that decide a reply.
Where a model is reached, and how long one waits for it, are no part of it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from rag.reasoners.llm.messages import ChatReply
from rag.reasoners.prompts import Message

LARGEST_COUNT = 2**53
"""Of tokens; what is beyond it was no real count."""
AROUND = 60
"""Characters shown on both sides of the first difference of two inputs."""


@dataclass(frozen=True)
class ExchangeInput:
    """What is put to a model."""

    role: str
    prompt: str
    """Version of the prompt file."""
    settings: Mapping[str, Any]
    messages: tuple[Mapping[str, Any], ...]
    """`speaker` and `parts`: texts, and images as their hash and size."""

    @classmethod
    def of(
        cls, role: str, prompt: str, settings: Mapping[str, Any], messages: Sequence[Message]
    ) -> ExchangeInput:
        """Of rendered messages: images are replaced by a hash of their bytes."""
        return cls(role, prompt, dict(settings), tuple(_plain(message) for message in messages))

    @cached_property
    def input(self) -> str:
        """Hash of the rendered input."""
        return _hash(self.messages)

    @cached_property
    def key(self) -> str:
        """32 hex digits that identify the input under its settings."""
        return _hash([self.role, self.prompt, dict(self.settings), self.input])


@dataclass(frozen=True)
class Exchange:
    """What was asked, the reply, and its seconds."""

    asked: ExchangeInput
    sent: ChatReply
    seconds: float

    def line(self) -> str:
        """One line of a recording, without its end."""
        asked = self.asked
        held = {
            "key": asked.key,
            "role": asked.role,
            "prompt": asked.prompt,
            "input": asked.input,
            "settings": dict(asked.settings),
            "messages": [dict(message) for message in asked.messages],
            "reply": asdict(self.sent),
            "seconds": round(self.seconds, 6),
        }
        return json.dumps(held, ensure_ascii=False, sort_keys=True)

    @classmethod
    def read(cls, line: str) -> Exchange:
        """Raises `ValueError`, `KeyError`, `TypeError`, `RecursionError` or `OverflowError` for what is no
        exchange, or not the one it says."""
        held = json.loads(line)
        asked = ExchangeInput(held["role"], held["prompt"], held["settings"], tuple(held["messages"]))
        if asked.key != held["key"]:
            raise ValueError("its key is not that of what it holds")
        _check_input(asked)
        seconds = float(held["seconds"])
        if not 0.0 <= seconds < math.inf:
            raise ValueError("seconds is no length of time")
        return cls(asked, _chat_reply(held["reply"]), seconds)


def difference(now: ExchangeInput, recorded: ExchangeInput) -> str:
    """The first thing in which two differ, in a few words."""
    for name in sorted({*now.settings, *recorded.settings}):
        here, there = now.settings.get(name), recorded.settings.get(name)
        if here != there:
            return f"{name} is {here!r}, recorded with {there!r}"
    if now.prompt != recorded.prompt:
        return f"the prompt is version {now.prompt}, recorded with {recorded.prompt}"
    here, there = _text(now), _text(recorded)
    at = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
    at = min(len(here), len(there)) if at is None else at
    start = max(0, at - AROUND)
    return f"the input is {here[start : at + AROUND]!r}, recorded with {there[start : at + AROUND]!r}"


def _check_input(asked: ExchangeInput) -> None:
    """Raises `ValueError` for parts of another kind than `ExchangeInput.of` makes."""
    for message in asked.messages:
        match message:
            case {"speaker": str(), "parts": [*parts]}:
                if all(
                    isinstance(part, str) or (isinstance(part, dict) and "picture" in part) for part in parts
                ):
                    continue
        raise ValueError("messages holds what is no message")
    if not isinstance(asked.role, str) or not isinstance(asked.prompt, str):
        raise ValueError("role and prompt are text")


def _chat_reply(held: Mapping[str, Any]) -> ChatReply:
    """Raises `ValueError` or `TypeError` for a reply that no model gave."""
    sent = ChatReply(**held)
    if not isinstance(sent.text, str) or not isinstance(sent.cut, bool):
        raise ValueError("reply.text is text, and reply.cut true or false")
    for count in (sent.prompt_tokens, sent.completion_tokens, sent.image_tokens):
        if count is not None and (type(count) is not int or not 0 <= count <= LARGEST_COUNT):
            raise ValueError("reply counts tokens, or says null")
    return sent


def _plain(message: Message) -> dict[str, Any]:
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, str):
            parts.append(part)
        else:
            digest = hashlib.sha256(part.data).hexdigest()[:32]
            parts.append({"picture": digest, "width": part.width, "height": part.height})
    return {"speaker": message.speaker, "parts": parts}


def _text(asked: ExchangeInput) -> str:
    """The input as one text; the system message is the prompt's, and comes last."""
    ordered = sorted(asked.messages, key=lambda message: message["speaker"] == "system")
    return "\n".join(
        part if isinstance(part, str) else f"[picture {part['picture']}]"
        for message in ordered
        for part in message["parts"]
    )


def _hash(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
