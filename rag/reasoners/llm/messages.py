"""What is said to a language model, before any library's own form of it.

Plain records, so that prompts are rendered and counted alike for every client.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rag.reasoners.prompts import Message

LARGEST_COUNT = 2**53
"""A larger number of tokens is no real count."""


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
    reduced: bool = False
    """The prompt was larger than the model takes, so less of it was sent (`fitting`)."""


class ChatClient(Protocol):
    """One way to reach a model. Sends a conversation, waits for the whole reply."""

    name: str

    def send(self, messages: Sequence[Message], schema: dict[str, Any], *, max_tokens: int) -> ChatReply:
        """Raise `ReasonerError` or one of its kinds, `PromptTooLarge` among them; `schema` is the JSON
        schema of the reply wanted.

        `max_tokens`: of the reply, at most.
        """
        ...
