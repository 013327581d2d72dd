"""`rag eval build`: a benchmark out of videos and texts of one's own, with a language model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from corpora.outputs import check_output_folder
from rag._cli.options import argument, option
from rag._cli.progress import CountProgress
from rag._cli.session import Force, Session, given_path, with_session
from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.tasks.egofact.construction.annotated import AnnotatedVideo
    from eval.tasks.egofact.construction.plan import Plan

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
Bound = Annotated[int, option("N", "Stop after so many; 0: no bound.", min=0)]


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
    max_calls: Bound = 0,
    max_tokens: Bound = 0,
    force: Force = False,
) -> int:
    """Build EgoFact from annotated egocentric videos.

    By appendix C of the paper. A stopped build goes on where it was.
    """
    if session.settings.reasoner.kind == "embedded":
        raise UsageError("this takes a language model; set reasoner.kind and reasoner.model")
    from eval.tasks.egofact.construction.model_build import REPLIES, WORK, open_builder
    from eval.tasks.egofact.construction.records import shape_of
    from eval.tasks.egofact.replies import CallBudget

    videos = _videos(ego4d, ego4dsounds, events, scenario)
    if not (out / WORK / REPLIES).is_file():
        check_output_folder(out, session.overwrite_policy(force))
    budget = CallBudget(max_calls, max_tokens)
    with (
        CountProgress("egofact: preparing its data") as progress,
        open_builder(out, session.settings, wikihow, budget, progress.update) as builder,
    ):
        plan = builder.build("egofact", videos, shape_of(clips), session.settings.seed)
    facts = {"folder": os.fsdecode(out), "steps": plan.counts, "shortfalls": plan.shortfalls}
    counts = {"calls": budget.calls, "tokens": budget.tokens}
    lines = _lines(out, plan, budget.calls, budget.tokens)
    session.report("rag.eval.build/1", {**facts, **counts}, lines)
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
    from corpora.escaping import visible
    from rag.rendering.terminal import table_lines

    rows = [["step", "left"]]
    for step, counted in plan.counts.items():
        rows.append([step, ", ".join(f"{number} {what}" for what, number in counted.items())])
    yield from table_lines(rows)
    yield from plan.shortfalls
    yield f"{len(plan.queries)} questions over {len(plan.segments)} clips"
    yield f"{calls:,} calls and {tokens:,} tokens in this run"
    yield f"run it with: rag eval run egofact --data {visible(os.fspath(out))}"
