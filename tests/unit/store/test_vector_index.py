"""Search in memory gives the hits and scores of brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rag.store.vector_index import Matrix
from tests.fakes.store_material import matrix_of, unit

N, DIM = 5000, 24
IDS = [f"id{(i * 37) % N:05d}" for i in range(N)]


@pytest.fixture(scope="module")
def rows() -> NDArray[np.float16]:
    # Rows 100 to 139 are one and the same, so that a rank is decided by the id alone.
    made = unit(1, N, DIM)
    made[100:140] = made[100]
    return made.astype(np.float16)


@pytest.fixture(scope="module")
def matrix(rows: NDArray[np.float16]) -> Matrix:
    return matrix_of(rows, IDS)


@pytest.mark.parametrize("share", [None, 0.0, 0.001, 0.6, 1.0])
@pytest.mark.parametrize("equal", [False, True])
def test_the_best_that_a_filter_leaves_are_found_in_order(
    matrix: Matrix, rows: NDArray[np.float16], share: float | None, *, equal: bool
) -> None:
    keep = None if share is None else np.random.default_rng(3).random(N) < share
    query = rows[100].astype(np.float32) if equal else unit(7, DIM)
    scores = (rows.astype(np.float64) @ query.astype(np.float64)).round(6).tolist()
    allowed = range(N) if keep is None else np.flatnonzero(keep)
    right = sorted(((IDS[i], scores[i]) for i in allowed), key=lambda item: (-item[1], item[0]))
    for k in (0, 5, 10):
        assert [(hit.key, hit.score) for hit in matrix.nearest(query, k, keep)] == right[:k]


def test_few_rows_and_none(rows: NDArray[np.float16]) -> None:
    assert len(matrix_of(rows[:3], IDS[:3]).nearest(unit(1, DIM), 10, None)) == 3
    assert matrix_of(rows[:0], []).nearest(unit(1, DIM), 10, None) == []
