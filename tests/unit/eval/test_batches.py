"""Batches: input read strictly, output taken up again, nothing mixed."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.outputs import OverwritePolicy
from eval.batches import BadLine, BatchQuestion, Output, read_questions
from rag.errors import UsageError

MANIFEST = {"schema": "rag.batch/1", "settings": {"search": {"top_k": 5}}}
Q1 = BatchQuestion(1, "q1", "What?", ("a", "b"))
Q2 = BatchQuestion(2, "q2", "Where?")


def _shape(question: BatchQuestion) -> dict[str, Any]:
    return {"schema": "rag.ask/1", "question_id": question.question_id, "answer": "\u2028\udce9"}


def _output(path: Path, manifest: dict[str, Any] | None = None, *, force: bool = False) -> Output:
    return Output(path, manifest or MANIFEST, "question_id", OverwritePolicy(force))


def _fill(path: Path, *questions: BatchQuestion) -> None:
    with _output(path) as output:
        for question in output.check(questions):
            output.append(question, _shape(question))


def test_good_and_bad_lines_are_distinguished(tmp_path) -> None:
    path = tmp_path / "q.jsonl"
    lines = [
        b'\xef\xbb\xbf{"_id": "a", "text": "What?", "options": ["x", "y"], "metadata": {}}',
        b"",
        b'{"question_id": 7, "question": "Where?"}',
        b"{not json",
        b'["a list"]',
        b'{"_id": "b"}',
        b'{"text": "no id"}',
        b'{"_id": true, "text": "no id"}',
        b'{"_id": "c", "text": "x", "options": "x"}',
        b'{"_id": "a", "text": "again"}',
        b'{"_id": "d", "text": "\xff"}',
        b'{"_id": "e", "text": "\\ud800"}',
        b"[" * 100_000,
        b'{"_id": "f", "text": "last, without line end"}',
    ]
    path.write_bytes(b"\n".join(lines))
    entries = list(read_questions(path))
    assert [entry for entry in entries if isinstance(entry, BatchQuestion)] == [
        BatchQuestion(1, "a", "What?", ("x", "y")),
        BatchQuestion(3, "7", "Where?"),
        BatchQuestion(14, "f", "last, without line end"),
    ]
    bad = {entry.line: entry.reason for entry in entries if isinstance(entry, BadLine)}
    assert list(bad) == [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert bad[10] == "id 'a' is in line 1 already"
    assert bad[11].startswith("not UTF-8 at byte")


@pytest.mark.parametrize("document", ["[\n%s,\n%s\n]"])
def test_one_json_document_is_no_lines(tmp_path, document: str) -> None:
    rows = ['{"qid": 133, "question": "Where?"}', '{"qid": 134, "question": "Who?"}']
    path = tmp_path / "wikihow.json"
    path.write_text(document % tuple(rows), encoding="utf-8-sig")
    with pytest.raises(UsageError, match="one JSON document; write an object a line, as jq"):
        list(read_questions(path))
    path.write_text("\n".join(rows), encoding="utf-8")
    assert list(read_questions(path)) == [BatchQuestion(1, "133", "Where?"), BatchQuestion(2, "134", "Who?")]


@pytest.mark.parametrize("cut", [2, 40])
def test_half_a_line_is_cut_off_and_asked_again(tmp_path, cut: int) -> None:
    path = tmp_path / "a.jsonl"
    _fill(path, Q1, Q2)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    _fill(path, Q1, Q2)
    assert path.read_bytes() == whole


def test_other_words_and_missing_questions_are_refused(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    _fill(path, Q1)
    with _output(path) as output:
        with pytest.raises(UsageError, match=r"words of 'q1' \(line 4\) have changed"):
            output.check([BatchQuestion(4, "q1", "What?", ("b", "a"))])
        with pytest.raises(UsageError, match="'q1', which is no longer asked"):
            output.check([Q2])


def test_force_empties_what_was_made_otherwise_and_takes_up_what_was_not(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    _fill(path, Q1)
    other = {"schema": "rag.batch/1", "settings": {"search": {"top_k": 3}}}
    with _output(path, force=True) as output:
        assert output.check([Q1, Q2]) == [Q2]
    with _output(path, other, force=True) as output:
        assert output.check([Q1]) == [Q1]
        output.append(Q1, _shape(Q1))
    with _output(path, other, force=True) as output:
        assert output.check([Q2]) == [Q2]
        output.append(Q2, _shape(Q2))
    assert [json.loads(line)["question_id"] for line in path.read_text().splitlines()] == ["q2"]
    with _output(path, other) as output:
        assert output.check([Q2]) == []


def test_two_runs_never_write_one_file(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    with _output(path) as output:
        with pytest.raises(UsageError, match="another run is writing it"), _output(path):
            pass
        output.append(Q1, _shape(Q1))
    _fill(path, Q1, Q2)
    assert path.read_bytes().count(b"\n") == 2
