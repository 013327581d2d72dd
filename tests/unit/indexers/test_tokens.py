"""Tokens of odd texts and folders, and rows that are kept: each text is encoded once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from indexers.e5 import FILE, Q4, E5File, PieceTokens
from indexers.models.lookup import find_weights
from indexers.settings import EncoderSettings
from indexers.tokens import sentence_tokens
from rag.errors import WeightsInvalid
from tests.fakes.answer_world import BagOfWords

LONG = "lamp " * 300


def test_a_tokenizer_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsInvalid, match=r"tokenizer\.json"):
        sentence_tokens(tmp_path, 16)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsInvalid, match="not a tokenizer"):
        sentence_tokens(tmp_path, 16)


@pytest.mark.slow
def test_pieces_of_some_letters_give_the_tokens_of_all_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    path = find_weights(Q4, EncoderSettings()) / FILE
    texts = (
        "Who wears a hat?",
        "",
        " a\tb ",
        "\ufb01ne \u2460",
        "今日は良い天気",
        "Привет",
        "\U0001f600\U0001f600 x",
        LONG,
    )
    with ThreadPoolExecutor(4) as pool:  # as encoders use it
        grown = list(pool.map(E5File(path).tokens, texts))
    found = [
        [E5File(path).tokens(text).tolist(), ids.tolist()] for text, ids in zip(texts, grown, strict=True)
    ]
    monkeypatch.setattr(PieceTokens, "GROWN", 0)
    whole = E5File(path).tokens
    assert found == [[whole(text).tolist()] * 2 for text in texts]
    assert len(found[0][0]) > 5


def test_a_text_is_encoded_once_and_rows_come_in_the_order_asked() -> None:
    held = BagOfWords().keep_rows()
    first = held.encode_text(["lamp", "drill", "lamp"])
    assert np.array_equal(first, BagOfWords().encode_text(["lamp", "drill", "lamp"]))
    assert np.array_equal(held.encode_text(["drill", "lamp"]), first[[1, 0]])
    assert held.encoded == ["lamp", "drill"]
    assert held.encode_text([]).shape == (0, held.dim)


def test_beyond_a_bound_it_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexers.protocol.KEPT", 2)
    held, asked = BagOfWords().keep_rows(), ["lamp", "drill", "iron", "spoon", "lamp"]
    for text in asked:
        assert np.array_equal(held.encode_text([text]), BagOfWords().encode_text([text]))
    assert held.encoded == asked
