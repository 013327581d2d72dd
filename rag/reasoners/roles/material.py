"""What several roles take and check: option labels, cited numbers, memories and views of a video."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from corpora.records import Evidence, Frames
from corpora.text_decoding import one_line
from rag.questions import option_label
from rag.reasoners.prompts import PromptItem, ReadAudio
from rag.reasoners.protocol import BadReply, Reply
from rag.records import Question


def labels(count: int) -> tuple[str, ...]:
    """The first `count` option labels; `QuestionError` beyond Z."""
    return tuple(option_label(index) for index in range(count))


def listed_options(question: Question) -> str:
    """One line an option, `(A) ...`; a word that says so where there are none."""
    named = zip(labels(len(question.options)), question.options, strict=True)
    return "\n".join(f"({label}) {option}" for label, option in named) or "(no options: an open question)"


_LABEL = re.compile(
    r"(?:the\s+)?(?:(?:correct\s+)?(?:option|answer|choice)(?:\s+is)?\s*[:#]?\s*)?"
    r"[(\[\"'*]*(?P<label>[a-z])(?:[)\]\"'*.:,]+\s*(?P<text>.*))?",
    re.IGNORECASE | re.DOTALL,
)
"""An option's label in other spellings, maybe with the option after it: `(a)`, `Option A`, `A. Glass`."""


def label_of(given: str, options: Sequence[str]) -> str | None:
    """The label of the one option that `given` names, by its label or its text; None where it names none."""
    known = labels(len(options))
    if given in known:
        return given
    wanted, texts = _plain(given), [_plain(option) for option in options]
    found = {label for label, text in zip(known, texts, strict=True) if text and text == wanted}
    if matched := _LABEL.fullmatch(given.strip()):
        label, text = matched["label"].upper(), _plain(matched["text"] or "")
        # "A, B" names two options, though the text of A may hold a b.
        part = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
        alone = text.upper() not in known
        if label in known and alone and (not text or part.search(texts[known.index(label)])):
            found.add(label)
    return found.pop() if len(found) == 1 else None


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" .\"'*").casefold()


def known_numbers(given: Iterable[int], count: int) -> tuple[int, ...]:
    """Keep numbers of 0 to `count` - 1, each once, in the order given."""
    return tuple(number for number in dict.fromkeys(given) if 0 <= number < count)


def distinct(texts: Iterable[str], but: Iterable[str] = ()) -> tuple[str, ...]:
    """Strip texts, and keep those that say something; each once, whatever its case, and none of `but`."""
    first: dict[str, str] = {}
    for text in map(str.strip, texts):
        first.setdefault(text.casefold(), text)
    left_out = {"", *(text.strip().casefold() for text in but)}
    return tuple(text for folded, text in first.items() if folded not in left_out)


ConstraintKind = Literal["", "temporal", "color", "style", "resolution", "audio"]


@dataclass(frozen=True, slots=True)
class Memory:
    """What one remembers of a video; any part may be empty.

    RVMS-Bench (RACLO, section 2.1) has the first five; a shot of ShotFinder is a `key_moment`
    with at most one constraint.
    """

    global_impression: str = ""
    key_moment: str = ""
    before: str = ""
    """Just before the key moment (temporal context)."""
    after: str = ""
    auditory_memory: str = ""
    constraint_kind: ConstraintKind = ""
    constraint: str = ""


def memory_text(memory: Memory) -> str:
    """One line a part that is there."""
    parts = {
        "The video as a whole": memory.global_impression,
        "The moment": memory.key_moment,
        "Just before it": memory.before,
        "Just after it": memory.after,
        "Heard": memory.auditory_memory,
        f"Also asked ({memory.constraint_kind or 'constraint'})": memory.constraint,
    }
    return "\n".join(f"{name}: {text}" for name, text in parts.items() if text) or "(nothing)"


MOST_WORDS = 20_000
"""Characters of what is said and shown in one video (Video-Browser, figure 16); the rest is cut."""


class Interval(Reply):
    """[start, end) seconds; `clipped` leaves only those that end after their start."""

    start: float = Field(ge=0)
    end: float = Field(ge=0)


IntervalT = TypeVar("IntervalT", bound=Interval)


@dataclass(frozen=True, slots=True)
class VideoView:
    """A video, or the stretch [start, end) seconds of it, as far as it is shown.

    Frames travel as pixels (`frames`), for a reasoner that says `reads_pixels`, or as stored
    vectors (`frame_vectors` with `frame_times`), or both; a view without either is words alone.
    """

    title: str
    start: float
    end: float
    texts: tuple[Evidence, ...] = ()
    """Transcript, text on the screen, captions and sounds of the stretch, in time order."""
    description: str = ""
    frame_times: NDArray[np.float64] | None = None
    """(n,) seconds, strictly rising."""
    frame_vectors: NDArray[np.float32] | None = None
    """(n, d) stored unit vectors of the frames at `frame_times`."""
    frames: Frames | None = None
    read_audio: ReadAudio | None = None
    """Its sound, read for a model that takes audio; None where it is not part of the request."""

    @property
    def times(self) -> tuple[float, ...]:
        """Times of the frames shown: frame i of a reply is at `times[i]`. Pixels go before vectors."""
        shown = self.frames.times if self.frames is not None else self.frame_times
        return () if shown is None else tuple(float(time) for time in shown)


def view_item(name: str, view: VideoView) -> PromptItem:
    """A video's words and frames; the frames are numbered from 0 in the order of `view.times`."""
    lines = [
        f"Video: {one_line(view.title) or '(no title)'}",
        f"Time: {view.start:.1f} s to {view.end:.1f} s",
    ]
    if view.description:
        lines.append(f"Description: {one_line(view.description)}")
    words = "\n".join(said(evidence) for evidence in view.texts)
    if len(words) > MOST_WORDS:
        words = f"{words[:MOST_WORDS]}\n(cut here)"
    images: tuple[NDArray[np.uint8], ...] = ()
    names: tuple[str, ...] = ()
    if view.frames is not None:
        images = tuple(view.frames.images)
    if images:
        names = tuple(f"{index} at {time:.1f} s" for index, time in enumerate(view.times))
        lines.append(f"Frames: {', '.join(names)}")
    text = "\n".join([*lines, *([words] if words else [])])
    return PromptItem(name, text, images, names, read_audio=view.read_audio)


def clipped(spans: Iterable[IntervalT], view: VideoView) -> tuple[IntervalT, ...]:
    """What of each lies inside the view, each once; those of which nothing does are left out."""
    inside = (
        span.model_copy(update={"start": max(span.start, view.start), "end": min(span.end, view.end)})
        for span in spans
    )
    return tuple(dict.fromkeys(span for span in inside if span.start < span.end))


def outside(name: str, view: VideoView) -> BadReply:
    """The fault of a reply of whose spans nothing lies inside the view."""
    return BadReply(f"{name}: all lie outside the video, which runs from {view.start:g} s to {view.end:g} s")


def said(evidence: Evidence) -> str:
    """One line: kind, [start, end) seconds, text; a line break in the text cannot make another one."""
    return f"{evidence.kind} {evidence.start:.1f} s to {evidence.end:.1f} s: {one_line(evidence.text)}"
