"""A search for a shot as one HTML file that needs nothing else: the shot, every candidate, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

from rag.agents.runtime.frame_source import even_times
from rag.agents.shotfinder.console import NOT_LOOKED
from rag.agents.shotfinder.records import (
    FoundShot,
    Look,
    ShotRun,
    ShotStep,
)
from rag.rendering.pictures import picture_address
from rag.rendering.terminal import clock, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames

    Pictures = Callable[[str, NDArray[np.float64]], Frames | None]

SHOWN_A_SHOT = 5
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.2rem;font-weight:500}h2{font-size:1.05rem;margin-top:2rem}
figure{display:inline-block;margin:.2rem .4rem .2rem 0}figcaption{font-size:12px;color:#667}
img{display:block;border-radius:3px}.quiet{color:#667}.step{border-top:1px solid #e3e6ea;padding:.4rem 0}
.shot{background:#eef6ee;padding:.6rem 1rem;border-radius:6px}.none{background:#f6eeee}
.decided figcaption{font-weight:600}.holds{color:#276738}.fails{color:#a33}.failure{color:#a33}
.kind{display:inline-block;min-width:5.5rem;color:#667}
"""


def page(run: ShotRun, pictures: Pictures, token_count_method: str = "") -> str:
    """UTF-8 text of the page. `pictures`: address and times to decoded frames; None where there are none."""
    wanted = run.request.constraints.options()
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>{_text(run.request.description[:80])}</title><style>{STYLE}</style>",
        f"<h1>{_text(run.request.description)}</h1>",
        "".join(f"<p class=quiet>{_text(name)}: {_text(str(value))}</p>" for name, value in wanted.items()),
        *_result(run, pictures, token_count_method),
        "<h2>Candidates</h2>",
        *(
            _look(each, pictures, chosen=each.found is not None and each.found == run.shot)
            for each in run.looks
        ),
        "<h2>Steps</h2>",
        *(_step(step) for step in run.steps),
    ]
    return "\n".join([*parts, "</html>\n"])


def _result(run: ShotRun, pictures: Pictures, token_count_method: str) -> Iterator[str]:
    found = run.shot
    spent = f"{run.searches} searches, {len(run.looks)} videos, {run.tokens} tokens"
    counted = f" ({token_count_method})" if token_count_method else ""
    if found is None:
        yield f"<div class='shot none'><p>N/A: {_text(run.absence)}</p>"
    else:
        yield f"<div class=shot><p><b>{_text(found.title)}</b> {_span(found)}</p>"
        if not found.looked:
            yield f"<p class=fails>{_text(NOT_LOOKED)}</p>"
        yield f"<p class=quiet>{_text(found.url)}</p>{_checks(found)}{_figures(found, pictures)}"
    yield f"<p class=quiet>{_text(spent + counted)}</p></div>"


def _look(each: Look, pictures: Pictures, *, chosen: bool) -> str:
    head = f"<b>{_text(each.title)}</b> <span class=quiet>{_text(each.url)}, by “{_text(each.query)}”</span>"
    if each.found is None:
        return f"<div class=step>{head}<br>N/A: {_text(each.reason)}</div>"
    found = each.found
    told = f"{_span(found)} score {found.score:.2f}, {each.frames} frames. {_text(found.reason)}"
    if chosen:
        return f"<div class=step>{head}<br>{told}<br><b>This is the shot shown above.</b></div>"
    return f"<div class=step>{head}<br>{told}{_checks(found)}{_figures(found, pictures)}</div>"


def _step(step: ShotStep) -> str:
    tone = " failure" if step.kind == "failure" else ""
    thought = step.data.get("thought", "")
    more = f"<br><span class=quiet>{_text(str(thought))}</span>" if thought else ""
    return (
        f"<div class='step{tone}'><span class=kind>{_text(step.kind)}</span> {_text(step.text)}{more}</div>"
    )


def _span(found: FoundShot) -> str:
    return f"{clock(found.start)}-{clock(found.end)}" + ("" if found.measured else " (not measured)")


def _checks(found: FoundShot) -> str:
    rows = []
    for check in found.checks:
        tone = {True: "holds", False: "fails", None: "quiet"}[check.holds]
        measured = check.found or "not measured"
        told = f"{check.kind}: wanted {check.wanted}, {measured}"
        rows.append(f"<br><span class={tone}>{_text(told)}</span>")
    return "".join(rows)


def _figures(found: FoundShot, pictures: Pictures) -> str:
    import numpy as np

    inside = even_times(found.start, found.end, SHOWN_A_SHOT)
    times = np.unique(np.append(inside, found.frame).round(6))
    decoded = pictures(found.url, times)
    if decoded is None:
        return ""
    # A decoder gives a frame its own time, which need not be the one that was asked for.
    nearest = int(np.abs(decoded.times - found.frame).argmin()) if found.looked else -1
    shown = []
    for at, (time, image) in enumerate(zip(decoded.times.tolist(), decoded.images, strict=True)):
        told = clock(time) + (", the frame that decided" if at == nearest else "")
        mark = " class=decided" if at == nearest else ""
        alt = _text(f"{found.title}, {told}")
        shown.append(
            f'<figure{mark}><img src="{picture_address(image)}" alt="{alt}">'
            f"<figcaption>{told}</figcaption></figure>"
        )
    return "<br>" + "".join(shown)


def _text(text: str) -> str:
    return escape(visible(text))
