"""The three sentences that open a report: what was asked, what came out, and what it means.

The first is the task's; the other two are made from the figures of the runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from eval.metrics.intervals import Estimate
from eval.metrics.scored import correct
from eval.metrics.tables import estimate
from eval.reports.report_file import Pair, base_system
from eval.reports.spec import Row, Section, compared_rows
from eval.reports.tables import percent


def opening(section: Section) -> Iterator[str]:
    """The sentences, in their order; none for a section without an answer."""
    if not any(row.samples for row in section.rows):
        return
    clusters = len({query.cluster for query in section.queries})
    asked = section.spec.data.asked or "the questions of this benchmark"
    yield (
        f"{_systems(len(section.rows))} asked {len(section.queries)} queries on {clusters} "
        f"{section.spec.data.labels.clusters}: {asked}."
    )
    claims = {(pair.system, pair.minus): pair for pair in section.spec.data.pairs if pair.claim}
    for one, other, found in compared_rows(section):
        pair = claims.get((base_system(one.system), other.system))
        if pair is not None:
            yield f"Right are {_right(one)} and {_right(other)}."
            yield _meaning(pair, found.difference)
            return
    scored = [(share.value, row) for row in section.rows if (share := estimate(correct, row.samples))]
    best = [row for _, row in sorted(scored, key=lambda part: -part[0])]
    shares = " and ".join(_right(row) for row in best[:2])
    yield f"Right are {shares}." if best else "No answer could be judged."
    yield "No pair of systems was run that this report compares, so it says nothing about a difference."


def _systems(count: int) -> str:
    return "1 system was" if count == 1 else f"{count} systems were"


def _right(row: Row) -> str:
    """`80.3 % (75.9 to 84.5) of the 396 answers of localized`."""
    found = estimate(correct, row.samples)
    if found is None:
        return f"none of the answers of `{row.label}`, which could not be judged,"
    return f"{percent(found.value)} % ({_reach(found)}) of the {found.n} answers of `{row.label}`"


def _reach(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return "no interval"
    return f"{percent(found.low)} to {percent(found.high)}"


def _meaning(pair: Pair, difference: Estimate) -> str:
    points = f"The difference is {percent(difference.value)} points ({_reach(difference)})"
    if difference.low is not None and difference.low > 0:
        return f"{points}, which is more than chance gives: {pair.claim}."
    if difference.high is not None and difference.high < 0:
        return f"{points}, which speaks against it that {pair.claim}."
    return f"{points}, which may be chance: these runs do not show that {pair.claim}."
