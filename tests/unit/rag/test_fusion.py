"""Ranks and chances fused by hand, and the moments that are least like the rest."""

import numpy as np
import pytest

from corpora.records import Clip
from rag.retrieval import highlights
from rag.retrieval.events import occurrences
from rag.retrieval.ranking import TextHits, fuse, pooled, search_words, text_chances
from rag.store.records import ClipFrames


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


DIM = 64
COMMON = np.eye(DIM, dtype=np.float32)[0]


def unit(*parts: int) -> np.ndarray:
    """What is common, with a little of each of some directions."""
    vector = COMMON + 0.05 * np.eye(DIM, dtype=np.float32)[list(parts)].sum(axis=0)
    return vector / np.linalg.norm(vector)


def clip_of(name: str, vectors: np.ndarray) -> ClipFrames:
    times = np.arange(len(vectors)) / 2
    mean = vectors.mean(axis=0)
    return ClipFrames(Clip(name, name, 0.0, len(vectors) / 2), times, vectors, mean / np.linalg.norm(mean))


def found(odd: list[tuple[str, int]], top_k: int) -> list[highlights.UnusualWindow]:
    """Of twenty common clips and some whose seconds 10 to 15 are of another direction."""
    held = [clip_of(f"common{at}", np.stack([unit(at + 1)] * 60)) for at in range(20)]
    for name, direction in odd:
        vectors = np.stack([unit(30)] * 60)
        vectors[20:30] = np.eye(DIM, dtype=np.float32)[direction]
        held.append(clip_of(name, vectors))
    ids = [each.clip.clip_id for each in held]
    vectors = np.stack([each.clip_vector for each in held]).astype(np.float16)
    rows, sample = highlights.sampled(ids, vectors)
    order = np.argsort(-highlights.unusual_clips(vectors, rows, sample))
    return highlights.unusual_windows([held[at] for at in order], ids, rows, sample, top_k)


def test_the_seconds_that_are_like_nothing_else_come_first() -> None:
    first, second = found([("odd", 40)], 2)
    assert (first.clip_id, first.start, first.end) == ("odd", 10.0, 15.0)
    assert first.score > 0.5 > second.score


def test_of_near_duplicates_one_is_shown_before_the_others() -> None:
    names = [window.clip_id for window in found([("a", 40), ("b", 40), ("c", 41)], 3)]
    assert {"c"} < set(names[:2]) < {"a", "b", "c"}


def test_a_library_of_one_clip_has_one_moment() -> None:
    vectors = np.stack([unit(1)] * 4)
    rows, sample = highlights.sampled(["one"], vectors[:1].astype(np.float16))
    (window,) = highlights.unusual_windows([clip_of("one", vectors)], ["one"], rows, sample, 5)
    assert (window.start, window.end, window.score) == (0.0, 2.0, 0.0)
