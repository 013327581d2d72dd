"""What is said to a language model, before any library's own form of it.

Plain records, so that prompts can be rendered, counted, recorded and compared
without importing LlamaIndex, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rag.reasoners.prompts import EncodedAudio, EncodedImage

if TYPE_CHECKING:
    from rag.reasoners.llm.fitting import ModelLimits
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
    reduced: bool = False
    """The prompt was larger than the model takes, so less of it was sent (`fitting`)."""


class ChatClient(Protocol):
    """One way to reach a model. Sends a conversation, waits for the whole reply."""

    name: str

    def send(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any],
        *,
        within: float | None = None,
        max_tokens: int | None = None,
    ) -> ChatReply:
        """Raise `ReasonerError` or one of its kinds, `PromptTooLarge` among them; `schema` is the JSON
        schema of the reply wanted.

        `within`: seconds after which the call is broken off with `ReasonerUnreachable`, where that
        is sooner than the client's own limit. `max_tokens`: of the reply, where fewer than the settings say.
        """
        ...

    def limits(self) -> ModelLimits:
        """What the model takes in one call, as far as that is known."""
        ...


class ReplayClient:
    """The model's name in a replay, where no model is needed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def limits(self) -> ModelLimits:
        """Never called, as `send`."""
        raise AssertionError("a replay contacts nothing")

    def send(self, *_: Any, **__: Any) -> ChatReply:
        """Never called: a replay contacts nothing."""
        raise AssertionError("a replay contacts nothing")


def chat_messages(messages: Sequence[Message]) -> list[Any]:
    """The same conversation as LlamaIndex `ChatMessage`s, with text, image and audio blocks."""
    from llama_index.core.base.llms.types import AudioBlock, ChatMessage, ImageBlock, MessageRole, TextBlock

    def block(part: str | EncodedImage | EncodedAudio) -> Any:
        if isinstance(part, str):
            return TextBlock(text=part)
        if isinstance(part, EncodedAudio):
            return AudioBlock(audio=part.data, format="wav")
        return ImageBlock(image=part.data, image_mimetype="image/jpeg")

    return [
        ChatMessage(role=MessageRole(message.speaker), blocks=[block(part) for part in message.parts])
        for message in messages
    ]
