"""Passages on their way into vectors: in one call, in order, and reported while it lasts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Passage
from indexers.protocol import PassageEncoder
from indexers.registry import open_text_encoder
from rag.indexing import encoders, index
from rag.indexing.passages import encode_passages
from rag.indexing.report import Silent
from rag.settings import load_settings
from tests.fakes.answer_world import BagOfWords

PASSAGES = [Passage(f"p{at}", "d", f"Lamp {at}", "light " * (at * 7 % 50 + 1)) for at in range(40)]


class ByThrees(BagOfWords):
    """Gives three texts at a time, the last ones first."""

    backend, batch, weights = "words", 3, "words-1"

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def encode_parts(self, texts: Sequence[str]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        order = list(range(len(texts)))[::-1]
        for start in range(0, len(order), 3):
            self.calls += 1
            places = order[start : start + 3]
            yield places, self.encode_text([texts[place] for place in places])


class RecordedProgress(Silent):
    """Keeps the work ahead, and each step of it with how many batches were done by then."""

    def __init__(self, encoder: ByThrees) -> None:
        self.encoder = encoder
        self.total = 0
        self.steps: list[tuple[int, float]] = []

    def start_documents(self, total: int, seconds: float) -> None:  # noqa: ARG002 (time is not asked for)
        self.total = total

    def advance_documents(self, documents: float, seconds: float) -> None:  # noqa: ARG002 (as above)
        self.steps.append((self.encoder.calls, documents))


def test_rows_stand_in_the_order_of_the_passages() -> None:
    whole = BagOfWords().encode_text([f"{p.title}\n{p.text}" for p in PASSAGES])
    reported: list[int] = []
    rows = encode_passages(cast("PassageEncoder", ByThrees()), PASSAGES, reported.append)
    assert rows.tobytes() == np.asarray(whole, np.float32).tobytes()
    assert sorted(reported) == list(range(len(PASSAGES)))
    assert encode_passages(cast("PassageEncoder", ByThrees()), [], reported.append).shape == (
        0,
        BagOfWords.dim,
    )


def test_each_batch_is_reported_before_the_next_begins() -> None:
    encoder = ByThrees()
    reported: list[int] = []
    encode_passages(cast("PassageEncoder", encoder), PASSAGES, lambda _: reported.append(encoder.calls))
    assert reported == [at // 3 + 1 for at in range(len(PASSAGES))]


@pytest.mark.slow
def test_the_bundled_encoder_gives_its_batches() -> None:
    settings = load_settings().encoder
    encoder = open_text_encoder(settings.text, settings)
    texts = [passage.text * 4 for passage in PASSAGES]
    parts = list(encoder.encode_parts(texts))
    assert len(parts) > 1
    rows = np.empty((len(texts), encoder.dim), np.float32)
    for places, part in parts:
        rows[places] = part
    assert rows.tobytes() == encoder.encode_text(texts).tobytes()


@pytest.mark.slow
def test_progress_moves_with_the_passages_and_ends_at_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = ByThrees()
    monkeypatch.setattr(encoders, "open_text_encoder", lambda *_, **__: encoder)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for at in range(80):
        (corpus / f"{at}.md").write_text(f"# Lamp {at}\n\n{'light ' * (at + 5)}\n")
    reported = RecordedProgress(encoder)
    settings = load_settings(flags={"library": tmp_path / "library", "encoder.image": "none"})
    report = index([corpus], settings=settings, progress=reported)
    assert report.passages == 80
    moved = [calls for calls, documents in reported.steps if documents > 0]
    assert set(moved) == set(range(1, encoder.calls + 1))
    assert reported.total == 80
    assert {round(documents, 6) for _, documents in reported.steps} == {0.0, 1.0}, (
        "nothing is left for the end"
    )
    assert sum(documents for _, documents in reported.steps) == pytest.approx(80)
