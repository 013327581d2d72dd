"""What a run costs in tokens: as a language model counts them, and what it would have cost where none runs.

`counted` gives the mind to run with, whatever the settings: only those of its
parts that are no language model are counted here, the others count themselves,
or are estimated where their server gives no counts (`rag.reasoners.llm.usage`).
`token_count_method` adds, of a run that is over, how many of its calls were which.

Counted, every role is rendered as the `llm` family renders it and counted: 200 tokens
an image, and the prompt and the reply under MiniLM's tokenizer. A frame that is
known by its stored vector alone counts as an image, too, since a model would
have to look at it; `by_role` keeps the image tokens of each role apart, so that
both ways can be reported. These are counts of ours, and `COUNTED_AS` says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from corpora.records import Frames
from rag.reasoners.llm import turns_judging, turns_road, turns_searching, turns_watching
from rag.reasoners.llm.prompts import load_prompt, render
from rag.reasoners.llm.usage import Ledger, usage_together
from rag.reasoners.matching import matched_verdict
from rag.reasoners.routing import RoutedReasoner

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pydantic import BaseModel

    from rag.reasoners.llm.turns import Turn
    from rag.reasoners.roles import (
        AnchorEvent,
        ChosenOption,
        Facets,
        FrameMatch,
        ImaginedQueries,
        ImagineRequest,
        JudgeRequest,
        Located,
        LocateRequest,
        MatchRequest,
        Observation,
        ObserveRequest,
        OpenAnswer,
        Part,
        Plan,
        PlanRequest,
        Reading,
        Reasoner,
        RewrittenQuestion,
        SelectedCandidates,
        SelectRequest,
        Timeline,
        TimelineRequest,
        Verdict,
        VerifyRequest,
        VideoVerdict,
        VideoView,
    )
    from rag.records import Question, Usage

IMAGE_TOKENS = 200
"""Of one image, whatever its size."""
COUNTED_AS = f"counted, not measured: {IMAGE_TOKENS} an image, MiniLM's tokens of prompt and reply"

MEASURED_AS = "as the language model counts them, estimated where its server gives no counts"

Count = Callable[[str], int]
_Reply = TypeVar("_Reply", bound="BaseModel")


def counted_tokens(text: str, images: int, count: Count) -> int:
    """Tokens of a prompt: `count` of its words, and 200 for each image."""
    return count(text) + IMAGE_TOKENS * images


def counted(reasoner: Reasoner, count: Count | None = None) -> tuple[Reasoner, str]:
    """The mind with its embedded parts counted, and how the tokens of its runs are to be read.

    A mind that is a language model throughout comes back as it is. `count`: default, `count_tokens()`.
    """
    from rag.reasoners.embedded import EmbeddedReasoner

    if isinstance(reasoner, EmbeddedReasoner):
        return TokenCountingReasoner(reasoner, count), COUNTED_AS
    if not isinstance(reasoner, RoutedReasoner):
        return reasoner, MEASURED_AS
    wrapped: dict[int, Reasoner] = {}
    parts: dict[Part, Reasoner] = {}
    for part, own in reasoner.parts.items():
        # Parts that are one mind stay one, so that its usage is given once.
        if id(own) not in wrapped:
            wrapped[id(own)], _ = counted(own, count)
        parts[part] = wrapped[id(own)]
    bare = [part for part, own in parts.items() if own is not reasoner.parts[part]]
    if not bare:
        return reasoner, MEASURED_AS
    others = [part for part in parts if part not in bare]
    return RoutedReasoner(parts), f"{', '.join(others)}: {MEASURED_AS}; {', '.join(bare)}: {COUNTED_AS}"


def token_count_method(label: str, usage: Usage) -> str:
    """The `label` of `counted`, with what a run that is over tells: how many of its calls were which."""
    texts, images, bare = (
        int(sum(row.get(key, 0.0) for row in usage.by_role.values()))
        for key in ("estimated_text_calls", "estimated_image_calls", "counted_calls")
    )
    told = [
        f"{number} {what}"
        for number, what in (
            (bare if bare < usage.calls else 0, "counted"),
            (texts, "with estimated tokens of text"),
            (images, "with estimated tokens of images"),
        )
        if number
    ]
    return f"{label}; of {usage.calls} calls {', '.join(told)}" if told else label


def count_tokens() -> Count:
    """Text to its number of tokens under the tokenizer of all-MiniLM-L6-v2, whole and without special ones.

    Raises `WeightsMissing` where the model is not on this machine.
    """
    from indexers.registry import open_word_counter

    return open_word_counter("all-MiniLM-L6-v2")


class TokenCountingReasoner:
    """A `Reasoner` that plays by another one, without counts of its own, and counts each role as a call.

    `counted` wraps what needs it.
    """

    def __init__(self, inner: Reasoner, count: Count | None = None) -> None:
        self.name = inner.name
        self._inner = inner
        self._count = count
        self._ledger = Ledger()

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    @property
    def reads_pixels(self) -> bool:
        return self._inner.reads_pixels

    def rewrite_question(self, question: Question) -> RewrittenQuestion:
        return self._counted(turns_road.rewrite_question(question), self._inner.rewrite_question(question))

    def anchor_event(self, question: Question) -> AnchorEvent:
        return self._counted(turns_road.anchor_event(question), self._inner.anchor_event(question))

    def decompose_facets(self, question: Question) -> Facets:
        turn = turns_searching.decompose_facets(question)
        return self._counted(turn, self._inner.decompose_facets(question))

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries:
        return self._counted(turns_searching.imagine_queries(request), self._inner.imagine_queries(request))

    def plan(self, request: PlanRequest) -> Plan:
        return self._counted(turns_searching.plan(request), self._inner.plan(request))

    def select_candidates(self, request: SelectRequest) -> SelectedCandidates:
        turn = turns_searching.select_candidates(request)
        return self._counted(turn, self._inner.select_candidates(request))

    def locate(self, request: LocateRequest) -> Located:
        turn = turns_watching.locate(replace(request, view=_stood_in(request.view)))
        return self._counted(turn, self._inner.locate(request))

    def observe(self, request: ObserveRequest) -> Observation:
        turn = turns_watching.observe(replace(request, view=_stood_in(request.view)))
        return self._counted(turn, self._inner.observe(request))

    def timeline(self, request: TimelineRequest) -> Timeline:
        turn = turns_watching.timeline(replace(request, view=_stood_in(request.view)))
        return self._counted(turn, self._inner.timeline(request))

    def verify_video(self, request: VerifyRequest) -> VideoVerdict:
        turn = turns_watching.verify_video(replace(request, view=_stood_in(request.view)))
        return self._counted(turn, self._inner.verify_video(request))

    def match_frame(self, request: MatchRequest) -> FrameMatch:
        reference = None if request.reference is None else _stood_in(request.reference)
        looked = replace(request, candidate=_stood_in(request.candidate), reference=reference)
        return self._counted(turns_watching.match_frame(looked), self._inner.match_frame(request))

    def answer_choice(self, reading: Reading) -> ChosenOption:
        turn = turns_road.answer_choice(_looked_at(reading), None)
        return self._counted(turn, self._inner.answer_choice(reading))

    def answer_open(self, reading: Reading) -> OpenAnswer:
        turn = turns_road.answer_open(_looked_at(reading), None)
        return self._counted(turn, self._inner.answer_open(reading))

    def judge(self, request: JudgeRequest) -> Verdict:
        """A match of characters asks nobody, and costs nothing."""
        verdict = self._inner.judge(request)
        if matched_verdict(request) is not None:
            return verdict
        return self._counted(turns_judging.judge(request), verdict)

    def usage(self) -> Usage:
        """Calls and tokens as counted here, with those that the inner mind tells; resets both."""
        return usage_together((self._ledger.usage(), self._inner.usage()))

    def _counted(self, turn: Turn[Any], reply: _Reply) -> _Reply:
        if self._count is None:
            self._count = count_tokens()
        messages = render(load_prompt(turn.role), turn.variables, turn.images, short_side=1)
        text = "\n".join(message.text for message in messages)
        images = sum(len(message.pictures) for message in messages)
        prompt = counted_tokens(text, images, self._count)
        completion = self._count(reply.model_dump_json())
        self._ledger.add_estimate(turn.role, prompt, completion, IMAGE_TOKENS * images)
        return reply


def _stood_in(view: VideoView) -> VideoView:
    """The view with a point of a picture for each frame: only their number is counted."""
    return replace(view, frames=_points(view.times))


def _looked_at(reading: Reading) -> Reading:
    windows = tuple(
        replace(window, frames=_points(shown.times if shown is not None else window.frame_times))
        for window in reading.windows
        for shown in [window.frames]
    )
    return replace(reading, windows=windows)


def _points(times: NDArray[np.float64] | tuple[float, ...] | None) -> Frames | None:
    if times is None or len(times) == 0:
        return None
    return Frames(np.asarray(times, np.float64), np.zeros((len(times), 1, 1, 3), np.uint8))
