"""From the truth of drawn films to questions: so many of each kind a film, options shuffled by a seed.

Nothing is rendered for this: a film's plan says what happens in it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from eval.runs.records import LETTERS
from eval.tasks.longvideo.records import (
    KINDS,
    Draft,
    Kind,
    LongQuestion,
)
from eval.tasks.longvideo.temporal_questions import counts, orders
from eval.tasks.longvideo.text_questions import readings, sayings
from eval.tasks.longvideo.videos import LabelledVideo
from eval.tasks.longvideo.visual_questions import causes, needles
from eval.workbench.seeds import stream
from rag.errors import UsageError

MAKERS: Mapping[Kind, Callable[[LabelledVideo, random.Random], Iterator[Draft]]] = {
    "needle": needles,
    "order": orders,
    "count": counts,
    "cause": causes,
    "text": readings,
    "spoken": sayings,
}


def build_questions(
    videos: Sequence[LabelledVideo], *, seed: int, shape: Mapping[Kind, int]
) -> list[LongQuestion]:
    """So many questions of each kind a film, in the order of films and kinds.

    The same films and seed give the same questions. Raises `UsageError` where a film holds too little.
    """
    built: list[LongQuestion] = []
    for video in sorted(videos, key=lambda video: video.video):
        for kind in KINDS:
            rng = stream("longvideo", seed, video.video, kind)
            drafts = list(itertools.islice(_distinct(MAKERS[kind](video, rng)), shape[kind]))
            if len(drafts) < shape[kind]:
                raise UsageError(
                    f"{video.video}: only {len(drafts)} of {shape[kind]} questions of kind {kind}"
                )
            built += [
                _shuffled(draft, video, f"{_stem(video)}-{kind}-{number}", seed)
                for number, draft in enumerate(drafts, start=1)
            ]
    return built


def _distinct(drafts: Iterator[Draft]) -> Iterator[Draft]:
    """Each question once: a text may be asked again only where it takes its sense from its options."""
    seen: set[tuple[str, frozenset[str]]] = set()
    for draft in drafts:
        options = frozenset([draft.right, *draft.wrong])
        asked = (draft.text, options if draft.kind == "order" else frozenset())
        if asked not in seen and len(options) == len(draft.wrong) + 1:
            seen.add(asked)
            yield draft


def _shuffled(draft: Draft, video: LabelledVideo, question_id: str, seed: int) -> LongQuestion:
    options = [*draft.wrong, draft.right]
    order = list(range(len(options)))
    stream("longvideo options", seed, question_id).shuffle(order)
    return LongQuestion(
        question_id=question_id,
        kind=draft.kind,
        video=video.video,
        text=draft.text,
        options=tuple(options[place] for place in order),
        answer=LETTERS[order.index(len(options) - 1)],
        order=tuple(order),
        window=draft.window,
    )


def _stem(video: LabelledVideo) -> str:
    return video.video.removesuffix(".mp4")
