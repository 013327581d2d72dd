"""What was read, put into words and pictures for a model; and its citations checked on the way back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag.questions import option_label
from rag.reasoners.llm.messages import Shown
from rag.reasoners.llm.replies import BadReply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Evidence
    from rag.reasoners.roles import ChosenOption, OpenAnswer, Reading, ReadWindow, VideoView
    from rag.records import Question

MOST_WORDS = 20_000
"""Characters of what is said and shown in one video (Video-Browser, figure 16); the rest is cut."""


def labels(count: int) -> tuple[str, ...]:
    """The first `count` option labels; `QuestionError` beyond Z."""
    return tuple(option_label(index) for index in range(count))


def listed_options(question: Question) -> str:
    """One line an option, `(A) ...`; a word that says so where there are none."""
    named = zip(labels(len(question.options)), question.options, strict=True)
    return "\n".join(f"({label}) {option}" for label, option in named) or "(no options: an open question)"


def shown_windows(reading: Reading, frame_budget: int | None = None) -> list[Shown]:
    """Each window under the number by which it is cited, with at most `frame_budget` of its frames.

    More frames than that are thinned evenly, first and last kept; None takes all.
    """
    return [
        _shown_window(f"window {index}", window, frame_budget) for index, window in enumerate(reading.windows)
    ]


def shown_passages(reading: Reading) -> list[Shown]:
    """Each passage under the number by which it is cited."""
    shown = []
    for index, read in enumerate(reading.passages):
        found_for = "" if read.option is None else f"\nFound for option: {option_label(read.option)}"
        text = f"Title: {read.passage.title or '(none)'}{found_for}\nText: {read.passage.text}"
        shown.append(Shown(f"passage {index}", text))
    return shown


def shown_view(name: str, view: VideoView) -> Shown:
    """A video's words and frames; the frames are numbered from 0 in the order of `view.times`."""
    lines = [f"Video: {view.title or '(no title)'}", f"Time: {view.start:.1f} s to {view.end:.1f} s"]
    if view.description:
        lines.append(f"Description: {view.description}")
    words = "\n".join(_said(said) for said in view.texts)
    if len(words) > MOST_WORDS:
        words = f"{words[:MOST_WORDS]}\n(cut here)"
    images: tuple[NDArray[np.uint8], ...] = ()
    if view.frames is not None:
        images = tuple(view.frames.images)
    if images:
        at = ", ".join(f"{index} at {time:.1f} s" for index, time in enumerate(view.times))
        lines.append(f"Frames: {at}")
    return Shown(name, "\n".join([*lines, *([words] if words else [])]), images)


def check_chosen_option(reply: ChosenOption, reading: Reading) -> None:
    """Raise `BadReply` for a label that is none, scores that are no distribution, or false citations."""
    known = labels(len(reading.question.options))
    if reply.choice is None and reading.must_choose:
        raise BadReply(f"choice must not be null here; it must be one of {', '.join(known)}")
    if reply.choice is not None and reply.choice not in known:
        raise BadReply(
            f"choice {reply.choice[:40]!r} is no label; it must be one of {', '.join(known)} or null"
        )
    if reply.scores:
        whole = math.fsum(reply.scores)
        if len(reply.scores) != len(known) or min(reply.scores) < 0 or abs(whole - 1) > 0.01:
            raise BadReply(f"scores must be {len(known)} probabilities that sum to 1; or leave them out")
    _check_citations(reply, reading)


def check_open_answer(reply: OpenAnswer, reading: Reading) -> None:
    """Raise `BadReply` for false citations."""
    _check_citations(reply, reading)


def check_numbers(kind: str, cited: Sequence[int], count: int) -> None:
    """Raise `BadReply` unless each number is one of 0 to `count` - 1, and none comes twice."""
    unknown = [number for number in cited if not 0 <= number < count]
    if unknown:
        there = f"there are only 0 to {count - 1}" if count else "there are none, so the list must be empty"
        raise BadReply(f"{kind} cites {unknown[:5]}; {there}")
    if len(set(cited)) != len(cited):
        raise BadReply(f"{kind} cites a number twice")


def _check_citations(reply: ChosenOption | OpenAnswer, reading: Reading) -> None:
    check_numbers("windows", reply.windows, len(reading.windows))
    check_numbers("passages", reply.passages, len(reading.passages))


def _said(said: Evidence) -> str:
    return f"{said.kind} {said.start:.1f} s to {said.end:.1f} s: {said.text}"


def _shown_window(name: str, window: ReadWindow, frame_budget: int | None) -> Shown:
    lines = [
        f"Video: {window.title or '(no title)'}",
        f"Time: {window.window.start:.1f} s to {window.window.end:.1f} s",
    ]
    lines += [_said(said) for said in window.texts]
    images: tuple[NDArray[np.uint8], ...] = ()
    if window.frames is not None:
        kept = _thinned(len(window.frames.times), frame_budget)
        images = tuple(window.frames.images[index] for index in kept)
        if images:
            lines.append("Frames at: " + ", ".join(f"{window.frames.times[index]:.1f} s" for index in kept))
    return Shown(name, "\n".join(lines), images)


def _thinned(count: int, budget: int | None) -> list[int]:
    """At most `budget` of the indices 0 ... count - 1, evenly spread; the middle one for a budget of 1."""
    if budget is None or count <= budget:
        return list(range(count))
    if budget <= 1:
        return [count // 2] * budget
    return [round(step * (count - 1) / (budget - 1)) for step in range(budget)]
