"""Tokens of odd texts and folders."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexers.e5 import FILE, Q4, E5File, PieceTokens
from indexers.models.lookup import find_weights
from indexers.settings import EncoderSettings
from indexers.tokens import image_text_tokens, sentence_tokens
from rag.errors import WeightsInvalid
from tests.fakes.tiny_models import save_clip, save_siglip

LONG = "lamp " * 300


@pytest.mark.slow
def test_long_texts_keep_their_end(tmp_path: Path) -> None:
    clip, siglip = save_clip(tmp_path / "clip"), save_siglip(tmp_path / "siglip")
    short, long = (image_text_tokens(clip)(text) for text in ("a cat", LONG))
    assert (len(long), long[-1]) == (77, short[-1])
    short, long = (image_text_tokens(siglip)(text) for text in ("a cat", LONG))
    assert len(short) == len(long) == 64
    assert long[-1] == 1
    assert 1 in short
    assert short[-1] == 0


def test_a_tokenizer_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsInvalid, match=r"tokenizer\.json"):
        sentence_tokens(tmp_path, 16)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsInvalid, match="not a tokenizer"):
        sentence_tokens(tmp_path, 16)


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
