"""Where the windows lie, with the ceilings of their length, and figure 8: accuracy over window sizes."""

from __future__ import annotations

from dataclasses import dataclass

from eval.metrics.accuracy import correct
from eval.metrics.ceiling import ORACLE_SECONDS, oracle_iou
from eval.metrics.estimate import Estimate
from eval.metrics.iou import THRESHOLDS
from eval.metrics.tables import MEASURES, estimate
from eval.reports.layout import Table, percent, percent_range, record
from eval.reports.published import MARK, REMARKS
from eval.reports.rows import Section

WITHIN = (
    *(f"R@1 IoU>={threshold}" for threshold in THRESHOLDS),
    "mIoU",
    "ceiling of mIoU",
    "event coverage>=0.8",
)
OVER_CORPUS = (*(f"corpus R@1 IoU>={threshold}" for threshold in THRESHOLDS), "corpus mIoU")

SERIES = ("localization", "video-split")


@dataclass(frozen=True, slots=True)
class WindowPoint:
    series: str
    seconds: float
    label: str
    accuracy: Estimate


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
            f"reach; the oracle lies as well as a window of {ORACLE_SECONDS:g} s can. Not in the paper."
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


def window_points(section: Section) -> list[WindowPoint]:
    """Accuracy of the rows whose settings name a series and a window, by series and then by seconds."""
    points = []
    for row in section.rows:
        series, seconds = row.settings.get("series"), row.settings.get("window_seconds")
        overall = estimate(correct, row.samples)
        if series in SERIES and isinstance(seconds, int | float) and overall is not None:
            points.append(WindowPoint(str(series), float(seconds), row.label, overall))
    return sorted(points, key=lambda point: (SERIES.index(point.series), point.seconds, point.label))


def window_table(section: Section) -> Table:
    """Figure 8: localization against splitting."""
    points = window_points(section)
    remark = REMARKS["figure 8"]
    return Table(
        name="figure8_windows",
        title="Figure 8: localization and video split over window sizes",
        note=f"Percent right over all queries. {MARK.capitalize()} ({remark.place}): {remark.text}.",
        head=("series", "window (s)", "system", "accuracy"),
        body=tuple(
            (point.series, f"{point.seconds:g}", point.label, percent_range(point.accuracy, n=True))
            for point in points
        ),
        records=tuple(
            record(point.accuracy, series=point.series, window_seconds=point.seconds, system=point.label)
            for point in points
        ),
    )
