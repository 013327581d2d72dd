"""What is said to a language model, before any library's own form of it.

Plain records, so that prompts can be rendered, counted, recorded and compared
without importing LlamaIndex, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rag.reasoners.prompts import Message


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One reply, and what it cost where the model said so (None where it did not)."""

    text: str
    prompt_tokens: int | None = None
    """All tokens read, those of images among them."""
    completion_tokens: int | None = None
    image_tokens: int | None = None
    cut: bool = False
    """The reply ended at the token limit, not at its end."""


class ChatClient(Protocol):
    """One way to reach a model. Sends a conversation, waits for the whole reply."""

    name: str

    def send(
        self, messages: Sequence[Message], schema: dict[str, Any], *, within: float | None = None
    ) -> ChatReply:
        """Raise `ReasonerError` or one of its kinds; `schema` is the JSON schema of the reply wanted.

        `within`: seconds after which the call is broken off with `ReasonerUnreachable`, where that
        is sooner than the client's own limit.
        """
        ...


class ReplayClient:
    """The model's name in a replay, where no model is needed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def send(self, *_: Any, **__: Any) -> ChatReply:
        """Never called: a replay contacts nothing."""
        raise AssertionError("a replay contacts nothing")


def chat_messages(messages: Sequence[Message]) -> list[Any]:
    """The same conversation as LlamaIndex `ChatMessage`s with `TextBlock` and `ImageBlock` content."""
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock

    return [
        ChatMessage(
            role=MessageRole(message.speaker),
            blocks=[
                TextBlock(text=part)
                if isinstance(part, str)
                else ImageBlock(image=part.data, image_mimetype="image/jpeg")
                for part in message.parts
            ],
        )
        for message in messages
    ]
