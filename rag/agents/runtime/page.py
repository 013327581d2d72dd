"""What is shown of a run: blocks as data, which a step holds, and an HTML page of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np

from corpora.escaping import visible
from rag.rendering.contact_sheet import image_data_uri
from rag.rendering.terminal import clock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.records import Frames

    FrameReader = Callable[[str, NDArray[np.float64]], Frames | None]

Tone = Literal["strong", "quiet", "bad"]


@dataclass(frozen=True, slots=True)
class Span:
    """A paragraph of a page, in a tone."""

    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Entry:
    """A label and what belongs to it: a line of a terminal and of a page."""

    label: str
    text: str
    cut: bool = True
    """Whether a terminal shows no more of it than fits on a line."""


@dataclass(frozen=True, slots=True)
class FrameStrip:
    """Decoded frames of a video, which are left out where they cannot be read."""

    source: str
    """Address or path of the video."""
    times: Sequence[float]
    """Seconds."""
    title: str = ""
    """The title of the video, for the alternative text."""
    marked: float | None = None
    """The frame nearest to this time is marked."""
    mark: str = ""
    """The caption of that frame."""
    note: str = ""
    """A line that is shown before the frames."""


@dataclass(frozen=True, slots=True)
class Bars:
    """One bar for each of the intervals that begin at `starts` and end at `end`."""

    values: Sequence[float]
    starts: Sequence[float]
    end: float
    here: int | None = None
    seen: frozenset[int] = frozenset()


Block = str | Span | Entry | FrameStrip | Bars
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.25rem}h2{font-size:1.05rem;margin-top:2rem}p{margin:.3rem 0}
figure{display:inline-block;margin:.2rem .4rem .2rem 0}figcaption{font-size:12px;color:#667}
img{display:block;border-radius:3px}.marked img{outline:3px solid #d9730d}
.card{border-top:1px solid #e3e6ea;padding:.4rem 0}
.answer,.guess{background:#eef6ee;padding:.6rem 1rem;border-radius:6px}.guess{background:#f6f1e6}
.strong{font-weight:600}.quiet{color:#667}.bad{color:#a33}
.kind{display:inline-block;min-width:5.5rem;color:#667}
.bars{display:flex;height:38px;align-items:flex-end;background:#f1f3f6;margin:.3rem 0}
.bars i{display:block;background:#9db4d6}.bars i.seen{background:#e09a3e}.bars i.here{background:#c0392b}
"""


def render_page(
    heading: str,
    result: Sequence[Block],
    steps: Iterable[Sequence[Block]],
    frames: FrameReader,
    *,
    found: bool,
) -> str:
    """A page of a run as text, with the frames as data URLs.

    `frames`: source and float64 (n,) seconds to decoded frames; None where there are none. `found`: whether
    the result is an answer; else it is set off as a guess.
    """
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>{_text(heading[:80])}</title><style>{STYLE}</style>",
        f"<h1>{_text(heading)}</h1>",
        _card(result, "answer" if found else "guess", frames),
        "<h2>Steps</h2>",
        *(_card(step, "card", frames) for step in steps),
    ]
    return "\n".join([*parts, "</html>\n"])


def _card(blocks: Sequence[Block], style: str, frames: FrameReader) -> str:
    inner = "\n".join("".join(_block(block, frames)) for block in blocks)
    return f"<div class={style}>{inner}</div>"


def _block(block: Block, frames: FrameReader) -> Iterator[str]:
    match block:
        case FrameStrip():
            yield from _frames(block, frames)
        case Bars():
            yield f"<div class=bars>{''.join(_bars(block))}</div>"
        case Span():
            yield f"<p class={block.tone}>{_text(block.text)}</p>"
        case Entry():
            yield f"<p><span class=kind>{_text(block.label)}</span> {_text(block.text)}</p>"
        case _:
            yield f"<p>{_text(block)}</p>"


def _frames(strip: FrameStrip, frames: FrameReader) -> Iterator[str]:
    decoded = frames(strip.source, np.asarray(strip.times, np.float64)) if len(strip.times) else None
    if decoded is None:
        return
    if strip.note:
        yield f"<p class=quiet>{_text(strip.note)}</p>"
    # A decoder returns a frame's own time, which need not be the requested one.
    marked = -1 if strip.marked is None else int(np.abs(decoded.times - strip.marked).argmin())
    for index, (time, image) in enumerate(zip(decoded.times.tolist(), decoded.images, strict=True)):
        caption = clock(time) + (f", {strip.mark}" if index == marked and strip.mark else "")
        mark = " class=marked" if index == marked else ""
        alt = ", ".join(part for part in (strip.title, caption) if part)
        yield (
            f'<figure{mark}><img src="{image_data_uri(image)}" alt="{_text(alt)}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )


def _bars(bars: Bars) -> Iterator[str]:
    low, high = min(bars.values), max(bars.values)
    ends = [*bars.starts[1:], bars.end]
    for index, (value, start, end) in enumerate(zip(bars.values, bars.starts, ends, strict=True)):
        height = 8 + 92 * (value - low) / (high - low) if high > low else 8
        kind = "here" if index == bars.here else "seen" if index in bars.seen else ""
        yield (
            f'<i class="{kind}" style="width:{100 * (end - start) / bars.end:.3f}%;height:{height:.1f}%" '
            f'title="{clock(start)} {value:.2f}"></i>'
        )


def _text(text: str) -> str:
    return escape(visible(text))
