"""TREC runs: every id survives, the order survives every scorer, bad files are named by line."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.trec import escape_id, read_run, run_lines, unescape_id
from rag.errors import UsageError

IDS = st.text(st.characters(exclude_categories=("Cs",)) | st.just("\udce9"), min_size=1) | st.sampled_from(
    ["100%", "a%20b", "%%41", "a b", "\ufeffx", "a\u3000b", "%2 0"]
)


@given(IDS)
def test_every_id_survives_in_one_column(identifier: str) -> None:
    column = escape_id(identifier)
    assert column.split() == [column]
    column.encode("utf-8")
    assert unescape_id(column) == identifier


def test_common_ids_stay_as_judgements_have_them() -> None:
    for identifier in ("MED-10", "100%", "http://x/y?a=b", "日本"):
        assert escape_id(identifier) == identifier
    assert escape_id("two words") == "two%20words"
    with pytest.raises(ValueError, match="empty"):
        escape_id("")


@given(st.lists(st.sampled_from([0.0, 0.1, 0.1 + 1e-9, 0.5, 1.0, -3.0, 1e-30]), max_size=12))
def test_scores_descend_strictly(scores: list[float]) -> None:
    ranking = [(f"d{index}", score) for index, score in enumerate(sorted(scores, reverse=True))]
    written = [float(line.split()[4]) for line in run_lines("q", ranking, "rag")]
    assert written == sorted(set(written), reverse=True)
    assert len(written) == len(ranking)


def test_a_document_counts_once_where_it_is_first() -> None:
    lines = list(run_lines("q 1", [("a", 0.9), ("b", 0.5), ("a", 0.4), ("c", 0.1)], "rag"))
    assert lines == ["q%201 Q0 a 1 0.9 rag", "q%201 Q0 b 2 0.5 rag", "q%201 Q0 c 3 0.1 rag"]


@pytest.mark.parametrize("ranking", [[("a", 0.1), ("b", 0.2)], [("a", float("nan"))], [("a", float("inf"))]])
def test_what_is_no_ranking_is_refused(ranking: list[tuple[str, float]]) -> None:
    with pytest.raises(ValueError, match="no ranking"):
        list(run_lines("q", ranking, "rag"))


def _write(path: Path, rankings: dict[str, list[tuple[str, float]]]) -> Path:
    lines = [line for query, ranking in rankings.items() for line in run_lines(query, ranking, "rag")]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_read_back(tmp_path: Path) -> None:
    path = _write(tmp_path / "r.trec", {"1": [("a b", 0.9), ("c", 0.9)], "2": [("a b", -1.0)]})
    rows = list(read_run(path))
    found = [(row.query_id, row.doc_id, row.rank) for row in rows]
    assert found == [("1", "a b", 1), ("1", "c", 2), ("2", "a b", 1)]
    assert rows[0].score == pytest.approx(0.9)
    assert rows[1].score < rows[0].score


def test_another_scorer_ranks_as_we_do(tmp_path: Path) -> None:
    """Equal scores: trec_eval would put the larger id first, and so the wrong document."""
    path = _write(tmp_path / "r.trec", {"q": [("a", 0.5), ("b", 0.5), ("c", 0.5)]})
    run = list(ir_measures.read_trec_run(str(path)))
    assert [scored.doc_id for scored in run] == ["a", "b", "c"]
    for doc_id, expected in {"a": 1.0, "b": 1 / 2, "c": 1 / 3}.items():
        found = ir_measures.calc_aggregate([ir_measures.RR], [ir_measures.Qrel("q", doc_id, 1)], run)
        assert found[ir_measures.RR] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("q Q0 d 1 0.5\n", "r.trec:1: 5 columns"),
        ("q 0 d 1 0.5 t\n", "r.trec:1: second column '0'"),
        ("q Q0 d 1 0.5 t\nq Q0 e 3 0.4 t\n", "r.trec:2: rank 3 where 2 is due"),
        ("q Q0 d 1 0.5 t\nq Q0 e 2 0.6 t\n", "r.trec:2: the score rises"),
        ("q Q0 d 1 0.5 t\nq Q0 d 2 0.4 t\n", "r.trec:2: document d occurs twice"),
        ("q Q0 d 1 0.5 t\np Q0 d 1 0.5 t\nq Q0 e 1 0.5 t\n", "r.trec:3: query q began before"),
        ("q Q0 d one 0.5 t\n", "r.trec:1: invalid literal"),
        ("q Q0 d 1 nan t\n", "r.trec:1: score nan"),
        ("\n", "r.trec:1: 0 columns"),
    ],
)
def test_bad_runs_are_named_by_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "r.trec"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=complaint):
        list(read_run(path))
