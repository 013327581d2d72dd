"""Tables 1 and 3 and figure 8: queries by family, accuracy, and accuracy over window lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from eval.metrics.intervals import Estimate
from eval.metrics.pairing import Paired
from eval.metrics.scored import Scored, correct, parse_failure
from eval.metrics.tables import estimate, families, of_family
from eval.reports.spec import Row, Section
from eval.reports.tables import (
    Cell,
    Table,
    compare_rows,
    holm_adjusted,
    pair_cells,
    percent,
    percent_range,
    record,
)
from eval.tasks.egofact.paper import ACCURACY, BASELINE, MARK, METHODS, QUERY_COUNTS, REMARKS

SERIES = ("localization", "video-split")


@dataclass(frozen=True, slots=True)
class WindowPoint:
    """Accuracy of one system at one window length (figure 8)."""

    series: str
    seconds: float
    label: str
    accuracy: Estimate


def query_table(section: Section) -> Table:
    """Table 1: queries by family, beside the paper's count."""
    counts = Counter(query.family for query in section.queries)
    order = families(section.rows[0].samples)
    clips = len({query.video for query in section.queries})
    body = [(family_name(name), str(counts[name]), str(QUERY_COUNTS.get(name, "–"))) for name in order]
    body.append(("all", str(len(section.queries)), str(sum(QUERY_COUNTS.values()))))
    records: list[dict[str, Cell]] = [
        {"family": name, "queries": counts[name], MARK: QUERY_COUNTS.get(name)} for name in order
    ]
    return Table(
        name="table1_queries",
        title="Table 1: queries by family",
        note=f"On {clips} clips of {len({query.cluster for query in section.queries})} videos.",
        head=("family", "queries", MARK),
        body=tuple(body),
        records=tuple(records),
    )


def accuracy_table(section: Section) -> Table:
    """Table 3: accuracy by family and overall, and each system against the one without localization."""
    order = families(section.rows[0].samples)
    pairs = compare_rows(section.rows, section.row(BASELINE))
    adjusted = holm_adjusted(pairs)
    head = ["system", *(family_name(name) for name in order), "overall", "n", "seeds"]
    head += [f"minus {BASELINE}", "p by video", "p Holm", "p McNemar", "unread replies", f"{MARK}: overall"]
    body, records = [], []
    for row in section.rows:
        parts = {name: estimate(correct, _of_family(row, name)) for name in (*order, "overall")}
        pair, p_holm = pairs.get(row.label), adjusted.get(row.label)
        body.append((row.label, *map(percent_range, parts.values()), *_beside(row, pair, p_holm)))
        records += [
            record(part, system=row.label, family=name, seeds=len(row.seeds)) | {MARK: _paper(row, name)}
            for name, part in parts.items()
        ]
        records[-1] |= _paired_record(pair, p_holm)
    return Table(
        name="table3_accuracy",
        title="Table 3: accuracy",
        note=(
            f"Percent right, with 95 % intervals clustered by video. Differences are paired with {BASELINE}: "
            "p by video is an exact permutation test over whole videos, Holm's correction is over this "
            f"table, McNemar's exact test counts queries as independent. Chance is {_chance(section)}."
        ),
        head=tuple(head),
        body=tuple(body),
        records=tuple(records),
    )


def paper_accuracy_table(section: Section) -> Table:
    """The paper's table 3 beside our rows, family by family."""
    order = [*families(section.rows[0].samples), "overall"]
    head = ["system", *(family_name(name) for name in order)]
    head += [f"{MARK}: {family_name(name)}" for name in order]
    body = []
    for row in section.rows:
        if row.system not in ACCURACY:
            continue
        ours = [estimate(correct, _of_family(row, name)) for name in order]
        cells = [f"{row.label} ({METHODS[row.system]})"]
        cells += [percent(each.value if each else None) for each in ours]
        cells += [_paper_text(row, name) for name in order]
        body.append(tuple(cells))
    return Table(
        name="",
        title="Table 3 of the paper",
        note="Ego4D clips, other questions, GPT-4o-mini: to be looked at, not compared.",
        head=tuple(head),
        body=tuple(body),
        records=(),
    )


def _of_family(row: Row, family: str) -> Sequence[Scored]:
    return row.samples if family == "overall" else of_family(row.samples, family)


def _beside(row: Row, pair: Paired | None, p_holm: float | None) -> tuple[str, ...]:
    """The cells behind the accuracies: counts, tests, failures, and the paper's own figure."""
    failures = estimate(parse_failure, row.samples)
    return (
        str(len(row.samples)),
        str(len(row.seeds)),
        *pair_cells(pair, p_holm),
        percent(failures.value if failures else None),
        _paper_text(row, "overall"),
    )


def _paired_record(pair: Paired | None, adjusted: float | None) -> dict[str, Cell]:
    if pair is None:
        return {}
    difference = pair.difference
    return {
        "difference": difference.value,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "p_by_video": pair.p,
        "p_holm": adjusted,
        "p_mcnemar": pair.p_mcnemar,
    }


def _paper(row: Row, family: str) -> float | None:
    published = ACCURACY.get(row.system, {}).get(family)
    return None if published is None else published / 100


def _paper_text(row: Row, family: str) -> str:
    """Percent with the two decimals that the paper prints."""
    published = ACCURACY.get(row.system, {}).get(family)
    return "–" if published is None else f"{published:.2f}"


def _chance(section: Section) -> str:
    sizes = {len(query.options) for query in section.queries}
    return f"{100 / sizes.pop():.1f} %" if len(sizes) == 1 else "not the same for all queries"


def family_name(family: str) -> str:
    """`Local 1-hop`, as the paper writes it."""
    kind, _, hops = family.partition("-")
    return f"{kind.capitalize()} {hops[:1]}-{hops[1:]}" if hops[1:] == "hop" else family


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
