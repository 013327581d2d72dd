"""Reasoners around reasoners: a model for each part, and counts of tokens.

`with_token_counts` wraps a reasoner: of its parts, only those that are no language model are
counted here; the others count themselves, or are estimated where their server gives
no counts (`rag.reasoners.llm.usage`).

Counted, every role is rendered as the `llm` family renders it and counted: 200 tokens
an image, and the prompt and the reply under MiniLM's tokenizer. A frame that is
known by its stored vector alone counts as an image, too, since a model would
have to look at it; `by_role` keeps the image tokens of each role apart, so that
both ways can be reported. These are counts of ours, and `COUNTED_AS` says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from corpora.records import Frames
from rag.errors import PromptTooLarge, ReplyInvalid, RequestRefused
from rag.reasoners.llm.usage import UsageCounter, usage_together
from rag.reasoners.prompts import load_prompt, render
from rag.reasoners.protocol import Part, Reasoner, ReplyT, RequestT, Role
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.reading import Reading, ReadWindow
from rag.records import Usage


class RoutedReasoner:
    """Each role is run by the reasoner of its part."""

    def __init__(self, parts: Mapping[Part, Reasoner]) -> None:
        self.parts = dict(parts)
        self.name = "+".join(dict.fromkeys(reasoner.name for reasoner in self.parts.values()))

    @property
    def fingerprint(self) -> str:
        """The fingerprints of all parts, as JSON."""
        return json.dumps(
            {part: reasoner.fingerprint for part, reasoner in self.parts.items()}, sort_keys=True
        )

    @property
    def reads_pixels(self) -> bool:
        """True where the one that looks or the one that answers reads pixels."""
        return self.parts["watcher"].reads_pixels or self.parts["analyst"].reads_pixels

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """The reply of the reasoner of the role's part."""
        return self.parts[role.part].run(role, request)

    def usage(self) -> Usage:
        """Sum the usage of all parts. Reasoners that share one count give it once."""
        return usage_together(reasoner.usage() for reasoner in self.parts.values())


def part_of(reasoner: Reasoner, part: Part) -> Reasoner:
    """The reasoner that runs the roles of a part: itself where it runs all of them."""
    return reasoner.parts[part] if isinstance(reasoner, RoutedReasoner) else reasoner


def judge_is_apart(reasoner: Reasoner) -> bool:
    """Whether the judge is another model than those that plan, look and answer."""
    tested: tuple[Part, ...] = ("planner", "watcher", "analyst")
    return part_of(reasoner, "judge").name not in {part_of(reasoner, part).name for part in tested}


class FallbackReasoner:
    """Where one reasoner gives no usable reply, another one's (EgoFact, D.2.3: on a refusal).

    It has none where its reply cannot be read, and where its server refuses the prompt or the request's form.
    """

    def __init__(self, first: Reasoner, second: Reasoner) -> None:
        self.first, self.second = first, second
        self.name = first.name

    @property
    def fingerprint(self) -> str:
        """The fingerprints of both, as JSON."""
        return json.dumps({"first": self.first.fingerprint, "fallback": self.second.fingerprint})

    @property
    def reads_pixels(self) -> bool:
        """Whether the first reads pixels."""
        return self.first.reads_pixels

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """The first one's reply, or the second one's. Raises what the second one raises."""
        try:
            return self.first.run(role, request)
        except (ReplyInvalid, PromptTooLarge, RequestRefused):
            return self.second.run(role, request)

    def usage(self) -> Usage:
        """Sum the usage of both. Reasoners that share one count give it once."""
        return usage_together((self.first.usage(), self.second.usage()))


IMAGE_TOKENS = 200
"""Tokens of one image, whatever its size."""
COUNTED_AS = f"counted, not measured: {IMAGE_TOKENS} an image, MiniLM's tokens of prompt and reply"

MEASURED_AS = "as the language model counts them, estimated where its server gives no counts"


