"""Paired tables: all cues against single ones on the same moments, and RACLO against what is less of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eval.benchmarks.rvms.measures import MEASURES, compared_tasks
from eval.benchmarks.rvms.ordering import OURS, ordered
from eval.metrics.holm import holm
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored
from eval.reports.layout import Table, p_text, percent_range, record
from eval.reports.rows import Section

__all__ = ["ablation_table", "cue_table"]

FULL_CUES = "GKTA"
COMPARED = ("rule", "content", "frame", "shot", "event", "answer's shot", "found")
ABLATED = ("rule", "model+rule", "frame", "shot", "event", "found")


def cue_table(section: Section) -> Table:
    """All cues against single ones, on the same moments."""
    pairs: dict[tuple[str, str, str], Paired] = {}
    for row in ordered(section):
        for measure in COMPARED:
            for other in ("G", "K"):
                pair = compared_tasks(row.samples, FULL_CUES, other, MEASURES[measure])
                if pair is not None and pair.difference.n:
                    pairs[row.label, measure, other] = pair
    adjusted = dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))
    body = tuple(
        (
            label,
            measure,
            f"GKTA minus {other}",
            percent_range(pair.difference, n=True),
            p_text(pair.p),
            p_text(adjusted[label, measure, other]),
        )
        for (label, measure, other), pair in pairs.items()
    )
    records = tuple(
        record(
            pair.difference,
            system=label,
            measure=measure,
            other=other,
            p=pair.p,
            p_holm=adjusted[label, measure, other],
        )
        for (label, measure, other), pair in pairs.items()
    )
    return Table(
        "cues",
        "All cues against single ones",
        "Points, paired by moment; p is an exact permutation test over whole videos, Holm's correction is "
        "over this table.",
        ("system", "measure", "pair", "difference", "p by video", "p Holm"),
        body,
        records,
    )


def ablation_table(section: Section) -> Table:
    """Each system against RACLO as it is, on the same queries."""
    rows = ordered(section)
    ours = next((row for row in rows if row.system == OURS), None)
    pairs: dict[tuple[str, str], Paired] = {}
    for row in rows if ours is not None else []:
        for measure in ABLATED:
            if ours is None or row is ours:
                continue
            pair = compare(_as_right(row.samples, measure), _as_right(ours.samples, measure))
            if pair is not None:
                pairs[row.label, measure] = pair
    adjusted = dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))
    body = tuple(
        (
            label,
            measure,
            percent_range(pair.difference, n=True),
            p_text(pair.p),
            p_text(adjusted[label, measure]),
        )
        for (label, measure), pair in pairs.items()
    )
    records = tuple(
        record(pair.difference, system=label, measure=measure, p=pair.p, p_holm=adjusted[label, measure])
        for (label, measure), pair in pairs.items()
    )
    return Table(
        "ablations",
        "Against RACLO with everything",
        f"Points, minus `{OURS}`, paired by query; tests as above.",
        ("system", "measure", "difference", "p by video", "p Holm"),
        body,
        records,
    )


def _as_right(samples: Sequence[Scored], measure: str) -> list[Scored]:
    """The samples with a measure in the place of what is right; where it does not apply they drop out."""
    wanted: Measure = MEASURES[measure]
    return [
        replace(one, sample=replace(one.sample, correct=bool(value)))
        for one in samples
        if (value := wanted(one)) is not None
    ]
