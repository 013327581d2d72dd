"""Report of runs on moments: recall, agreement with annotators, precision, highlights, by family."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.metrics.tables import families
from eval.reports.drawing import draw_systems
from eval.reports.spec import RIGHT, Compared, Labels, ReportSpec, Row, Section, ordered_rows
from eval.reports.tables import Table, by_family, measures_table, system_lines
from eval.tasks.moments.scorer import (
    AGREEMENT,
    MEASURES,
    MIOU,
    PRECISION,
    RECALLS,
    RIGHT_IOU,
    SALIENCY,
    recall_name,
)
from eval.tasks.moments.solvers import CONTROLS, SOLVERS

ORDER = tuple(SOLVERS)
FIRST = recall_name(1, RIGHT_IOU)


def tables(section: Section) -> list[Table]:
    """All tables, in the order of the report; a benchmark has those of its measures."""
    return [
        _table(
            section,
            "moments",
            "Moments",
            (*RECALLS, *AGREEMENT, MIOU),
            "R@k IoU>=m: percent of queries of which one of the first k windows reaches IoU m with a gold "
            "window; mIoU: of the first window. Of DiDeMo, as its own evaluation has it: rank@k, percent of "
            "queries whose three best ranked annotated moments have a mean rank of at most k; mIoU with the "
            "three nearest annotated moments, in segments of 5 s.",
        ),
        _table(
            section,
            "precision",
            "Mean average precision",
            PRECISION,
            "Percent, over at most ten windows. mAP: mean over IoU 0.5, 0.55, ... 0.95; short, middle, long: "
            "gold windows up to 10 s, 30 s, 150 s, over the queries that have some (QVHighlights).",
        ),
        _table(
            section,
            "highlights",
            "Highlights",
            SALIENCY,
            "Percent. Clips of 2 s by saliency; right from this score of an annotator on (QVHighlights).",
        ),
        _family_table(section),
    ]


def _rows(section: Section) -> list[Row]:
    return ordered_rows(section, ORDER, sweeps=True)


def _table(section: Section, name: str, title: str, measures: Sequence[str], note: str) -> Table:
    """The measures that some sample has."""
    rows = _rows(section)
    held = {key for row in rows for each in row.samples for key in each.sample.evidence.get("measures", {})}
    columns = {name: MEASURES[name] for name in measures if name in held}
    return measures_table(name, title, note, system_lines(rows), columns, count=True)


def _family_table(section: Section) -> Table:
    """By what describes the moment, where the benchmark says it (TVR: video, text, or both)."""
    rows = [row for row in _rows(section) if row.samples]
    names = families(each for row in rows for each in row.samples)
    columns = by_family(MEASURES[FIRST], names if len(names) > 1 else (), "overall")
    note = f"{FIRST}, percent. Of TVR: v, the sentence describes the video; t, its subtitles; vt, both."
    lines = system_lines(rows) if len(names) > 1 else []
    return measures_table("families", "By family", note, lines, columns, key="family", count=True)


def draw_figures(section: Section, folder: Path) -> list[str]:
    """R@1 at IoU 0.5, or rank@1, of every system with its interval; nothing without a score."""
    rows, title = _rows(section), f"{FIRST} (DiDeMo: {AGREEMENT[0]}), intervals by video"
    ours = {row.system for row in rows} - set(CONTROLS)
    return draw_systems(folder / "moments.png", title, rows, ours, "% of queries", width=6.0)


REPORT = ReportSpec(
    tables,
    draw_figures,
    "Intervals are 95 %, by resampling whole videos 5,000 times; n counts sentences. No system is trained on "
    "the benchmark.",
    labels=Labels(
        right=f"the first window reaches IoU {RIGHT_IOU} with a gold window (DiDeMo: {AGREEMENT[0]}).",
        window="moment",
    ),
    compared=(RIGHT, Compared(MIOU, MEASURES[MIOU], "the IoU of the first window with the gold.")),
    order=ORDER,
    controls=CONTROLS,
)
