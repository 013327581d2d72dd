"""Tables 1 to 3 of Video-Browser over our runs, and what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from eval.metrics.accuracy import correct, parse_failure
from eval.metrics.calibration import expected_calibration_error
from eval.metrics.estimate import Estimate
from eval.metrics.holm import holm
from eval.metrics.intervals import Quantity
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Scored
from eval.reports.layout import Cell, Table, amount_range, p_text, percent, percent_range, record
from eval.reports.rows import Row, Section
from eval.tasks.browsecomp.measures import (
    BINS,
    by_match,
    context,
    evidence_recall,
    failed,
    mean_of,
    searches,
    tokens,
    told,
)
from eval.tasks.browsecomp.paper import (
    ABLATIONS,
    MAIN_RESULTS,
    MARK,
    PARADIGMS,
    SCALED,
    Printed,
)
from eval.tasks.browsecomp.records import LEVELS
from eval.tasks.browsecomp.systems import SYSTEMS

TABLE_1 = (
    *("tool-free", "text-search", "direct", "direct-selected", "summarization"),
    *("pyramidal", "pyramidal-stored", "video-browser", "video-browser-stored"),
)
TABLE_2 = ("direct", "direct-selected", "summarization", "pyramidal", "pyramidal-stored")
TABLE_3 = ("full", "wo-stage1", "wo-stage2", "wo-stage3", "transcript-only", "visual-only")
OTHERS = ("direct", "summarization", "direct-selected")
"""What table 2 compares with, each pair in one direction. The last is ours: it knows what stage 1 chose."""
FILTERED = ("tool-free", "text-search")
"""Whatever they answer with the embedded reasoner is left out of the questions that are made here."""
ON_MATCH = "Right is what the judge calls right; “by match” counts exact and normalized matches alone."


def all_tables(section: Section) -> list[Table]:
    return [
        _results(section),
        _paradigms(section),
        _ablations(section),
        _scaling(section),
        _kinds(section),
        _work(section),
    ]


def ordered(section: Section, names: Sequence[str] | None = None) -> list[Row]:
    """The rows of these systems, or all, in the order in which the systems are listed."""
    known = list(SYSTEMS)
    rows = [row for row in section.rows if names is None or row.system in names]
    order: Callable[[Row], tuple[int, str]] = lambda row: (  # noqa: E731 (a key)
        known.index(row.system) if row.system in known else len(known),
        row.label,
    )
    return sorted(rows, key=order)


def genres(section: Section) -> list[str]:
    """Those that occur, by name."""
    return sorted({str(told(scored, "genre")) for row in section.rows for scored in row.samples})


def _results(section: Section) -> Table:
    """Table 1: accuracy, by level and by genre, and calibration."""
    found = genres(section)
    short = (level.replace("level", "L") for level in LEVELS)
    ends = ("n", f"{MARK}: OA", f"{MARK}: L1, L2, L3", f"{MARK}: CE")
    head = ("system", "OA", "by match", *short, "CE", *found, *ends)
    body, records = [], []
    for row in ordered(section, TABLE_1):
        parts = [_where(row, _family, level) for level in LEVELS]
        kinds = [_where(row, _genre, genre) for genre in found]
        overall, error = mean_of(correct, row.samples), expected_calibration_error(row.samples, BINS)
        printed = MAIN_RESULTS.get(row.system)
        cells = [row.label, percent_range(overall), percent_range(mean_of(by_match, row.samples))]
        cells += [percent_range(part, n=True) for part in parts] + [percent_range(error)]
        cells += [percent_range(part) for part in kinds]
        body.append((*cells, str(len(row.samples)), *_printed_main(printed)))
        records += _long(row, "overall", overall, LEVELS, parts, error)
        records += [
            record(part, system=row.label, part=f"genre {genre}")
            for genre, part in zip(found, kinds, strict=True)
        ]
    return Table(
        "table1_results",
        "Table 1: accuracy and calibration",
        f"Percent. {ON_MATCH} CE is equation 5, 5 bins. The paper's rows: the best of each group."
        + _by_construction(section),
        head,
        tuple(body),
        tuple(records),
    )


def _paradigms(section: Section) -> Table:
    """Table 2: what it costs, and each paradigm against direct visual inference and summarization."""
    rows = ordered(section, TABLE_2)
    by_name = {row.system: row for row in rows}
    pairs: dict[tuple[str, str], Paired] = {}
    for row in rows:
        for other in OTHERS:
            if other in by_name and other not in OTHERS[: _place(row.system) + 1]:
                pair = compare(row.samples, by_name[other].samples)
                if pair is not None:
                    pairs[row.label, other] = pair
    adjusted = dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))
    direct = mean_of(tokens, by_name["direct"].samples, "amount") if "direct" in by_name else None
    head = ["system", "OA", "CE", "tokens", "of direct's", "context"]
    for other in OTHERS:
        head += [f"minus {other}", "p by video", "p Holm", "p McNemar"]
    head += [f"{MARK}: {name}" for name in ("OA", "CE", "tokens", "context")]
    body, records = [], []
    for row in rows:
        spent, asked = mean_of(tokens, row.samples, "amount"), mean_of(context, row.samples, "amount")
        overall, error = mean_of(correct, row.samples), expected_calibration_error(row.samples, BINS)
        share = spent.value / direct.value if spent and direct and direct.value else None
        cells = [row.label, percent_range(overall), percent_range(error), amount_range(spent), percent(share)]
        cells.append(amount_range(asked))
        for other in OTHERS:
            cells += _pair_cells(pairs.get((row.label, other)), adjusted.get((row.label, other)))
        body.append((*cells, *_printed(PARADIGMS.get(row.system))))
        records += [
            record(overall, system=row.label, measure="OA"),
            record(error, system=row.label, measure="CE"),
            record(spent, system=row.label, measure="tokens"),
            record(asked, system=row.label, measure="context"),
        ]
        records += _pair_records(row, pairs, adjusted)
    return Table(
        "table2_paradigms",
        "Table 2: three paradigms at T = 1, K = 3",
        f"{_counting(section)} Paired differences in points; p by video is an exact permutation test "
        "over whole videos, Holm's correction is over this table.",
        tuple(head),
        tuple(body),
        tuple(records),
    )


def _place(system: str) -> int:
    """Among `OTHERS`, -1 where it is none of them."""
    return OTHERS.index(system) if system in OTHERS else -1


def _ablations(section: Section) -> Table:
    """Table 3: each stage and each modality taken away, against all of them, at T = 1, K = 2."""
    rows = ordered(section, TABLE_3)
    full = next((row for row in rows if row.system == "full"), None)
    compared = {row.label: compare(row.samples, full.samples) for row in rows if full and row is not full}
    pairs = {label: pair for label, pair in compared.items() if pair is not None}
    adjusted = dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))
    head = ["setting", "OA", "CE", "tokens", "context", "minus full", "p by video", "p Holm", "p McNemar"]
    head += [f"{MARK}: {name}" for name in ("OA", "CE", "tokens", "context")]
    body, records = [], []
    for row in rows:
        overall, error = mean_of(correct, row.samples), expected_calibration_error(row.samples, BINS)
        spent, asked = mean_of(tokens, row.samples, "amount"), mean_of(context, row.samples, "amount")
        cells = [
            row.label,
            percent_range(overall),
            percent_range(error),
            amount_range(spent),
            amount_range(asked),
        ]
        cells += _pair_cells(pairs.get(row.label), adjusted.get(row.label))
        body.append((*cells, *_printed(ABLATIONS.get(row.system))))
        records += [
            record(overall, system=row.label, measure="OA"),
            record(spent, system=row.label, measure="tokens"),
            record(asked, system=row.label, measure="context"),
        ]
        if row.label in pairs:
            pair = pairs[row.label]
            records.append(record(pair.difference, system=row.label, measure="OA minus full", p=pair.p))
    return Table(
        "table3_ablations",
        "Table 3: without a stage, without a modality, at T = 1, K = 2",
        f"{_counting(section)} Paired differences with `full`, in points.",
        tuple(head),
        tuple(body),
        tuple(records),
    )


def _scaling(section: Section) -> Table:
    """Figure 3 as a table."""
    body, records = [], []
    for row in ordered(section):
        axis, at, value = row.system.partition("@")
        if not at:
            continue
        overall, spent = mean_of(correct, row.samples), mean_of(tokens, row.samples, "amount")
        printed = SCALED.get(axis, {}).get(int(value))
        shown = "–" if printed is None else f"{printed:.1f}"
        body.append((axis, value, percent_range(overall), amount_range(spent), shown))
        records += [
            record(overall, axis=axis, value_of=int(value), measure="OA"),
            record(spent, axis=axis, value_of=int(value), measure="tokens"),
        ]
    return Table(
        "figure3_scaling",
        "Figure 3: test-time scaling",
        "Videos: T = 1. Loops: K = 2. Frames of the sparse look: T = 1, K = 2.",
        ("axis", "value", "OA", "tokens", f"{MARK}: OA"),
        tuple(body),
        tuple(records),
    )


def _kinds(section: Section) -> Table:
    """Accuracy by what is asked for: a thing, an action, a card on the screen, something said."""
    kinds = sorted({str(told(scored, "kind", "")) for row in section.rows for scored in row.samples} - {""})
    body, records = [], []
    for row in ordered(section, (*TABLE_1, *TABLE_3)) if kinds else []:
        parts = [_where(row, _kind, kind) for kind in kinds]
        body.append((row.label, *(percent_range(part, n=True) for part in parts)))
        records += [
            record(part, system=row.label, kind=kind) for kind, part in zip(kinds, parts, strict=True)
        ]
    return Table(
        "by_kind",
        "Accuracy by what is asked for",
        _chances(section, kinds),
        ("system", *kinds),
        tuple(body),
        tuple(records),
    )


def _by_construction(section: Section) -> str:
    filtered = [row.label for row in section.rows if row.system in FILTERED]
    if not filtered or not section.benchmark.startswith("browsecomp-workbench"):
        return ""
    return (
        f" {' and '.join(filtered)}: what they answer with the embedded reasoner was dropped from these "
        "questions, so with it they are at zero by construction and measure nothing."
    )


def _chances(section: Section, kinds: Sequence[str]) -> str:
    """How often a guess is right, by kind, where options are given."""
    found = {
        (kind, int(told(scored, "options", 0)))
        for row in section.rows
        for scored in row.samples
        for kind in kinds
        if _kind(scored) == kind
    }
    chances = [f"{kind} {percent(1 / count)}" for kind, count in sorted(found) if count]
    return f"Chance, in percent: {', '.join(chances)}. Kinds that are not named are asked without options."


def _work(section: Section) -> Table:
    """Search calls, how much of the evidence chain was watched, and runs that ended without an answer."""
    measures: Mapping[str, tuple[Callable[[Scored], float | None], Quantity]] = {
        "search calls": (searches, "amount"),
        "loops": (lambda scored: float(told(scored, "loops", 0)), "amount"),
        "evidence recall": (evidence_recall, "share"),
        "ended in failure": (failed, "share"),
        "unusable replies": (parse_failure, "share"),
    }
    body, records = [], []
    for row in ordered(section):
        found = {name: mean_of(measure, row.samples, of) for name, (measure, of) in measures.items()}
        cells = [
            percent_range(part) if measures[name][1] == "share" else amount_range(part, 2)
            for name, part in found.items()
        ]
        body.append((row.label, *cells))
        records += [record(part, system=row.label, measure=name) for name, part in found.items()]
    return Table(
        "work",
        "Searching and watching",
        "Means a question, from evidence recall on in percent: of the chain's videos, watched in any upload.",
        ("system", *measures),
        tuple(body),
        tuple(records),
    )


def _where(row: Row, part: Callable[[Scored], str], wanted: str) -> Estimate | None:
    """Accuracy over the samples whose `part` is the wanted one."""
    return mean_of(correct, [scored for scored in row.samples if part(scored) == wanted])


def _family(scored: Scored) -> str:
    return scored.query.family


def _genre(scored: Scored) -> str:
    return str(told(scored, "genre"))


def _kind(scored: Scored) -> str:
    return str(told(scored, "kind", ""))


def _long(
    row: Row,
    name: str,
    overall: Estimate | None,
    names: Sequence[str],
    parts: Sequence[Estimate | None],
    error: Estimate | None,
) -> list[dict[str, Cell]]:
    records = [record(overall, system=row.label, part=name)]
    records += [record(part, system=row.label, part=level) for level, part in zip(names, parts, strict=True)]
    return [*records, record(error, system=row.label, part="calibration error")]


def _pair_cells(pair: Paired | None, adjusted: float | None) -> list[str]:
    return [
        percent_range(pair.difference) if pair else "–",
        p_text(pair.p if pair else None),
        p_text(adjusted),
        p_text(pair.p_mcnemar if pair else None),
    ]


def _pair_records(
    row: Row, pairs: Mapping[tuple[str, str], Paired], adjusted: Mapping[tuple[str, str], float]
) -> list[dict[str, Cell]]:
    return [
        record(
            pair.difference,
            system=row.label,
            measure=f"OA minus {other}",
            p=pair.p,
            p_holm=adjusted[label, other],
            p_mcnemar=pair.p_mcnemar,
        )
        for (label, other), pair in pairs.items()
        if label == row.label
    ]


def _printed(printed: Printed | None) -> tuple[str, ...]:
    if printed is None:
        return ("–",) * 4
    error = "–" if printed.calibration_error is None else f"{printed.calibration_error:.2f}"
    counts = (printed.tokens, printed.context)
    return (f"{printed.accuracy:.2f}", error, *("–" if count is None else f"{count:,}" for count in counts))


def _printed_main(printed: Printed | None) -> tuple[str, ...]:
    if printed is None:
        return ("–",) * 3
    levels = ", ".join(f"{value:.2f}" for value in printed.levels or ()) or "–"
    return (f"{printed.accuracy:.2f}", levels, f"{printed.calibration_error:.2f}")


def _counting(section: Section) -> str:
    """How tokens were counted, as the runs themselves say."""
    said = sorted({str(row.settings.get("tokens", "")) for row in section.rows} - {""})
    return f"Tokens a question are {'; '.join(said)}." if said else ""
