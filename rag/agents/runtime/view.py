"""How a run is shown: steps as lines for a terminal, and an HTML page from sections given as data. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corpora.escaping import visible
from rag.agents.runtime.trace import Step
from rag.rendering.contact_sheet import image_data_uri
from rag.rendering.shapes import plain
from rag.rendering.terminal import clock, excerpt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.records import Frames

    FrameReader = Callable[[str, NDArray[np.float64]], Frames | None]

TRACE_ONLY = ("web",)
"""Kinds of steps that are in the trace and not on the terminal."""

Details = Callable[[Step, int], Iterable[str]]
"""Further lines of a step, no wider than the given width."""


def console_view(labels: Mapping[str, str], details: Details) -> Callable[[Step, int], Iterator[str]]:
    """A step to its lines, no wider than the given width; a failure is not cut.

    `labels`: how a kind of step is named, where not by itself. `details`: what follows its first line.
    """

    def step_lines(step: Step, width: int) -> Iterator[str]:
        if step.kind in TRACE_ONLY:
            return
        if step.kind == "failure":
            # Not cut: its advice is at the end.
            yield f"  problem: {visible(step.text)}"
            return
        yield entry(labels.get(step.kind, f"{step.kind}:"), step.text, width)
        yield from details(step, width)

    return step_lines


def entry(label: str, text: str, width: int) -> str:
    """A label and as much of the text as fits."""
    return f"{label} {excerpt(text, width - len(label) - 1)}"


def title_lines(results: Iterable[Mapping[str, str]], width: int) -> Iterator[str]:
    """A line for the title of each search result."""
    yield from (f"  {excerpt(result['title'], width - 4)}" for result in results)


STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.25rem}h2{font-size:1.05rem;margin-top:2rem}table{border-collapse:collapse}
td,th{padding:.2rem .7rem .2rem 0;text-align:left;vertical-align:top}p{margin:.3rem 0}
figure{display:inline-block;margin:.2rem .4rem .2rem 0}figcaption{font-size:12px;color:#667}
img{display:block;border-radius:3px}.marked img{outline:3px solid #d9730d}
.card{border-top:1px solid #e3e6ea;padding:.4rem 0}
.answer,.guess{background:#eef6ee;padding:.6rem 1rem;border-radius:6px}.guess{background:#f6f1e6}
.strong{font-weight:600}.quiet{color:#667}.good{color:#276738}.bad{color:#a33}
.kind{display:inline-block;min-width:5.5rem;color:#667}
.bars{display:flex;height:38px;align-items:flex-end;background:#f1f3f6;margin:.3rem 0}
.bars i{display:block;background:#9db4d6}.bars i.seen{background:#e09a3e}.bars i.here{background:#c0392b}
"""


def run_json(schema: str, run: object, fields: str, **made: Any) -> dict[str, Any]:
    """The JSON of a run: `schema`, `made`, and the named fields of the run."""
    held = {name: getattr(run, name) for name in fields.split()}
    return dict(plain({"schema": schema, **made, **held}))


Tone = Literal["strong", "quiet", "good", "bad", "kind"]


@dataclass(frozen=True, slots=True)
class Span:
    """Text in a tone."""

    text: str
    tone: Tone


Line = str | Span | Sequence[str | Span]
"""A paragraph."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text cells."""

    rows: Sequence[Sequence[str]]
    head: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FrameStrip:
    """Decoded frames of a video, which are left out where they cannot be read."""

    source: str
    """Address or path of the video."""
    times: Sequence[float]
    """Seconds."""
    title: str = ""
    """Of the video, for the alternative text."""
    marked: float | None = None
    """The frame nearest to this time is marked."""
    mark: str = ""
    """What is said of it."""
    note: str = ""
    """A line before the frames."""


@dataclass(frozen=True, slots=True)
class Bars:
    """One bar for each of the intervals that begin at `starts` and end at `end`."""

    values: Sequence[float]
    starts: Sequence[float]
    end: float
    here: int | None = None
    seen: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Card:
    """Blocks that belong together."""

    blocks: Sequence[Block]
    style: Literal["card", "answer", "guess"] = "card"


Block = Line | Table | FrameStrip | Bars | Card


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page."""

    heading: str
    """Empty for what follows the title."""
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Page:
    """An HTML page of a run."""

    title: str
    """Of the document."""
    heading: str
    sections: Sequence[Section]


def render_page(page: Page, frames: FrameReader) -> str:
    """The page as text, with the frames as data URLs. `frames`: source and float64 (n,) seconds to decoded
    frames; None where there are none."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>{_text(page.title)}</title><style>{STYLE}</style>",
        f"<h1>{_text(page.heading)}</h1>",
    ]
    for section in page.sections:
        parts += [f"<h2>{_text(section.heading)}</h2>"] if section.heading else []
        parts += [_block(block, frames) for block in section.blocks]
    return "\n".join([*parts, "</html>\n"])


def steps_section(steps: Sequence[Step], details: Callable[[Step], Sequence[Block]]) -> Section:
    """All steps of a run; `details`: what is shown of a step beside its text."""
    return Section("Steps", [Card([_step_line(step), *details(step)]) for step in steps])


def token_line(facts: str, token_count_method: str) -> Line:
    """What a run cost. `token_count_method`: how tokens were counted, where no model reported them."""
    return Span(facts + (f" ({token_count_method})" if token_count_method else ""), "quiet")


def _step_line(step: Step) -> Line:
    round_ = f"{step.counter} {step.round} " if step.counter and step.round else ""
    text = Span(step.text, "bad") if step.kind == "failure" else step.text
    return (Span(f"{round_}{step.kind}", "kind"), " ", text)


def _block(block: Block, frames: FrameReader) -> str:
    match block:
        case Table():
            head = "<tr>" + "".join(f"<th>{_text(cell)}" for cell in block.head) if block.head else ""
            rows = ("<tr>" + "".join(f"<td>{_text(cell)}" for cell in row) for row in block.rows)
            return f"<table>{head}{''.join(rows)}</table>"
        case FrameStrip():
            return "".join(_frames(block, frames))
        case Bars():
            return f"<div class=bars>{''.join(_bars(block))}</div>"
        case Card():
            inner = "\n".join(_block(inner, frames) for inner in block.blocks)
            return f"<div class={block.style}>{inner}</div>"
        case str() | Span():
            return f"<p>{_span(block)}</p>"
        case _:
            return f"<p>{''.join(map(_span, block))}</p>"


def _span(span: str | Span) -> str:
    return _text(span) if isinstance(span, str) else f"<span class={span.tone}>{_text(span.text)}</span>"


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
