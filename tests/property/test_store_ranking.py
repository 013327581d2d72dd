"""Ranking: for any rows, whole or filtered, what brute force in exact order gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.records import SearchFilter
from rag.store import vectors
from rag.store.filters import path_matches
from tests.fakes.store_material import matrix_of

CELLS = st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0])


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str], int]:
    n, dim = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    rows = np.array(draw(st.lists(CELLS, min_size=n * dim, max_size=n * dim)), np.float16).reshape(n, dim)
    query = np.array(draw(st.lists(CELLS, min_size=dim, max_size=dim)), np.float32)
    keep = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    ids = draw(st.permutations([f"k{i:03d}" for i in range(n)]))
    return rows, query, keep, list(ids), draw(st.integers(0, n + 2))


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 2048])
@settings(max_examples=60)
@given(problem=problems(), filtered=st.booleans())
def test_nearest_is_brute_force(
    few: int, problem: tuple[np.ndarray, np.ndarray, np.ndarray, list[str], int], filtered: bool
) -> None:
    rows, query, keep, ids, k = problem
    old, vectors.FEW_ROWS = vectors.FEW_ROWS, few
    try:
        matrix = matrix_of(rows, ids, ["kept" if each else "left" for each in keep])
        hits = matrix.nearest(query, k, {"kept"} if filtered else None, SearchFilter())
    finally:
        vectors.FEW_ROWS = old
    scored = [(float(rows[i].astype(np.float64) @ query.astype(np.float64)), ids[i]) for i in range(len(ids))]
    allowed = [scored[i] for i in range(len(ids)) if keep[i] or not filtered]
    expected = sorted(allowed, key=lambda item: (-round(item[0], 6), item[1]))[:k]
    assert [(hit.score, hit.key) for hit in hits] == [(round(s, 6), key) for s, key in expected]


@given(st.text(min_size=1))
def test_a_path_always_fits_itself_and_the_folder_above(path: str) -> None:
    assert path_matches((f"/a/{path}",), (f"/a/{path}",))
    assert path_matches((f"/a/{path}",), ("/a",))
    assert path_matches((f"/a/{path}",), ("/a/",))
    assert not path_matches((f"/ab/{path}",), ("/a",))


@pytest.mark.parametrize(
    "glob", ["talks", "talks/", "./talks", "talks/*", "*.mp4", "w*.mp4", "talks/webb.mp4"]
)
def test_a_relative_glob_may_begin_at_any_folder(glob: str) -> None:
    assert path_matches(("/home/me/talks/webb.mp4",), (glob,))


@pytest.mark.parametrize("glob", ["alks", "lks/*", "ebb.mp4", "/talks", "webb", "talks/w"])
def test_a_relative_glob_begins_with_a_whole_name(glob: str) -> None:
    assert not path_matches(("/home/me/talks/webb.mp4",), (glob,))
