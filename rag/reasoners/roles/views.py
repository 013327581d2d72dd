"""What is shown of one video to a role that looks at it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from corpora.records import Evidence, Frames
from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_WORDS = 20_000
"""Characters of what is said and shown in one video (Video-Browser, figure 16); the rest is cut."""


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

    @property
    def times(self) -> tuple[float, ...]:
        """Of the frames shown, in order: frame i of a reply is at `times[i]`. Pixels go before vectors."""
        shown = self.frames.times if self.frames is not None else self.frame_times
        return () if shown is None else tuple(float(time) for time in shown)


def view_item(name: str, view: VideoView) -> PromptItem:
    """A video's words and frames; the frames are numbered from 0 in the order of `view.times`."""
    lines = [f"Video: {view.title or '(no title)'}", f"Time: {view.start:.1f} s to {view.end:.1f} s"]
    if view.description:
        lines.append(f"Description: {view.description}")
    words = "\n".join(said(evidence) for evidence in view.texts)
    if len(words) > MOST_WORDS:
        words = f"{words[:MOST_WORDS]}\n(cut here)"
    images: tuple[NDArray[np.uint8], ...] = ()
    if view.frames is not None:
        images = tuple(view.frames.images)
    if images:
        at = ", ".join(f"{index} at {time:.1f} s" for index, time in enumerate(view.times))
        lines.append(f"Frames: {at}")
    return PromptItem(name, "\n".join([*lines, *([words] if words else [])]), images)


class Span(Protocol):
    """[start, end) seconds."""

    @property
    def start(self) -> float:
        """Seconds, included."""
        ...

    @property
    def end(self) -> float:
        """Seconds, excluded."""
        ...


def check_inside(name: str, spans: Iterable[Span], view: VideoView) -> None:
    """Raise `BadReply` for a span that does not touch the view."""
    for span in spans:
        if span.start >= view.end or span.end <= view.start:
            raise BadReply(
                f"{name}: {span.start:g} s to {span.end:g} s lies outside the video, "
                f"which runs from {view.start:g} s to {view.end:g} s"
            )


def said(evidence: Evidence) -> str:
    """One line: kind, [start, end) seconds, text."""
    return f"{evidence.kind} {evidence.start:.1f} s to {evidence.end:.1f} s: {evidence.text}"
