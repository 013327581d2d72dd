"""A client of a language model that sends scripted replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag.reasoners.llm.messages import ChatReply
from rag.reasoners.prompts import Message

ANCHOR = '{"description": "she polishes something", "position": "within"}'
CHOSEN = {"choice": "A", "confidence": 0.8, "explanation": "glass", "windows": [0], "passages": [0]}


class Scripted:
    """A client that says its lines in order, the last one for ever."""

    name = "scripted"

    def __init__(self, *lines: str | ChatReply | Exception) -> None:
        self.lines = list(lines)
        self.requests: list[tuple[Message, ...]] = []
        self.schemas: list[dict[str, Any]] = []

    def send(self, messages: Sequence[Message], schema: dict[str, Any], *, max_tokens: int) -> ChatReply:
        self.max_tokens = max_tokens
        self.requests.append(tuple(messages))
        self.schemas.append(schema)
        line = self.lines[min(len(self.requests), len(self.lines)) - 1]
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, ChatReply) else ChatReply(line)
