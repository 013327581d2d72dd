"""The failure analysis of a run: every failed sample with its stage, what was asked and found, and frames.

For a task with `Task.failure`. One HTML file that needs no other, with a CSV beside it. Same run, same bytes.
"""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpora.escaping import visible
from corpora.outputs import DEFAULT_POLICY, OverwritePolicy, atomic_write_text
from eval.reports.tables import csv_text, report_folder
from eval.runs.records import Query, Sample, skip_reason
from rag.errors import FileProblem
from rag.rendering.terminal import clock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.records import Frames
    from eval.runs.folder import Run

    ReadFrames = Callable[[str, NDArray[np.float64]], Frames]
    """From the path of a video file and (n,) seconds to the frames on screen then."""

SHORT_SIDE = 150
QUALITY = 70
MOST_SHOWN = 200
"""Failures with frames, the first so many; the file would else grow to tens of megabytes."""
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.25rem}td,th{padding:.2rem .9rem .2rem 0;text-align:left;vertical-align:top}
.case{border-top:1px solid #e3e6ea;padding:.6rem 0}.stage{font-weight:600;color:#a33}.quiet{color:#667}
figure{display:inline-block;margin:.2rem .5rem .2rem 0}figcaption{font-size:12px;color:#667}
img{display:block;border-radius:3px}
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """One frame of the page: the one on screen at `time` seconds of a video file."""

    caption: str
    path: str
    time: float


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed sample."""

    stage: str
    """`generator`, `retriever`, `verifier`, `localizer`."""
    details: Mapping[str, str]
    """What was asked, searched for, and found; label to text."""
    shown: tuple[Shown, ...] = ()


def write_failures(
    run: Run,
    stage_of: Callable[[Query, Sample], Failure | None],
    read: ReadFrames,
    out: Path,
    policy: OverwritePolicy = DEFAULT_POLICY,
) -> list[Path]:
    """Write `failures.html` and `failures.csv` into `out`. Raises `UsageError` where that cannot be.

    `stage_of`: None for a sample that did not fail.
    """
    name = f"{run.identity['benchmark']}, {run.identity['system']}, seed {run.identity['seed']}"
    with report_folder(out, policy) as draft:
        failures = (
            (query, None if skip_reason(sample) else stage_of(query, sample))
            for query, sample in zip(run.queries, run.samples, strict=False)
        )
        found = [(query, failure) for query, failure in failures if failure is not None]
        page = "\n".join(_page(name, _asked(run), found, read)) + "\n"
        atomic_write_text(draft / "failures.html", page)
        rows = [
            {"query_id": query.query_id, "family": query.family, "stage": failure.stage, **failure.details}
            for query, failure in found
        ]
        table = csv_text(rows) if rows else "query_id,family,stage\n"
        atomic_write_text(draft / "failures.csv", table)
    return [out / "failures.html", out / "failures.csv"]


def _asked(run: Run) -> str:
    """`4 queries`, or `3 answered queries (3 of 4 answered so far)`."""
    done, due = len(run.samples), len(run.queries)
    return f"{due} queries" if done == due else f"{done} answered queries ({done} of {due} answered so far)"


def _page(name: str, asked: str, found: Sequence[tuple[Query, Failure]], read: ReadFrames) -> Iterator[str]:
    counts = Counter(failure.stage for _, failure in found)
    yield "<!doctype html><html lang=en><meta charset=utf-8>"
    yield f"<title>{_text(name)}</title><style>{STYLE}</style>"
    yield f"<h1>Failures of {_text(name)}</h1><p>{len(found)} of {asked} failed.</p><table>"
    for stage, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"<tr><td>{_text(stage)}<td>{count}<td>{100 * count / max(1, len(found)):.1f} %"
    yield "</table>"
    if len(found) > MOST_SHOWN:
        yield f"<p class=quiet>Frames of the first {MOST_SHOWN}; the others in words alone.</p>"
    for number, (query, failure) in enumerate(found):
        yield f"<div class=case><span class=stage>{_text(failure.stage)}</span> "
        yield f"{_text(query.query_id)} <span class=quiet>{_text(query.family)}</span><table>"
        for label, text in failure.details.items():
            yield f"<tr><td class=quiet>{_text(label)}<td>{_text(text)}"
        yield "</table>"
        if number < MOST_SHOWN:
            yield from (_figure(shown, read) for shown in failure.shown)
        yield "</div>"
    yield "</html>"


def _figure(shown: Shown, read: ReadFrames) -> str:
    caption = f"{_text(shown.caption)}, {clock(shown.time)}"
    try:
        images = read(shown.path, np.array([shown.time])).images
    except FileProblem as error:
        return f"<p class=quiet>{caption}: no frames: {_text(str(error))}</p>"
    if not len(images):
        return f"<p class=quiet>{caption}: no frames</p>"
    return (
        f'<figure><img src="data:image/jpeg;base64,{_jpeg(images[0])}" alt="{caption}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _jpeg(image: NDArray[np.uint8]) -> str:
    from PIL import Image

    small = Image.fromarray(image)
    small.thumbnail((SHORT_SIDE * 4, SHORT_SIDE), Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=QUALITY)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _text(text: str) -> str:
    return escape(visible(text))
