"""Rows that are kept: each text is encoded once, and not too many are held."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from indexers.protocol import TextEncoder


class Counting(TextEncoder):
    """An encoder that writes down what it was asked."""

    name, dim = "counting", 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([[1, ord(text[0])] for text in texts], np.float32)


def signs(rows: NDArray[np.float32]) -> list[int]:
    """The first character of each text."""
    return (rows[:, 1] / rows[:, 0]).round().astype(int).tolist()


def test_a_text_is_encoded_once_and_rows_come_in_the_order_asked() -> None:
    held = Counting().keep_rows()
    first = held.encode_text(["b", "aa", "b"])
    assert signs(first) == [98, 97, 98]
    assert np.array_equal(held.encode_text(["aa", "b"]), first[[1, 0]])
    assert held.asked == ["b", "aa"]
    assert held.encode_text([]).shape == (0, 2)


def test_beyond_a_bound_it_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexers.protocol.KEPT", 2)
    held = Counting().keep_rows()
    for text in ("a", "b", "c", "d", "a"):
        assert signs(held.encode_text([text])) == [ord(text)]
    assert held.asked == ["a", "b", "c", "d", "a"]
