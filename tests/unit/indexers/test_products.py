"""Products in blocks, against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from indexers import products
from indexers.products import EDGE, LANES, columns, filled, product

SHAPES = [(384, 384), (1536, 384), (384, 1536), (768, 900), (64, 4304), (50, 33)]


@pytest.fixture(params=["", "Haswell", "SkylakeX"], ids=["other", "AVX2", "AVX-512"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """As with a BLAS of which nothing is known, with edges, and without copies."""
    name: str = request.param
    monkeypatch.setattr(products, "_kernels", lambda: frozenset({name}))
    return name


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_is_that_of_double_precision(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    weight = rng.standard_normal(shape, np.float32)
    for tokens in (1, 8, LANES, 20, 3 * LANES, 9 * LANES, 256):
        x = rng.standard_normal((shape[1], tokens), np.float32)
        found = product(weight, x)
        assert found.shape == (shape[0], tokens)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, weight.astype(np.float64) @ x, atol=2e-5 * shape[1])


@pytest.mark.skipif(not products._without_copies(), reason="a processor without AVX-512, or another BLAS")
@pytest.mark.parametrize("shape", SHAPES)
def test_whole_lanes_have_the_bits_of_one_product(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    weight = rng.standard_normal(shape, np.float32)
    many = rng.standard_normal((shape[1], 256), np.float32)
    with products.blas().limit(limits=1, user_api="blas"):
        whole = weight @ many
        for tokens in (LANES, 2 * LANES, 5 * LANES, 8 * LANES):
            part = np.ascontiguousarray(many[:, 7 : 7 + tokens])
            assert (product(weight, part) == whole[:, 7 : 7 + tokens]).all(), tokens


def test_texts_are_filled_up_where_that_takes_less_time_or_keeps_their_bits(kernels: str) -> None:
    expected = {
        "": [8, 8, 16, 16, 17, 24, 32],
        "Haswell": [16, 24, 32, 32, 40, 40, 48],
        "SkylakeX": [8, 16, 16, 16, 32, 32, 32],
    }
    assert [filled(tokens) for tokens in (0, 1, 9, 16, 17, 24, 25)] == expected[kernels]


@pytest.mark.parametrize("tokens", [0, 1, 9, 24])
def test_tokens_become_columns_with_zeros_around_them(kernels: str, tokens: int) -> None:
    rows = np.random.default_rng(2).standard_normal((tokens, 5), np.float32)
    held, first = columns(rows), EDGE if kernels == "Haswell" else 0
    assert held.shape == (5, filled(tokens))
    assert held.flags.c_contiguous
    assert np.array_equal(held[:, first : first + tokens], rows.T)
    assert np.count_nonzero(held) == rows.size


@pytest.mark.parametrize("terms", [1, 447, 448, 449, 512, 895, 896, 897, 1536, 3072, 4304])
def test_parts_of_a_sum_are_all_of_it(terms: int) -> None:
    parts = products._parts(terms)
    assert [place for part in parts for place in range(part.start, part.stop)] == list(range(terms))
    assert max(part.stop - part.start for part in parts) == parts[0].stop - parts[0].start
