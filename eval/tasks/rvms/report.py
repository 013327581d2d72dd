"""Report of runs on RVMS-Bench: tables 1 and 2 of RACLO, figures 4 to 9, and exact ground truth.

The paper's figures (tables 1 and 2) were measured on 1,440 queries over the open web with other models;
they are shown beside ours, not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from eval.metrics.agreement import Agreement, agreement_of
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored, correct, number, sample_field
from eval.metrics.tables import estimate, of_family
from eval.reports.drawing import draw_agreement, draw_bars, draw_counts, draw_families, draw_sweeps
from eval.reports.spec import (
    RIGHT,
    Compared,
    Labels,
    Pair,
    ReportSpec,
    Row,
    Section,
    ordered_rows,
    printed_figure,
)
from eval.reports.tables import (
    MARK,
    NOTHING,
    Cell,
    Line,
    Table,
    agreement_table,
    by_family,
    category_lines,
    failure_table,
    holm_adjusted,
    measured,
    measures_table,
    p_text,
    percent_range,
    printed_rows,
    record,
    sweep_lines,
    system_lines,
)
from eval.tasks.rvms.dataset import GROUPS, TASKS
from eval.tasks.rvms.scorer import CLIP_SCORE, STAGES
from eval.tasks.rvms.solvers import VARIANTS
from rag.agents.raclo.records import SWEEPS

Printed = Mapping[str, tuple[float | None, ...]]
COLUMNS = (*TASKS, "all")
RULE_ONLY: Printed = {
    "Human": (64.0, 28.0, 24.0, 88.0, 24.0, 56.0, 64.0, 60.0, 80.0, 54.2),
    "Gemini-3-Pro": (14.4, 23.8, 16.9, 16.9, 20.0, 23.8, 31.9, 15.6, 22.5, 20.6),
    "Qwen3-VL-235B": (21.9, 15.1, 12.4, 13.1, 15.0, 16.1, 11.9, 23.1, 30.0, 17.6),
}
"""Table 1, rule only: percent of each task, and the average."""
MODEL_RULE: Printed = {
    "Human": (64.0, None, None, 88.0, None, None, 72.0, 60.0, 80.0, 72.8),
    "Gemini-3-Pro": (45.6, None, None, 58.8, None, None, 63.1, 56.9, 61.2, 57.0),
    "Qwen3-VL-235B": (32.5, None, None, 42.5, None, None, 40.0, 43.8, 25.0, 36.6),
}
"""Table 1, model + rule."""
LOCALIZED: Printed = {
    "Human": (None, 28.0, 32.0, 92.0, 32.0, 64.0, 72.0, 64.0, 80.0, 58.0),
    "GPT-5.2": (None, 35.6, 38.8, 36.9, 39.4, 41.9, 35.6, 33.1, 50.6, 38.9),
    "Gemini-3-Pro": (None, 18.1, 30.0, 32.5, 22.5, 34.4, 30.6, 36.2, 32.5, 29.5),
    "Qwen3-VL-235B": (None, 1.9, 3.1, 5.6, 1.2, 2.5, 3.8, 6.2, 6.9, 4.0),
}
"""Table 2."""

MEASURES: Mapping[str, Measure] = {
    "rule": number("rule"),
    "model+rule": number("model_rule"),
    "model+rule, true": number("model_rule_true"),
    "content": number("content"),
    "frame": number("frame"),
    "shot": number("in_shot"),
    "event": number("on_event"),
    "answer's video": number("answer_true"),
    "answer's shot": number("in_shot_answer"),
    "answer's event": number("on_event_answer"),
    "found": correct,
}
"""Of `candidates` unless `answer` is in the name; `COUNTED` defines them."""
COUNTED = {
    "rule": "the video's own address is among the candidates.",
    "model+rule": "the video's own address is among the candidates, or both judges accept a candidate.",
    "frame": "a located frame of any candidate matches the text and the reference frame, by the judge. An "
    "agent has several candidates, other uploads of the video among them, and one match is enough. "
    "`oracle-video` has the original alone, with as many sampled frames, and so can score below an "
    "agent; `oracle-stored` uses every stored frame of it.",
    "content": "any upload of the video is a candidate.",
    "shot": "the moment located in any candidate is in the true shot.",
    "event": "the moment located in any candidate is within 2 s of the event.",
    "found": "the answer, verified or best guess, is the video in any of its uploads, and its moment, where "
    "the task has one, is within 2 s of the event.",
}
OURS, OPEN, FULL_CUES = "raclo", "raclo-64", "GKTA"
WITH_G = tuple(task for task in TASKS if "G" in task)
WITH_K = tuple(task for task in TASKS if "K" in task)
TASKS_OF = {TASKS: "", WITH_G: " with a global impression", WITH_K: " with a key moment"}
CUED = (OURS, "raclo-stored")
"""The systems whose cues are compared: of a control or an ablation the comparison means nothing."""
COMPARED = ("rule", "content", "frame", "shot", "event", "answer's shot", "found")
ABLATED = ("rule", "model+rule", "frame", "shot", "event", "found")
SLICED = ("rule", "model+rule", "content", "frame", "shot", "event", "found")
DRAWN_SYSTEMS = (OURS, "raclo-stored", "wo-abduction", "metadata-only", "oracle-video")
TESTED = (
    "Percent points with n, then p of an exact permutation test over whole videos after Holm's correction "
    "over this table; p without it is in the CSV."
)


def tables(section: Section) -> list[Table]:
    """All tables, in the order of the report."""
    return [
        _by_task(section, "table1_rule", "Table 1: retrieval, rule only", "rule", TASKS, RULE_ONLY),
        _by_task(
            section, "table1_model", "Table 1: retrieval, model + rule", "model+rule", WITH_G, MODEL_RULE
        ),
        _by_task(section, "table2_localization", "Table 2: localization", "frame", WITH_K, LOCALIZED),
        _by_task(section, "content", "Candidates that show the video, ground truth", "content", TASKS),
        _by_task(section, "shot", "Moments in the true shot, ground truth", "shot", WITH_K),
        _by_task(section, "event", "Moments within 2 s of the event, ground truth", "event", WITH_K),
        _by_task(section, "found", "Found: the answer's video, and the event in it", "found", TASKS),
        _exact(section),
        _cues(section),
        _ablations(section),
        _slices(section, "duration", "group", GROUPS),
        _slices(section, "topic", "topic", _topics(section)),
        _agreement(section),
        _sweeps(section),
        failure_table(
            "errors",
            "Queries. Generator: no search has the video among its results. Retriever: one has, but no "
            "upload of it became a candidate. Verifier: it was a candidate, and not chosen. Localizer: its "
            "moment is more than 2 s off the event. Frames: rag eval failures.",
            category_lines(_rows(section), TASKS, "all"),
            STAGES,
            lambda scored: str(sample_field(scored, "error_stage", "")),
        ),
    ]


def _rows(section: Section) -> list[Row]:
    return ordered_rows(section, list(VARIANTS.named))


def _measures(names: Sequence[str]) -> dict[str, Measure]:
    return {name: MEASURES[name] for name in names}


def _by_task(
    section: Section,
    name: str,
    title: str,
    measure: str,
    tasks: tuple[str, ...],
    printed: Printed | None = None,
) -> Table:
    columns = by_family(MEASURES[measure], tasks, "all")
    note = f"Percent of queries{TASKS_OF[tasks]}: {COUNTED[measure]}"
    papers = printed_rows(printed or {}, COLUMNS, columns)
    return measures_table(
        name, title, note, system_lines(_rows(section)), columns, key="task", printed=papers
    )


def _exact(section: Section) -> Table:
    """Hits within shot and event, and the temporal error, of moments with exact times."""
    names = ("shot", "event", "answer's video", "answer's shot")
    body, records = [], []
    for row in _rows(section):
        moments = [one for one in row.samples if "K" in one.query.family]
        line = measured([Line({"system": row.label}, moments)], _measures(names))
        if not line.body:
            continue
        middle = median_error(moments)
        body.append((*line.body[0], NOTHING if middle is None else f"{middle[0]:.1f} n={middle[1]}"))
        records += line.records
        if middle is not None:
            extra: dict[str, Cell] = {"measure": "median error", "value": middle[0], "n": middle[1]}
            records.append({"system": row.label, **extra})
    return Table(
        "exact",
        "Exact moments: hit within the shot, temporal error",
        "Queries with a key moment. Shot and event: of any candidate; event: within 2 s of it. A shot is a "
        "scene of up to a minute and a half, so in a short video it is easily hit: `chance-moment` shows how "
        "easily. The error is in seconds from the key time, where a candidate shows the video.",
        ("system", *names, "median error, s"),
        tuple(body),
        tuple(records),
    )


def _slices(section: Section, name: str, key: str, values: Sequence[str]) -> Table:
    lines = [
        Line({"system": row.label, name: value}, part)
        for row in _rows(section)
        for value in values
        if (part := [one for one in row.samples if sample_field(one, key) == value])
    ]
    note = "Percent, over all tasks to which the measure applies."
    return measures_table(f"by_{name}", f"By {name}", note, lines, _measures(SLICED), count=True)


def _topics(section: Section) -> tuple[str, ...]:
    return tuple(sorted({str(sample_field(one, "topic")) for row in section.rows for one in row.samples}))


def _sweeps(section: Section) -> Table:
    return measures_table(
        "figure4_sweeps",
        "Figure 4: searches, videos of each, and frames",
        "Search: QxU is Q searches of U videos each. Frames: of every video, for both checks.",
        sweep_lines(section, list(SWEEPS), ("axis", "point")),
        _measures(("rule", "model+rule", "frame", "shot", "found")),
        keys=("axis", "value"),
        count=True,
    )


def _agreement(section: Section) -> Table:
    found = [
        ({"system": row.label, "kind": kind, "rule": rule}, each)
        for row in _rows(section)
        for kind in RULES
        for rule, each in candidate_agreement(row.samples, kind).items()
    ]
    return agreement_table(
        "figure9_agreement",
        "Figure 9: judges against ground truth",
        "Candidates. Video: both judges accept it, against whether it is one of the video's uploads (tasks "
        "with G). Moment: text and reference frame match, against whether the moment is in the true shot.",
        found,
    )


def _cues(section: Section) -> Table:
    """All cues against single ones, on the same moments."""
    pairs: dict[tuple[str, str, str], Paired] = {}
    for row in _rows(section):
        for other in ("G", "K") if row.system in CUED else ():
            for measure in COMPARED:
                pair = _compared_tasks(row.samples, FULL_CUES, other, MEASURES[measure])
                if pair is not None and pair.difference.n:
                    pairs[row.label, f"{FULL_CUES} minus {other}", measure] = pair
    return _pair_matrix(
        "cues", "All cues against single ones", f"Paired by moment. {TESTED}", COMPARED, pairs
    )


def _ablations(section: Section) -> Table:
    """Each system against the full RACLO, on the same queries."""
    rows = _rows(section)
    ours = next((row for row in rows if row.system == OURS), None)
    pairs: dict[tuple[str, str, str], Paired] = {}
    for row in rows:
        for measure in ABLATED:
            if ours is not None and row is not ours:
                found = (_with_correct(one.samples, MEASURES[measure]) for one in (row, ours))
                if (pair := compare(*found)) is not None:
                    pairs[row.label, f"minus {OURS}", measure] = pair
    return _pair_matrix("ablations", "Against the full RACLO", f"Paired by query. {TESTED}", ABLATED, pairs)


def _pair_matrix(
    name: str, title: str, note: str, measures: Sequence[str], pairs: Mapping[tuple[str, str, str], Paired]
) -> Table:
    """A line for each system and pair, a column for each measure."""
    adjusted = holm_adjusted(pairs)

    def cell(key: tuple[str, str, str]) -> str:
        return (
            f"{percent_range(pairs[key].difference)}, p {p_text(adjusted[key])}" if key in pairs else NOTHING
        )

    lines = dict.fromkeys(key[:2] for key in pairs)
    body = tuple((*line, *(cell((*line, measure)) for measure in measures)) for line in lines)
    records = tuple(
        record(pair.difference, system=key[0], pair=key[1], measure=key[2], p=pair.p, p_holm=adjusted[key])
        for key, pair in pairs.items()
    )
    return Table(name, title, note, ("system", "pair", *measures), body, records)


def median_error(samples: Sequence[Scored]) -> tuple[float, int] | None:
    """Median seconds between moment and key time over candidates that show the video, and their number."""
    errors = [float(value) for one in samples if (value := sample_field(one, "error")) is not None]
    return (median(errors), len(errors)) if errors else None


def _compared_tasks(samples: Sequence[Scored], task: str, other: str, measure: Measure) -> Paired | None:
    """The same moments under two sets of cues: `task` minus `other`, paired by moment.

    Over the moments to which the measure applies under both; None where there is none.
    """
    ours, theirs = (_with_correct(of_family(samples, name), measure, "moment_id") for name in (task, other))
    both = {one.query.query_id for one in ours} & {one.query.query_id for one in theirs}
    return compare(*([one for one in part if one.query.query_id in both] for part in (ours, theirs)))


def _with_correct(samples: Sequence[Scored], measure: Measure, key: str = "") -> list[Scored]:
    """The samples with a measure in place of `correct`; those to which it does not apply are dropped.

    `key`: a field that replaces the query's id.
    """
    return [
        replace(
            one,
            query=replace(one.query, query_id=str(sample_field(one, key))) if key else one.query,
            sample=replace(one.sample, correct=bool(value)),
        )
        for one in samples
        if (value := measure(one)) is not None
    ]


def candidate_agreement(samples: Sequence[Scored], kind: str) -> dict[str, Agreement]:
    """Every candidate's verdict by each rule against the truth.

    `kind`: `video` (is it the video?) or `moment` (is the located frame in the true shot?). Rules: the
    model (both judges; text and reference frame), a CLIP score of 0.7 or more, and for videos the stored
    fingerprint.
    """
    truth = {"video": "true", "moment": "in_shot"}[kind]
    candidates = [
        (one, scored.query.cluster) for scored in samples for one in sample_field(scored, "candidates", ())
    ]
    return {
        rule: agreement_of((verdict(one), one[truth], cluster) for one, cluster in candidates)
        for rule, verdict in RULES[kind].items()
    }


def _by_score(name: str) -> Callable[[Mapping[str, Any]], bool | None]:
    return lambda one: None if one[name] is None else one[name] >= CLIP_SCORE


RULES: Mapping[str, Mapping[str, Callable[[Mapping[str, Any]], bool | None]]] = {
    "video": {
        "model": lambda one: one["model"],
        f"CLIP score >= {CLIP_SCORE}": _by_score("video_score"),
        "fingerprint": lambda one: one["copied"],
    },
    "moment": {"model": lambda one: one["frame"], f"CLIP score >= {CLIP_SCORE}": _by_score("frame_score")},
}


def draw_figures(section: Section, folder: Path) -> list[str]:
    """Names of the PNG files written; figures without data are left out."""
    made = []
    rows = [row for row in _rows(section) if row.system in DRAWN_SYSTEMS]
    if rows:
        made += ["found.png", "by_duration.png", "by_topic.png", "figure5_data.png"]
        draw_families(
            folder / made[0], "Found: the answer's video, and the event in it", rows, TASKS, correct
        )
        _draw_slices(rows, folder / made[1], "Figure 8: by duration", "group", GROUPS)
        _draw_slices(rows, folder / made[2], "Figure 7: by category", "topic", _topics(section))
        samples = rows[0].samples
        counts = {
            "duration": Counter(str(sample_field(one, "group")) for one in samples),
            "category": Counter(str(sample_field(one, "topic")) for one in samples),
            "cues": Counter(one.query.family for one in samples),
        }
        draw_counts(folder / made[3], "Figure 5: the data", counts)
    shown = {"rule only": "rule", "model + rule": "model+rule", "frame": "frame", "in the shot": "shot"}
    measures = {label: MEASURES[name] for label, name in shown.items()}
    labels = {"search": "searches x videos of each", "frames": "frames of a video"}
    path, title = folder / "figure4_sweeps.png", "Sweeps of raclo, intervals by video"
    made += draw_sweeps(path, title, section, list(SWEEPS), measures, labels)
    ours = next((row for row in rows if row.system == OURS), None)
    if ours is not None:
        made.append("figure9_agreement.png")
        panels = [
            [
                (f"{kind}: {rule}", each)
                for rule, each in candidate_agreement(ours.samples, kind).items()
                if rule != "fingerprint"
            ]
            for kind in RULES
        ]
        draw_agreement(folder / made[-1], f"{ours.label}: judges against ground truth, candidates", panels)
    return made


def _draw_slices(rows: Sequence[Row], path: Path, title: str, key: str, values: Sequence[str]) -> None:
    """Success by a field of the samples, of the values that occur."""
    present = {sample_field(one, key) for row in rows for one in row.samples}
    groups = [group for group in values if group in present]
    titles = {"content": "the video is a candidate", "shot": "a moment in its shot"}
    panels = {
        about: {
            row.label: [
                estimate(MEASURES[name], [one for one in row.samples if sample_field(one, key) == group])
                for group in groups
            ]
            for row in rows
        }
        for name, about in titles.items()
    }
    draw_bars(path, title, [group.replace(" minutes", " min") for group in groups], panels)


def _printed(table: Printed, model: str, place: str) -> Callable[[str], str]:
    """`model`: the best closed one; of open ones there is one."""
    models = {OURS: model, OPEN: "Qwen3-VL-235B"}

    def figure(system: str) -> str:
        found = models.get(system)
        return printed_figure(table[found][-1], f"RACLO, {place}, {found}") if found else ""

    return figure


REPORT = ReportSpec(
    tables,
    draw_figures,
    "Intervals are 95 %, by resampling whole videos 5,000 times; n counts queries. Rows marked "
    f'"{MARK}" repeat what the RACLO paper printed, on other videos, queries and models: they are shown '
    "for reference, not for comparison.",
    labels=Labels(
        "the answer, verified or best guess, is the video in any of its uploads, and its moment, where the "
        "task has one, is within 2 s of the event (where its time is unknown: its frame matches).",
        clusters="videos",
        window="shot",
        seen="event",
    ),
    asked="which video of a web, and which moment of it, a vague memory is of",
    pairs=(
        Pair("raclo", "metadata-only", "watching candidates finds more than titles and descriptions alone"),
        Pair("raclo", "wo-abduction", "guessing what the memory is of finds more than its words as they are"),
    ),
    compared=(
        Compared(
            "rule only",
            MEASURES["rule"],
            COUNTED["rule"],
            _printed(RULE_ONLY, "Gemini-3-Pro", "table 1, rule only"),
        ),
        Compared(
            "model + rule",
            MEASURES["model+rule"],
            "it is, or both judges accept a candidate; tasks with G.",
            _printed(MODEL_RULE, "Gemini-3-Pro", "table 1, model + rule"),
        ),
        Compared(
            "localization",
            MEASURES["frame"],
            "a located frame of any candidate matches text and reference frame, by the judge; tasks with K.",
            _printed(LOCALIZED, "GPT-5.2", "table 2"),
        ),
        RIGHT,
    ),
    paper_note="The paper: 1,440 rows over the open web, commercial models, the best of each table.",
)