class ReasonerWithCounts(NamedTuple):
    """A reasoner whose usage has tokens, and how they are to be read."""

    reasoner: Reasoner
    method: str


def with_token_counts(reasoner: Reasoner) -> ReasonerWithCounts:
    """The reasoner with its embedded parts counted; one that is a language model in every part comes back as
    it is."""
    from rag.reasoners.embedded import EmbeddedReasoner

    if isinstance(reasoner, EmbeddedReasoner):
        return ReasonerWithCounts(TokenCountingReasoner(reasoner), COUNTED_AS)
    if not isinstance(reasoner, RoutedReasoner):
        return ReasonerWithCounts(reasoner, MEASURED_AS)
    # Parts that are one reasoner stay one, so that its usage is given once.
    wrapped = {id(own): with_token_counts(own).reasoner for own in reasoner.parts.values()}
    parts = {part: wrapped[id(own)] for part, own in reasoner.parts.items()}
    bare = [part for part, own in parts.items() if own is not reasoner.parts[part]]
    if not bare:
        return ReasonerWithCounts(reasoner, MEASURED_AS)
    others = [part for part in parts if part not in bare]
    method = f"{', '.join(others)}: {MEASURED_AS}; {', '.join(bare)}: {COUNTED_AS}"
    return ReasonerWithCounts(RoutedReasoner(parts), method)


@cache
def count_tokens() -> Callable[[str], int]:
    """Text to its number of tokens under the tokenizer of all-MiniLM-L6-v2, whole and without special ones.

    Raises `WeightsMissing` where the model is not on this machine.
    """
    from indexers.registry import open_word_counter

    return open_word_counter("all-MiniLM-L6-v2")


class TokenCountingReasoner:
    """Wraps a `Reasoner` without counts of its own, and counts each run of a role as a call.

    `with_token_counts` wraps what needs it.
    """

    def __init__(self, inner: Reasoner) -> None:
        self.name = inner.name
        self._inner = inner
        self._usage_counter = UsageCounter()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the inner reasoner: counting changes no reply."""
        return self._inner.fingerprint

    @property
    def reads_pixels(self) -> bool:
        """Whether the inner reasoner reads pixels."""
        return self._inner.reads_pixels

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """The reply of the inner reasoner; a reply that takes no model costs nothing."""
        reply = self._inner.run(role, request)
        if role.decided is None or role.decided(request) is None:
            self._add(role, request, reply)
        return reply

    def usage(self) -> Usage:
        """Calls and tokens as counted here, with those of the inner reasoner; resets both."""
        return usage_together((self._usage_counter.usage(), self._inner.usage()))

    def _add(self, role: Role[RequestT, ReplyT], request: RequestT, reply: ReplyT) -> None:
        call = role.prompt(_with_placeholders(request))
        messages = render(load_prompt(role), call.variables, call.images, short_side=1)
        text = "\n".join(message.text for message in messages)
        images = sum(len(message.images) for message in messages)
        count = count_tokens()
        self._usage_counter.add(
            role.name,
            calls=1,
            counted_calls=1,
            prompt_tokens=count(text) + IMAGE_TOKENS * images,
            completion_tokens=count(reply.model_dump_json()),
            image_tokens=IMAGE_TOKENS * images,
        )


def _with_placeholders(value: Any) -> Any:
    """A request with an image of one pixel for each frame: only their number is counted."""
    if isinstance(value, VideoView | ReadWindow):
        times = value.frames.times if value.frames is not None else value.frame_times
        if times is None or len(times) == 0:
            return replace(value, frames=None)
        return replace(value, frames=Frames(times, np.zeros((len(times), 1, 1, 3), np.uint8)))
    if isinstance(value, Reading):
        return replace(value, windows=tuple(map(_with_placeholders, value.windows)))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    views = {field.name: getattr(value, field.name) for field in fields(value)}
    return replace(
        value,
        **{name: _with_placeholders(view) for name, view in views.items() if isinstance(view, VideoView)},
    )
