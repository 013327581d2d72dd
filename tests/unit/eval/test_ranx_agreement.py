"""The retrieval measures of ir-measures against ranx, on run files as they are written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from eval.metrics.scored import success
from eval.trec import read_run, run_lines


def write_run(path: Path) -> dict[str, str]:
    """A run with ties, missing queries and gold at every depth; gives the gold of each query."""
    chance = random.Random(11)
    gold: dict[str, str] = {}
    lines: list[str] = []
    for number in range(80):
        query = f"q{number:02d}"
        gold[query] = f"d{chance.randrange(12)}"
        if number % 10 == 9:
            continue
        documents = [f"d{place}" for place in range(12)]
        chance.shuffle(documents)
        scores = sorted((chance.choice((0.1, 0.2, 0.5, 0.9)) for _ in documents), reverse=True)
        lines += run_lines(query, zip(documents, scores, strict=True), "toy")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return gold


@pytest.mark.slow
def test_ranx_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Compiling its kernels takes numba half a minute; in plain Python they say the same at once.
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    from ranx import Qrels, Run, evaluate

    gold = write_run(tmp_path / "toy.trec")
    rows = list(read_run(tmp_path / "toy.trec"))
    ranked: dict[str, dict[str, float]] = {query: {} for query in gold}
    for row in rows:
        ranked[row.query_id][row.doc_id] = row.score
    for empty in [query for query, documents in ranked.items() if not documents]:
        ranked[empty] = {"nothing": 0.0}
    qrels = Qrels({query: {document: 1} for query, document in gold.items()})
    for k in (1, 5, 6):
        ours = success(gold, rows, k)
        theirs = evaluate(qrels, Run(ranked), f"hit_rate@{k}")
        assert 0 < sum(ours.values()) < len(gold)
        assert sum(ours.values()) / len(gold) == pytest.approx(float(theirs))
