"""Every vector index gives the same hits with the same scores."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from rag.store.vector_index import FaissIndex, IndexKind, VectorIndex, nearest
from tests.fakes.store_material import unit

KINDS: tuple[IndexKind, ...] = ("flat", "fp16", "hnsw")
N, DIM = 5000, 24


@pytest.fixture(scope="module")
def rows() -> NDArray[np.float16]:
    # Rows 100 to 139 are one and the same, so that a rank is decided by the id alone.
    made = unit(1, N, DIM)
    made[100:140] = made[100]
    return made.astype(np.float16)


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> IndexKind:
    kind: IndexKind = request.param
    return kind


@pytest.fixture(scope="module")
def index(kind: IndexKind, rows: NDArray[np.float16]) -> VectorIndex:
    return FaissIndex(kind, rows)


IDS = [f"id{(i * 37) % N:05d}" for i in range(N)]
NAMES = pa.array(IDS)


def brute(
    rows: NDArray[np.float16], query: NDArray[np.float32], keep: NDArray[np.bool_] | None
) -> list[tuple[str, float]]:
    scores = (rows.astype(np.float64) @ query.astype(np.float64)).round(6).tolist()
    allowed = range(N) if keep is None else np.flatnonzero(keep)
    return sorted(((IDS[i], scores[i]) for i in allowed), key=lambda item: (-item[1], item[0]))


def test_the_best_are_found_in_order(index: VectorIndex, rows: NDArray[np.float16]) -> None:
    for seed in range(5):
        query = unit(100 + seed, DIM)
        hits = nearest(index, rows, NAMES, query, 10)
        assert [(hit.key, hit.score) for hit in hits] == brute(rows, query, None)[:10]


def test_ties_are_broken_by_id(index: VectorIndex, rows: NDArray[np.float16]) -> None:
    query = rows[100].astype(np.float32)
    hits = nearest(index, rows, NAMES, query, 5)
    assert [hit.key for hit in hits] == sorted(IDS[100:140])[:5]


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.001, 0.6, 1.0])
def test_filters_come_before_the_ranking(index: VectorIndex, rows: NDArray[np.float16], share: float) -> None:
    keep = np.random.default_rng(3).random(N) < share
    query = unit(7, DIM)
    hits = nearest(index, rows, NAMES, query, 8, keep)
    assert [(hit.key, hit.score) for hit in hits] == brute(rows, query, keep)[:8]


def test_few_rows_and_none(kind: IndexKind, rows: NDArray[np.float16]) -> None:
    few = FaissIndex(kind, rows[:3])
    assert len(nearest(few, rows[:3], NAMES[:3], unit(1, DIM), 10)) == 3
    none = FaissIndex(kind, rows[:0])
    assert nearest(none, rows[:0], NAMES[:0], unit(1, DIM), 10) == []


def test_it_is_the_same_when_built_again(
    index: VectorIndex, kind: IndexKind, rows: NDArray[np.float16]
) -> None:
    again = FaissIndex(kind, rows)
    for seed in range(5):
        query = unit(seed, DIM)
        one, two = (each.candidates(query, 40, None).tolist() for each in (index, again))
        assert one == two


def test_a_query_of_another_shape_is_refused(index: VectorIndex, rows: NDArray[np.float16]) -> None:
    with pytest.raises(ValueError, match=r"must be \(24,\)"):
        nearest(index, rows, NAMES, unit(1, DIM + 1), 3)


def test_an_unknown_kind_is_refused(rows: NDArray[np.float16]) -> None:
    with pytest.raises(ValueError, match="flat, fp16 and hnsw"):
        FaissIndex("ivf", rows)  # type: ignore[arg-type]  # what a settings file might say
