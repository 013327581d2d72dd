"""What is shown of a run: blocks as data, which a step holds, and an HTML page of them, by pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from corpora.escaping import visible
from rag.rendering.contact_sheet import image_data_uri
from rag.rendering.terminal import clock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.records import Frames
    from rag.agents.runtime.trace import Step

    FrameReader = Callable[[str, NDArray[np.float64]], Frames | None]


@dataclass(frozen=True, slots=True)
class Entry:
    """A label and what belongs to it: a line of a terminal and of a page."""

    label: str
    text: str
    cut: bool = True
    """Whether a terminal shows no more of it than fits on a line."""


@dataclass(frozen=True, slots=True)
class FrameStrip:
    """Decoded frames of a video on a page, which are left out where they cannot be read."""

    source: str
    """Address or path of the video."""
    times: Sequence[float]
    """Seconds."""
    title: str = ""
    """The title of the video, for the alternative text."""
    marked: float | None = None
    """The frame nearest to this time is marked."""


Block = Entry | FrameStrip
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.25rem}h2{font-size:1.05rem;margin-top:2rem}p{margin:.3rem 0}
figure{display:inline-block;margin:.2rem .4rem .2rem 0}figcaption{font-size:12px;color:#667}
img{display:block;border-radius:3px}.marked img{outline:3px solid #d9730d}
.card{border-top:1px solid #e3e6ea;padding:.4rem 0}
.answer,.guess{background:#eef6ee;padding:.6rem 1rem;border-radius:6px}.guess{background:#f6f1e6}
.kind{display:inline-block;min-width:5.5rem;color:#667}
"""


def render_page(
    heading: str, result: Sequence[str], steps: Sequence[Step], frames: FrameReader, *, found: bool
) -> str:
    """A page of a run as text, with the frames as data URLs.

    `frames`: source and float64 (n,) seconds to decoded frames; None where there are none. `found`: whether
    the result is an answer; else it is set off as a guess.
    """
    lines = "".join(f"<p>{_text(line)}</p>" for line in result)
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>{_text(heading[:80])}</title><style>{STYLE}</style>",
        f"<h1>{_text(heading)}</h1>",
        f"<div class={'answer' if found else 'guess'}>{lines}</div>",
        "<h2>Steps</h2>",
        *(_card(step, frames) for step in steps),
    ]
    return "\n".join([*parts, "</html>\n"])


def _card(step: Step, frames: FrameReader) -> str:
    turn = f"{step.counter} {step.round} " if step.counter and step.round else ""
    blocks: list[Block] = [Entry(f"{turn}{step.kind}", step.text), *(step.details or ())]
    inner = "\n".join("".join(_block(block, frames)) for block in blocks)
    return f"<div class=card>{inner}</div>"


def _block(block: Block, frames: FrameReader) -> Iterator[str]:
    if isinstance(block, Entry):
        yield f"<p><span class=kind>{_text(block.label)}</span> {_text(block.text)}</p>"
    else:
        yield from _frames(block, frames)


def _frames(strip: FrameStrip, frames: FrameReader) -> Iterator[str]:
    decoded = frames(strip.source, np.asarray(strip.times, np.float64)) if len(strip.times) else None
    if decoded is None:
        return
    # A decoder returns a frame's own time, which need not be the requested one.
    marked = -1 if strip.marked is None else int(np.abs(decoded.times - strip.marked).argmin())
    for index, (time, image) in enumerate(zip(decoded.times.tolist(), decoded.images, strict=True)):
        caption = clock(time)
        mark = " class=marked" if index == marked else ""
        alt = ", ".join(part for part in (strip.title, caption) if part)
        yield (
            f'<figure{mark}><img src="{image_data_uri(image)}" alt="{_text(alt)}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )


def _text(text: str) -> str:
    return escape(visible(text))
