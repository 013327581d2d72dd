"""What the calls of an agent would cost a language model, counted alike for every reasoner.

Where no language model runs, tokens are an estimate, and reports call them so:
the rendered prompt under the tokenizer of all-MiniLM-L6-v2, and 200 for each
image. Replies are not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag.reasoners.llm import turns_road, turns_searching, turns_watching
from rag.reasoners.llm.ledger import estimated_text_tokens
from rag.reasoners.llm.prompts import load_prompt, render
from rag.reasoners.roles import (
    ChosenOption,
    Facets,
    Observation,
    ObserveRequest,
    OpenAnswer,
    Reading,
    Reasoner,
    Timeline,
    TimelineRequest,
)

if TYPE_CHECKING:
    from rag.config import EncoderSettings
    from rag.reasoners.llm.turns import Turn
    from rag.records import Question

__all__ = ["IMAGE_TOKENS", "Counted", "CountedReasoner", "count_tokens", "open_counter"]

IMAGE_TOKENS = 200
ANY_SIDE = 8
"""Pictures are counted, not measured: they are left out of what is rendered."""

CountText = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Counted:
    calls: int = 0
    prompt: int = 0
    """Tokens of rendered text."""
    image: int = 0
    """200 a frame."""

    @property
    def total(self) -> int:
        return self.prompt + self.image

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.calls + other.calls, self.prompt + other.prompt, self.image + other.image)


def open_counter(settings: EncoderSettings) -> CountText:
    """Text to its number of tokens: MiniLM's, or a third of its bytes where that is not on this machine."""
    from indexers.models.lookup import find_weights
    from rag.errors import ModelError

    try:
        folder = find_weights("all-MiniLM-L6-v2", settings)
    except ModelError:
        return estimated_text_tokens
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def count_tokens(turn: Turn[Any], images: int, count_text: CountText) -> Counted:
    """One call: its rendered prompt without pictures, and so many images."""
    shown = None if turn.images is None else [type(s)(s.name, s.text) for s in turn.images]
    messages = render(load_prompt(turn.role), turn.variables, shown, short_side=ANY_SIDE)
    return Counted(1, sum(count_text(message.text) for message in messages), IMAGE_TOKENS * images)


class CountedReasoner:
    """A reasoner whose calls are counted on the way; it answers as the one inside does."""

    def __init__(self, reasoner: Reasoner, count_text: CountText) -> None:
        self.inner = reasoner
        self.counted = Counted()
        self._count_text = count_text

    @property
    def reads_pixels(self) -> bool:
        return self.inner.reads_pixels

    def decompose_facets(self, question: Question) -> Facets:
        self._add(turns_searching.decompose_facets(question), 0)
        return self.inner.decompose_facets(question)

    def timeline(self, request: TimelineRequest) -> Timeline:
        self._add(turns_watching.timeline(request), len(request.view.times))
        return self.inner.timeline(request)

    def observe(self, request: ObserveRequest) -> Observation:
        self._add(turns_watching.observe(request), len(request.view.times))
        return self.inner.observe(request)

    def answer_choice(self, reading: Reading) -> ChosenOption:
        self._add(turns_road.answer_choice(reading, None), _images(reading))
        return self.inner.answer_choice(reading)

    def answer_open(self, reading: Reading) -> OpenAnswer:
        self._add(turns_road.answer_open(reading, None), _images(reading))
        return self.inner.answer_open(reading)

    def _add(self, turn: Turn[Any], images: int) -> None:
        self.counted += count_tokens(turn, images, self._count_text)


def _images(reading: Reading) -> int:
    def shown(times: Any) -> int:
        return 0 if times is None else len(times)

    return sum(
        shown(window.frames.times if window.frames is not None else window.frame_times)
        for window in reading.windows
    )
