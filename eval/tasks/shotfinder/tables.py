"""Tables of the report on shots: the paper's, and what only a drawn web can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from eval.metrics.accuracy import correct, unjudged
from eval.metrics.holm import holm
from eval.metrics.iou import found_iou, recall_at_one
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored
from eval.metrics.tables import estimate
from eval.reports.layout import Cell, Table, amount_range, p_text, percent_range, record
from eval.reports.rows import Row, Section
from eval.tasks.shotfinder.diagnosis import agreement_table, stage_table, work_table
from eval.tasks.shotfinder.measures import (
    by_rule,
    in_right_video,
    off_by,
    value,
)
from eval.tasks.shotfinder.paper import MARK, TABLE_1
from eval.tasks.shotfinder.records import TASKS
from eval.tasks.shotfinder.slices import (
    mean_tokens,
    named,
    of_task,
    swept,
    tasks_of,
    tokens_of,
)
from eval.tasks.shotfinder.systems import (
    ASKED,
    METADATA,
    OFF,
    OURS,
)

NO = "–"
RULES = {
    "truth": "right film, right shot",
    "moment": "right shot, constraint aside",
    "strict": "strict: text and image",
    "strict, any candidate": "strict, any candidate",
    "lenient, any candidate": "lenient: text or image, any candidate",
    "clip": "CLIP at 0.7",
}
PAIRS = ((OURS, OFF), (ASKED, OFF), (OURS, ASKED))


def all_tables(section: Section) -> list[Table]:
    return [
        result_table(section),
        right_table(section),
        rule_table(section),
        constraint_table(section),
        value_table(section),
        place_table(section),
        sweep_table(section),
        agreement_table(section),
        stage_table(section),
        work_table(section),
    ]


def result_table(section: Section) -> Table:
    """The paper's measure beside the paper's rows: what is right by times stands in a table of its own."""
    body, records = _by_task(section, by_rule("strict") if _timed(section) else correct)
    tasks = tasks_of(section)
    for who, figures in TABLE_1.items():
        cells = [f"{figures[task]:.1f}" if task in figures else NO for task in (*tasks, "overall")]
        body.append((f"{MARK}: {who}", *cells))
        records += [
            {"system": f"{MARK}: {who}", "task": task, "value": figure / 100}
            for task, figure in figures.items()
            if task in (*tasks, "overall")
        ]
    return Table(
        "table1_results",
        "Table 1: accuracy by constraint",
        " ".join(
            [
                "Percent. Strict: the verifier says of the shot that was given that text and image match. "
                "Intervals by family of films. The paper's rows: table 1.",
                *([] if _timed(section) else _left_out(section)),
            ]
        ),
        ("system", *tasks, "overall"),
        tuple(body),
        tuple(records),
    )


def right_table(section: Section) -> Table:
    """What is right by the true times; without a line where nobody knows them."""
    body, records = _by_task(section, correct) if _timed(section) else ([], [])
    return Table(
        "right",
        "Right shots by constraint, truth known",
        " ".join(
            [
                "Percent. Right: the frame lies in the right shot of the right film, which of several that "
                "fit the description is the only one that meets the constraint. Intervals by family of "
                "films. The paper has no such figure.",
                *_left_out(section),
            ]
        ),
        ("system", *tasks_of(section), "overall"),
        tuple(body),
        tuple(records),
    )


def _timed(section: Section) -> bool:
    return any(query.has_window for query in section.queries)


def _by_task(section: Section, measure: Measure) -> tuple[list[tuple[str, ...]], list[dict[str, Cell]]]:
    """A line for each system to which the measure applies, and its records."""
    tasks = tasks_of(section)
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for row in named(section):
        found = {task: estimate(measure, of_task(row, task)) for task in tasks}
        found["overall"] = estimate(measure, row.samples)
        if found["overall"] is None:
            continue
        body.append((row.label, *(percent_range(each) for each in found.values())))
        records += [record(each, system=row.label, task=task) for task, each in found.items()]
    return body, records


def rule_table(section: Section) -> Table:
    body, records = [], []
    for row in named(section):
        if row.system == METADATA:
            continue
        for task in (*tasks_of(section), "overall"):
            samples = row.samples if task == "overall" else of_task(row, task)
            found = {rule: estimate(by_rule(rule), samples) for rule in RULES}
            body.append((row.label, task, *(percent_range(each) for each in found.values())))
            records += [record(each, system=row.label, task=task, rule=rule) for rule, each in found.items()]
    return Table(
        "rules",
        "The same runs under each way of counting",
        "Percent. Strict is the paper's rule on the shot that was given: the verifier says that text and "
        "image match. Lenient is the public code's: either, on any candidate. CLIP: the cosine of the found "
        "with the true frame reaches 0.7. Only the first column knows of sound, size and what comes before.",
        ("system", "task", *RULES.values()),
        tuple(body),
        tuple(records),
    )


def constraint_table(section: Section) -> Table:
    rows = {row.system: row for row in section.rows}
    pairs: list[tuple[str, str, str, Paired]] = []
    for one, other in PAIRS:
        if one not in rows or other not in rows:
            continue
        for task in (*tasks_of(section), "overall"):
            pair = compare(*_both_judged(rows[one], rows[other], task))
            if pair is not None:
                pairs.append((task, one, other, pair))
    adjusted = holm([pair.p for *_, pair in pairs])
    body, records = [], []
    for (task, one, other, pair), p_holm in zip(pairs, adjusted, strict=True):
        cells = (p_text(pair.p), p_text(p_holm), p_text(pair.p_mcnemar))
        clusters = str(pair.difference.clusters)
        body.append(
            (task, one, other, percent_range(pair.difference), str(pair.difference.n), clusters, *cells)
        )
        told_p: dict[str, Cell] = {"p": pair.p, "p_holm": p_holm, "p_mcnemar": pair.p_mcnemar}
        records.append(record(pair.difference, task=task, system=one, minus=other) | told_p)
    return Table(
        "constraints",
        "Constraints on against off",
        f"Points, on the same queries. {OFF} sees the description alone; {ASKED} gives the constraint to the "
        f"mind in words; {OURS} holds it against what was measured. p is an exact permutation test over "
        "whole families of films, Holm's correction is over this table.",
        ("task", "system", "minus", "difference", "n", "families", "p by family", "p Holm", "p McNemar"),
        tuple(body),
        tuple(records),
    )


def value_table(section: Section) -> Table:
    body, records = [], []
    rows = [row for row in named(section) if row.system in (OURS, ASKED, OFF)]
    if rows:
        values = list(dict.fromkeys((each.query.family, value(each)) for each in rows[0].samples))
        values.sort(key=lambda each: TASKS.index(each[0]) if each[0] in TASKS else len(TASKS))
        for task, asked in values:
            if not asked:
                continue
            found = [
                estimate(correct, [each for each in of_task(row, task) if value(each) == asked])
                for row in rows
            ]
            body.append((task, asked, *(percent_range(each, n=True) for each in found)))
            records += [
                record(each, task=task, value_asked=asked, system=row.label)
                for row, each in zip(rows, found, strict=True)
            ]
    return Table(
        "by_value",
        "Accuracy by what is asked for",
        "Percent.",
        ("task", "asked for", *(row.label for row in rows)),
        tuple(body),
        tuple(records),
    )


def place_table(section: Section) -> Table:
    measures = {
        "in the right video": in_right_video,
        "R@1 IoU>=0.5": recall_at_one(0.5),
        "mIoU": found_iou,
    }
    body, records = [], []
    for row in named(section):
        if row.system == METADATA or not any(scored.query.has_window for scored in row.samples):
            continue
        found = {name: estimate(measure, row.samples) for name, measure in measures.items()}
        inside = estimate(correct, [each for each in row.samples if in_right_video(each) == 1])
        seconds = estimate(off_by, row.samples, "amount")
        far = amount_range(seconds, 2)
        cells = [percent_range(each, n=True) for each in found.values()]
        body.append((row.label, *cells, percent_range(inside, n=True), far))
        records += [record(each, system=row.label, measure=name) for name, each in found.items()]
        records.append(record(inside, system=row.label, measure="hit within the shot, in the right video"))
        records.append(record(seconds, system=row.label, measure="seconds from the shot, in the right video"))
    return Table(
        "places",
        "Where the shot was found",
        "Percent, and seconds from the frame that was given to the right shot (0 inside it). IoU is of the "
        "shot named in the right video with the true one, wherever that video was looked at.",
        ("system", *measures, "hit, in the right video", "seconds off, in the right video"),
        tuple(body),
        tuple(records),
    )


def sweep_table(section: Section) -> Table:
    tasks, body, records = tasks_of(section), [], []
    for axis, size, row in swept(section):
        found = {task: estimate(correct, of_task(row, task)) for task in tasks}
        found["overall"] = estimate(correct, row.samples)
        spent = mean_tokens(row)
        used = amount_range(estimate(tokens_of, row.samples, "amount"))
        body.append((axis, size, *(percent_range(each) for each in found.values()), used))
        records += [
            record(each, axis=axis, size=size, task=task) | {"tokens": spent} for task, each in found.items()
        ]
    return Table(
        "figure4_sweeps",
        "Figure 4: searches, videos of each, frames",
        "Percent. MxN: M searches, N videos of each.",
        ("axis", "size", *tasks, "overall", "tokens a query"),
        tuple(body),
        tuple(records),
    )


def _left_out(section: Section) -> Iterator[str]:
    """What was not judged, by why; in words, a sentence a system."""
    for row in named(section):
        why = Counter(unjudged(scored) for scored in row.samples)
        for reason, count in sorted(why.items()):
            if reason:
                queries = "query" if count == 1 else "queries"
                yield f"{row.label}: {count} {queries} {reason}, not counted."


def _both_judged(one: Row, other: Row, task: str) -> tuple[list[Scored], list[Scored]]:
    """The samples of a task of queries that were judged for both."""
    pair = [list(row.samples) if task == "overall" else of_task(row, task) for row in (one, other)]
    out = {each.query.query_id for samples in pair for each in samples if unjudged(each)}
    ours, theirs = ([each for each in samples if each.query.query_id not in out] for samples in pair)
    return ours, theirs
