"""`rag eval`: list tasks, build a benchmark, report runs, serve a simulated model; and the application."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from corpora.escaping import visible
from corpora.outputs import check_output_folder
from rag._cli import eval_run
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, print_lines
from rag._cli.progress import CountProgress
from rag._cli.session import Force, Host, Port, Session, given_path, with_session
from rag.errors import SettingsError, UsageError
from rag.rendering.terminal import table_lines

if TYPE_CHECKING:
    from eval.task import Task
    from eval.tasks.egofact.construction.annotated import AnnotatedVideo
    from eval.tasks.egofact.construction.plan import Plan

app = typer.Typer(help="Run evaluations and report them.", rich_markup_mode=None)


@dataclass(frozen=True, slots=True)
class Listed:
    """A benchmark, and each of its systems in one line."""

    name: str
    about: str
    systems: Mapping[str, str]


@app.command("list")
@with_session(without=("library",))
def list_(
    session: Session,
    benchmark: Annotated[
        str | None, argument("BENCHMARK", "List its systems, each in one line.", show_default=False)
    ] = None,
) -> int:
    """The benchmarks, or the systems of one. Exit 3 if an extension cannot be loaded."""
    from eval.tasks import open_task, task_names

    found: list[Listed] = []
    failed: list[str] = []
    for name in task_names() if benchmark is None else [benchmark]:
        try:
            found.append(_listed(name, open_task(name), failed))
        except UsageError as error:
            if benchmark is not None:
                raise
            failed.append(str(error))
    for line in failed:
        echo_stderr(f"rag: {line}")
    rows = [[each.name, f"{len(each.systems)} systems", each.about] for each in found]
    if benchmark is not None:
        rows = [[name, about] for name, about in found[0].systems.items()]
    session.report("rag.eval.list/1", {"benchmarks": found}, table_lines(rows))
    return 3 if failed else 0


def _listed(name: str, task: Task[Any], failed: list[str]) -> Listed:
    """Appends to `failed` a line for each solver that cannot be loaded."""
    from eval.tasks import find_solver, solver_names

    about: dict[str, str] = {}
    for solver in solver_names(task):
        try:
            about[solver] = find_solver(task, solver).about
        except SettingsError as error:
            failed.append(str(error))
    return Listed(name, task.about, about)


CLIPS = 127


def _folder(usage: str, about: str) -> Any:
    return option(usage, about, parser=given_path)


Source = Annotated[Path | None, _folder("--ego4d DIR", "Ego4D as its client leaves it: metadata and videos.")]
Sounds = Annotated[Path | None, _folder("--ego4dsounds CSV", "Events of the videos of Ego4D.")]
Events = Annotated[
    Path | None, _folder("--from-events FILE", "In place of Ego4D: JSON lines of video, start, end, text.")
]
Passages = Annotated[
    Path | None, _folder("--wikihow CSV", "Passages for two-hop questions; without it there are none.")
]
Scenarios = Annotated[
    list[str] | None,
    option("--scenario NAME", "Ego4D scenarios; may be repeated. Default: the paper's five."),
]


@app.command()
@with_session(without=("library",))
def build(
    session: Session,
    benchmark: Annotated[Literal["egofact"], argument("BENCHMARK", "egofact.")],  # noqa: ARG001 (the only one)
    out: Annotated[Path, _folder("--out DIR", "Folder of the benchmark.")],
    ego4d: Source = None,
    ego4dsounds: Sounds = None,
    events: Events = None,
    wikihow: Passages = None,
    scenario: Scenarios = None,
    clips: Annotated[int, option("--clips N", "Clips, with questions in proportion.", min=1)] = CLIPS,
    force: Force = False,
) -> int:
    """Build EgoFact from annotated egocentric videos.

    By appendix C of the paper. A stopped build continues where it was.
    """
    if session.settings.reasoner.kind == "embedded":
        raise UsageError("this needs a language model; set reasoner.kind and reasoner.model")
    from eval.tasks.egofact.construction.model_build import REPLIES, WORK, open_builder
    from eval.tasks.egofact.construction.records import shape_of

    videos = _videos(ego4d, ego4dsounds, events, scenario)
    if not (out / WORK / REPLIES).is_file():
        check_output_folder(out, session.overwrite_policy(force))
    with (
        CountProgress("egofact: preparing its data") as progress,
        open_builder(out, session.settings, wikihow, progress.update) as builder,
    ):
        plan = builder.build("egofact", videos, shape_of(clips), session.settings.seed)
    facts: dict[str, Any] = {"folder": os.fsdecode(out), "steps": plan.counts, "shortfalls": plan.shortfalls}
    calls, tokens = builder.replies.calls, builder.replies.tokens
    facts |= {"calls": calls, "tokens": tokens}
    session.report("rag.eval.build/1", facts, _lines(out, plan, calls, tokens))
    return 0


def _videos(
    ego4d: Path | None, sounds: Path | None, events: Path | None, scenarios: Sequence[str] | None
) -> list[AnnotatedVideo]:
    from eval.tasks.egofact.construction.annotated import read_events, read_release

    if ego4d is not None and sounds is not None and events is None:
        return read_release(ego4d, sounds, scenarios) if scenarios else read_release(ego4d, sounds)
    if events is None or ego4d is not None:
        raise UsageError("name one source: --ego4d DIR with --ego4dsounds CSV, or --from-events FILE")
    return read_events(events)


def _lines(out: Path, plan: Plan, calls: int, tokens: int) -> Iterator[str]:
    rows = [["step", "left"]]
    for step, counted in plan.counts.items():
        rows.append([step, ", ".join(f"{number} {what}" for what, number in counted.items())])
    yield from table_lines(rows)
    yield from plan.shortfalls
    yield f"{len(plan.queries)} questions over {len(plan.segments)} clips"
    yield f"{calls:,} calls and {tokens:,} tokens in this run"
    yield f"run it with: rag eval run egofact --data {visible(os.fspath(out))}"


app.command("run")(eval_run.run)
app.command("score")(eval_run.score)


@app.command()
@with_session(without=("library",))
def report(
    session: Session,
    runs: Annotated[
        list[Path], argument("RUN...", "Run folders of 'rag eval run', or folders that hold some.")
    ],
    out: Annotated[Path, option("--out DIR", "Where the report goes.", parser=given_path)] = Path("report"),
    force: Force = False,
) -> int:
    """Write report.md, CSV and PNG of each table and figure."""
    from eval.reports.page import write_report

    files = write_report(runs, out, session.overwrite_policy(force, *runs))
    session.report("rag.eval.report/1", {"files": files}, (visible(os.fspath(path)) for path in files))
    return 0


app.command("show")(eval_run.show)


@app.command("simulate-model")
def simulate_model(
    corpus: Annotated[
        list[Path] | None,
        option(
            "--corpus DIR",
            "Folder with synthetic videos, or above some, as --data of 'rag eval run'; repeatable.",
            parser=given_path,
            show_default=False,
        ),
    ] = None,
    perception: Annotated[
        float, option("--perception SHARE", "Share of events and decor that it perceives.", min=0, max=1)
    ] = 0.95,
    seed: Annotated[int, option("--seed N", "The same seed gives the same replies.")] = 0,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    name: Annotated[str, option("--name NAME", "Name of the model.")] = "simulated",
) -> int:
    """Serve a simulated model, to test with synthetic videos.

    It knows what they show: a test instrument, no model. Prints its base
    URL on stdout, and runs until it is interrupted.
    """
    from eval.simulated_model.frames import corpus_folders, open_index
    from eval.simulated_model.server import SimulatedModel, SimulatedModelServer, serve

    if not corpus:
        raise UsageError("name a folder with synthetic videos: --corpus DIR")
    index = open_index(corpus_folders(corpus))
    echo_stderr(f"read {len(index.videos)} videos")
    server = SimulatedModelServer(SimulatedModel(index, perception, seed), name, host, port)
    serve(server, started=lambda base: print_lines([base]))
    return 0
