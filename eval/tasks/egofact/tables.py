"""The tables of EgoFact's report, beside the figures that the paper printed, with their place in it.

DOC"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.metrics.intervals import Estimate, cluster_interval
from eval.metrics.localization import event_shown, judged
from eval.metrics.pairing import Paired
from eval.metrics.scored import CLIPS_AT, PASSAGES_AT, Measure, Scored, correct, parse_failure
from eval.metrics.tables import CASES, MEASURES, estimate, families, of_family
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

MARK = "paper, other data"
BASELINE = "no-localization"
"""The system that the others are compared with."""

QUERY_COUNTS: Mapping[str, int] = {
    "local-1hop": 113,
    "local-2hop": 73,
    "temporal-1hop": 119,
    "temporal-2hop": 91,
}
"""EgoFact, table 1."""

METHODS: Mapping[str, str] = {
    "graphrag": "GraphRAG",
    "videorag-jeong": "VideoRAG (Jeong)",
    "no-localization": "VideoRAG (Ren)",
    "localized": "VideoRAG (Ren) + Localization",
}
"""Our system for each method of the paper."""

ACCURACY: Mapping[str, Mapping[str, float]] = {
    "graphrag": {
        "local-1hop": 15.04,
        "local-2hop": 8.22,
        "temporal-1hop": 21.01,
        "temporal-2hop": 4.40,
        "overall": 13.13,
    },
    "videorag-jeong": {
        "local-1hop": 10.62,
        "local-2hop": 12.33,
        "temporal-1hop": 29.41,
        "temporal-2hop": 9.89,
        "overall": 16.41,
    },
    "no-localization": {
        "local-1hop": 25.66,
        "local-2hop": 24.66,
        "temporal-1hop": 30.25,
        "temporal-2hop": 27.47,
        "overall": 27.27,
    },
    "localized": {
        "local-1hop": 31.86,
        "local-2hop": 27.40,
        "temporal-1hop": 43.70,
        "temporal-2hop": 27.47,
        "overall": 33.59,
    },
}
"""Percent right. EgoFact, table 3."""

UNDERSTANDING: Mapping[str, Mapping[str, float]] = {
    "no-localization": {"all": 30.33, "right": 41.67, "wrong": 28.17},
    "localized": {"all": 40.95, "right": 44.05, "wrong": 38.89},
}
"""Percent understood, as GPT-4o-mini judged. EgoFact, table 2."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What the paper says in words of a figure whose bars carry no numbers."""

    text: str
    place: str


REMARKS: Mapping[str, Remark] = {
    "figure 3": Remark(
        "clip retrieval 50 to 60 %, around 50 % where the answer was wrong; passages generally above 90 %",
        "3.2 and figure 3",
    ),
    "figure 4": Remark("understanding generally below 50 %", "3.3 and figure 4"),
    "figure 5": Remark("B, D and F in about 80 % of the cases", "3.3 and figure 5"),
    "figure 8": Remark(
        "localization above splitting at every window; an inverted U with its peak at middle windows",
        "4.2 and figure 8",
    ),
}


LETTERS = "ABCDEF"
"""Before shuffling; F is the right option (section 2.2)."""
FACTS = frozenset("BDF")


def chose_fact(scored: Scored) -> float | None:
    """1 where B, D or F was chosen; None where it does not count. No answer is no fact."""
    return float(scored.sample.unshuffled_choice in FACTS) if scored.passage_found else None


def letter_shares(samples: Sequence[Scored]) -> dict[str, Estimate | None]:
    """Share of each letter; they sum to 1 less the share without an answer."""
    counted = [scored for scored in samples if scored.passage_found]
    clusters = [scored.query.cluster for scored in counted]
    return {
        letter: cluster_interval(
            [float(scored.sample.unshuffled_choice == letter) for scored in counted], clusters
        )
        for letter in LETTERS
    }


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


RETRIEVALS: Mapping[str, Measure] = {
    name: MEASURES[name] for name in (f"clip success@{CLIPS_AT}", f"passage success@{PASSAGES_AT}")
}
UNDERSTANDINGS: Mapping[str, Measure] = {"judged": judged, "event shown": event_shown}


def case_estimates(
    measure: Measure, samples: Sequence[Scored], family: str | None = None
) -> dict[str, Estimate | None]:
    """Over all samples, those answered right and those answered wrong; of one family, or of all."""
    chosen = [each for each in samples if family in (None, each.query.family)]
    return {
        case: estimate(measure, [each for each in chosen if belongs(each)]) for case, belongs in CASES.items()
    }


