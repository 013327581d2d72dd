"""Each measure, and TREC runs, against values worked out by hand or computed by the field's own code."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics.calibration import brier, expected_calibration_error, reliability
from eval.metrics.intervals import cluster_interval
from eval.metrics.localization import (
    corpus_iou,
    covered,
    covers_event,
    event_shown,
    found_iou,
    judged,
    recall_at_one,
    temporal_iou,
)
from eval.metrics.moments import (
    RANGES,
    average_precision,
    inside_range,
    mean_average_precision,
    recall,
    saliency_ap,
    saliency_hit,
)
from eval.metrics.pairing import compare, holm, mcnemar_p, sign_flip_p
from eval.metrics.scored import Scored
from eval.metrics.tables import estimate
from eval.reports.tables import unpaired_note
from eval.runs.records import ClipScore, ClipWindow, Output, Query, Score, make_sample
from eval.tasks.egofact.task import SHARES, chose_fact
from eval.trec import escape_id, run_lines

QUERY = Query(
    query_id="q",
    text="What is it?",
    options=tuple("abcdef"),
    answer="C",
    family="local-2hop",
    video="v1",
    cluster="v1",
    window=(10.0, 12.0),
    order=(0, 1, 5, 2, 3, 4),
    passage="p",
    seen=(10.5, 11.0),
)


def scored(choice: str | None = "C", *, cluster: str = "v1", query_id: str = "q", **fields: object) -> Scored:
    query = replace(QUERY, cluster=cluster, query_id=query_id)
    sample = make_sample(query, Output(choice=choice), Score(choice == query.answer))
    return Scored(query, replace(sample, **fields), True, True, True, True)


def test_iou_by_hand() -> None:
    assert temporal_iou((10, 15), (10, 12)) == pytest.approx(0.4)
    assert temporal_iou((0, 2), (1, 3)) == pytest.approx(1 / 3)
    assert temporal_iou((0, 1), (1, 2)) == 0.0
    assert temporal_iou((2, 2), (0, 3)) == 0.0


def test_recall_counts_a_missed_window_as_nothing() -> None:
    inside = scored(gold_window_found=(10.0, 15.0))
    assert found_iou(inside) == pytest.approx(0.4)
    assert recall_at_one(0.3)(inside) == 1.0
    assert recall_at_one(0.5)(inside) == 0.0
    assert recall_at_one(0.4)(inside) == 1.0
    assert found_iou(scored()) == 0.0
    assert found_iou(replace(scored(), localizes=False)) is None


def test_over_the_corpus_only_the_first_clip_counts() -> None:
    windows = (ClipWindow("v2", 0, 5, 1.0), ClipWindow("v1", 10, 15, 0.5))
    first_wrong = scored(clips=(ClipScore("v2", 1.0), ClipScore("v1", 0.5)), windows=windows)
    first_right = scored(clips=(ClipScore("v1", 1.0), ClipScore("v2", 0.5)), windows=windows)
    assert corpus_iou(first_wrong) == 0.0
    assert corpus_iou(first_right) == pytest.approx(0.4)
    assert corpus_iou(replace(first_right, ranks_windows=False)) is None


def test_coverage_by_hand() -> None:
    assert covered((11, 20), (10, 12)) == 0.5
    assert covers_event(scored(gold_window_found=(10.4, 15.4))) == 1.0
    assert covers_event(scored(gold_window_found=(10.5, 15.5))) == 0.0


def test_understanding_counts_only_where_the_gold_clip_was_retrieved() -> None:
    assert event_shown(scored(gold_frames=(9.0, 10.7))) == 1.0
    assert event_shown(scored(gold_frames=(9.0, 11.0))) == 0.0
    assert event_shown(scored()) is None
    assert judged(scored(understood=True)) == 1.0
    missed = replace(scored(understood=True, gold_frames=(10.7,)), clip_found=False)
    assert (judged(missed), event_shown(missed)) == (None, None)


def test_letters_are_those_of_the_papers_order() -> None:
    samples = [scored("C"), scored("B"), scored("A"), scored(None)]
    assert [each.sample.unshuffled_choice for each in samples] == ["F", "B", "A", None]
    shares = {name: estimate(measure, samples) for name, measure in SHARES.items()}
    assert {name: share.value for name, share in shares.items() if share and share.value} == {
        "A": 0.25,
        "B": 0.25,
        "F": 0.25,
    }
    facts = estimate(chose_fact, samples)
    assert facts.value == 0.5


def test_calibration_by_hand() -> None:
    samples = [
        scored("C", confidence=0.9, cluster="a"),
        scored("A", confidence=0.95, cluster="b"),
        scored("C", confidence=0.3, cluster="c"),
        scored("C", confidence=1.0, cluster="d"),
    ]
    bins = reliability(samples)
    assert [(each.low, each.high, each.accuracy.n) for each in bins] == [(0.3, 0.4, 1), (0.9, 1.0, 3)]
    error = expected_calibration_error(samples)
    # |1 - 0.3| / 4 + 3 / 4 * |2/3 - 0.95|
    assert error.value == pytest.approx(0.175 + 0.75 * (0.95 - 2 / 3))
    assert brier(samples[1]) == pytest.approx(0.9025)
    assert expected_calibration_error([]) is None


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (6, 16, 2 * 110_056 / 2**22),  # sum of C(22, k) for k up to 6
        (121, 59, 4.434444e-06),  # the approval table of the statsmodels documentation
        (0, 10, 2 / 1024),
        (1, 9, 2 * (1 + 10) / 1024),
    ],
)
def test_mcnemar_gives_the_known_values(first: int, second: int, p: float) -> None:
    assert mcnemar_p(first, second) == pytest.approx(p, rel=1e-5)
    assert mcnemar_p(second, first) == mcnemar_p(first, second)


def test_a_permutation_of_single_queries_is_the_sign_test() -> None:
    assert sign_flip_p([1] * 9 + [-1]) == pytest.approx(mcnemar_p(9, 1))
    assert sign_flip_p([]) == 1.0
    assert sign_flip_p([0, 0]) == 1.0
    assert sign_flip_p([3]) == 1.0
    # Fisher's own data (Darwin's maize, in eighths of an inch): 1,726 of 32,768 sign patterns.
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert sign_flip_p(darwin) == pytest.approx(1726 / 32768, rel=1e-9)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_where_nothing_varies_the_exact_bound_is_taken() -> None:
    found = cluster_interval([1.0] * 60, [f"v{number // 2}" for number in range(60)])
    assert (found.n, found.clusters, found.high) == (60, 30, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 30))
    nothing = cluster_interval([0.0] * 3, ["a", "b", "c"])
    assert (nothing.low, nothing.high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 3)))
    never = cluster_interval([0.0] * 3, ["a", "b", "c"], "difference")
    assert (never.low, never.high) == pytest.approx((-nothing.high, nothing.high))
    loops = cluster_interval([1.0] * 3, ["a", "b", "c"], "amount")
    assert (loops.low, loops.high) == (1.0, 1.0)
    alone = cluster_interval([1.0, 0.0], ["a", "a"])
    assert (alone.value, alone.low, alone.high) == pytest.approx((0.5, 0.000386, 0.999614), abs=1e-5)
    alike = cluster_interval([1.0, 0.0, 1.0, 0.0], ["a", "a", "b", "b"])  # one of two: Clopper and Pearson
    assert (alike.value, alike.low, alike.high) == pytest.approx((0.5, 0.012579, 0.987421), abs=1e-5)
    apart = cluster_interval([1.0, 0.0], ["a", "a"], "difference")
    assert (apart.low, apart.high) == pytest.approx((0.5 - 0.975, 1.0))
    one_loop = cluster_interval([1.0, 2.0], ["a", "a"], "amount")
    assert (one_loop.value, one_loop.low, one_loop.high) == (1.5, None, None)
    assert cluster_interval([], []) is None
    with pytest.raises(ValueError, match="1 values of 2 clusters"):
        cluster_interval([1.0], ["a", "b"])


def test_paired_systems() -> None:
    names = [f"q{number}" for number in range(10)]
    better = [scored("C", query_id=name, cluster=name) for name in names]
    worse = [
        scored("A" if number < 6 else "C", query_id=f"q{number}", cluster=f"q{number}")
        for number in range(10)
    ]
    pair = compare(better, worse)
    assert pair.difference.value == pytest.approx(0.6)
    assert pair.p == pair.p_mcnemar == pytest.approx(2 / 64)
    common = compare(better, worse[1:])
    assert (common.difference.n, common.unpaired, pair.unpaired) == (9, 1, 0)
    assert "1 queries" in unpaired_note([pair, common])
    assert not unpaired_note([pair])
    assert compare(better[:1], worse[1:]) is None


IDS = st.text(st.characters(exclude_categories=("Cs",)) | st.just("\udce9"), min_size=1) | st.sampled_from(
    ["100%", "a%20b", "%%41", "a b", "\ufeffx", "a\u3000b", "%2 0"]
)


@given(st.lists(IDS, min_size=2, unique=True))
def test_every_id_is_one_column_of_its_own(identifiers: list[str]) -> None:
    columns = list(map(escape_id, identifiers))
    assert " ".join(columns).encode("utf-8").decode().split() == columns
    assert len(set(columns)) == len(columns)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.1 + 1e-9, 0.5, 1.0, -3.0, 1e-30]), max_size=12))
def test_scores_descend_strictly(scores: list[float]) -> None:
    ranking = [(f"d{index}", score) for index, score in enumerate(sorted(scores, reverse=True))]
    written = [float(line.split()[4]) for line in run_lines("q", ranking, "rag")]
    assert written == sorted(set(written), reverse=True)
    assert len(written) == len(ranking)


def test_a_document_counts_once_where_it_is_first() -> None:
    lines = list(run_lines("q 1", [("a", 0.9), ("b", 0.5), ("a", 0.4), ("c", 0.1)], "rag"))
    assert lines == ["q%201 Q0 a 1 0.9 rag", "q%201 Q0 b 2 0.5 rag", "q%201 Q0 c 3 0.1 rag"]


@pytest.mark.parametrize("ranking", [[("a", 0.1), ("b", 0.2)], [("a", float("nan"))], [("a", float("inf"))]])
def test_what_is_no_ranking_is_refused(ranking: list[tuple[str, float]]) -> None:
    with pytest.raises(ValueError, match="no ranking"):
        list(run_lines("q", ranking, "rag"))


def _write(path: Path, rankings: dict[str, list[tuple[str, float]]]) -> Path:
    lines = [line for query, ranking in rankings.items() for line in run_lines(query, ranking, "rag")]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_another_scorer_ranks_as_we_do(tmp_path) -> None:
    """Equal scores: trec_eval would put the larger id first, and so the wrong document."""
    path = _write(tmp_path / "r.trec", {"q": [("a", 0.5), ("b", 0.5), ("c", 0.5)]})
    run = list(ir_measures.read_trec_run(str(path)))
    assert [scored.doc_id for scored in run] == ["a", "b", "c"]
    for doc_id, expected in {"a": 1.0, "b": 1 / 2, "c": 1 / 3}.items():
        found = ir_measures.calc_aggregate([ir_measures.RR], [ir_measures.Qrel("q", doc_id, 1)], run)
        assert found[ir_measures.RR] == pytest.approx(expected)


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
