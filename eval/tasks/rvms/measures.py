"""Measures of a run on queries by memory, each of one sample: read from its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eval.metrics.accuracy import correct
from eval.metrics.estimate import Estimate
from eval.metrics.intervals import cluster_interval
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored
from eval.tasks.rvms.scorer import CLIP_SCORE


def evidence(scored: Scored, name: str, default: Any = None) -> Any:
    return scored.sample.evidence.get(name, default)


def _flag(name: str) -> Measure:
    def measure(scored: Scored) -> float | None:
        value = evidence(scored, name)
        return None if value is None else float(bool(value))

    return measure


MEASURES: Mapping[str, Measure] = {
    "rule": _flag("rule"),
    "model+rule": _flag("model_rule"),
    "model+rule, true": _flag("model_rule_true"),
    "content": _flag("content"),
    "frame": _flag("frame"),
    "shot": _flag("in_shot"),
    "event": _flag("on_event"),
    "answer's video": _flag("answer_true"),
    "answer's shot": _flag("in_shot_answer"),
    "answer's event": _flag("on_event_answer"),
    "found": correct,
}
"""`rule`: the address is among the candidates. `model+rule`: or both judges accept one; `true`: and it is an
upload of the video. `content`: any upload of it is a candidate. `frame`: a located frame matches text and
reference. `shot`, `event`: a moment lies in the true shot, within 2 s of the event. `found`: the answer is
the video, recognized or guessed, and its moment, where one is asked for, within 2 s of the event."""


def mean_of(measure: Measure, samples: Iterable[Scored]) -> Estimate | None:
    """The mean where the measure applies, its interval by video."""
    pairs = [(value, scored.query.cluster) for scored in samples if (value := measure(scored)) is not None]
    return cluster_interval([value for value, _ in pairs], [cluster for _, cluster in pairs])


def median_error(samples: Iterable[Scored]) -> tuple[float, int] | None:
    """Median seconds between moment and key time over candidates that show the video, and their number."""
    errors = sorted(float(value) for one in samples if (value := evidence(one, "error")) is not None)
    if not errors:
        return None
    half = len(errors) // 2
    middle = errors[half] if len(errors) % 2 else (errors[half - 1] + errors[half]) / 2
    return middle, len(errors)


def of_task(samples: Sequence[Scored], task: str) -> list[Scored]:
    return [scored for scored in samples if scored.query.family == task]


def compared_tasks(samples: Sequence[Scored], task: str, other: str, measure: Measure) -> Paired | None:
    """The same moments under two sets of cues: `task` minus `other`, paired by moment, tested by video.

    Over the moments to which the measure applies under both; None where there is none.
    """
    ours, theirs = (_by_moment(of_task(samples, name), measure) for name in (task, other))
    both = {one.query.query_id for one in ours} & {one.query.query_id for one in theirs}
    return compare(*([one for one in part if one.query.query_id in both] for part in (ours, theirs)))


def agreement(samples: Iterable[Scored], kind: str) -> dict[str, tuple[int, int, int, int]]:
    """Candidates by what a rule says and what is true: (both, rule alone, truth alone, neither).

    `kind`: `video`: is it the video? or `moment`: does the located frame lie in the true shot? Rules: the
    model (both judges; text and reference frame), a CLIP score of 0.7 and more, and for videos the
    fingerprint that a library stores.
    """
    counts = {rule: [0, 0, 0, 0] for rule in _RULES[kind]}
    for scored in samples:
        for one in evidence(scored, "candidates", ()):
            truth = one["true"] if kind == "video" else one["in_shot"]
            for rule, said in _RULES[kind].items():
                verdict = said(one)
                if verdict is not None and truth is not None:
                    counts[rule][(0 if verdict else 2) + (0 if truth else 1)] += 1
    return {rule: (row[0], row[1], row[2], row[3]) for rule, row in counts.items()}


def _scored_by(name: str) -> Callable[[Mapping[str, Any]], bool | None]:
    return lambda one: None if one[name] is None else one[name] >= CLIP_SCORE


_RULES: Mapping[str, Mapping[str, Callable[[Mapping[str, Any]], bool | None]]] = {
    "video": {
        "model": lambda one: one["model"],
        f"CLIP score >= {CLIP_SCORE}": _scored_by("video_score"),
        "fingerprint": lambda one: one["copied"],
    },
    "moment": {
        "model": lambda one: one["frame"],
        f"CLIP score >= {CLIP_SCORE}": _scored_by("frame_score"),
    },
}


def _by_moment(samples: Sequence[Scored], measure: Callable[[Scored], float | None]) -> list[Scored]:
    found = []
    for scored in samples:
        value = measure(scored)
        if value is None:
            continue
        query = replace(scored.query, query_id=str(evidence(scored, "moment_id")))
        found.append(replace(scored, query=query, sample=replace(scored.sample, correct=bool(value))))
    return found
