"""Search in memory gives the hits and scores of brute force."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from rag.store.vector_index import FaissIndex, nearest
from tests.fakes.store_material import unit

N, DIM = 5000, 24


@pytest.fixture(scope="module")
def rows() -> NDArray[np.float16]:
    # Rows 100 to 139 are one and the same, so that a rank is decided by the id alone.
    made = unit(1, N, DIM)
    made[100:140] = made[100]
    return made.astype(np.float16)


@pytest.fixture(scope="module")
def index(rows: NDArray[np.float16]) -> FaissIndex:
    return FaissIndex(rows)


IDS = [f"id{(i * 37) % N:05d}" for i in range(N)]
NAMES = pa.array(IDS)


def brute(
    rows: NDArray[np.float16], query: NDArray[np.float32], keep: NDArray[np.bool_] | None
) -> list[tuple[str, float]]:
    scores = (rows.astype(np.float64) @ query.astype(np.float64)).round(6).tolist()
    allowed = range(N) if keep is None else np.flatnonzero(keep)
    return sorted(((IDS[i], scores[i]) for i in allowed), key=lambda item: (-item[1], item[0]))


def test_the_best_are_found_in_order(index: FaissIndex, rows: NDArray[np.float16]) -> None:
    for seed in range(5):
        query = unit(100 + seed, DIM)
        hits = nearest(index, rows, NAMES, query, 10)
        assert [(hit.key, hit.score) for hit in hits] == brute(rows, query, None)[:10]


def test_ties_are_broken_by_id(index: FaissIndex, rows: NDArray[np.float16]) -> None:
    query = rows[100].astype(np.float32)
    hits = nearest(index, rows, NAMES, query, 5)
    assert [hit.key for hit in hits] == sorted(IDS[100:140])[:5]


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.001, 0.6, 1.0])
def test_filters_come_before_the_ranking(index: FaissIndex, rows: NDArray[np.float16], share: float) -> None:
    keep = np.random.default_rng(3).random(N) < share
    query = unit(7, DIM)
    hits = nearest(index, rows, NAMES, query, 8, keep)
    assert [(hit.key, hit.score) for hit in hits] == brute(rows, query, keep)[:8]


def test_few_rows_and_none(rows: NDArray[np.float16]) -> None:
    few = FaissIndex(rows[:3])
    assert len(nearest(few, rows[:3], NAMES[:3], unit(1, DIM), 10)) == 3
    none = FaissIndex(rows[:0])
    assert nearest(none, rows[:0], NAMES[:0], unit(1, DIM), 10) == []


def test_a_query_of_another_shape_is_refused(index: FaissIndex, rows: NDArray[np.float16]) -> None:
    with pytest.raises(ValueError, match=r"must be \(24,\)"):
        nearest(index, rows, NAMES, unit(1, DIM + 1), 3)
