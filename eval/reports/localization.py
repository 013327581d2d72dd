"""Temporal localization: R@1, mIoU and coverage, with the ceilings of the windows' lengths."""

from __future__ import annotations

from eval.metrics.ceiling import ORACLE_SECONDS, oracle_iou
from eval.metrics.iou import THRESHOLDS
from eval.metrics.tables import MEASURES, estimate
from eval.reports.layout import Table, percent, percent_range, record
from eval.reports.rows import Section

WITHIN = (
    *(f"R@1 IoU>={threshold}" for threshold in THRESHOLDS),
    "mIoU",
    "ceiling of mIoU",
    "event coverage>=0.8",
)
OVER_CORPUS = (*(f"corpus R@1 IoU>={threshold}" for threshold in THRESHOLDS), "corpus mIoU")


def localization_table(section: Section) -> Table:
    """R@1 at IoU 0.3, 0.5 and 0.7, mIoU and coverage, with what windows of their length can reach."""
    measures = WITHIN + OVER_CORPUS
    body, records = [], []
    for row in section.rows:
        figures = {name: estimate(MEASURES[name], row.samples) for name in measures}
        if all(each is None for each in figures.values()):
            continue
        body.append((row.label, *(percent_range(each) for each in figures.values()), str(len(row.samples))))
        records += [record(each, system=row.label, measure=name) for name, each in figures.items()]
    if body:
        ceiling = _oracle(section)
        body.append((f"oracle {ORACLE_SECONDS:g} s", *(ceiling.get(name, "–") for name in measures), ""))
        oracle = estimate(oracle_iou, section.rows[0].samples)
        records.append(record(oracle, system=f"oracle {ORACLE_SECONDS:g} s", measure="mIoU"))
    return Table(
        name="localization",
        title="Localization",
        note=(
            "Percent. Within the gold clip, whether or not it was retrieved; over the corpus, the window of "
            "the first clip, 0 where that is another. The ceiling is what windows of the lengths found could "
            f"reach; the oracle is the best placed window of {ORACLE_SECONDS:g} s."
        ),
        head=("system", *measures, "n"),
        body=tuple(body),
        records=tuple(records),
    )


def _oracle(section: Section) -> dict[str, str]:
    """What a 5-second window could reach, by measure."""
    reachable = (oracle_iou(scored) for scored in section.rows[0].samples)
    best = [iou for iou in reachable if iou is not None]
    reached = {
        f"R@1 IoU>={threshold}": percent(sum(iou >= threshold - 1e-9 for iou in best) / len(best))
        for threshold in THRESHOLDS
    }
    return reached | {
        "mIoU": percent(sum(best) / len(best)),
        "ceiling of mIoU": percent(sum(best) / len(best)),
    }
