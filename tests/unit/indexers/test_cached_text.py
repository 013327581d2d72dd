"""Rows that are kept: each text is encoded once, and of too many the one unused for longest is let go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexers.protocol import CachedTextEncoder


class Counting:
    """An encoder that writes down what it was asked."""

    name, dim = "counting", 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([[len(text), ord(text[0])] for text in texts], np.float32)


def test_a_text_is_encoded_once_and_rows_come_in_the_order_asked() -> None:
    encoder = Counting()
    held = CachedTextEncoder(encoder)
    first = held.encode_text(["b", "aa", "b"])
    assert first.tolist() == [[1, 98], [2, 97], [1, 98]]
    assert np.array_equal(held.encode_text(["aa", "b"]), first[[1, 0]])
    assert encoder.asked == ["b", "aa"]
    assert held.encode_text([]).shape == (0, 2)
    assert held.name == "counting"


def test_the_text_unused_for_longest_is_let_go() -> None:
    encoder = Counting()
    held = CachedTextEncoder(encoder, kept=2)
    held.encode_text(["a", "b", "a", "c"])
    assert held.encode_text(["a"]).tolist() == [[1, 97]]
    assert encoder.asked == ["a", "b", "c"]
    held.encode_text(["b"])
    assert encoder.asked == ["a", "b", "c", "b"]


def test_more_texts_than_are_kept_are_all_answered() -> None:
    held = CachedTextEncoder(Counting(), kept=1)
    assert held.encode_text(["a", "bb", "ccc"])[:, 0].tolist() == [1, 2, 3]


def test_a_row_let_go_by_another_thread_is_answered_all_the_same() -> None:
    class Crowded(Counting):
        def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if texts == ["b"]:
                held.encode_text(["x", "y"])
            return super().encode_text(texts)

    held = CachedTextEncoder(Crowded(), kept=2)
    held.encode_text(["a"])
    assert held.encode_text(["a", "b"]).tolist() == [[1, 97], [1, 98]]
