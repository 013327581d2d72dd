"""`/v1/reports`: reports of `rag eval report`, figures of runs and traces of agents, below given folders.

Nothing is computed: a report is the file that the command line wrote. Its Markdown is given as blocks of the
forms that `eval.reports` writes; any other line is text. Symbolic links are not followed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from starlette.responses import Response

from corpora.outputs import RUN_SCHEMA, TRACE
from rag.errors import UnreadableFile
from rag.rendering.shapes import report_shape
from rag.server.documents import ReportDocument, ReportsDocument
from rag.server.job_log import timestamp
from rag.server.problems import Document, Problem, problems
from rag.server.service import Served

router = APIRouter(prefix="/v1/reports", tags=["reports"])

Kind = Literal["report", "run", "trace"]
REPORTS = ("report.md", "overview.md")
RESULTS = "results.json"
LEVELS = 4
"""Folders below a root in which files are looked for."""
MOST_FILES = 20_000
"""Files of a root that are looked at."""
MOST_REPORTS = MOST_STEPS = 1000
LARGEST_FILE = 32 * 2**20
HEAD_BYTES = 4096
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
        for name in names:
            seen += 1
            path = FilePath(folder, name)
            try:
                kind, modified = _kind(path), path.stat().st_mtime
            except OSError:
                continue
            if kind is not None:
                digest = hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()
                yield StoredReport(digest, kind, path, os.fspath(inside / name), modified)
        if seen > MOST_FILES:
            return


def _kind(path: FilePath) -> Kind | None:
    """Raises OSError."""
    if path.is_symlink() or not path.is_file():
        return None
    if path.name in REPORTS:
        return "report"
    if path.name == RESULTS:
        with path.open("rb") as file:
            return "run" if f'"{RUN_SCHEMA}"'.encode() in file.read(HEAD_BYTES) else None
    return "trace" if path.suffix == ".jsonl" and TRACE.is_ours(path) else None


def blocks_of(text: str, report: StoredReport) -> list[dict[str, Any]]:
    """Headings, paragraphs, tables and figures of a report, in order; figures are numbered from 0."""
    blocks: list[dict[str, Any]] = []
    lines: list[str] = []
    figures = 0

    def end() -> None:
        if lines and lines[0].startswith("|"):
            head, *rows = [_cells(line) for line in lines]
            rows = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
            blocks.append({"kind": "table", "head": head, "rows": rows})
        elif lines:
            blocks.append({"kind": "text", "text": "\n".join(lines)})
        lines.clear()

    for line in map(str.strip, text.splitlines()):
        heading, figure = re.fullmatch(r"(#{1,6})\s+(.*)", line), FIGURE.fullmatch(line)
        if not line or heading or figure or (lines and line.startswith("|") != lines[0].startswith("|")):
            end()
        if heading:
            blocks.append({"kind": "heading", "level": len(heading[1]), "text": heading[2]})
        elif figure:
            image = f"/v1/reports/{report.report_id}/figures/{figures}"
            held = {"image": image} if _figure(report.path, figure["target"]) else {}
            blocks.append({"kind": "figure", "text": figure["title"], **held})
            figures += 1
        elif line:
            lines.append(line)
    end()
    return blocks


FIGURE = re.compile(r"!\[(?P<title>.*?)\]\((?P<target>[^()]*)\)")


def _figure(path: FilePath, target: str) -> bytes:
    """A PNG file in the folder of a report or below; empty for anything else."""
    folder = path.parent.resolve()
    try:
        image = (folder / target).resolve()
        data = _read(image) if image.is_relative_to(folder) and image.is_file() else b""
    except (ValueError, OSError, UnreadableFile):
        return b""
    return data if data.startswith(PNG_SIGNATURE) else b""


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip("|"))]


def results_blocks(results: Any) -> list[dict[str, Any]]:
    """The figures of a run over all its queries."""
    held = results if isinstance(results, dict) else {}
    title = f"{held.get('benchmark')}, {held.get('system')}, seed {held.get('seed')}"
    figures = held.get("figures")
    rows = []
    for measure, slices in figures.items() if isinstance(figures, dict) else ():
        overall = slices.get("overall") if isinstance(slices, dict) else None
        if isinstance(overall, dict) and isinstance(overall.get("value"), int | float):
            ends = [f"{end:.3f}" for end in map(overall.get, ("low", "high")) if isinstance(end, int | float)]
            interval = f" [{', '.join(ends)}]" if ends else ""
            rows.append([measure, f"{overall['value']:.3f}{interval}", str(overall.get("n"))])
    table = {"kind": "table", "head": ["measure", "value, 95 % interval", "n"], "rows": rows}
    return [{"kind": "heading", "level": 1, "text": title}, table]


def trace_steps(data: bytes) -> list[dict[str, Any]]:
    """The lines of a trace, of a long one the first and the last; what is no step is left out."""
    lines = data.splitlines()
    if len(lines) > MOST_STEPS:
        lines = [*lines[: MOST_STEPS - 1], lines[-1]]
    steps = []
    for line in lines:
        try:
            step = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(step, dict):
            steps.append({key: value for key, value in step.items() if key != "schema"})
    return steps


@router.get("", responses={200: {"model": ReportsDocument}, **problems()})
def list_reports(service: Served) -> Response:
    """Reports, runs and traces below the folders of `--reports`, the newest first."""
    rows = [report.row() for report in stored_reports(service.report_roots)]
    roots = [os.fsdecode(root) for root in service.report_roots]
    return Document(report_shape("rag.reports/1", {"reports": rows, "roots": roots}))


@router.get("/{report_id}", responses={200: {"model": ReportDocument}, **problems(404)})
def show_report(service: Served, report_id: ReportId) -> Response:
    """One of them: a report or a run as blocks, a trace as its steps."""
    report = _find(service, report_id)
    data = _read(report.path)
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
            raise UnreadableFile(f"{report.name}: no JSON") from error
    return Document({"schema": "rag.report/1", **report.row(), "blocks": blocks, "steps": steps})


@router.get(
    "/{report_id}/figures/{number}",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}, **problems(404)},
)
def show_figure(
    service: Served, report_id: ReportId, number: Annotated[int, Path(ge=0, le=MOST_FILES)]
) -> Response:
    """An image of a report, by its place in it: a PNG file in the report's folder or below."""
    report = _find(service, report_id)
    text = _read(report.path).decode("utf-8", "replace") if report.kind == "report" else ""
    lines = (FIGURE.fullmatch(line.strip()) for line in text.splitlines())
    targets = [found["target"] for found in lines if found]
    data = _figure(report.path, targets[number]) if number < len(targets) else b""
    if not data:
        raise Problem(404, "unknown-id", f"{report.name}: has no image {number}")
    return Response(data, media_type="image/png", headers={"Cache-Control": "no-cache"})


def _find(service: Served, report_id: str) -> StoredReport:
    for report in stored_reports(service.report_roots):
        if report.report_id == report_id:
            return report
    raise Problem(404, "unknown-id", f"{report_id}: no such report below the folders of --reports")


def _read(path: FilePath) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UnreadableFile(f"{path}: {(error.strerror or str(error)).lower()}") from error
    if len(data) > LARGEST_FILE:
        raise UnreadableFile(f"{path}: larger than {LARGEST_FILE >> 20} MiB")
    return data
