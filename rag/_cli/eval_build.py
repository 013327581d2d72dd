"""`rag eval build`: a benchmark out of videos and texts of one's own, with a language model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag._cli.eval_run import RunProgress
from rag._cli.output import print_report
from rag._cli.session import Config, Force, Json, Record, Replay, Verbose, given_path, start
from rag.errors import UsageError
from rag.rendering.shapes import report_shape

if TYPE_CHECKING:
    from eval.tasks.egofact.construction.annotated import AnnotatedVideo
    from eval.tasks.egofact.construction.plan import Plan

CLIPS = 127


def build(
    benchmark: Annotated[Literal["egofact"], typer.Argument(metavar="BENCHMARK", help="egofact.")],  # noqa: ARG001 (the only one)
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", parser=given_path, help="Folder of the benchmark.")
    ],
    ego4d: Annotated[
        Path | None,
        typer.Option(
            "--ego4d", metavar="DIR", parser=given_path, help="Ego4D: ego4d.json, narrations and videos."
        ),
    ] = None,
    ego4dsounds: Annotated[
        Path | None,
        typer.Option(
            "--ego4dsounds", metavar="CSV", parser=given_path, help="Events; default: Ego4D's narrations."
        ),
    ] = None,
    events: Annotated[
        Path | None,
        typer.Option(
            "--from-events",
            metavar="FILE",
            parser=given_path,
            help="In place of Ego4D: JSON lines of video, start, end and text, one an event.",
        ),
    ] = None,
    wikihow: Annotated[
        Path | None,
        typer.Option(
            "--wikihow",
            metavar="CSV",
            parser=given_path,
            help="Passages for two-hop questions; without it there are none.",
        ),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario",
            metavar="NAME",
            help="Ego4D scenarios to take; may be repeated. Default: the five of the paper.",
        ),
    ] = None,
    clips: Annotated[
        int, typer.Option("--clips", metavar="N", min=1, help="Clips, with questions in proportion.")
    ] = CLIPS,
    max_calls: Annotated[
        int, typer.Option("--max-calls", metavar="N", min=0, help="Stop after N calls; 0: no bound.")
    ] = 0,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=0, help="Stop after N tokens; 0: no bound.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")] = 0,
    record: Record = None,
    replay: Replay = None,
    force: Force = False,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
) -> int:
    """Build EgoFact from annotated egocentric videos (appendix C); a stopped build goes on where it was."""
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(None, config, as_json, verbose, seed, flags)
    if (ego4d is None) == (events is None):
        raise UsageError("name one source: --ego4d DIR, or --from-events FILE")
    if session.settings.reasoner.kind == "embedded":
        raise UsageError("this takes a language model; set reasoner.kind and reasoner.model")
    from eval.tasks.egofact.construction.annotated import read_events, read_release
    from eval.tasks.egofact.construction.model_build import open_builder
    from eval.tasks.egofact.construction.records import shape_of
    from eval.tasks.egofact.replies import CallBudget

    if events is not None:
        videos = read_events(events)
    elif ego4d is not None:
        videos = read_release(ego4d, ego4dsounds, scenario) if scenario else read_release(ego4d, ego4dsounds)
    _require_free(out, force)
    budget = CallBudget(max_calls, max_tokens)
    with (
        RunProgress("egofact") as progress,
        open_builder(out, session.settings, wikihow, budget, progress.made) as builder,
    ):
        plan = builder.build("egofact", videos, shape_of(clips), seed)
    print_report(
        session.as_json,
        report_shape(
            "rag.eval.build/1",
            {
                "folder": os.fsdecode(out),
                "steps": plan.counts,
                "shortfalls": plan.shortfalls,
                "calls": budget.calls,
                "tokens": budget.tokens,
            },
        ),
        _lines(out, plan, videos, budget.calls, budget.tokens),
    )
    return 0


def _require_free(out: Path, force: bool) -> None:
    """Raises `UsageError` for a folder that holds something else than a build of this command."""
    from eval.tasks.egofact.construction.model_build import WORK

    if not force and out.exists() and (not out.is_dir() or any(out.iterdir())) and not (out / WORK).is_dir():
        raise UsageError(f"{out}: holds something else; name a new folder, or take --force")


def _lines(out: Path, plan: Plan, videos: Sequence[AnnotatedVideo], calls: int, tokens: int) -> Iterator[str]:
    from rag.rendering.terminal import table_lines, visible

    rows = [["step", "left"]]
    for step, counted in plan.counts.items():
        rows.append([step, ", ".join(f"{number} {what}" for what, number in counted.items())])
    yield from table_lines(rows)
    yield from plan.shortfalls
    yield f"{len(plan.queries)} questions over {len(plan.segments)} clips of {len(videos)} videos"
    yield f"{calls:,} calls and {tokens:,} tokens in this run"
    yield f"run it with: rag eval run egofact --data {visible(os.fspath(out))}"
