"""`rag eval run`, `score` and `show`: run solvers, score stored runs again, explain one query."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from corpora.errors import file_error
from corpora.escaping import visible
from corpora.outputs import check_output, replace_file
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, width
from rag._cli.progress import CountProgress
from rag._cli.session import Data, Force, Session, given_path, with_session
from rag.errors import RagError, Unanswered, UsageError
from rag.rendering.terminal import excerpt, span, table_lines

if TYPE_CHECKING:
    from eval.reports.spec import Labels
    from eval.runs.folder import Run
    from eval.runs.records import Query, Sample
    from eval.runs.runner import Done
    from eval.task import Prepared, ProgressCallback, Task
    from rag.settings import Settings

Benchmark = Annotated[
    str,
    argument(
        "BENCHMARK",
        "A name of 'rag eval list', or your own MODULE:FACTORY. Options follow the name: NAME:OPTION=VALUE.",
    ),
]

Systems = Annotated[
    list[str] | None,
    option("--system --solver NAME[,NAME]", "Which systems; may be repeated. Default: all of them."),
]
Out = Annotated[
    Path | None,
    option(
        "--out DIR", "Where the run folders go: DIR/NAME-seedN. Default: runs/BENCHMARK.", parser=given_path
    ),
]
Limit = Annotated[
    int | None, option("--limit N", "Only the first N queries; a larger N continues the run.", min=1)
]
Concurrency = Annotated[
    int,
    option(
        "--concurrency N",
        "Queries in flight, while others wait for a language model; the files are the same.",
        min=1,
        max=256,
    ),
]


@with_session(without=("library",))
def run(
    session: Session,
    benchmark: Benchmark,
    system: Systems = None,
    seed: Annotated[int, option("--seed N", "Seed of all random choices.")] = 0,
    out: Out = None,
    data: Data = None,
    limit: Limit = None,
    concurrency: Concurrency = 1,
    force: Force = False,
) -> int:
    """Run systems on a benchmark. What a killed run has answered is kept: the same command continues."""
    policy = session.overwrite_policy(force)
    from eval.runs.folder import require_run_folder
    from eval.runs.runner import run_solver
    from eval.tasks import open_task

    task = open_task(benchmark, data)
    wanted = ",".join(system or ["all"])
    names = _systems(wanted, task)
    due = _due(task.name, names, seed, out, limit)
    for folder, _ in due:
        require_run_folder(folder, policy)
    where = None if data is None else os.fsdecode(data)
    with CountProgress(f"{task.name}: preparing its data") as progress:
        prepared = task.prepare(session.settings, progress.update)
    _say_unusable(task.name, prepared)
    if wanted == "all" and len(names) > 1:
        echo_stderr(
            f"{task.name}: all {len(names)} systems run; --system {','.join(names[:2])} runs these two, "
            f"and 'rag eval list {benchmark}' names all"
        )
    how: Any = {"limit": limit, "factory": benchmark, "data": where}
    how |= {"policy": policy, "concurrency": concurrency}
    done: list[Done] = []
    for folder, name in due:
        with CountProgress(f"{task.name}, {name}") as progress:
            done.append(run_solver(task, prepared, name, seed, folder, progress=progress.update, **how))
        _say_unanswered(done[-1])
    session.report("rag.eval.run/1", {"benchmark": task.name, "runs": done}, run_lines(task, done))
    return 0


def _say_unusable(name: str, prepared: Prepared[Any]) -> None:
    """Say on stderr how many rows of the data are no query, and the first of each reason."""
    from eval.runs.records import reason_counts, split_reason

    rows = prepared.unusable
    first = {split_reason(row.reason)[0]: row for row in reversed(rows)}
    for kind, count in reason_counts(row.reason for row in rows).items():
        echo_stderr(
            f"{name}: unusable rows: {count} ({kind}); the first: {first[kind].place}: {first[kind].reason}"
        )


def _say_unanswered(done: Done) -> None:
    """Say on stderr how many queries were skipped, or got no usable answer or verdict, and why the first."""
    from eval.runs.folder import read_run_folder
    from eval.runs.records import reason_counts, skip_reason, without_gold

    lost = {kind.__name__ for kind in Unanswered.__subclasses__()}
    samples = read_run_folder(done.folder).samples
    if skipped := list(filter(None, map(skip_reason, samples))):
        kinds = ", ".join(f"{count} {kind}" for kind, count in reason_counts(skipped).items())
        echo_stderr(
            f"{done.system}, seed {done.seed}: {len(skipped)} of {len(samples)} queries are "
            f"skipped ({kinds}); the first: {skipped[0]}; the same command asks them once they can be"
        )
    reasons = [
        str(held.get("unjudged") or held.get("explanation") or held["failure"])
        for sample in samples
        if (held := sample.evidence).get("failure") in lost
        or (held.get("unjudged") and not without_gold(sample))
    ]
    if reasons:
        echo_stderr(
            f"{done.system}, seed {done.seed}: {len(reasons)} of {len(samples)} queries got no usable "
            f"answer or verdict; the first: {reasons[0]}; to ask them again, delete {done.folder}"
        )


def _due(
    benchmark: str, names: Sequence[str], seed: int, out: Path | None, limit: int | None
) -> list[tuple[Path, str]]:
    """Folder and system of every run, each folder looked into before any work is done."""
    from eval.runs.folder import default_place, folder_name, require_same_run

    place = default_place(benchmark) if out is None else out
    due = [(place / folder_name(name, seed), name) for name in names]
    for folder, name in due:
        require_same_run(folder, benchmark, name, seed, limit)
    return due


def _systems(wanted: str, task: Task[Any]) -> list[str]:
    """Raises `UsageError` for a name that the task does not know."""
    from eval.tasks import find_solver, solver_names

    names = solver_names(task) if wanted == "all" else [name.strip() for name in wanted.split(",")]
    for name in names:
        find_solver(task, name)
    return list(dict.fromkeys(names))


def run_lines(task: Task[Any], done: Sequence[Done]) -> Iterator[str]:
    """Lines that summarize finished runs."""

    rows = [["system", "seed", "right", "queries", "folder"]]
    for each in done:
        total = each.asked + each.kept - each.skipped
        scored = total - each.without_gold
        share = f"{each.right / scored:.1%}" if scored else "none"
        rows.append([each.system, str(each.seed), share, str(total), visible(os.fspath(each.folder))])
    yield from table_lines(rows)
    yield f"right: {task.report.data.labels.right}"
    yield ""
    folders = [each.folder for each in done]
    place = folders[0] if len(folders) == 1 else folders[0].parent
    yield f"tables and figures, each with its interval: rag eval report {visible(os.fspath(place))}"


@with_session(without=("library",))
def score(
    session: Session,
    run: Annotated[Path, argument("RUN", "A run folder, or a folder that holds some.")],
    data: Data = None,
) -> int:
    """Score the samples of complete runs again.

    With the settings given now, as another [reasoner.judge]. The stored outputs stay;
    scores, figures and the run's scorer are replaced.
    """
    from eval.runs.folder import read_run_folder, run_folders
    from eval.runs.runner import done_of, score_again

    done: list[Done] = []
    for folder in run_folders([run]):
        held = read_run_folder(folder)
        with CountProgress(f"{held.identity['benchmark']}: preparing its data") as progress:
            task, prepared = prepare_task(held, data, session.settings, progress.update)
            made = score_again(task, prepared, folder)
        done.append(done_of(made, 0))
    session.report("rag.eval.score/1", {"runs": done}, run_lines(task, done))
    return 0


@with_session(without=("library",))
def show(
    session: Session,
    run: Annotated[Path, argument("RUN", "A run folder, or a folder that holds one.")],
    query_id: Annotated[str, argument("QUERY_ID", "One of its queries; 'rag eval show RUN ?' lists some.")],
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
    from eval.runs.folder import read_run_folder, run_folders
    from eval.runs.records import canonical

    folder, *others = run_folders([run])
    if others:
        names = ", ".join(visible(os.fspath(one)) for one in (folder, *others))
        raise UsageError(f"{run}: holds several runs; name one of them: {names}")
    held = read_run_folder(folder)
    query, sample = _find(held, query_id)
    image_file, policy = out or Path(_image_name(folder, query_id)), session.overwrite_policy(force)
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


SOME = 10
"""Query ids that are listed where one is not known."""


def _find(run: Run, query_id: str) -> tuple[Query, Sample]:
    for query, sample in zip(run.queries, run.samples, strict=False):
        if query.query_id == query_id:
            return query, sample
    asked = any(query.query_id == query_id for query in run.queries)
    some = ", ".join(visible(query.query_id) for query in run.queries[:SOME])
    more = ", ..." if len(run.queries) > SOME else ""
    why = "is not answered yet" if asked else f"is none of its {len(run.queries)} queries: {some}{more}"
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
    from eval.runs.records import LETTERS

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
        yield from _evidence_lines(key, value, "    ")
    if picture is not None:
        yield f"picture: {visible(os.fspath(picture))}"


EMPTY: tuple[Any, ...] = (None, "", [], {})


def _evidence_lines(name: str, value: Any, indent: str) -> Iterator[str]:
    """A JSON value whole, as an outline; what is empty is left out."""
    items = dict(enumerate(value, 1)) if isinstance(value, list) else value
    nested = dict if isinstance(value, dict) else dict | list
    if isinstance(items, dict) and any(isinstance(each, nested) for each in items.values()):
        yield f"{indent}{visible(name)}:"
        for key, each in items.items():
            yield from _evidence_lines(str(key), each, f"{indent}  ")
    elif value not in EMPTY:
        yield f"{indent}{visible(name)}: {visible(_on_one_line(value))}"


def _on_one_line(value: Any) -> str:
    if isinstance(value, dict):
        held = (f"{key} {_on_one_line(each)}" for key, each in value.items() if each not in EMPTY)
        return "; ".join(held)
    if isinstance(value, list):
        return ", ".join(map(_on_one_line, value))
    return value if isinstance(value, str) else json.dumps(value)


def _verdict(query: Query, sample: Sample) -> str:
    """An open query has no letters: the answer is in the sample's evidence."""
    from eval.runs.records import skip_reason

    if skip_reason(sample):
        return "skipped, not asked"
    verdict = "right" if sample.correct else "wrong"
    chosen = f"{sample.choice or 'no answer'}, " if query.options else ""
    return f"{verdict}: {chosen}gold {visible(query.answer)}"


def _gold(labels: Labels, query: Query) -> str:
    """`gold clip a1b2, shot 0-90 s (00:00-01:30), event ...`; without times where they are unknown."""

    line = f"gold clip {visible(query.video)}"
    if query.has_window:
        line += f", {labels.window} {span(*query.window)}"
    if query.seen is not None:
        line += f", {labels.seen} {span(*query.seen)}"
    return line


def _option_lines(query: Query, sample: Sample) -> Iterator[str]:
    from eval.runs.records import LETTERS

    for letter, (place, text) in zip(LETTERS, enumerate(query.options), strict=False):
        mark = ("*" if letter == query.answer else " ") + (">" if letter == sample.choice else " ")
        score = f"{sample.scores[place]:.2f}  " if sample.scores else ""
        truth = f"  ({query.truth[place]})" if query.truth else ""
        yield f"{mark} {letter}. {score}{excerpt(text, width())}{truth}"
