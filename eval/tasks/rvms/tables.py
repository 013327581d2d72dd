"""Tables 1 and 2 of RACLO over our runs, and what is only known where the truth is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.metrics.estimate import Estimate
from eval.metrics.intervals import cluster_interval
from eval.metrics.scored import Scored
from eval.reports.layout import Cell, Table, percent_range, record
from eval.reports.rows import Section
from eval.tasks.rvms.errors import STAGES
from eval.tasks.rvms.measures import (
    MEASURES,
    agreement,
    evidence,
    mean_of,
    median_error,
    of_task,
)
from eval.tasks.rvms.ordering import ordered, points
from eval.tasks.rvms.pairing import ablation_table, cue_table
from eval.tasks.rvms.paper import (
    LOCALIZED,
    MARK,
    MODEL_RULE,
    RULE_ONLY,
)
from eval.tasks.rvms.records import GROUPS, TASKS

WITH_G = tuple(task for task in TASKS if "G" in task)
WITH_K = tuple(task for task in TASKS if "K" in task)
TASKS_OF = {
    TASKS: "",
    WITH_G: " with a global impression",
    WITH_K: " with a key moment",
}
COUNTED = {
    "rule": "the video's own address is among the candidates.",
    "model+rule": "the video's own address is among the candidates, or the judges take one for the video.",
    "frame": "a located frame, of any candidate, matches the text and the reference frame, by the judge. An "
    "agent has several candidates, other uploads of the video among them, and one that matches is enough. "
    "`oracle-video` has the original alone, looked at in as many sampled frames, and so can stand below an "
    "agent; `oracle-stored` looks at every stored frame of it.",
    "content": "any upload of the video is a candidate.",
    "shot": "the moment located in any candidate lies in the true shot.",
    "event": "the moment located in any candidate lies within 2 s of the event.",
    "found": "the answer, recognized or guessed, is the video in any of its uploads, and its moment, where "
    "one is asked for, lies within 2 s of the event.",
}
"""What each measure counts, of which queries."""


def all_tables(section: Section) -> list[Table]:
    return [
        _by_task(section, "table1_rule", "Table 1: retrieval, rule only", "rule", TASKS, RULE_ONLY),
        _by_task(
            section, "table1_model", "Table 1: retrieval, model + rule", "model+rule", WITH_G, MODEL_RULE
        ),
        _by_task(section, "table2_localization", "Table 2: localization", "frame", WITH_K, LOCALIZED),
        _by_task(section, "content", "Candidates that show the video, truth known", "content", TASKS, {}),
        _by_task(section, "shot", "Moments in the true shot, truth known", "shot", WITH_K, {}),
        _by_task(section, "event", "Moments within 2 s of the event, truth known", "event", WITH_K, {}),
        _by_task(section, "found", "Found: the answer's video, and the event in it", "found", TASKS, {}),
        _exact(section),
        cue_table(section),
        ablation_table(section),
        _slices(section, "duration", "group", GROUPS),
        _slices(section, "topic", "topic", _topics(section)),
        _agreement(section),
        _sweeps(section),
        _errors(section),
    ]


def _by_task(
    section: Section,
    name: str,
    title: str,
    measure: str,
    tasks: tuple[str, ...],
    printed: Mapping[str, Sequence[float | None]],
) -> Table:
    """A measure of each system by task, and over all of the tasks."""
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for row in ordered(section):
        parts = [mean_of(MEASURES[measure], of_task(row.samples, task)) for task in tasks]
        whole = mean_of(MEASURES[measure], [one for one in row.samples if one.query.family in tasks])
        if whole is None:
            continue
        body.append((row.label, *(percent_range(part) for part in parts), percent_range(whole)))
        records += [
            record(part, system=row.label, task=task) for task, part in zip(tasks, parts, strict=True)
        ]
        records.append(record(whole, system=row.label, task="all"))
    if body:
        for model, values in printed.items():
            kept = [values[TASKS.index(task)] for task in tasks] + [values[-1]]
            body.append((f"{MARK}: {model}", *("–" if value is None else f"{value:.1f}" for value in kept)))
    return Table(
        name,
        title,
        f"Percent of queries{TASKS_OF[tasks]}: {COUNTED[measure]}",
        ("system", *tasks, "all"),
        tuple(body),
        tuple(records),
    )


def _exact(section: Section) -> Table:
    """What is known of moments where their times are."""
    names = ("shot", "event", "answer's video", "answer's shot")
    body, records = [], []
    for row in ordered(section):
        moments = [one for one in row.samples if "K" in one.query.family]
        found = {name: mean_of(MEASURES[name], moments) for name in names}
        if all(part is None for part in found.values()):
            continue
        middle = median_error(moments)
        told = "–" if middle is None else f"{middle[0]:.1f} n={middle[1]}"
        body.append((row.label, *(percent_range(part) for part in found.values()), told))
        records += [record(part, system=row.label, measure=name) for name, part in found.items()]
        if middle is not None:
            records.append(
                {"system": row.label, "measure": "median error", "value": middle[0], "n": middle[1]}
            )
    return Table(
        "exact",
        "Exact moments: hit within the shot, temporal error",
        "Queries with a key moment. Shot and event: of any candidate; event: within 2 s of it. A shot is a "
        "scene of up to a minute and a half, so in a short film it is easily hit: `chance-moment` tells how "
        "easily. The error is in seconds from the key time, where a candidate shows the video.",
        ("system", *names, "median error, s"),
        tuple(body),
        tuple(records),
    )


def _slices(section: Section, name: str, key: str, values: Sequence[str]) -> Table:
    measures = ("rule", "model+rule", "content", "frame", "shot", "event", "found")
    body, records = [], []
    for row in ordered(section):
        for value in values:
            part = [one for one in row.samples if evidence(one, key) == value]
            found = {measure: mean_of(MEASURES[measure], part) for measure in measures}
            if part:
                body.append(
                    (row.label, value, *(percent_range(one) for one in found.values()), str(len(part)))
                )
                records += [
                    record(one, system=row.label, measure=measure, **{name: value})
                    for measure, one in found.items()
                ]
    return Table(
        f"by_{name}",
        f"By {name}",
        "Percent, over all tasks to which the measure applies.",
        ("system", name, *measures, "n"),
        tuple(body),
        tuple(records),
    )


def _topics(section: Section) -> tuple[str, ...]:
    return tuple(sorted({str(evidence(one, "topic")) for row in section.rows for one in row.samples}))


def _agreement(section: Section) -> Table:
    """Figure 9: what is judged, by the model and by a CLIP score, against what is true."""
    body, records = [], []
    for row in ordered(section):
        for kind in ("video", "moment"):
            for rule, (both, alone, missed, neither) in agreement(row.samples, kind).items():
                total = both + alone + missed + neither
                if not total:
                    continue
                agreed = _agreed(row.samples, kind, rule)
                body.append(
                    (
                        row.label,
                        kind,
                        rule,
                        *map(str, (both, alone, missed, neither)),
                        percent_range(agreed),
                    )
                )
                counts = {"both": both, "rule_alone": alone, "truth_alone": missed, "neither": neither}
                records.append(record(agreed, system=row.label, kind=kind, rule=rule, **counts))
    return Table(
        "figure9_agreement",
        "Figure 9: judgement against truth",
        "Candidates. Video: both judges take it for the video, and it is one of its uploads (tasks with G). "
        "Moment: text and reference frame match, and the moment lies in the true shot.",
        (
            "system",
            "kind",
            "rule",
            "yes and true",
            "yes, not true",
            "no, but true",
            "neither",
            "agreement",
        ),
        tuple(body),
        tuple(records),
    )


def _agreed(samples: Sequence[Scored], kind: str, rule: str) -> Estimate | None:
    """The share of candidates of which rule and truth say the same, its interval by film."""
    films: dict[str, list[Scored]] = {}
    for scored in samples:
        films.setdefault(scored.query.cluster, []).append(scored)
    hits, clusters = [], []
    for film, own in films.items():
        both, alone, missed, neither = agreement(own, kind)[rule]
        hits += [1.0] * (both + neither) + [0.0] * (alone + missed)
        clusters += [film] * (both + neither + alone + missed)
    return cluster_interval(hits, clusters)


def _sweeps(section: Section) -> Table:
    """Figure 4 as a table."""
    measures = ("rule", "model+rule", "frame", "shot", "found")
    body, records = [], []
    for axis, value, row in points(section):
        found = {name: mean_of(MEASURES[name], row.samples) for name in measures}
        body.append((axis, value, *(percent_range(one) for one in found.values()), str(len(row.samples))))
        records += [record(one, axis=axis, point=value, measure=name) for name, one in found.items()]
    return Table(
        "figure4_sweeps",
        "Figure 4: searches, videos of each, and frames",
        "Search: QxU is Q searches of U videos each. Frames: of every video, for both checks.",
        ("axis", "value", *measures, "n"),
        tuple(body),
        tuple(records),
    )


def _errors(section: Section) -> Table:
    """Where failed samples went wrong, by rule."""
    body, records = [], []
    for row in ordered(section):
        if all("error_stage" not in one.sample.evidence for one in row.samples):
            continue
        for task in (*TASKS, "all"):
            part = list(row.samples) if task == "all" else of_task(row.samples, task)
            counts = {stage: sum(evidence(one, "error_stage") == stage for one in part) for stage in STAGES}
            good = len(part) - sum(counts.values())
            if part:
                body.append((row.label, task, *map(str, counts.values()), str(good), str(len(part))))
                records.append({"system": row.label, "task": task, **counts, "right": good, "n": len(part)})
    return Table(
        "errors",
        "Failures by stage",
        "Queries. Generator: no search has the video among its results. Retriever: one has, but no upload of "
        "it was taken. Verifier: it was a candidate, and not chosen. Localizer: its moment lies more than "
        "2 s beside the event. Pictures: rag eval failures.",
        ("system", "task", *STAGES, "right", "n"),
        tuple(body),
        tuple(records),
    )
