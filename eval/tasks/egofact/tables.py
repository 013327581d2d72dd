"""The tables of EgoFact's report, beside the figures that the paper printed, with their place in it.

The paper's were measured on Ego4D clips with GPT-4o-mini, ImageBind and MetaCLIP, on
queries that are not public. They are shown beside ours for reference, never for
comparison: other videos, other questions, another reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from eval.metrics.intervals import Estimate, cluster_interval
from eval.metrics.localization import event_shown, judged
from eval.metrics.pairing import Paired
from eval.metrics.scored import CLIPS_AT, PASSAGES_AT, Measure, Scored, correct, parse_failure, sample_field
from eval.metrics.tables import CASES, MEASURES, estimate, families
from eval.reports.generic import calibration_table, localization_table, reliability_table
from eval.reports.spec import Row, Section, named_systems
from eval.reports.tables import (
    MARK,
    NOTHING,
    Cell,
    Table,
    by_family,
    compare_rows,
    holm_adjusted,
    pair_cells,
    percent,
    percent_range,
    record,
)
from eval.tasks.egofact.records import FAMILIES

BASELINE = "no-localization"
"""The system that the others are compared with."""

QUERY_COUNTS: Mapping[str, int] = dict(zip(FAMILIES, (113, 73, 119, 91), strict=True))
"""EgoFact, table 1."""
METHODS: Mapping[str, str] = {
    "graphrag": "GraphRAG",
    "videorag-jeong": "VideoRAG (Jeong)",
    "no-localization": "VideoRAG (Ren)",
    "localized": "VideoRAG (Ren) + Localization",
    "no-localization-captioned": "VideoRAG (Ren)",
    "localized-captioned": "VideoRAG (Ren) + Localization",
    "localized-paper-captioned": "VideoRAG (Ren) + Localization",
}
"""Our system for each method of the paper."""

_TABLE3: Mapping[str, tuple[float, ...]] = {
    "GraphRAG": (15.04, 8.22, 21.01, 4.40, 13.13),
    "VideoRAG (Jeong)": (10.62, 12.33, 29.41, 9.89, 16.41),
    "VideoRAG (Ren)": (25.66, 24.66, 30.25, 27.47, 27.27),
    "VideoRAG (Ren) + Localization": (31.86, 27.40, 43.70, 27.47, 33.59),
}
_TABLE2: Mapping[str, tuple[float, ...]] = {
    "VideoRAG (Ren)": (30.33, 41.67, 28.17),
    "VideoRAG (Ren) + Localization": (40.95, 44.05, 38.89),
}
ACCURACY: Mapping[str, Mapping[str, float]] = {
    system: dict(zip((*FAMILIES, "overall"), _TABLE3[method], strict=True))
    for system, method in METHODS.items()
}
"""Percent right, by family and overall. EgoFact, table 3."""
UNDERSTANDING: Mapping[str, Mapping[str, float]] = {
    system: dict(zip(("all", "right", "wrong"), _TABLE2[method], strict=True))
    for system, method in METHODS.items()
    if method in _TABLE2
}
"""Percent understood, as GPT-4o-mini judged. EgoFact, table 2."""


REMARKS: Mapping[str, str] = {
    "figure 3": f"{MARK.capitalize()} (3.2 and figure 3): clip retrieval 50 to 60 %, around 50 % where the "
    "answer was wrong; passages generally above 90 %.",
    "figure 4": f"{MARK.capitalize()} (3.3 and figure 4): understanding generally below 50 %.",
    "figure 5": f"{MARK.capitalize()} (3.3 and figure 5): B, D and F in about 80 % of the cases.",
    "figure 8": f"{MARK.capitalize()} (4.2 and figure 8): localization above splitting at every window; an "
    "inverted U with its peak at middle windows.",
}
"""What the paper says in words of a figure whose bars carry no numbers."""

LETTERS = "ABCDEF"
"""Before shuffling; F is the right option (section 2.2)."""
FACTS = frozenset("BDF")


def chose_fact(scored: Scored) -> float | None:
    """1 where B, D or F was chosen; None where it does not count. No answer is no fact."""
    return float(scored.sample.unshuffled_choice in FACTS) if scored.passage_found else None


def letter_shares(samples: Sequence[Scored]) -> dict[str, Estimate | None]:
    """Share of each letter, of those in the paper's order (figure 5); they sum to 1 less no answer.

    In that order A, C and E of a two-hop query are counter-facts and B, D and F
    facts, F the right one; options are shown shuffled, so a liking for a position
    does not show here. Counted over two-hop queries whose gold passage was
    retrieved: a reader that understands passages favours B, D and F.
    """
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


def egofact_tables(section: Section) -> list[Table]:
    """The paper's tables and figures as tables, in its order, then ours."""
    named = named_systems(section)
    return [
        query_table(named),
        accuracy_table(named),
        paper_accuracy_table(named),
        understanding_table(named),
        retrieval_table(named),
        understanding_by_family_table(named),
        letters_table(named),
        window_table(section),
        localization_table(named),
        calibration_table(named),
        reliability_table(named),
    ]


