"""RVMS-Bench's own measures, judges against the truth, and single cues; `report.toml` has the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from eval.metrics.intervals import Estimate
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field
from eval.metrics.tables import of_family
from eval.reports.described import Rule, load_report
from eval.reports.spec import Section
from eval.reports.tables import Column
from eval.tasks.rvms.scorer import CLIP_SCORE, STAGES

FULL_CUES = "GKTA"
CUED = ("raclo", "raclo-stored")
"""The systems whose cues are compared: of a control or an ablation the comparison means nothing."""
COMPARED: Mapping[str, Measure] = {
    "rule": number("rule"),
    "content": number("content"),
    "frame": number("frame"),
    "event": number("on_event"),
    "found": correct,
}


def median_error(samples: Sequence[Scored]) -> Estimate | None:
    """Median seconds between moment and key time over candidates that show the video; without an interval."""
    timed = [one for one in samples if sample_field(one, "error") is not None]
    clusters = len({one.query.cluster for one in timed})
    errors = [float(sample_field(one, "error")) for one in timed]
    return Estimate(median(errors), len(errors), clusters, None, None) if errors else None


def _stage(name: str) -> Measure:
    return lambda scored: float(sample_field(scored, "error_stage", "") == name)


MEASURES: Mapping[str, Measure | Column] = {
    **COMPARED,
    "model+rule": number("model_rule"),
    "shot": number("in_shot"),
    "answer's video": restricted(number("answer_true"), lambda scored: "K" in scored.query.family),
    "answer's shot": number("in_shot_answer"),
    "median error, s": Column(number("error"), "amount", 1, median_error),
    **{stage: _stage(stage) for stage in STAGES},
}
"""Of any candidate, unless it is the answer's."""


def _candidates(verdict: Callable[[Mapping[str, Any]], bool | None], truth: str) -> Rule:
    """Every candidate's verdict, and its truth; None where it cannot be decided."""

    def judged(scored: Scored) -> Iterator[tuple[bool | None, bool | None]]:
        for candidate in sample_field(scored, "candidates", ()):
            yield verdict(candidate), candidate[truth]

    return judged


def _by_score(name: str) -> Callable[[Mapping[str, Any]], bool | None]:
    return lambda candidate: None if candidate[name] is None else candidate[name] >= CLIP_SCORE


RULES: Mapping[str, Rule] = {
    "video: model": _candidates(lambda candidate: candidate["model"], "true"),
    "video: CLIP score": _candidates(_by_score("video_score"), "true"),
    "video: fingerprint": _candidates(lambda candidate: candidate["copied"], "true"),
    "moment: model": _candidates(lambda candidate: candidate["frame"], "in_shot"),
    "moment: CLIP score": _candidates(_by_score("frame_score"), "in_shot"),
}


def _cues(section: Section) -> Mapping[tuple[str, ...], Paired]:
    """All cues against single ones, on the same moments."""
    pairs: dict[tuple[str, ...], Paired] = {}
    for row in section.rows:
        for other in ("G", "K") if row.system in CUED else ():
            ours, theirs = (_by_moment(row.samples, task) for task in (FULL_CUES, other))
            for name, measure in COMPARED.items():
                pair = compare(ours, theirs, measure)
                if pair is not None:
                    pairs[f"{row.label}, {FULL_CUES}", f"{row.label}, {other}", name] = replace(
                        pair, unpaired=0
                    )
    return pairs


def _by_moment(samples: Sequence[Scored], task: str) -> list[Scored]:
    """The samples of a task, with the moment in place of the query."""
    return [
        replace(one, query=replace(one.query, query_id=str(sample_field(one, "moment_id"))))
        for one in of_family(samples, task)
    ]


REPORT = load_report("eval.tasks.rvms", MEASURES, rules=RULES, pairs={"cues": _cues})
