"""From run folders to the sections of a report: runs checked, sorted by task."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from eval.reports.described import GENERIC, Report
from eval.reports.report_file import base_system
from eval.reports.spec import Row, Section
from eval.runs.folder import Run, read_run_folder, read_unusable
from eval.runs.records import skip_reason
from eval.runs.runner import score_run
from eval.tasks import open_task
from rag.errors import UsageError


def report_of(run: Run) -> Report:
    """How the task of a run is reported; a task that is not on this machine, by the generic tables."""
    try:
        return open_task(run.manifest["factory"]).report
    except UsageError:
        return GENERIC


def gather(folders: Sequence[Path]) -> list[Section]:
    """Raises `UsageError` for an unfinished run, the same run twice, or runs that do not belong together."""
    runs = [read_run_folder(folder) for folder in folders]
    for run in runs:
        if not run.complete:
            done, due = len(run.samples), len(run.queries)
            raise UsageError(
                f"{run.folder}: {done} of {due} queries are answered; 'rag eval run' goes on there"
            )
        if not (run.folder / "results.json").is_file():
            raise UsageError(f"{run.folder}: answered and not scored yet; 'rag eval run' goes on there")
    sections: dict[str, list[Run]] = {}
    for run in runs:
        first = sections.setdefault(run.identity["benchmark"], [run])[0]
        if first is not run:
            _require_same_queries(first, run)
            sections[run.identity["benchmark"]].append(run)
    return [_section(sections[name]) for name in sorted(sections)]


def _require_same_queries(first: Run, second: Run) -> None:
    for name in ("dataset", "queries"):
        if first.identity[name] != second.identity[name]:
            raise UsageError(
                f"{second.folder}: its {name} differ from those of {first.folder}; report them separately"
            )


def _section(runs: Sequence[Run]) -> Section:
    known: dict[str, Run] = {}
    for run in runs:
        same = [run.identity.get(name) for name in ("system", "seed", "settings", "encoders", "scorer")]
        first = known.setdefault(json.dumps(same, sort_keys=True), run)
        if first is not run:
            raise UsageError(f"{run.folder}: the same run as {first.folder}; name it once")
    systems = [run.identity["system"] for run in runs]
    rows = [_row(run, systems.count(run.identity["system"]) > 1) for run in runs]
    identity = runs[0].identity
    spec = report_of(runs[0])
    rows.sort(key=lambda row: (_rank(row.system, spec), row.label))
    names = sorted({name for run in runs for name in run.identity["encoders"]})
    unlike = tuple(name for name in names if len({run.identity["encoders"].get(name) for run in runs}) > 1)
    return Section(
        identity["benchmark"],
        spec,
        identity["dataset"],
        runs[0].queries,
        tuple(rows),
        unlike,
        tuple(read_unusable(runs[0].folder)),
    )


def _row(run: Run, ambiguous: bool) -> Row:
    system, settings = run.identity["system"], run.identity["settings"]
    named = ", ".join(f"{key} {value}" for key, value in {"seed": run.identity["seed"], **settings}.items())
    commits = {session["commit"] for session in run.manifest["sessions"]} - {None}
    return Row(
        label=f"{system} ({named})" if ambiguous else system,
        system=system,
        settings=settings,
        samples=tuple(score_run(run)),
        folder=run.folder,
        commits=tuple(sorted(commits)),
        scorer=run.identity.get("scorer") or {},
        skipped=tuple(reason for sample in run.samples if (reason := skip_reason(sample))),
    )


def _rank(system: str, spec: Report) -> int:
    """The task's own systems first, in the order of its paper; then others by name, then controls."""
    name = base_system(system)
    if name in spec.data.order:
        return spec.data.order.index(name)
    return len(spec.data.order) + (spec.data.controls.index(name) + 1 if name in spec.data.controls else 0)


SHORT = 12
"""Of a commit."""
HASH = 16
"""Of a file of the data."""


def made_with(section: Section) -> Iterator[str]:
    """Sentences: what was run under each commit, what a model judged, the data, and a warning."""
    systems: dict[tuple[str, ...], list[str]] = {}
    for row in section.rows:
        systems.setdefault(row.commits, []).append(row.label)
    commits = "; ".join(
        f"{_commits(commits)} ({', '.join(names)})" for commits, names in sorted(systems.items())
    )
    changed = any(commit.endswith("+") for commits in systems for commit in commits)
    yield f"Commits: {commits}.{' +: with changes.' if changed else ''}"
    judged: dict[str, list[str]] = {}
    for row in section.rows:
        if row.scorer.get("judge") == "reasoner":
            judged.setdefault(str(row.scorer.get("judge_model", "")), []).append(row.label)
    for model, names in sorted(judged.items()):
        own = "the model under test itself (another one: [reasoner.judge])"
        yield f"Judged by {model or own}: {', '.join(names)}."
    if section.dataset:
        data = "; ".join(f"{name} {digest[:HASH]}" for name, digest in sorted(section.dataset.items()))
        yield f"Data: {data}."
    if section.unlike:
        yield f"**Not all runs had the same {', '.join(section.unlike)}: what differs may come from that.**"


def _commits(commits: tuple[str, ...]) -> str:
    """Shortened, `+` kept; `no checkout` for a run from an installed package."""
    return ", ".join(_short(commit) for commit in commits) or "no checkout"


def _short(commit: str) -> str:
    return commit[:SHORT] + ("+" if commit.endswith("+") else "")
