"""A report: one Markdown page, a folder of CSV and PNG for each benchmark. Same runs, same bytes.

Times are apart, in `timings.md` and `timings.csv`: they alone differ between equal runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from corpora.outputs import OverwritePolicy, atomic_write_text, check_output_folder, output_folder
from eval.reports.layout import Table, csv_text, markdown_table
from eval.reports.rows import Section
from eval.reports.sections import gather
from eval.resumable import whole_lines
from eval.runs.paths import plain_name, run_folders
from rag.errors import UsageError


def write_report(folders: Sequence[Path], out: Path, policy: OverwritePolicy | None = None) -> list[Path]:
    """Write the report of these runs into `out`; gives the files written, the page first.

    A folder that holds runs counts as them. Raises `UsageError` for runs that cannot be reported together,
    and for an `out` that must not be written into (`corpora.outputs`).
    """
    allowed = policy or OverwritePolicy()
    check_output_folder(out, allowed)
    sections = gather(run_folders(folders))
    try:
        with output_folder(out, allowed) as draft:
            written = [list(_write_section(section, draft)) for section in sections]
            made = [out / path.relative_to(draft) for paths in written for path in paths]
            parts = [
                part
                for section, paths in zip(sections, written, strict=True)
                for part in _page(section, {path.stem: path.name for path in paths if path.suffix == ".png"})
            ]
            atomic_write_text(draft / "report.md", "\n".join(parts))
            timings = _timings(sections)
            atomic_write_text(draft / "timings.csv", csv_text(timings.records))
            table = markdown_table(timings.head, timings.body)
            atomic_write_text(draft / "timings.md", f"# {timings.title}\n\n{table}")
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror or error}") from error
    return [out / "report.md", *made, out / "timings.md", out / "timings.csv"]


def _tables(section: Section) -> list[Table]:
    return [table for table in section.spec.tables(section) if table.body or table.records]


def _folder(section: Section) -> str:
    return plain_name(section.benchmark)


def _write_section(section: Section, out: Path) -> Iterator[Path]:
    folder = out / _folder(section)
    folder.mkdir(exist_ok=True)
    for table in _tables(section):
        if table.records:
            path = folder / f"{table.name}.csv"
            atomic_write_text(path, csv_text(table.records))
            yield path
    for name in section.spec.draw(section, folder):
        yield folder / name


def _page(section: Section, figures: Mapping[str, str]) -> Iterator[str]:
    """`figures`: the name of a table, to the picture of it that was drawn."""
    yield f"# {section.benchmark}\n"
    yield f"{_made(section)}\n"
    yield f"{section.spec.note}\n"
    if section.unlike:
        yield f"**Not all runs had the same {', '.join(section.unlike)}: what differs may come from that.**\n"
    for table in _tables(section):
        if not table.body:
            continue
        yield f"## {table.title}\n"
        yield f"{table.note}\n"
        yield markdown_table(table.head, table.body)
        picture = figures.get("reliability" if table.name == "calibration" else table.name)
        if picture:
            yield f"![{table.title}]({_folder(section)}/{picture})\n"


def _made(section: Section) -> str:
    """Which program and data it came from, in one paragraph."""
    commits = sorted({commit for row in section.rows for commit in row.commits})
    parts = [f"{len(section.queries)} queries, {len(section.rows)} systems."]
    if commits:
        changed = " (+: with changes)" if any(commit.endswith("+") for commit in commits) else ""
        parts.append(f"Commit {', '.join(commits)}{changed}.")
    parts += [f"{name} {digest[:16]}" for name, digest in sorted(section.dataset.items())]
    return " ".join(parts[:2]) + (f" Data: {'; '.join(parts[2:])}." if len(parts) > 2 else "")


def _timings(sections: Sequence[Section]) -> Table:
    body, records = [], []
    for section in sections:
        for row in section.rows:
            seconds = [value for folder in row.folders for value in seconds_of(folder)]
            tokens = [sum(scored.sample.tokens.values()) for scored in row.samples]
            mean_tokens = sum(tokens) / len(tokens)
            middle = median(seconds) if seconds else 0.0
            cells = (
                section.benchmark,
                row.label,
                f"{sum(seconds):.1f}",
                f"{middle:.4f}",
                f"{mean_tokens:.0f}",
            )
            body.append(cells)
            records.append(
                {
                    "benchmark": section.benchmark,
                    "system": row.label,
                    "seconds": sum(seconds),
                    "median_seconds": middle,
                    "mean_tokens": mean_tokens,
                }
            )
    head = ("benchmark", "system", "seconds, all queries", "median seconds", "mean tokens a query")
    return Table("timings", "Timings", "", head, tuple(body), tuple(records))


def seconds_of(folder: Path) -> Iterator[float]:
    """Seconds of each query of a run, as its `timings.jsonl` has them; none without that file."""
    path = folder / "timings.jsonl"
    if not path.exists():
        return
    for line in whole_lines(path).splitlines():
        try:
            entry = json.loads(line)
            if entry["query_id"]:
                yield float(entry["seconds"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}: holds a line that is no timing: {line[:40]!r}; delete it") from error
