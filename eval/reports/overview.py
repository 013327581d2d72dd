"""One page for all: every benchmark, every system, n, interval, tokens, seconds, and the papers' own figures.

`overview.md`, `overview.html` (which needs no other file) and `overview.csv`.
Seconds are of the machine that ran; all else is the same for equal runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median

from eval.metrics.accuracy import correct
from eval.metrics.estimate import Estimate
from eval.metrics.tables import estimate
from eval.reports.layout import Cell, csv_text, markdown_table, percent_range, record
from eval.reports.page import seconds_of
from eval.reports.papers import NOTES, printed
from eval.reports.rows import Row, Section, gather
from eval.resumable import write_whole
from eval.runs.places import run_folders
from rag.errors import UsageError

__all__ = ["write_overview"]

MARK = "paper, other data"
HEAD = ("system", "right, %", "n", "tokens a query", "median seconds", MARK)
TITLE = "All benchmarks"
NOTE = (
    "Percent right with 95 % intervals, by drawing whole videos 5,000 times; n counts answers. Tokens are as "
    "each benchmark's report says: counted where no language model ran. The column marked "
    f'"{MARK}" repeats what the papers printed, on other videos, questions and models: it is there to be '
    "looked at, not to be compared."
)
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;color:#1c1f26}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2.2rem}.quiet{color:#667}
table{border-collapse:collapse;width:100%}th,td{padding:.25rem .8rem .25rem 0;text-align:left;
border-bottom:1px solid #e3e6ea;vertical-align:top}td.number,th.number{text-align:right}
td.paper,th.paper{color:#8a5a00;background:#fdf8ee;padding-left:.6rem}
.bar{position:relative;background:#eef1f5;height:.7rem;width:10rem;border-radius:2px}
.bar i{position:absolute;left:0;top:0;bottom:0;background:#2f7ed8;border-radius:2px}
.bar b{position:absolute;top:.28rem;height:.14rem;background:#1c1f26}
"""


@dataclass(frozen=True, slots=True)
class _Line:
    system: str
    right: Estimate | None
    n: int
    tokens: float
    seconds: float | None
    paper: str

    @property
    def cells(self) -> tuple[str, ...]:
        seconds = "–" if self.seconds is None else f"{self.seconds:.2f}"
        return (
            self.system,
            percent_range(self.right),
            str(self.n),
            f"{self.tokens:,.0f}",
            seconds,
            self.paper or "–",
        )


def write_overview(folders: Sequence[Path], out: Path) -> list[Path]:
    """Write the page in its forms into `out`; gives the files, the Markdown first.

    A folder that holds runs stands for them. Raises `UsageError` for runs that cannot be reported together.
    """
    sections = gather(run_folders(folders))
    told = [(section, [_line(section, row) for row in section.rows]) for section in sections]
    files = {
        "overview.md": "\n".join(_markdown(told)),
        "overview.html": "\n".join(_html(told)),
        "overview.csv": csv_text([entry for section, lines in told for entry in _records(section, lines)]),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(out / name, text)
    except OSError as error:
        raise UsageError(f"{error.filename or out}: {error.strerror}") from error
    return [out / name for name in files]


def _line(section: Section, row: Row) -> _Line:
    seconds = [value for folder in row.folders for value in seconds_of(folder)]
    tokens = [sum(scored.sample.tokens.values()) for scored in row.samples]
    return _Line(
        system=row.label,
        right=estimate(correct, row.samples),
        n=len(row.samples),
        tokens=sum(tokens) / max(1, len(tokens)),
        seconds=median(seconds) if seconds else None,
        paper=printed(section.benchmark, row.system),
    )


def _about(section: Section) -> str:
    clusters = len({query.cluster for query in section.queries})
    note = NOTES.get(section.benchmark.partition("-")[0], "")
    return f"{len(section.queries)} queries on {clusters} videos. {note}".strip()


def _markdown(told: Sequence[tuple[Section, list[_Line]]]) -> Iterator[str]:
    yield f"# {TITLE}\n"
    yield f"{NOTE}\n"
    for section, lines in told:
        yield f"## {section.benchmark}\n"
        yield f"{_about(section)}\n"
        yield markdown_table(HEAD, [line.cells for line in lines])


def _records(section: Section, lines: Sequence[_Line]) -> Iterator[dict[str, Cell]]:
    for line in lines:
        yield record(line.right, benchmark=section.benchmark, system=line.system) | {
            "tokens": line.tokens,
            "median_seconds": line.seconds,
            "paper": line.paper,
        }


def _html(told: Sequence[tuple[Section, list[_Line]]]) -> Iterator[str]:
    yield "<!doctype html><html lang=en><meta charset=utf-8>"
    yield f"<title>{TITLE}</title><style>{STYLE}</style><h1>{TITLE}</h1><p>{escape(NOTE)}</p>"
    for section, lines in told:
        yield f"<h2>{escape(section.benchmark)}</h2><p class=quiet>{escape(_about(section))}</p><table><tr>"
        kinds = ("", "number", "number", "number", "number", "paper")
        for name, kind in zip(HEAD, kinds, strict=True):
            yield f"<th class='{kind}'>{escape(name)}</th>" + (
                "<th></th>" if name.startswith("right") else ""
            )
        yield "</tr>"
        for line in lines:
            system, right, *rest = line.cells
            yield f"<tr><td>{escape(system)}</td><td class=number>{escape(right)}</td>"
            yield f"<td>{_bar(line.right)}</td>"
            yield "".join(
                f"<td class='{kind}'>{escape(cell)}</td>" for cell, kind in zip(rest, kinds[2:], strict=True)
            )
            yield "</tr>"
        yield "</table>"
    yield "</html>\n"


def _bar(right: Estimate | None) -> str:
    """The share as a bar, its interval as a line on it."""
    if right is None:
        return ""
    reach = ""
    if right.low is not None and right.high is not None:
        wide = 100 * (right.high - right.low)
        reach = f"<b style='left:{100 * right.low:.1f}%;width:{wide:.1f}%'></b>"
    return f"<div class=bar><i style='width:{100 * right.value:.1f}%'></i>{reach}</div>"
