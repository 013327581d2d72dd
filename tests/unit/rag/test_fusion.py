"""Fusion of ranks and of chances by hand, and how often a video shows an event."""

import numpy as np
import pytest

from rag.retrieval.events import occurrences
from rag.retrieval.ranking import TextHits, fuse, pooled, search_words, text_chances


def test_ranks_are_fused_and_ties_go_by_key() -> None:
    assert [(item.key, item.score) for item in fuse([["a", "b"], ["a"]])] == [
        ("a", 1.0),
        ("b", round((1 / 62) / (2 / 61), 6)),
    ]
    assert [item.key for item in fuse([["x", "both"], ["y", "both"]])] == ["both", "x", "y"]
    assert [item.key for item in fuse([["b"], ["a"]])] == ["a", "b"]


def test_chances_of_texts_are_roots_of_odds_and_shares_of_words() -> None:
    # Odds of 0.8 and 0.5 are 4 and 1; their roots 2 and 1, and 1 that no text is relevant.
    found = text_chances({"b": 0.8, "c": 0.5}, {"c": 6.0, "b": 2.0}, {"c": 1.0, "b": 0.5})
    assert found == pytest.approx({"b": 0.75 * 2 / 4 + 0.25 * 0.5 / 4, "c": 0.75 / 4 + 0.25 * 3 / 4})
    assert text_chances({"a": 0.0}, {}, {}) == {"a": 0.0}
    assert text_chances({"a": 1.0}, {}, {})["a"] < 0.75


def test_the_pool_is_the_mean_of_the_opinions_there_are() -> None:
    both = {item.key: item.score for item in pooled({"a": 0.6, "b": 0.2}, {"b": 0.8, "c": 0.1})}
    assert both == {"b": 0.5, "a": 0.3, "c": 0.05}
    assert [(item.key, item.score) for item in pooled({"a": 0.6}, {})] == [("a", 0.6)]
    assert pooled({}, {}) == []


def test_many_half_relevant_texts_do_not_outweigh_images_with_a_clear_best() -> None:
    spoken = {f"clip {index}": 0.5 for index in range(30)}
    assert pooled({"seen": 0.9, "clip 1": 0.1}, text_chances(spoken, {}, {}))[0].key == "seen"
    ranks = [[*spoken], [*spoken], ["seen", "clip 1"]]
    assert fuse(ranks)[0].key != "seen"


def test_a_code_is_searched_as_a_whole_too() -> None:
    assert search_words("What does E10 mean in 4.1.0?") == "e 10 mean 4.1.0 e10"
    assert search_words("T-24 at 110 Nm") == "t 24 110 nm t24"
    assert search_words("de l’eau") == "de eau l'eau d'eau l’eau d’eau"
    assert search_words("l'or") == "or l'or l’or"
    assert search_words("Il s'ouvre: E10").split()[:5] == ["il", "ouvre", "e", "10", "e10"]


@pytest.mark.parametrize("chunks", [False, True])
def test_a_query_of_one_word_matches_where_it_is_written(chunks: bool) -> None:
    texts = {
        "a": "Push the pistons back.",
        "b": "The centre in Greenbelt, Maryland.",
        "c": "It holds 12,500 parts.",
    }
    hits = TextHits((), (), dict.fromkeys(texts, 0.1))
    for query, key in (("pistons", "a"), ("Greenbelt", "b"), ("12,500", "c")):
        found = hits.relevance(query, texts, chunks=chunks)
        assert found.pop(key) >= 0.5
        assert max(found.values()) < 0.1
    assert max(hits.relevance("pistons quickly", texts, chunks=chunks).values()) < 0.2
    assert max(hits.relevance("the", texts, chunks=chunks).values()) < 0.1


TIMES = np.arange(0.0, 120.0, 0.5)


def scores(*stretches: tuple[float, float, float]) -> np.ndarray:
    found = np.zeros(len(TIMES))
    for start, end, value in stretches:
        found[(start <= TIMES) & (end >= TIMES)] = value
    return found


def test_stretches_apart_are_counted_one_by_one() -> None:
    shown = scores((10, 13, 6.0), (40, 44, 5.0), (90, 92, 4.0))
    assert occurrences(TIMES, shown, 2.5) == [(10.0, 13.0), (40.0, 44.0), (90.0, 92.0)]


def test_a_short_gap_is_no_end_and_a_flash_no_event() -> None:
    shown = scores((10, 13, 6.0), (18, 20, 6.0), (60, 60, 6.0))
    assert occurrences(TIMES, shown, 2.5) == [(10.0, 20.0)]


def test_what_is_far_less_like_the_event_is_another() -> None:
    assert occurrences(TIMES, scores((10, 13, 6.0), (40, 44, 3.0)), 2.5) == [(10.0, 13.0)]
    assert occurrences(TIMES, scores((10, 13, 2.0)), 2.5) == []
    assert occurrences([], [], 2.5) == []
