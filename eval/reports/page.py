"""Reports on disk: a Markdown page, and a folder of CSV and PNG for each task."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from corpora.outputs import DEFAULT_POLICY, OverwritePolicy, atomic_write_text
from eval.metrics.intervals import Estimate
from eval.metrics.scored import Measure, correct, parse_failure, sample_field
from eval.metrics.tables import estimate
from eval.reports.described import GENERIC, Report
from eval.reports.spec import Pair, Row, Section, answered, base_system, compared_rows, named_systems
from eval.reports.tables import (
    MARK,
    Line,
    Table,
    as_column,
    csv_text,
    markdown_table,
    measured,
    percent,
    report_folder,
)
from eval.runs.folder import Run, plain_name, read_run_folder, read_unusable, run_folders
from eval.runs.records import reason_counts, skip_reason, split_reason
from eval.runs.runner import score_run
from eval.tasks import open_task
from rag.errors import Unanswered, UsageError

UNANSWERED = tuple(kind.__name__ for kind in Unanswered.__subclasses__())
"""Failures of a sample that end its query alone."""


def write_report(folders: Sequence[Path], out: Path, policy: OverwritePolicy = DEFAULT_POLICY) -> list[Path]:
    """Write the report of these runs into `out`; gives the files written, the page first.

    A folder that holds runs counts as them. Raises `UsageError` for runs that cannot be reported together,
    and for an `out` that must not be written into (`corpora.outputs`).
    """
    with report_folder(out, policy) as draft:
        sections = gather(run_folders(folders))
        parts, files = list[str](), list[Path]()
        for section in sections:
            tables = _tables(section)
            names = list(_write_section(section, tables, draft))
            files += [out / _folder(section) / name for name in names]
            parts += _page(
                section, tables, {Path(name).stem: name for name in names if name.endswith(".png")}
            )
        atomic_write_text(draft / "report.md", "\n".join(parts))
    return [out / "report.md", *files]


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
                f"{run.folder}: {done} of {due} queries are answered; continue with 'rag eval run'"
            )
        if not (run.folder / "results.json").is_file():
            raise UsageError(f"{run.folder}: answered but not scored yet; continue with 'rag eval run'")
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
"""Characters of a commit that are shown."""
HASH = 16
"""Characters of the hash of a data file that are shown."""


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


def _tables(section: Section) -> list[Table]:
    asked = answered(section)
    tables = [*section.spec.tables(asked), unanswered_table(asked)] if asked.rows else []
    tables += [skipped_table(section), unusable_table(section)]
    return [table for table in tables if table.body or table.records]


def unanswered_table(section: Section) -> Table:
    """Share of the queries that a model gave no usable answer to; empty where there are none."""
    failed = {sample_field(scored, "failure") for row in section.rows for scored in row.samples}
    lost = failed & set(UNANSWERED) or any(
        scored.sample.parse_failure for row in section.rows for scored in row.samples
    )
    kinds = {"unread": parse_failure, **{name: _failed_by(name) for name in UNANSWERED}}
    columns = {name: as_column(kind) for name, kind in kinds.items()}
    note = (
        "Percent of the queries, each counted as wrong. Unread: a reply that could not be read after repair, "
        "whether or not the run went on without it."
    )
    lines = [Line({"system": row.label}, row.samples) for row in section.rows if lost]
    body, records = measured(lines, columns)
    head = ("system", *columns, "n")
    title = "Queries without a usable answer"
    return Table("unanswered", title, note, head, tuple(body), tuple(records))


NAMED = 3
"""Skipped queries and unusable rows that are named; the others are counted."""


def skipped_table(section: Section) -> Table:
    """Queries that were not asked, by system and reason; empty where there are none."""
    body = [
        (row.label, str(len(row.samples)), str(count), kind, _named(row.skipped, kind))
        for row in section.rows
        for kind, count in reason_counts(row.skipped).items()
    ]
    note = "Not asked, and counted nowhere: n is the number of answered queries."
    return Table(
        "skipped", "Skipped queries", note, ("system", "answered", "skipped", "why", "first"), tuple(body), ()
    )


def unusable_table(section: Section) -> Table:
    """Rows of the data that are no query, by reason; empty where there are none."""
    reasons = [row.reason for row in section.unusable]
    lines = [f"{row.reason}: {row.place}" for row in section.unusable]
    body = [(kind, str(count), _named(lines, kind)) for kind, count in reason_counts(reasons).items()]
    note = f"{len(reasons)} rows of the data could not be used; unusable.jsonl of a run names each."
    return Table("unusable", "Unusable rows", note, ("why", "rows", "first"), tuple(body), ())


def _named(reasons: Sequence[str], kind: str) -> str:
    """The first distinct details of the reasons of a kind."""
    found = map(split_reason, reasons)
    details = dict.fromkeys(detail for one, detail in found if one == kind and detail)
    return "; ".join([*list(details)[:NAMED], *(["..."] if len(details) > NAMED else [])])


def _failed_by(name: str) -> Measure:
    return lambda scored: float(sample_field(scored, "failure") == name)


def _folder(section: Section) -> str:
    return plain_name(section.benchmark)


def _write_section(section: Section, tables: Sequence[Table], out: Path) -> Iterator[str]:
    """Tables as CSV, and figures; gives their names."""
    folder = out / _folder(section)
    folder.mkdir(exist_ok=True)
    for table in tables:
        if table.records:
            atomic_write_text(folder / f"{table.name}.csv", csv_text(table.records))
            yield f"{table.name}.csv"
    asked = answered(section)
    yield from section.spec.draw(asked, folder) if asked.rows else ()


def _page(section: Section, tables: Sequence[Table], figures: Mapping[str, str]) -> Iterator[str]:
    """`figures`: the name of a table, to the image file of it."""
    yield f"# {section.benchmark}\n"
    sentences = " ".join(opening(section))
    if sentences:
        yield f"{sentences}\n"
    yield f"{section.spec.data.note.format(mark=MARK)}\n"
    for line in made_with(section):
        yield f"{line}\n"
    if left := in_no_table(section, tables):
        yield f"In no table, but in `results.json` of their runs: {', '.join(left)}.\n"
    for table in tables:
        if not table.body:
            continue
        yield f"## {table.title}\n"
        yield f"{table.note}\n"
        yield markdown_table(table.head, table.body)
        figure = figures.get("reliability" if table.name == "calibration" else table.name)
        if figure:
            yield f"![{table.title}]({_folder(section)}/{figure})\n"


def in_no_table(section: Section, tables: Sequence[Table]) -> list[str]:
    """The systems that no table has a line of; points of sweeps are not counted."""
    lines = [line for table in tables for line in table.body]
    return [row.label for row in named_systems(section).rows if not any(row.label in line for line in lines)]


def opening(section: Section) -> Iterator[str]:
    """What was asked, what came out and what it means, a sentence each; none without an answer."""
    if not any(row.samples for row in section.rows):
        return
    clusters = len({query.cluster for query in section.queries})
    asked = section.spec.data.asked or "the questions of this benchmark"
    yield (
        f"{_systems(len(section.rows))} asked {len(section.queries)} queries on {clusters} "
        f"{section.spec.data.labels.clusters}: {asked}."
    )
    claims = {(pair.system, pair.minus): pair for pair in section.spec.data.pairs if pair.claim}
    for one, other, found in compared_rows(section):
        pair = claims.get((base_system(one.system), other.system))
        if pair is not None:
            yield f"Right are {_right(one)} and {_right(other)}."
            yield _meaning(pair, found.difference)
            return
    scored = [(share.value, row) for row in section.rows if (share := estimate(correct, row.samples))]
    best = [row for _, row in sorted(scored, key=lambda part: -part[0])]
    shares = " and ".join(_right(row) for row in best[:2])
    yield f"Right are {shares}." if best else "No answer could be judged."
    yield "No pair of systems was run that this report compares, so it says nothing about a difference."


def _systems(count: int) -> str:
    return "1 system was" if count == 1 else f"{count} systems were"


def _right(row: Row) -> str:
    """`80.3 % (75.9 to 84.5) of the 396 answers of localized`."""
    found = estimate(correct, row.samples)
    if found is None:
        return f"none of the answers of `{row.label}`, which could not be judged,"
    return f"{percent(found.value)} % ({_reach(found)}) of the {found.n} answers of `{row.label}`"


def _reach(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return "no interval"
    return f"{percent(found.low)} to {percent(found.high)}"


def _meaning(pair: Pair, difference: Estimate) -> str:
    points = f"The difference is {percent(difference.value)} points ({_reach(difference)})"
    if difference.low is not None and difference.low > 0:
        return f"{points}, which is more than chance gives: {pair.claim}."
    if difference.high is not None and difference.high < 0:
        return f"{points}, which speaks against it that {pair.claim}."
    return f"{points}, which may be chance: these runs do not show that {pair.claim}."
