"""`rag eval show`: what a system saw and chose, of one query."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from corpora.errors import file_error
from corpora.outputs import check_output, replace_file
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, width
from rag._cli.session import Data, Force, Session, with_session
from rag.errors import RagError, UsageError

if TYPE_CHECKING:
    from eval.reports.report_file import Labels
    from eval.runs.folder import Run
    from eval.runs.records import Query, Sample
    from eval.task import Prepared, ProgressCallback, Task
    from rag.settings import Settings


@with_session(without=("library",))
def show(
    session: Session,
    run: Annotated[Path, argument("RUN", "A run folder.")],
    query_id: Annotated[str, argument("QUERY_ID", "One of its queries.")],
    out: Annotated[
        Path | None, option("--out FILE.png", "Where the image goes. Default: a name here.")
    ] = None,
    data: Data = None,
    frames: Annotated[int, option("--frames N", "Frames of each window.", min=1, max=15)] = 5,
    force: Force = False,
) -> int:
    """Explain one sample of a run.

    Its question, options, gold, what the system saw, and an image.
    """
    from eval.reports.sample_picture import draw_sample
    from eval.runs.folder import read_run_folder
    from eval.runs.records import canonical

    held = read_run_folder(run)
    query, sample = _find(held, query_id)
    image_file, policy = out or Path(_image_name(run, query_id)), session.overwrite_policy(force)
    check_output(image_file, policy)
    task, prepared = prepare_task(held, data, session.settings)
    picture: Path | None = None
    try:
        with replace_file(image_file, policy) as draft:
            draw_sample(task, prepared, query, sample, draft, frames)
        picture = image_file
    except RagError as error:
        echo_stderr(f"no frames: {error}")
    except OSError as error:
        raise file_error(image_file, error) from error
    shape = {"query": canonical(query), "sample": canonical(sample), "picture": picture}
    session.report("rag.eval.show/1", shape, _lines(task.report.data.labels, query, sample, picture))
    return 0


def _find(run: Run, query_id: str) -> tuple[Query, Sample]:
    for query, sample in zip(run.queries, run.samples, strict=False):
        if query.query_id == query_id:
            return query, sample
    asked = any(query.query_id == query_id for query in run.queries)
    why = "is not answered yet" if asked else f"is none of its {len(run.queries)} queries"
    raise UsageError(f"{run.folder}: {query_id!r} {why}")


def prepare_task(
    run: Run, data: Path | None, settings: Settings, progress: ProgressCallback | None = None
) -> tuple[Task[Any], Prepared[Any]]:
    """The task of a stored run, on the run's own data.

    Raises `UsageError` where the data are missing, which are not made for a look, or others.
    """
    from eval.tasks import open_task

    stored = run.manifest.get("data")
    task = open_task(run.manifest["factory"], data if data is not None else Path(stored) if stored else None)
    if task.folder is not None and not task.folder.exists():
        raise UsageError(f"the run's data are not in {task.folder}; say where with --data DIR")
    prepared = task.prepare(settings, progress)
    if dict(prepared.dataset) != run.identity["dataset"]:
        raise UsageError(f"{run.folder}: was made with other data; say where they are with --data DIR")
    return task, prepared


def _image_name(run: Path, query_id: str) -> str:
    stem = f"{run.resolve().name}_{query_id}"
    return re.sub(r"[^\w.-]+", "_", stem) + ".png"


def _lines(labels: Labels, query: Query, sample: Sample, picture: Path | None) -> Iterator[str]:
    from corpora.escaping import visible
    from eval.runs.records import LETTERS
    from rag.rendering.terminal import excerpt, span

    yield f"? {visible(query.text)}"
    yield from _option_lines(query, sample)
    yield f"{_verdict(query, sample)}, confidence {sample.confidence:.2f} ({query.family})"
    if query.video:
        yield _gold(labels, query)
    windows = {window.clip_id: window for window in sample.windows}
    for rank, clip in enumerate(sample.clips, 1):
        mark = "*" if clip.clip_id == query.video else " "
        window = windows.get(clip.clip_id)
        where = f"  {span(window.start, window.end)}" if window else ""
        yield f"{mark}{rank:2d}. {clip.score:.3f}  {visible(clip.clip_id)}{where}"
    if sample.gold_window_found is not None:
        yield f"    in the gold clip: {span(*sample.gold_window_found)}"
    for found in sample.passages:
        mark = "*" if found.passage_id == query.passage else " "
        option = "" if found.option is None else f"  for option {LETTERS[found.option]}"
        yield f"{mark}    {found.score:.3f}  passage {visible(found.passage_id)}{option}"
    for key, value in sample.evidence.items():
        yield f"    {key}: {excerpt(value if isinstance(value, str) else json.dumps(value), 3 * width())}"
    if picture is not None:
        yield f"picture: {visible(os.fspath(picture))}"


def _verdict(query: Query, sample: Sample) -> str:
    """An open query has no letters: the answer is in the sample's evidence."""
    from corpora.escaping import visible
    from eval.runs.records import skip_reason

    if skip_reason(sample):
        return "skipped, not asked"
    verdict = "right" if sample.correct else "wrong"
    chosen = f"{sample.choice or 'no answer'}, " if query.options else ""
    return f"{verdict}: {chosen}gold {visible(query.answer)}"


def _gold(labels: Labels, query: Query) -> str:
    """`gold clip a1b2, shot 0-90 s (00:00-01:30), event ...`; without times where they are unknown."""
    from corpora.escaping import visible
    from rag.rendering.terminal import span

    line = f"gold clip {visible(query.video)}"
    if query.has_window:
        line += f", {labels.window} {span(*query.window)}"
    if query.seen is not None:
        line += f", {labels.seen} {span(*query.seen)}"
    return line


def _option_lines(query: Query, sample: Sample) -> Iterator[str]:
    from eval.runs.records import LETTERS
    from rag.rendering.terminal import excerpt

    for letter, (place, text) in zip(LETTERS, enumerate(query.options), strict=False):
        mark = ("*" if letter == query.answer else " ") + (">" if letter == sample.choice else " ")
        score = f"{sample.scores[place]:.2f}  " if sample.scores else ""
        truth = f"  ({query.truth[place]})" if query.truth else ""
        yield f"{mark} {letter}. {score}{excerpt(text, width())}{truth}"


def print_files(session: Session, schema: str, files: Sequence[Path]) -> None:
    """The paths of written files, one a line or as a document of `schema`."""
    from corpora.escaping import visible

    session.report(schema, {"files": files}, (visible(os.fspath(path)) for path in files))
