"""What was retrieved and what was made of it: figures 3, 4 and 5 and table 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.metrics.intervals import Estimate
from eval.metrics.localization import event_shown, judged
from eval.metrics.scored import CLIPS_AT, PASSAGES_AT, Measure, Scored
from eval.metrics.tables import CASES, MEASURES, estimate, families
from eval.reports.spec import Row, Section
from eval.reports.tables import Cell, Table, percent, percent_range, record
from eval.tasks.egofact.letters import LETTERS, chose_fact, letter_shares
from eval.tasks.egofact.paper import MARK, REMARKS, UNDERSTANDING

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