def retrieval_table(section: Section) -> Table:
    """Figure 3: success rates of the two retrievals."""
    head = ["system", *(f"{name}, {case}" for name in RETRIEVALS for case in CASES)]
    rows = [row for row in section.rows if _applies(RETRIEVALS, row)]
    return Table(
        name="figure3_retrieval",
        title="Figure 3: retrieval success",
        note=(
            "Percent of queries whose gold item was retrieved: all, answered right, answered wrong. Passages "
            f"count over two-hop queries. {_remark('figure 3')}"
        ),
        head=tuple(head),
        body=tuple((row.label, *_case_cells(row.samples, RETRIEVALS)) for row in rows),
        records=tuple(each for row in rows for each in _case_records(row, RETRIEVALS, section)),
    )


def understanding_table(section: Section) -> Table:
    """Table 2: understanding, judged and exact."""
    head = ["system", *(f"{name}, {case}" for name in UNDERSTANDINGS for case in CASES)]
    head += [f"{MARK}: {case}" for case in CASES]
    body = []
    rows = [row for row in section.rows if _applies(UNDERSTANDINGS, row)]
    for row in rows:
        paper = UNDERSTANDING.get(row.system, {})
        published = [f"{paper[case]:.2f}" if paper else "–" for case in CASES]
        body.append((row.label, *_case_cells(row.samples, UNDERSTANDINGS), *published))
    return Table(
        name="table2_understanding",
        title="Table 2: video understanding where the gold clip was retrieved",
        note=(
            "Percent. Judged: the reasoner holds what was read of the gold clip for enough to answer. Event "
            "shown: a frame that was read of it is within the time in which the deciding object shows."
        ),
        head=tuple(head),
        body=tuple(body),
        records=tuple(each for row in rows for each in _case_records(row, UNDERSTANDINGS, None)),
    )


def understanding_by_family_table(section: Section) -> Table:
    """Figure 4: the same by family."""
    rows = [row for row in section.rows if _applies(UNDERSTANDINGS, row)]
    body = []
    for row in rows:
        for family in families(row.samples):
            of_family = [each for each in row.samples if each.query.family == family]
            body.append((row.label, family, *_case_cells(of_family, UNDERSTANDINGS)))
    return Table(
        name="figure4_understanding",
        title="Figure 4: video understanding by family",
        note=f"As table 2. {_remark('figure 4')}",
        head=("system", "family", *(f"{name}, {case}" for name in UNDERSTANDINGS for case in CASES)),
        body=tuple(body),
        records=tuple(each for row in rows for each in _case_records(row, UNDERSTANDINGS, section)),
    )


def letters_table(section: Section) -> Table:
    """Figure 5: answers over the letters of the paper's order."""
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for row in section.rows:
        if estimate(chose_fact, row.samples) is None:
            continue
        for case, belongs in CASES.items():
            chosen = [each for each in row.samples if belongs(each)]
            shares, facts = letter_shares(chosen), estimate(chose_fact, chosen)
            cells = [percent(share.value if share else None) for share in shares.values()]
            all_facts = (
                f"by design n={facts.n}" if case == "right" and facts else percent_range(facts, n=True)
            )
            body.append((row.label, case, *cells, all_facts))
            records += [
                record(share, system=row.label, case=case, letter=name) for name, share in shares.items()
            ]
            records.append(record(facts, system=row.label, case=case, letter="BDF"))
    return Table(
        name="figure5_letters",
        title="Figure 5: answers over the unshuffled letters, two hops, gold passage retrieved",
        note=(
            "Percent. A, C and E are counter-facts; B, D and F are facts; F is right. Options were shown "
            f"shuffled. {_remark('figure 5')}"
        ),
        head=("system", "case", *LETTERS, "facts (B, D, F)"),
        body=tuple(body),
        records=tuple(records),
    )


def _applies(measures: Mapping[str, Measure], row: Row) -> bool:
    return any(estimate(measure, row.samples) is not None for measure in measures.values())


def _case_cells(samples: Sequence[Scored], measures: Mapping[str, Measure]) -> list[str]:
    return [
        percent_range(each, n=True)
        for measure in measures.values()
        for each in case_estimates(measure, samples).values()
    ]


def _case_records(
    row: Row, measures: Mapping[str, Measure], section: Section | None
) -> list[dict[str, Cell]]:
    """Overall, and by family where a section is given."""
    parts = [None, *(families(row.samples) if section is not None else ())]
    return [
        record(each, system=row.label, measure=name, family=family or "overall", case=case)
        for name, measure in measures.items()
        for family in parts
        for case, each in case_estimates(measure, row.samples, family).items()
    ]


def _remark(figure: str) -> str:
    remark = REMARKS[figure]
    return f"{MARK.capitalize()} ({remark.place}): {remark.text}."