def query_table(section: Section) -> Table:
    """Table 1: queries by family, beside the paper's count."""
    counts = Counter(query.family for query in section.queries)
    order = families(section.rows[0].samples)
    clips = len({query.video for query in section.queries})
    body = [(family_name(name), str(counts[name]), str(QUERY_COUNTS.get(name, NOTHING))) for name in order]
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
    columns = by_family(correct, order, "overall")
    pairs = compare_rows(section.rows, section.row(BASELINE))
    adjusted = holm_adjusted(pairs)
    head = ["system", *(family_name(name) for name in order), "overall", "n", "seeds"]
    head += [f"minus {BASELINE}", "p by video", "p Holm", "p McNemar", "unread replies", f"{MARK}: overall"]
    body, records = [], []
    for row in section.rows:
        parts = {name: estimate(measure, row.samples) for name, measure in columns.items()}
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
    columns = by_family(correct, families(section.rows[0].samples), "overall")
    order = list(columns)
    head = ["system", *(family_name(name) for name in order)]
    head += [f"{MARK}: {family_name(name)}" for name in order]
    body = []
    for row in section.rows:
        if row.system not in ACCURACY:
            continue
        ours = [estimate(measure, row.samples) for measure in columns.values()]
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
    return NOTHING if published is None else f"{published:.2f}"


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
    return Table(
        name="figure8_windows",
        title="Figure 8: localization and video split over window sizes",
        note=f"Percent right over all queries. {REMARKS['figure 8']}",
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
    return _case_table(
        "figure3_retrieval",
        "Figure 3: retrieval success",
        "Percent of queries whose gold item was retrieved: all, answered right, answered wrong. Passages "
        f"count over two-hop queries. {REMARKS['figure 3']}",
        RETRIEVALS,
        section,
    )


def understanding_table(section: Section) -> Table:
    """Table 2: understanding, judged and exact, beside the paper's."""
    table = _case_table(
        "table2_understanding",
        "Table 2: video understanding where the gold clip was retrieved",
        f"Percent. Judged: {_judges(section)} Event shown: a frame that was read of it is within the time in "
        "which the deciding object shows.",
        UNDERSTANDINGS,
        section,
        families_in_csv=False,
    )
    system = {row.label: row.system for row in section.rows}
    paper = [UNDERSTANDING.get(system[cells[0]], {}) for cells in table.body]
    return replace(
        table,
        head=(*table.head, *(f"{MARK}: {case}" for case in CASES)),
        body=tuple(
            (*cells, *(f"{printed[case]:.2f}" if printed else NOTHING for case in CASES))
            for cells, printed in zip(table.body, paper, strict=True)
        ),
    )


def _judges(section: Section) -> str:
    """Who judged understanding, and on what."""
    judged_rows = [row for row in section.rows if estimate(judged, row.samples) is not None]
    models = {str(sample_field(each, "understood_by", "")) for row in judged_rows for each in row.samples}
    lines = [
        f"{model} holds the caption that the answer was read off for enough to answer (D.1)."
        for model in sorted(models - {""})
    ]
    if any(all(not sample_field(each, "understood_by", "") for each in row.samples) for row in judged_rows):
        lines.append(
            "in runs of the embedded reasoner, that one of its fixed Workbench sentences which fits a frame "
            "read of the gold clip best names the event asked for; no model judged."
        )
    return " ".join(lines)


def understanding_by_family_table(section: Section) -> Table:
    """Figure 4: the same by family."""
    return _case_table(
        "figure4_understanding",
        "Figure 4: video understanding by family",
        f"As table 2. {REMARKS['figure 4']}",
        UNDERSTANDINGS,
        section,
        family_lines=True,
    )


def _case_table(
    name: str,
    title: str,
    note: str,
    measures: Mapping[str, Measure],
    section: Section,
    *,
    family_lines: bool = False,
    families_in_csv: bool = True,
) -> Table:
    """Each measure over all samples, those answered right and those answered wrong; a line a system."""
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for row in section.rows:
        if all(estimate(measure, row.samples) is None for measure in measures.values()):
            continue
        present = families(row.samples)
        for family in present if family_lines else [None]:
            cases = [case_estimates(measure, row.samples, family) for measure in measures.values()]
            cells = [percent_range(each, n=True) for found in cases for each in found.values()]
            body.append((row.label, *([family] if family else []), *cells))
        records += [
            record(each, system=row.label, measure=measure_name, family=family or "overall", case=case)
            for measure_name, measure in measures.items()
            for family in (None, *(present if families_in_csv else ()))
            for case, each in case_estimates(measure, row.samples, family).items()
        ]
    head = ("system", *(["family"] if family_lines else []))
    head += tuple(f"{measure}, {case}" for measure in measures for case in CASES)
    return Table(name, title, note, head, tuple(body), tuple(records))


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
            f"shuffled. {REMARKS['figure 5']}"
        ),
        head=("system", "case", *LETTERS, "facts (B, D, F)"),
        body=tuple(body),
        records=tuple(records),
    )
