"""A browsing run as one HTML file that needs nothing else: the plan, what was watched and why, the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

from rag.agents.runtime.frame_source import even_times
from rag.agents.video_browser.records import BrowserStep, BrowseRun
from rag.reasoners.roles import ReadWindow
from rag.rendering.pictures import picture_address
from rag.rendering.terminal import clock, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames

    Pictures = Callable[[str, NDArray[np.float64]], Frames | None]

SHOWN_A_WINDOW = 4
MOST_WINDOWS = 24
"""Windows with pictures; the file would else grow to tens of megabytes."""
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}table{border-collapse:collapse}
td,th{padding:.2rem .7rem .2rem 0;text-align:left;vertical-align:top}
figure{display:inline-block;margin:.2rem .4rem .2rem 0}figcaption{font-size:12px;color:#667}
img{display:block;border-radius:3px}.quiet{color:#667}.step{border-top:1px solid #e3e6ea;padding:.4rem 0}
.answer{background:#eef6ee;padding:.6rem 1rem;border-radius:6px}.right{font-weight:600}
.failure{color:#a33}.kind{display:inline-block;min-width:5.5rem;color:#667}
"""


def page(run: BrowseRun, pictures: Pictures, token_count_method: str = "") -> str:
    """UTF-8 text of the page. `pictures`: address and times to decoded frames; None where there are none."""
    question = run.answer.question
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>{_text(question.text)}</title><style>{STYLE}</style>",
        f"<h1>{_text(question.text)}</h1>",
        *_answer(run, token_count_method),
        "<h2>Plan</h2>",
        *(
            f"<p>{_text(part.text)} <span class=quiet>{part.status} {_text(part.finding)}</span></p>"
            for part in run.sub_questions
        ),
        "<h2>Steps</h2>",
        *(_step(step) for step in run.steps),
        "<h2>What the analyst was given</h2>",
        *(_window(read, pictures) for read in run.evidence[:MOST_WINDOWS]),
    ]
    left = len(run.evidence) - MOST_WINDOWS
    parts += [f"<p class=quiet>and {left} more windows</p>"] if left > 0 else []
    return "\n".join([*parts, "</html>\n"])


def _answer(run: BrowseRun, token_count_method: str) -> Iterator[str]:
    answer = run.answer
    label = f"({answer.choice}) " if answer.choice else ""
    yield "<div class=answer>"
    yield f"<p class=right>{label}{_text(answer.text)}</p><p>{_text(answer.explanation)}</p>"
    if run.failure:
        yield f"<p class=failure>The run ended without an answer: {_text(run.failure)}</p>"
    yield (
        f"<p class=quiet>confidence {answer.confidence:.2f}; {run.loops} loops, {run.searches} searches, "
        f"{len(run.watched)} videos; {run.tokens} tokens, {run.context} of them in the last prompt"
        f"{_text(f' ({token_count_method})' if token_count_method else '')}</p></div>"
    )


def _step(step: BrowserStep) -> str:
    loop = f"loop {step.loop} " if step.loop else ""
    tone = " failure" if step.kind == "failure" else ""
    return (
        f"<div class='step{tone}'><span class=kind>{loop}{_text(step.kind)}</span> {_text(step.text)}"
        f"{_details(step)}</div>"
    )


def _details(step: BrowserStep) -> str:
    data = step.data
    if step.kind == "plan":
        return f"<br><span class=quiet>{_text(str(data['thought']))}</span>"
    if step.kind == "select":
        titles = "; ".join(str(result["title"]) for result in data["chosen"])
        return f"<br><span class=quiet>{_text(str(data['reason']))} {_text(titles)}</span>"
    if step.kind == "watch" and data.get("windows"):
        rows = "".join(
            f"<tr><td>{clock(window['start'])}-{clock(window['end'])}<td>{_text(window['reason'])}"
            for window in data["windows"]
        )
        return f"<table class=quiet>{rows}</table>"
    return ""


def _window(read: ReadWindow, pictures: Pictures) -> str:
    window = read.window
    said = "".join(
        f"<br><span class=quiet>{_text(text.kind)}: {_text(text.text)}</span>" for text in read.texts
    )
    return (
        f"<div class=step><b>{_text(read.title)}</b> {clock(window.start)}-{clock(window.end)} "
        f"<span class=quiet>{_text(read.path)}</span>{said}<br>{_figures(read, pictures)}</div>"
    )


def _figures(read: ReadWindow, pictures: Pictures) -> str:
    window = read.window
    decoded = pictures(read.path, even_times(window.start, window.end, SHOWN_A_WINDOW))
    if decoded is None:
        return ""
    unseen = read.frames is None and (read.frame_vectors is None or not len(read.frame_vectors))
    note = "<span class=quiet>The reasoner saw no frame of this.</span><br>" if unseen else ""
    return note + "".join(
        f'<figure><img src="{picture_address(image)}" alt="">'
        f"<figcaption>{clock(float(time))}</figcaption></figure>"
        for time, image in zip(decoded.times, decoded.images, strict=True)
    )


def _text(text: str) -> str:
    return escape(visible(text))
