"""`/v1/reports`: reports of `rag eval report`, figures of runs and traces of agents, below given folders.

Nothing is computed: a report is the file that the command line wrote. Its Markdown is given as blocks of the
forms that `eval.reports` writes, without the marks of bold text and quotations; any other line is text.
Symbolic links are not followed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import re
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, NotRequired

from fastapi import APIRouter, Path
from starlette.responses import Response
from typing_extensions import TypedDict

from corpora.errors import os_reason
from corpora.outputs import RESULTS_SCHEMA, TRACE_SCHEMA
from rag.errors import DamagedFile, UnreadableFile
from rag.rendering.shapes import report_shape
from rag.server.job_log import timestamp
from rag.server.problems import Document, Problem, problems
from rag.server.service import Served, Service

log = logging.getLogger(__name__)
router = APIRouter(prefix="/v1/reports", tags=["reports"])

Kind = Literal["report", "run", "trace"]
NAMES: dict[str, Kind] = {"report.md": "report", "overview.md": "report", "results.json": "run"}
SUFFIXES: dict[str, Kind] = {".jsonl": "trace"}
LEVELS = 4
"""Folders below a root in which files are looked for."""
MOST_FILES = 20_000
"""Files of a root that are looked at."""
MOST_REPORTS = MOST_STEPS = 1000
MOST_LINES = 10_000
"""Of one report: a third of a second of work."""
MOST_FIGURES = 100
"""Images of one report."""
LARGEST: dict[Kind, int] = {"report": 2**20, "run": 4 * 2**20, "trace": 8 * 2**20}
"""Bytes; larger files are left out. One of any JSON holds up all other requests for seconds."""
LARGEST_IMAGE = 32 * 2**20
LISTED_SECONDS = 3.0
"""For which what was found below the roots is kept."""
LATEST = 253_402_300_799.0
"""The last second of the year 9999: file systems hold later ones."""
FIGURE = re.compile(r"!\[(?P<title>.*?)\]\((?P<target>[^()]*)\)")
BOLD = re.compile(r"(?<![\w*])\*\*(\S[^*]*)\*\*(?![\w*])")
QUOTED = re.compile(r"(?:>(?:\s+|$))+")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
ReportId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]


@dataclass(frozen=True, slots=True)
class StoredReport:
    """One file that can be shown."""

    report_id: str
    kind: Kind
    path: FilePath
    name: str
    """Its path from the root on."""
    modified: float

    def row(self) -> dict[str, Any]:
        """As JSON, without the folders above the root."""
        return {
            "report_id": self.report_id,
            "kind": self.kind,
            "name": self.name,
            "modified": timestamp(self.modified),
        }


def stored_reports(roots: Iterable[FilePath]) -> list[StoredReport]:
    """All below the roots, the newest first; what cannot be read is left out."""
    found: dict[str, StoredReport] = {}
    for root in roots:
        for report in _below(root):
            found.setdefault(report.report_id, report)
    return sorted(found.values(), key=lambda report: report.modified, reverse=True)[:MOST_REPORTS]


def _below(root: FilePath) -> Iterator[StoredReport]:
    seen = 0
    for folder, folders, names in os.walk(root):
        inside = FilePath(folder).relative_to(root)
        deeper = len(inside.parts) < LEVELS
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if deeper else []
        for name in sorted(names):
            if seen == MOST_FILES:
                log.warning("%s: reports are looked for among its first %d files only", root, MOST_FILES)
                return
            seen += 1
            path = FilePath(folder, name)
            try:
                facts = path.lstat()
                kind = _kind(path, facts.st_size) if stat.S_ISREG(facts.st_mode) else None
            except OSError:
                continue
            if kind is not None:
                digest = hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()
                modified = min(max(facts.st_mtime, 0.0), LATEST)
                yield StoredReport(digest, kind, path, os.fspath(inside / name), modified)


def _kind(path: FilePath, size: int) -> Kind | None:
    """What a regular file of `size` bytes is, by its name and content; None for any other. Raises OSError."""
    kind = NAMES.get(path.name) or SUFFIXES.get(path.suffix)
    if kind is None or size > LARGEST[kind]:
        return None
    if kind == "run":
        # Keys are sorted: the schema comes behind the figures.
        return kind if f'"schema": "{RESULTS_SCHEMA}"'.encode() in path.read_bytes() else None
    return kind if kind == "report" or _is_trace(path) else None


def _is_trace(path: FilePath) -> bool:
    with path.open("rb") as file:
        first = file.readline()
    return first.startswith(b"{") and f'"schema": "{TRACE_SCHEMA}"'.encode() in first


def blocks_of(text: str, report: StoredReport) -> list[dict[str, Any]]:
    """Headings, paragraphs, tables and figures of a report, in order; figures are numbered from 0."""
    blocks: list[dict[str, Any]] = []
    lines: list[str] = []
    figures = 0

    def end() -> None:
        if lines and lines[0].startswith("|"):
            head, *rows = [_cells(line) for line in lines]
            if rows and all(re.fullmatch(r":?-+:?", cell) for cell in rows[0]):
                del rows[0]
            blocks.append({"kind": "table", "head": head, "rows": rows})
        elif lines:
            blocks.append({"kind": "text", "text": "\n".join(lines)})
        lines.clear()

    for line in _lines(text):
        heading, figure = re.fullmatch(r"(#{1,6})\s+(.*)", line), FIGURE.fullmatch(line)
        if not line or heading or figure or (lines and line.startswith("|") != lines[0].startswith("|")):
            end()
        if heading:
            blocks.append({"kind": "heading", "level": len(heading[1]), "text": heading[2]})
        elif figure:
            image = f"/v1/reports/{report.report_id}/figures/{figures}"
            shown = figures < MOST_FIGURES and _figure(report.path, figure["target"])
            held = {"image": image} if shown else {}
            blocks.append({"kind": "figure", "text": figure["title"], **held})
            figures += 1
        elif line:
            lines.append(line)
    end()
    if len(text.splitlines()) > MOST_LINES:
        rest = f"The rest is left out: the report has more than {MOST_LINES:,} lines."
        blocks.append({"kind": "text", "text": rest})
    return blocks


def _lines(text: str) -> Iterator[str]:
    """At most `MOST_LINES`, stripped, without the marks of quotations and bold text."""
    for line in text.splitlines()[:MOST_LINES]:
        line = line.strip()
        yield BOLD.sub(r"\1", line[quoted.end() :] if (quoted := QUOTED.match(line)) else line)


def _figure(path: FilePath, target: str) -> FilePath | None:
    """A PNG file in the folder of a report or below; None for anything else."""
    folder = path.parent.resolve()
    try:
        image = (folder / target).resolve()
        if not image.is_relative_to(folder) or not image.is_file():
            return None
        with image.open("rb") as file:
            return image if file.read(len(PNG_SIGNATURE)) == PNG_SIGNATURE else None
    except (ValueError, OSError):
        return None


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip("|"))]


def results_blocks(results: Any) -> list[dict[str, Any]]:
    """The figures of a run over all its queries."""
    held = results if isinstance(results, dict) else {}
    named = [part for part in map(held.get, ("benchmark", "system")) if isinstance(part, str)]
    title = ", ".join([*named, f"seed {seed}"] if isinstance(seed := held.get("seed"), int) else named)
    figures = held.get("figures")
    rows = []
    for measure, slices in figures.items() if isinstance(figures, dict) else ():
        overall = slices.get("overall") if isinstance(slices, dict) else None
        if isinstance(overall, dict) and _is_finite(overall.get("value")):
            ends = [f"{end:.3f}" for end in map(overall.get, ("low", "high")) if _is_finite(end)]
            interval = f" [{', '.join(ends)}]" if ends else ""
            n = overall.get("n")
            rows.append([measure, f"{overall['value']:.3f}{interval}", str(n) if isinstance(n, int) else ""])
    table = {"kind": "table", "head": ["measure", "value, 95 % interval", "n"], "rows": rows}
    return [{"kind": "heading", "level": 1, "text": title}, table]


def _is_finite(value: Any) -> bool:
    """Whether it is a number that a float holds."""
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max


def _finite(text: str) -> float:
    """Raises ValueError for `NaN`, `Infinity` and `1e999`, which JSON does not hold."""
    if not math.isfinite(value := float(text)):
        raise ValueError(text)
    return value


def trace_steps(data: bytes) -> list[dict[str, Any]]:
    """The lines of a trace, of a long one the first and the last; what is no step is left out."""
    *lines, rest = data.rstrip().split(b"\n", MOST_STEPS - 1)
    steps = []
    for line in (*lines, rest.rsplit(b"\n", 1)[-1]):
        try:
            step = json.loads(line, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError):
            continue
        if isinstance(step, dict):
            steps.append({key: value for key, value in step.items() if key != "schema"})
    return steps


class ReportItem(TypedDict):
    """A report, a run or a trace, by its path below a root."""

    report_id: str
    kind: Literal["report", "run", "trace"]
    name: str
    modified: str


class ReportsDocument(TypedDict):
    """`rag.reports/1`."""

    schema: Literal["rag.reports/1"]
    reports: list[ReportItem]
    roots: list[str]


class BlockItem(TypedDict):
    """A part of a report: `level` of a heading, `head` and `rows` of a table, `image` of a figure."""

    kind: Literal["heading", "text", "table", "figure"]
    level: NotRequired[int]
    text: NotRequired[str]
    head: NotRequired[list[str]]
    rows: NotRequired[list[list[str]]]
    image: NotRequired[str]


class ReportDocument(ReportItem):
    """`rag.report/1`: the blocks of a report or a run, the steps of a trace."""

    schema: Literal["rag.report/1"]
    blocks: list[BlockItem]
    steps: list[dict[str, Any]]


@router.get("", responses={200: {"model": ReportsDocument}, **problems()})
def list_reports(service: Served) -> Response:
    """Reports, runs and traces below the folders of `--reports`, the newest first."""
    rows = [report.row() for report in _listed(service)]
    roots = [os.fsdecode(root) for root in service.report_roots]
    return Document(report_shape("rag.reports/1", {"reports": rows, "roots": roots}))


@router.get("/{report_id}", responses={200: {"model": ReportDocument}, **problems(404)})
def show_report(service: Served, report_id: ReportId) -> Response:
    """One of them: a report or a run as blocks, a trace as its steps."""
    report = _find(service, report_id)
    data = _read(report.path, report.name, LARGEST[report.kind])
    blocks: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    if report.kind == "trace":
        steps = trace_steps(data)
    elif report.kind == "report":
        blocks = blocks_of(data.decode("utf-8", "replace"), report)
    else:
        try:
            blocks = results_blocks(json.loads(data))
        except (ValueError, RecursionError) as error:
            raise DamagedFile(f"{report.name}: no JSON") from error
    try:
        return Document({"schema": "rag.report/1", **report.row(), "blocks": blocks, "steps": steps})
    except RecursionError as error:
        raise DamagedFile(f"{report.name}: a step is nested too deeply") from error


@router.get(
    "/{report_id}/figures/{number}",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}, **problems(404)},
)
def show_figure(
    service: Served, report_id: ReportId, number: Annotated[int, Path(ge=0, lt=MOST_FIGURES)]
) -> Response:
    """An image of a report, by its place in it: a PNG file in the report's folder or below."""
    report = _find(service, report_id)
    held = _read(report.path, report.name, LARGEST["report"]) if report.kind == "report" else b""
    found = map(FIGURE.fullmatch, _lines(held.decode("utf-8", "replace")))
    targets = [figure["target"] for figure in found if figure]
    image = _figure(report.path, targets[number]) if number < len(targets) else None
    if image is None:
        raise Problem(404, "unknown-id", f"{report.name}: has no image {number}")
    return Response(
        _read(image, image.name, LARGEST_IMAGE), media_type="image/png", headers={"Cache-Control": "no-cache"}
    )


_listing = threading.Lock()


def _listed(service: Service) -> tuple[StoredReport, ...]:
    """`stored_reports` of some seconds: a page asks for a report and all its figures."""
    with _listing:
        return _found(service.report_roots, int(time.monotonic() / LISTED_SECONDS))


@lru_cache(maxsize=1)
def _found(roots: tuple[FilePath, ...], _: int) -> tuple[StoredReport, ...]:
    return tuple(stored_reports(roots))


def _find(service: Service, report_id: str) -> StoredReport:
    for report in _listed(service):
        if report.report_id == report_id:
            return report
    raise Problem(404, "unknown-id", f"{report_id}: no such report below the folders of --reports")


def _read(path: FilePath, name: str, largest: int) -> bytes:
    """`name`: what an error calls the file, without the folders above; `largest`: in bytes."""
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise UnreadableFile(f"{name}: {os_reason(error)}") from error
    if len(data) > largest:
        raise UnreadableFile(f"{name}: larger than {largest >> 20} MiB")
    return data
