"""What a drawn web can tell beyond the paper's tables: the verifier against the truth, failures, work."""

from __future__ import annotations

from collections.abc import Mapping

from eval.metrics.accuracy import unjudged
from eval.metrics.intervals import cluster_interval
from eval.metrics.scored import Measure
from eval.metrics.tables import estimate
from eval.reports.layout import Cell, Table, amount_range, percent, percent_range, record
from eval.reports.rows import Section
from eval.tasks.shotfinder.errors import STAGES
from eval.tasks.shotfinder.measures import agreement, stage, told
from eval.tasks.shotfinder.slices import (
    named,
    of_task,
    tasks_of,
    tokens_of,
)
from eval.tasks.shotfinder.systems import METADATA

NO = "–"


def agreement_table(section: Section) -> Table:
    rules = {"strict": "model verifier, text and image", "by_clip": "CLIP at 0.7"}
    body, records = [], []
    for row in named(section):
        for rule, about in rules.items():
            for truth in ("truth", "moment"):
                found = agreement(row.samples, rule, truth)
                if not found.n:
                    continue
                agreed = cluster_interval([hit for hit, _ in found.hits], [one for _, one in found.hits])
                shares = (found.precision, found.recall)
                counts = (found.both, found.only_rule, found.only_truth, found.neither)
                kappa = NO if found.kappa is None else f"{found.kappa:.2f}"
                body.append(
                    (
                        row.label,
                        about,
                        truth,
                        *map(str, counts),
                        percent_range(agreed, n=True),
                        *map(percent, shares),
                        kappa,
                    )
                )
                records.append(
                    record(agreed, system=row.label, rule=rule, truth=truth)
                    | dict(zip(("both", "only_rule", "only_truth", "neither"), counts, strict=True))
                    | {"precision": found.precision, "recall": found.recall, "kappa": found.kappa}
                )
    return Table(
        "figure6_agreement",
        "Figure 6: the verifier and CLIP against the truth",
        "Over the frames of all candidates. `truth`: the right shot of the right film; `moment`: a shot that "
        "fits the description, the constraint aside, which is all that a frame can show of sound or size.",
        (
            "system",
            "rule",
            "against",
            "both yes",
            "rule only",
            "truth only",
            "both no",
            "agree",
            "precision",
            "recall",
            "kappa",
        ),
        tuple(body),
        tuple(records),
    )


def stage_table(section: Section) -> Table:
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for row in named(section):
        if row.system == METADATA:
            continue
        for task in (*tasks_of(section), "overall"):
            samples = row.samples if task == "overall" else of_task(row, task)
            wrong = [scored for scored in samples if not scored.sample.correct and not unjudged(scored)]
            counts = {name: sum(stage(each) == name for each in wrong) for name in STAGES}
            body.append((row.label, task, str(len(wrong)), *(str(count) for count in counts.values())))
            records += [
                {"system": row.label, "task": task, "stage": name, "count": count, "wrong": len(wrong)}
                for name, count in counts.items()
            ]
    return Table(
        "failures",
        "Where failed searches went wrong",
        "Counts, by the rules of `eval/tasks/shotfinder/errors.py`: no search shares a telling word "
        "with the right video (generator); the video was not looked at (retriever); it was, and its shot was "
        "not named (localizer); its shot was named, and another video preferred (verifier).",
        ("system", "task", "failed", *STAGES),
        tuple(body),
        tuple(records),
    )


def work_table(section: Section) -> Table:
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    measures: Mapping[str, Measure] = {
        "searches": lambda scored: float(told(scored, "searches", 1)),
        "videos": lambda scored: float(len(scored.sample.clips)),
        "tokens": tokens_of,
    }
    for row in section.rows:
        found = {name: estimate(measure, row.samples, "amount") for name, measure in measures.items()}
        body.append(
            (row.label, *(amount_range(each, 0 if name == "tokens" else 2) for name, each in found.items()))
        )
        records += [record(each, system=row.label, measure=name) for name, each in found.items()]
    return Table(
        "work",
        "Work",
        "Means a query; videos that were looked at, or for the control read about.",
        ("system", "searches", "videos", "tokens"),
        tuple(body),
        tuple(records),
    )
