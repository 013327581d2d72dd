"""The benchmark's files: what is written is read back, and each fault is one clear line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.identity import file_sha256
from eval.tasks.egofact.files import load_egofact, write_folder
from eval.tasks.egofact.records import ClipRow, PassageRow
from rag.errors import UsageError
from tests.fakes.egofact_world import ONE_HOP, TWO_HOP

CLIPS = [ClipRow("a:00000", "videos/a.mp4", 0.0, 30.0, "a shed with a red globe")]
PASSAGES = [PassageRow(f"p{at}", "How to", f"Text {at} ü.", "mug", "work") for at in range(3)]
MANIFEST = {"name": "egofact-test", "split": "test", "seed": 3, "counts": {"queries": 2}}


def _write(folder: Path, queries=(ONE_HOP, TWO_HOP), candidates=(ONE_HOP,)) -> Path:
    write_folder(folder, CLIPS, PASSAGES, queries, candidates, MANIFEST)
    return folder


def _seal(folder: Path) -> None:
    """The manifest of someone who means the files as they are."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["hashes"] = {name: file_sha256(folder / name) for name in manifest["hashes"]}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def _faults(folder: Path) -> list[str]:
    with pytest.raises(UsageError) as caught:
        load_egofact(folder)
    return str(caught.value).splitlines()


def test_what_is_written_is_read_back(tmp_path):
    read = load_egofact(_write(tmp_path))
    assert (read.name, read.split, read.seed) == ("egofact-test", "test", 3)
    assert read.clips == tuple(CLIPS)
    assert read.passages == tuple(PASSAGES)
    assert read.queries == (ONE_HOP, TWO_HOP)
    assert read.candidates == (ONE_HOP,)
    assert read.manifest["counts"] == {"queries": 2}
    assert read.queries[0].unshuffled == "AFBCDE"


def test_the_same_rows_are_the_same_bytes(tmp_path):
    one, two = _write(tmp_path / "one"), _write(tmp_path / "two")
    names = sorted(path.name for path in one.iterdir())
    assert names == ["candidates.jsonl", "manifest.json", "passages.jsonl", "queries.jsonl", "videos.jsonl"]
    assert [(one / name).read_bytes() for name in names] == [(two / name).read_bytes() for name in names]


def test_files_from_outside_may_lack_the_candidates(tmp_path):
    _write(tmp_path)
    (tmp_path / "candidates.jsonl").unlink()
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    del manifest["hashes"]["candidates.jsonl"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert load_egofact(tmp_path).candidates == ()


def test_a_changed_file_is_not_the_one_of_the_manifest(tmp_path):
    _write(tmp_path)
    path = tmp_path / "videos.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("red", "blue"), encoding="utf-8")
    (fault,) = _faults(tmp_path)
    assert fault == f"{path}: not the file that the manifest was written for (another SHA-256)"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"answer": "A"}, "truth says another option than the answer A"),
        ({"answer": "G"}, "answer: String should match pattern"),
        ({"order": [5, 0, 1, 2, 3, 4]}, "order does not bring F, the right option, to B"),
        ({"order": [0, 5, 1, 2, 3, 3]}, "order [0, 5, 1, 2, 3, 3] is no permutation of 0 to 5"),
        ({"options": ["a", "b"]}, "options: Tuple should have at least 6 items"),
        ({"options": ["a", "b", "c", "d", "e", "a"]}, "two options are the same"),
        ({"video": "z"}, "video 'z' is in no line of videos.jsonl"),
        ({"window": [1.0, 31.0]}, "window [1.0, 31.0] is outside its clip"),
        ({"window": [3.0, 3.0]}, "window [3.0, 3.0] is empty"),
        ({"window": ["1", 3.0]}, "window.0: Input should be a valid number"),
        ({"family": "global"}, "family: Input should be 'local-1hop'"),
        ({"position": "within"}, "family temporal-1hop with position within and anchor (4.0, 6.0)"),
        ({"passage": "p0"}, "a one-hop query names a passage"),
        ({"family": "temporal-2hop"}, "the gold passage is not that of the right option"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"text": None}, "text: Input should be a valid string"),
    ],
)
def test_a_fault_in_a_query_is_one_line(tmp_path, change, fault):
    path = _write(tmp_path) / "queries.jsonl"
    first, second = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{json.dumps({**json.loads(first), **change})}\n{second}\n", encoding="utf-8")
    _seal(tmp_path)
    (line,) = _faults(tmp_path)
    assert line.startswith(f"{path}:1: {fault}")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"path": "~/a.mp4"}, "path '~/a.mp4' is not relative to this folder"),
        ({"path": "/a.mp4"}, "path '/a.mp4' is not relative to this folder"),
        ({"start": 30.0}, "start 30.0 is not before end 30.0"),
        ({"end": float("nan")}, "end: Input should be a finite number"),
    ],
)
def test_a_fault_in_a_clip_is_one_line(tmp_path, change, fault):
    path = _write(tmp_path, queries=()) / "videos.jsonl"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="utf-8")
    _seal(tmp_path)
    assert _faults(tmp_path)[0].startswith(f"{path}:1: {fault}")


def test_every_fault_has_its_line(tmp_path):
    path = _write(tmp_path, queries=(ONE_HOP, ONE_HOP, replace(TWO_HOP, option_passages=("p9",) * 6)))
    queries = path / "queries.jsonl"
    queries.write_text(queries.read_text(encoding="utf-8") + "nonsense\n[]\n", encoding="utf-8")
    _seal(tmp_path)
    faults = _faults(tmp_path)
    assert [fault.removeprefix(f"{queries}:").partition(":")[0] for fault in faults] == ["3", "4", "5", "2"]
    assert "_id 'q1' is in line 1 already" in faults[-1]


def test_a_passage_that_is_not_there_is_named(tmp_path):
    gone = replace(TWO_HOP, option_passages=("p9", "p2", "p0", "p1", "p1", "p2"))
    _write(tmp_path, queries=(gone,))
    assert _faults(tmp_path) == [f"{tmp_path}/queries.jsonl:1: passage 'p9' is in no line of passages.jsonl"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"name": "a", "split": "b", "seed": "1", "hashes": {"x": "y"}}']
)
def test_a_manifest_that_is_none_is_said_so(tmp_path, text):
    (_write(tmp_path) / "manifest.json").write_text(text, encoding="utf-8")
    (fault,) = _faults(tmp_path)
    assert fault.startswith(f"{tmp_path}/manifest.json: ")


def test_an_unfinished_folder_is_no_benchmark(tmp_path):
    (fault,) = _faults(tmp_path)
    assert "no such file; this is no finished benchmark folder" in fault


def test_a_manifest_names_files_of_its_folder_only(tmp_path):
    _write(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    manifest["hashes"] = {"../x": "0" * 64}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    faults = _faults(tmp_path)
    assert any("'../x' is no file of this folder" in fault for fault in faults)
    assert any("names no hash of queries.jsonl" in fault for fault in faults)
