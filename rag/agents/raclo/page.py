"""A run of RACLO as one HTML file that needs nothing else: the memory, the answer, every candidate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

from rag.agents.raclo.records import CandidateVideo, RacloRun, RacloStep
from rag.agents.runtime.frame_budget import frame_times
from rag.rendering.pictures import picture_address
from rag.rendering.terminal import clock, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames
    from rag.reasoners.roles import VideoVerdict

    Pictures = Callable[[str, NDArray[np.float64]], Frames | None]

SHOWN_OF_ALL = 6
SHOWN_OF_MOMENT = 5
CUES = {
    "global_impression": "the whole",
    "key_moment": "the moment",
    "before": "before",
    "after": "after",
    "auditory_memory": "heard",
}
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.25rem}h2{font-size:1.05rem;margin-top:2rem}td{padding:.15rem .8rem .15rem 0;vertical-align:top}
figure{display:inline-block;margin:.2rem .4rem .2rem 0}figcaption{font-size:12px;color:#667}
img{display:block;border-radius:3px}.named img{outline:3px solid #d9730d}.quiet{color:#667}
.step{border-top:1px solid #e3e6ea;padding:.4rem 0}
.answer{background:#eef6ee;padding:.6rem 1rem;border-radius:6px}
.guess{background:#f6f1e6}.yes{color:#276738}.no{color:#a33}.failure{color:#a33}
.kind{display:inline-block;min-width:5.5rem;color:#667}
"""


def page(run: RacloRun, pictures: Pictures, token_count_method: str = "") -> str:
    """UTF-8 text of the page. `pictures`: address and times to decoded frames; None where there are none."""
    memory = run.memory
    cues = "".join(
        f"<tr><td class=quiet>{label}<td>{_text(getattr(memory, name))}"
        for name, label in CUES.items()
        if getattr(memory, name)
    )
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>{_text((memory.key_moment or memory.global_impression)[:80])}</title><style>{STYLE}</style>",
        "<h1>What is remembered</h1>",
        f"<table>{cues}</table>",
        *_answer(run, pictures, token_count_method),
        "<h2>Candidates</h2>",
        *(_candidate(one, at == run.chosen, pictures) for at, one in enumerate(run.candidates)),
        "<h2>Steps</h2>",
        *(_step(step) for step in run.steps),
    ]
    return "\n".join([*parts, "</html>\n"])


def _answer(run: RacloRun, pictures: Pictures, token_count_method: str) -> Iterator[str]:
    answer, counted = run.answer, f" ({token_count_method})" if token_count_method else ""
    yield f"<div class='answer{'' if run.matched else ' guess'}'>"
    if answer is None:
        yield f"<p>No video was found <span class=failure>{_text(run.failure)}</span></p>"
    else:
        doubt = "" if run.matched else f" <span class=quiet>a guess: {answer.doubt}</span>"
        at = "" if answer.moment is None else f" at {clock(answer.moment.time)}"
        yield f"<p><b>{_text(answer.title)}</b>{at}{doubt}"
        yield f"<br><span class=quiet>{_text(answer.url)}</span></p>"
        if answer.moment is not None:
            yield _figures(pictures, answer.url, [answer.moment.time], answer.moment.time)
    yield (
        f"<p class=quiet>cues {run.cues}; {run.searches} searches, {len(run.candidates)} videos, "
        f"{run.tokens} tokens{_text(counted)}</p></div>"
    )


def _candidate(one: CandidateVideo, chosen: bool, pictures: Pictures) -> str:
    verdict = ""
    if one.consensus is not None:
        said = (
            "<span class=yes>taken for the video</span>" if one.accepted else "<span class=no>rejected</span>"
        )
        judges = [judge for judge in (one.consensus.first, one.consensus.second) if judge is not None]
        reasons = "<br>".join(_judgement(judge) for judge in judges)
        verdict = f"{said}, fits by {one.fit:.2f}<br><span class=quiet>{reasons}</span>"
    whole = _figures(pictures, one.url, frame_times(one.duration, SHOWN_OF_ALL), None)
    moment = ""
    if one.moment is not None:
        found = one.moment
        inside = found.start + frame_times(found.end - found.start, SHOWN_OF_MOMENT - 1)
        times = sorted({*inside.round(6).tolist(), found.time})
        shown = _figures(pictures, one.url, times, found.time)
        moment = (
            f"<br>moment at {clock(found.time)} <span class=quiet>{_text(found.reason)}</span><br>{shown}"
        )
    mark = "the answer: " if chosen else ""
    return (
        f"<div class=step><b>{mark}{_text(one.title)}</b> {clock(one.duration)} "
        f"<span class=quiet>{_text(one.query)}, rank {one.rank}</span><br>{verdict}<br>{whole}{moment}</div>"
    )


def _judgement(verdict: VideoVerdict) -> str:
    return f"{'yes' if verdict.video_match else 'no'}: {_text(verdict.reason)}"


def _step(step: RacloStep) -> str:
    turn = f"turn {step.turn} " if step.turn else ""
    tone = " failure" if step.kind == "failure" else ""
    more = ""
    if step.kind == "think":
        guesses = "; ".join(f"{one['kind']}: {one['guess']}" for one in step.data["hypotheses"])
        searches = "; ".join(step.data["queries"])
        more = f"<br><span class=quiet>{_text(guesses)}<br>searches: {_text(searches)}</span>"
    kind = f"<span class=kind>{turn}{_text(step.kind)}</span>"
    return f"<div class='step{tone}'>{kind} {_text(step.text)}{more}</div>"


def _figures(
    pictures: Pictures, url: str, times: NDArray[np.float64] | list[float], named: float | None
) -> str:
    import numpy as np

    decoded = pictures(url, np.asarray(times, np.float64))
    if decoded is None:
        return ""
    shown = []
    for asked, time, image in zip(times, decoded.times, decoded.images, strict=False):
        here = named is not None and asked == named
        mark, told = (" class=named", ", the moment") if here else ("", "")
        shown.append(
            f'<figure{mark}><img src="{picture_address(image)}" alt="the frame at {clock(float(time))}">'
            f"<figcaption>{clock(float(time))}{told}</figcaption></figure>"
        )
    return "".join(shown)


def _text(text: str) -> str:
    return escape(visible(text))
