"""Measures of moment retrieval against the field's own code, and by hand.

The figures of `test_..._the_official_code` were computed once, on these random annotations and answers, by
jayleicn/moment_detr `standalone_eval/eval.py` and jayleicn/TVRetrieval `standalone_eval/eval.py` (SVMR),
which are not in this repository.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from eval.metrics.moments import (
    RANGES,
    average_precision,
    inside_range,
    mean_average_precision,
    recall,
    saliency_ap,
    saliency_hit,
)


def random_cases() -> list[dict[str, Any]]:
    """Forty sentences with one to four windows and the saliency of clips; twelve windows found of each."""
    rng, cases = random.Random(14), []
    for _ in range(40):
        windows = []
        for start in sorted(rng.sample(range(0, 140, 20), rng.randint(1, 4))):
            windows.append((start, min(150, start + rng.choice((4, 8, 10, 12, 16, 20, 60)))))
        found = []
        for _ in range(12):
            if rng.random() < 0.5:
                start, end = rng.choice(windows)
                start, end = start + rng.choice((0, 1, 2, 3)), end + rng.choice((0, 2, 5))
            else:
                start = rng.randrange(0, 140, 2)
                end = start + rng.choice((2, 5, 10, 40))
            found.append((start, end))
        clips = sorted(rng.sample(range(75), rng.randint(1, 20)))
        gold = np.zeros((75, 3), np.int64)
        gold[clips] = [[rng.randint(0, 4) for _ in range(3)] for _ in clips]
        scores = [rng.randint(-8, 8) / 8 for _ in range(rng.choice((70, 75, 80)))]
        for clip in clips:
            if clip < len(scores) and rng.random() < 0.5:
                scores[clip] += 1
        cases.append({"windows": windows, "found": found, "gold": gold, "scores": scores})
    return cases


CASES = random_cases()
MOMENT_DETR: dict[str, tuple[float, Callable[[dict[str, Any]], float | None]]] = {
    "MR-full-R1@0.5": (47.5, lambda one: recall(one["found"], one["windows"], 1, 0.5)),
    "MR-full-R1@0.7": (35.0, lambda one: recall(one["found"], one["windows"], 1, 0.7)),
    "MR-full-mAP": (36.61, lambda one: mean_average_precision(one["found"], one["windows"])),
    "MR-full-mAP@0.5": (58.0, lambda one: average_precision(one["found"], one["windows"], 0.5)),
    "MR-full-mAP@0.75": (36.35, lambda one: average_precision(one["found"], one["windows"], 0.75)),
    "MR-long-mAP": (31.78, lambda one: of_range(one, "long")),
    "MR-middle-mAP": (36.53, lambda one: of_range(one, "middle")),
    "MR-short-mAP": (19.76, lambda one: of_range(one, "short")),
    "HL-min-Fair-mAP": (31.28, lambda one: saliency_ap(one["scores"], one["gold"], 2)),
    "HL-min-Fair-Hit1": (80.0, lambda one: saliency_hit(one["scores"], one["gold"], 2)),
    "HL-min-Good-mAP": (23.16, lambda one: saliency_ap(one["scores"], one["gold"], 3)),
    "HL-min-Good-Hit1": (70.0, lambda one: saliency_hit(one["scores"], one["gold"], 3)),
    "HL-min-VeryGood-mAP": (14.56, lambda one: saliency_ap(one["scores"], one["gold"], 4)),
    "HL-min-VeryGood-Hit1": (42.5, lambda one: saliency_hit(one["scores"], one["gold"], 4)),
}
TVR = {(1, 0.3): 37.5, (5, 0.3): 85.0, (1, 0.5): 30.0, (5, 0.5): 80.0, (1, 0.7): 22.5, (5, 0.7): 60.0}
"""Of the first gold window of each sentence: by k and IoU."""


def of_range(case: dict[str, Any], name: str) -> float | None:
    kept = inside_range(case["windows"], name)
    return mean_average_precision(case["found"], kept) if kept else None


@pytest.mark.parametrize("name", MOMENT_DETR)
def test_qvhighlights_as_the_official_code(name: str) -> None:
    expected, measure = MOMENT_DETR[name]
    values = [value for case in CASES if (value := measure(case)) is not None]
    assert round(100 * float(np.mean(values)), 2) == expected


@pytest.mark.parametrize(("first", "threshold"), TVR)
def test_recall_of_one_window_as_the_official_code(first: int, threshold: float) -> None:
    values = [recall(case["found"], case["windows"][:1], first, threshold) for case in CASES]
    assert 100 * float(np.mean(values)) == TVR[first, threshold]


def test_precision_by_hand() -> None:
    """Right at ranks 1 and 3 of two gold windows: (1/1 + 2/3) / 2; a window of gold counts once."""
    gold = [(0.0, 10.0), (20.0, 30.0)]
    found = [(0.0, 10.0), (1.0, 10.0), (20.0, 29.0), (20.0, 30.0)]
    assert average_precision(found, gold, 0.5) == pytest.approx((1 + 2 / 3) / 2)
    # At 0.95 the third is wrong and the fourth right: (1/1 + 2/4) / 2.
    assert average_precision(found, gold, 0.95) == pytest.approx(0.75)
    assert average_precision([], gold, 0.5) == 0.0
    # Later precision counts for earlier recall: the first found is wrong, so 1/2 and 2/3 become 2/3 twice.
    assert average_precision([(50.0, 60.0), *gold], gold, 0.5) == pytest.approx(2 / 3)
    assert average_precision([(50.0, 60.0)] * 10 + gold, gold, 0.5) == 0.0, "ten windows count"


def test_a_window_of_ten_seconds_is_short() -> None:
    """The ranges are (0, 10], (10, 30], (30, 150] seconds."""
    gold = [(0.0, 10.0), (20.0, 32.0), (0.0, 30.0), (0.0, 31.0)]
    assert {name: inside_range(gold, name) for name in RANGES} == {
        "short": gold[:1],
        "middle": gold[1:3],
        "long": gold[3:],
    }


def test_a_missing_saliency_is_0_and_one_too_many_counts_for_nothing() -> None:
    gold = np.array([[4, 0, 4], [0, 0, 4], [4, 0, 4]])
    assert saliency_ap([3.0, -2.0], gold[:, :1], 4) == pytest.approx(1.0)
    assert saliency_hit([0.0, 0.0, 0.0, 1.0], gold, 4) == 0.0
