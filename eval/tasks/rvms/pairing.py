"""Paired tables: all cues against single ones on the same moments, and RACLO against what is less of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eval.metrics.holm import holm
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored
from eval.reports.layout import Table, p_text, percent_range, record
from eval.reports.rows import Section
from eval.tasks.rvms.measures import MEASURES, compared_tasks
from eval.tasks.rvms.ordering import OURS, ordered

FULL_CUES = "GKTA"
SINGLE = ("G", "K")
CUED = (OURS, "raclo-stored")
"""The systems whose cues are compared: a control or an ablation says nothing about cues."""
COMPARED = ("rule", "content", "frame", "shot", "event", "answer's shot", "found")
ABLATED = ("rule", "model+rule", "frame", "shot", "event", "found")
TESTED = (
    "Points of percent with n, then p, an exact permutation test over whole films, after Holm's correction "
    "over this table; p without it is in the CSV."
)


def cue_table(section: Section) -> Table:
    """All cues against single ones, on the same moments."""
    pairs: dict[tuple[str, str, str], Paired] = {}
    for row in ordered(section):
        for other in SINGLE if row.system in CUED else ():
            for measure in COMPARED:
                pair = compared_tasks(row.samples, FULL_CUES, other, MEASURES[measure])
                if pair is not None and pair.difference.n:
                    pairs[row.label, f"{FULL_CUES} minus {other}", measure] = pair
    return _table("cues", "All cues against single ones", f"Paired by moment. {TESTED}", COMPARED, pairs)


def ablation_table(section: Section) -> Table:
    """Each system against RACLO as it is, on the same queries."""
    rows = ordered(section)
    ours = next((row for row in rows if row.system == OURS), None)
    pairs: dict[tuple[str, str, str], Paired] = {}
    for row in rows if ours is not None else []:
        for measure in ABLATED:
            if ours is None or row is ours:
                continue
            pair = compare(_as_right(row.samples, measure), _as_right(ours.samples, measure))
            if pair is not None:
                pairs[row.label, f"minus {OURS}", measure] = pair
    title, note = "Against RACLO with everything", f"Paired by query. {TESTED}"
    return _table("ablations", title, note, ABLATED, pairs)


def _table(
    name: str, title: str, note: str, measures: Sequence[str], pairs: Mapping[tuple[str, str, str], Paired]
) -> Table:
    """A line for each system and pair, a column for each measure. `pairs` by system, pair and measure."""
    adjusted = dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))
    lines = dict.fromkeys((label, what) for label, what, _ in pairs)
    body = tuple(
        (
            *line,
            *(_cell(pairs.get((*line, measure)), adjusted.get((*line, measure))) for measure in measures),
        )
        for line in lines
    )
    records = tuple(
        record(pair.difference, system=key[0], pair=key[1], measure=key[2], p=pair.p, p_holm=adjusted[key])
        for key, pair in pairs.items()
    )
    return Table(name, title, note, ("system", "pair", *measures), body, records)


def _cell(pair: Paired | None, p_holm: float | None) -> str:
    return "–" if pair is None else f"{percent_range(pair.difference)}, p {p_text(p_holm)}"


def _as_right(samples: Sequence[Scored], measure: str) -> list[Scored]:
    """The samples with a measure in the place of what is right; where it does not apply they drop out."""
    wanted: Measure = MEASURES[measure]
    return [
        replace(one, sample=replace(one.sample, correct=bool(value)))
        for one in samples
        if (value := wanted(one)) is not None
    ]
