"""An investigation as one HTML file that needs no other: the plan, every look with pictures, the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rag.agents.video_detective.records import DetectiveResult, Look, Pack
from rag.rendering.pictures import picture_address
from rag.rendering.terminal import clock, visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.records import Frames

    Pictures = Callable[[NDArray[np.float64]], Frames | None]

SHOWN_A_LOOK = 3
"""Of the nine frames of a look; the file would else grow to tens of megabytes."""
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}table{border-collapse:collapse}
td,th{padding:.2rem .7rem .2rem 0;text-align:left;vertical-align:top}
.strip{display:flex;height:38px;align-items:flex-end;background:#f1f3f6;margin:.3rem 0}
.strip i{display:block;background:#9db4d6}.strip i.seen{background:#e09a3e}.strip i.here{background:#c0392b}
figure{display:inline-block;margin:.2rem .4rem .2rem 0}figcaption{font-size:12px;color:#667}
img{display:block;border-radius:3px}.quiet{color:#667}.look{border-top:1px solid #e3e6ea;padding:.6rem 0}
.answer{background:#eef6ee;padding:.6rem 1rem;border-radius:6px}.right{font-weight:600}
"""


def page(found: DetectiveResult, pictures: Pictures, token_count_method: str = "") -> str:
    """UTF-8 text of the page.

    `pictures`: times to decoded frames; None where the file cannot be read. `token_count_method`: how the
    tokens were counted, where no model measured them.
    """
    question = found.answer.question
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>{_text(question.text)}</title><style>{STYLE}</style>",
        f"<h1>{_text(question.text)}</h1>",
        f"<p class=quiet>{_text(found.path)}, {clock(found.plan.duration)}</p>",
        *_options(found, token_count_method),
        *_plan(found),
        "<h2>Looks</h2>",
        "<p class=quiet>Belief over the time of the video: red is where was looked just now, "
        "orange what was seen before.</p>",
    ]
    seen: set[int] = set()
    for look in found.looks:
        parts += _look(found, look, seen, pictures)
        seen.add(look.node)
    parts += _shown(found, pictures)
    return "\n".join([*parts, "</html>\n"])


def _options(found: DetectiveResult, token_count_method: str) -> Iterator[str]:
    answer = found.answer
    yield "<div class=answer>"
    label = f"({answer.choice}) " if answer.choice else ""
    yield f"<p class=right>{label}{_text(answer.text)}</p><p>{_text(answer.explanation)}</p>"
    if answer.options:
        rows = "".join(
            f"<tr><td>{option.label}<td>{_text(option.text)}<td>{option.score:.2f}"
            for option in answer.options
        )
        yield f"<table>{rows}</table>"
    usage = answer.usage
    yield (
        f"<p class=quiet>{len(found.looks)} looks, {len(found.frame_times)} frames shown; "
        f"{usage.prompt_tokens + usage.completion_tokens} tokens, of them {usage.image_tokens} for images"
        f"{_text(f' ({token_count_method})' if token_count_method else '')}</p></div>"
    )


def _plan(found: DetectiveResult) -> Iterator[str]:
    yield "<h2>Plan</h2><table><tr><th>facet<th>keywords<th>events<th>anchor"
    plan = found.plan
    for facet, anchor in zip(plan.facets, plan.anchors, strict=True):
        words, events = ", ".join(facet.keywords), " / ".join(facet.queries)
        where = clock(plan.starts[anchor])
        yield f"<tr><td>{_text(facet.name)}<td>{_text(words)}<td>{_text(events)}<td>{where}"
    yield "</table>"
    yield _strip(found, plan.belief, set(), None)
    yield from (f"<p>{_text(problem)}</p>" for problem in plan.problems)


def _look(found: DetectiveResult, look: Look, seen: set[int], pictures: Pictures) -> Iterator[str]:
    facets = f" of {', '.join(look.facets)}" if look.facets else ""
    yield (
        f"<div class=look><b>{look.step}. {clock(look.start)}-{clock(look.end)}</b> "
        f"<span class=quiet>{look.policy}{_text(facets)}, score {look.score:.2f}</span>"
    )
    if look.words is not None:
        yield f"<p>{look.words.kind}: {_text(look.words.text)}</p>"
    if look.missing:
        yield f"<p class=quiet>missing: {_text(', '.join(look.missing))}</p>"
    if look.confirmed:
        yield f"<p>confirmed: {_text(', '.join(look.confirmed))}</p>"
    if look.problem:
        yield f"<p>{_text(look.problem)}</p>"
    step = max(1, len(look.times) // SHOWN_A_LOOK)
    yield _figures(look.times[step // 2 :: step][:SHOWN_A_LOOK], pictures)
    yield _strip(found, look.belief, seen, look.node) + "</div>"


def _shown(found: DetectiveResult, pictures: Pictures) -> Iterator[str]:
    yield "<h2>What the answer was given from</h2>"
    if found.selected.fallback:
        yield f"<p>Frames were spread evenly, {_text(found.selected.fallback)}.</p>"
    for pack in found.selected.packs:
        yield f"<div class=look><b>{clock(pack.start)}-{clock(pack.end)}</b> {_why(pack)}"
        if pack.words is not None:
            yield f"<p>{pack.words.kind}: {_text(pack.words.text)}</p>"
        yield _figures(pack.times, pictures) + "</div>"


def _why(pack: Pack) -> str:
    return f"<span class=quiet>belief {pack.belief:.2f}{'' if pack.chosen else ', fills a free place'}</span>"


def _strip(found: DetectiveResult, belief: Sequence[float], seen: set[int], here: int | None) -> str:
    starts, total = found.plan.starts, found.plan.duration
    low, high = min(belief), max(belief)
    bars = []
    for node, (value, start) in enumerate(zip(belief, starts, strict=True)):
        end = starts[node + 1] if node + 1 < len(starts) else total
        height = 8 + 92 * (value - low) / (high - low) if high > low else 8
        kind = "here" if node == here else "seen" if node in seen else ""
        bars.append(
            f'<i class="{kind}" style="width:{100 * (end - start) / total:.3f}%;height:{height:.1f}%" '
            f'title="{clock(start)} {value:.2f}"></i>'
        )
    return f"<div class=strip>{''.join(bars)}</div>"


def _figures(times: Sequence[float], pictures: Pictures) -> str:
    decoded = pictures(np.array(times, np.float64)) if times else None
    if decoded is None:
        return ""
    return "".join(
        f'<figure><img src="{picture_address(image)}" alt=""><figcaption>{clock(time)}</figcaption></figure>'
        for time, image in zip(times, decoded.images, strict=True)
    )


def _text(text: str) -> str:
    return escape(visible(text))
