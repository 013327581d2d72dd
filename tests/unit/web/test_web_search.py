"""The engine of a web against references, its order, and how words are cut."""

from pathlib import Path

import numpy as np
import pytest

from rag.web.engine import K1, Bm25, SearchEngine, words
from tests.fakes.answer_world import BagOfWords

DOCUMENTS = (
    "kettle on the stove",
    "how to clean a kettle with vinegar and a kettle brush",
    "garden rake",
    "the kettle",
    "vinegar salad dressing with olive oil and vinegar",
)
# bm25s 0.3.16, BM25(method="lucene", k1=1.5, b=0.75), which leaves out the constant factor k1 + 1.
REFERENCE = {
    "kettle": (0.244074, 0.230999, 0.0, 0.300835, 0.0),
    "kettle vinegar": (0.244074, 0.469763, 0.0, 0.300835, 0.433222),
    "vinegar vinegar brush": (0.0, 0.855609, 0.0, 0.0, 0.866443),
    "rake the": (0.396439, 0.0, 0.773746, 0.488634, 0.0),
}


@pytest.mark.parametrize("query", REFERENCE)
def test_bm25_equals_an_independent_implementation(query: str) -> None:
    scores = Bm25([document.split() for document in DOCUMENTS]).scores(query.split())
    np.testing.assert_allclose(scores / (K1 + 1), REFERENCE[query], atol=1e-6)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("My_first Kettle-video, S01E05!", ["my", "first", "kettle", "video", "s01e05"]),
        ("東京タワー tower", ["東京", "京タ", "タワ", "ワー", "tower"]),
        ("ﬁne Ｃａｆé STRASSE straße", ["fine", "café", "strasse", "strasse"]),
        ("😱 ?!", []),
    ],
)
def test_words(text: str, cut: list[str]) -> None:
    assert words(text) == cut


TEXTS = {"c": "abba", "b": "abba", "a": "zebra abba", "d": "quiz"}


def test_equal_scores_come_in_the_order_of_ids() -> None:
    found = SearchEngine(TEXTS, "bm25", BagOfWords).rank("abba")
    assert [hit.key for hit in found] == ["b", "c", "a"]
    assert found[0].score == found[1].score > found[2].score
    assert SearchEngine(TEXTS, "hybrid", BagOfWords).rank("zebra")[0].key == "a"


def test_vectors_are_made_once_and_kept(tmp_path: Path) -> None:
    first, second = BagOfWords(), BagOfWords()
    before = SearchEngine(TEXTS, "dense", lambda: first, tmp_path).rank("zebra")
    assert SearchEngine(TEXTS, "dense", lambda: second, tmp_path).rank("zebra") == before
    assert len(first.encoded) > len(second.encoded) == 1
    for path in tmp_path.iterdir():
        path.write_bytes(b"torn")
    assert SearchEngine(TEXTS, "dense", BagOfWords, tmp_path).rank("zebra") == before
