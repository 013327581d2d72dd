"""What is said to a language model, before any library's own form of it.

Plain records, so that prompts can be rendered, counted, recorded and compared
without importing LlamaIndex, which takes seconds.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

JPEG_QUALITY = 90


@dataclass(frozen=True, slots=True)
class Picture:
    """One frame as it is sent: JPEG bytes, size in pixels."""

    data: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Message:
    speaker: Literal["system", "user", "assistant"]
    parts: tuple[str | Picture, ...]

    @property
    def text(self) -> str:
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> tuple[Picture, ...]:
        return tuple(part for part in self.parts if isinstance(part, Picture))


@dataclass(frozen=True, slots=True)
class Shown:
    """Numbered material for a prompt: its name, its words, and the frames that belong to it.

    `images`: uint8 (h, w, 3) RGB, upright, in time order.
    """

    name: str
    text: str
    images: tuple[NDArray[np.uint8], ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
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
    ) -> Sent:
        """Raise `ReasonerError` or one of its kinds; `schema` is the JSON schema of the reply wanted.

        `within`: seconds after which the call is broken off with `ReasonerUnreachable`, where that
        is sooner than the client's own limit.
        """
        ...


class NoClient:
    """Stands where a model's name is needed and no model: in a replay."""

    def __init__(self, name: str) -> None:
        self.name = name

    def send(self, *_: Any, **__: Any) -> Sent:
        raise AssertionError("a replay contacts nothing")


def picture(image: NDArray[np.uint8], short_side: int) -> Picture:
    """Frame uint8 (h, w, 3) RGB as JPEG, its short side at most `short_side` pixels (never enlarged)."""
    from PIL import Image

    height, width = image.shape[:2]
    scale = min(1.0, short_side / min(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    drawn = Image.fromarray(image)
    if size != (width, height):
        drawn = drawn.resize(size, Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    drawn.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return Picture(buffer.getvalue(), *size)


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
