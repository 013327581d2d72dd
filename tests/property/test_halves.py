"""Stored vectors in single precision, against NumPy's own conversion."""

from __future__ import annotations

import numpy as np

from rag.store.halves import single


def test_every_finite_number_is_converted_exactly() -> None:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(-1, 2)
    found = single(finite)
    assert found.dtype == np.float32
    assert found.tobytes() == finite.astype(np.float32).tobytes()  # with the signs of zeros
    part = finite[::3, :1]  # not in one piece
    assert single(part).tobytes() == part.astype(np.float32).tobytes()


def test_single_precision_is_kept_as_it_is() -> None:
    rows = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    assert single(rows) is rows
    assert single(np.empty((0, 4), np.float16)).shape == (0, 4)
