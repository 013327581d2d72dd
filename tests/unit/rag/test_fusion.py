"""Reciprocal rank fusion by hand."""

from __future__ import annotations

import pytest

from rag.retrieval.ranking import fuse


def test_first_everywhere_is_one() -> None:
    assert [(item.key, item.score) for item in fuse([["a", "b"], ["a"]])] == [
        ("a", 1.0),
        ("b", round((1 / 62) / (2 / 61), 6)),
    ]


def test_two_middling_ranks_beat_one_first() -> None:
    assert [item.key for item in fuse([["x", "both"], ["y", "both"]])] == ["both", "x", "y"]


def test_ties_go_by_key_whatever_the_order() -> None:
    assert [item.key for item in fuse([["b"], ["a"]])] == ["a", "b"]
    assert [item.key for item in fuse([["a"], ["b"]])] == ["a", "b"]


def test_a_key_is_measured_by_the_rankings_it_can_stand_in() -> None:
    fused = {
        item.key: item.score for item in fuse([["p", "c"], ["c"]], judges=lambda key: 1 if key == "p" else 2)
    }
    assert fused["p"] == 1.0
    assert fused["c"] == round((1 / 62 + 1 / 61) / (2 / 61), 6)


def test_repeats_and_empty_rankings() -> None:
    assert fuse([["a", "a", "b"]])[1].score == round((1 / 62) / (1 / 61), 6)
    assert fuse([["a"], []])[0].score == 0.5
    assert fuse([]) == []
    with pytest.raises(ValueError, match="k must be"):
        fuse([["a"]], 0)
