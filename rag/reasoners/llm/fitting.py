"""A prompt within the limits of a model: fewer images, then smaller ones, then shorter material.

The limits are those of the settings, applied before a prompt is sent, or those that a refusal
(`PromptTooLarge`) names. Images are left out evenly over the items that they belong to,
and the line of an item that names its frames names those that are left, under the numbers they had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag.errors import PromptTooLarge
from rag.reasoners.llm.usage import estimated_audio_tokens, estimated_image_tokens, estimated_text_tokens
from rag.reasoners.prompts import Material, Message, PromptItem

MARGIN = 1.15
"""Estimates of tokens are raised by this share before they are held against a context."""
SHORTEST_REPLY = 1024
"""Tokens of a context that are kept for the reply, where the settings ask for as many."""
SMALLEST_SCALE, SHORTEST_TEXT = 0.5, 0.125
LONG_TEXT = 1000
"""Characters; shorter material is never cut."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model takes in one call; None where that is not known."""

    context_tokens: int | None = None
    """Prompt and reply together."""
    max_images: int | None = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """How much of a prompt is sent."""

    images: int
    """Most images."""
    scale: float = 1.0
    """Factor of the short side of images."""
    text: float = 1.0
    """Share of each long text."""
    max_tokens: int = 0
    """Longest reply; 0: as long as it was asked for."""


def fit_to(limits: ModelLimits, messages: Sequence[Message], now: Reduction, longest_reply: int) -> Reduction:
    """`now`, with as many images and as long a reply as `limits` have room for by estimate.

    `messages`: the prompt under `now`. At least one image is kept where there are any.
    """
    count = sum(len(message.images) for message in messages)
    most = now.images if limits.max_images is None else min(now.images, limits.max_images)
    if limits.context_tokens is None:
        return replace(now, images=most)
    words = sum(estimated_text_tokens(message.text) for message in messages) + estimated_audio_tokens(
        messages
    )
    left = limits.context_tokens - MARGIN * words
    reply = min(longest_reply, SHORTEST_REPLY, limits.context_tokens // 2)
    each = MARGIN * estimated_image_tokens(messages) / count if count else 0.0
    if each:
        most = min(most, max(1, int((left - reply) / each)))
    room = int(left - min(most, count) * each)
    return replace(now, images=most, max_tokens=max(16, min(longest_reply, max(room, reply))))


def reduce_further(
    error: PromptTooLarge, messages: Sequence[Message], now: Reduction, longest_reply: int
) -> Reduction | None:
    """What to send after `messages`, the prompt under `now`, are refused; None where nothing can be cut."""
    count = sum(len(message.images) for message in messages)
    if error.max_images is not None and error.max_images < count:
        return replace(now, images=error.max_images)
    if error.context_tokens is not None:
        fitted = fit_to(ModelLimits(error.context_tokens), messages, now, longest_reply)
        if min(fitted.images, count) < count or 0 < fitted.max_tokens < (now.max_tokens or longest_reply):
            return fitted
    if count > 1:
        return replace(now, images=count // 2)
    if count and now.scale > SMALLEST_SCALE:
        return replace(now, scale=now.scale / 2)
    return replace(now, text=now.text / 2) if now.text > SHORTEST_TEXT else None


def reduced_items(items: Sequence[PromptItem], reduction: Reduction) -> list[PromptItem]:
    """The items with at most `reduction.images` images in all, evenly, and their long texts cut."""
    counts = [len(item.images) for item in items]
    whole = sum(counts)
    most = min(whole, reduction.images)
    # Each item has its share of the images, rounded so that the shares add up to `most`.
    bounds = [round(sum(counts[:at]) * most / whole) if whole else 0 for at in range(len(counts) + 1)]
    shares = [after - before for before, after in pairwise(bounds)]
    thinned = [_thinned(item, share) for item, share in zip(items, shares, strict=True)]
    return [replace(item, text=_cut(item.text, reduction.text)) for item in thinned]


def reduced_variables(variables: Mapping[str, Material], reduction: Reduction) -> dict[str, Material]:
    """The material of a prompt with long texts cut; the question, its options and bare words stay whole."""
    if reduction.text == 1.0:
        return dict(variables)
    return {
        name: value
        if name.startswith("!") or name in ("question", "options")
        else _cut(value, reduction.text)
        if isinstance(value, str)
        else [replace(item, text=_cut(item.text, reduction.text)) for item in value]
        for name, value in variables.items()
    }


def _thinned(item: PromptItem, count: int) -> PromptItem:
    whole = len(item.images)
    if count >= whole:
        return item
    kept = [int((at + 0.5) * whole / count) for at in range(count)]
    names = tuple(item.image_names[at] for at in kept) if item.image_names else ()
    listed = ", ".join(item.image_names)
    text = item.text.replace(listed, ", ".join(names) or "(none)", 1) if listed else item.text
    return replace(item, text=text, images=tuple(item.images[at] for at in kept), image_names=names)


def _cut(text: str, share: float) -> str:
    if share == 1.0 or len(text) <= LONG_TEXT:
        return text
    return f"{text[: max(LONG_TEXT, int(len(text) * share))]}\n(cut here)"
