"""Event lists, passages and benchmark folders from outside that are not what they should be."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from corpora.records import Clip
from eval.tasks.egofact.construction.sources import (
    TRUTH,
    read_ego4d,
    read_ego4dsounds,
    read_passages,
    read_workbench,
)
from eval.tasks.egofact.files import load_egofact, write_folder
from eval.tasks.egofact.records import ClipRow
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.task import open_mini
from rag.errors import UsageError
from rag.settings import Settings
from tests.fakes.egofact_world import ONE_HOP

HEAD = "video_uid\tclip_start\tclip_end\tclip_text\n"
TEXT = "#C C picks the cup from the table"


def refused(folder: Path, name: str, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    with pytest.raises(UsageError) as caught:
        read_ego4d(folder, 30.0)
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (f"a\tnan\t2\t{TEXT}\n", "sounds.tsv:2: clip_start or clip_end is no number"),
        (f"a\t1\tinf\t{TEXT}\n", "sounds.tsv:2: clip_start or clip_end is no number"),
        (f"a\t1e300\t1e301\t{TEXT}\n", "times of more than 100 hours"),
        ("a\t1\n", "sounds.tsv:2: clip_start or clip_end is no number"),
    ],
)
def test_rows_that_are_no_rows(tmp_path: Path, rows: str, why: str) -> None:
    assert why in refused(tmp_path, "sounds.tsv", HEAD + rows)


def test_a_table_without_a_column(tmp_path: Path) -> None:
    assert "no tab-separated column 'clip_end'" in refused(
        tmp_path, "sounds.tsv", "video_uid\tclip_start\tclip_text\n"
    )


def test_tables_as_other_systems_write_them(tmp_path: Path) -> None:
    path = tmp_path / "sounds.csv"
    rows = f"a\t1\t2\t{TEXT}\u2028{'x' * 200_000}\n\t1\t2\t{TEXT}\nb\t3\t4\t{TEXT}\n"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + rows).replace("\n", "\r\n").encode())
    assert [(row.video_uid, row.start) for row in read_ego4dsounds(path)] == [("a", 1.0), ("b", 3.0)]


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",
        "[" * 100_000,
        "[]",
        '{"a": 3}',
        '{"a": {"narration_pass_1": {"narrations": 5}}}',
        '{"a": {"narration_pass_1": {"narrations": ["x"]}}}',
        '{"a": {"narration_pass_1": {"narrations": [{"timestamp_sec": NaN, "narration_text": "x"}]}}}',
        '{"a": {"narration_pass_1": {"narrations": [{"timestamp_sec": 1e12, "narration_text": "C cuts"}]}}}',
        '{"a": {"narration_pass_1": [1]}, "b": 3}',
    ],
)
def test_narrations_that_are_none(tmp_path: Path, content: str | bytes) -> None:
    assert refused(tmp_path, "narration.json", content)


@pytest.mark.parametrize(
    "content",
    ['{"videos": 3}', '{"videos": ["a"]}', "{}", '{"videos": [{"video_uid": "a", "duration_sec": 1e15}]}'],
)
def test_metadata_that_are_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "sounds.tsv").write_text(f"{HEAD}a\t1\t2\t{TEXT}\n", encoding="utf-8")
    (tmp_path / "ego4d.json").write_text(content, encoding="utf-8")
    with pytest.raises(UsageError):
        read_ego4d(tmp_path, 30.0, scenarios=())


def test_passages_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "passages.jsonl"
    line = '{"_id": "p", "text": "one\u2028two"}\n'
    path.write_text("\ufeff" + line, encoding="utf-8")
    assert [passage.passage_id for passage in read_passages(path)] == ["p"]
    path.write_text(line + line, encoding="utf-8")
    with pytest.raises(UsageError, match=r"passages\.jsonl:2: _id 'p' is in an earlier line"):
        read_passages(path)
    path.write_bytes(b"\xff\n")
    with pytest.raises(UsageError, match="cannot be read"):
        read_passages(path)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"clutter": [{"kind_id": "nothing"}]}, "the world knows no thing called 'nothing'"),
        ({"duration": 1e15}, "times of more than 100 hours"),
        ({"duration": float("inf")}, "not a clip's events"),
    ],
)
def test_truths_of_no_clip(tmp_path: Path, change: dict[str, object], why: str) -> None:
    path = tmp_path / TRUTH
    path.parent.mkdir()
    path.write_text(
        json.dumps({"video": "a.mp4", "description": "", "events": []} | change), encoding="utf-8"
    )
    with pytest.raises(UsageError, match=why):
        read_workbench(tmp_path, 30.0)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"seed": ' + "9" * 5000 + "}", "\0"])
def test_manifests_of_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read as JSON"):
        load_egofact(tmp_path)


def test_another_benchmark_does_not_pass_for_this_one(tmp_path: Path) -> None:
    manifest = {"name": "egofact-workbench", "split": "test", "seed": 7}
    clips = [ClipRow(ONE_HOP.clip_id, "a.mp4", 0.0, 30.0, "a room")]
    write_folder(tmp_path, clips, (), (ONE_HOP,), (), manifest)
    with pytest.raises(UsageError, match="holds egofact-workbench, not egofact-workbench-mini"):
        open_mini(tmp_path).prepare(Settings())
    assert len(load_egofact(tmp_path).queries) == 1


def test_nothing_is_rendered_among_other_files(tmp_path: Path) -> None:
    (tmp_path / "holiday.mp4").write_bytes(b"real")
    with pytest.raises(UsageError, match="holds other files; name a new or empty folder with --data DIR"):
        open_mini(tmp_path).prepare(Settings())
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.mp4"]
    with pytest.raises(UsageError, match="is a file; name a folder"):
        open_mini(tmp_path / "holiday.mp4").prepare(Settings())


def test_a_corpus_moved_after_indexing_is_looked_at_where_it_is(tmp_path: Path) -> None:
    gone, here = str(tmp_path / "gone.mp4"), tmp_path / "here.mp4"
    here.touch()
    reader = SimpleNamespace(paths=lambda _: [gone, str(here)])
    library = SimpleNamespace(engine=SimpleNamespace(reader=reader))
    corpus = Corpus((), tmp_path, library)  # type: ignore[arg-type]  # only its clips are looked for
    clip = Clip("c", "v", 0.0, 30.0)
    assert corpus.path(clip) == corpus.path(clip, gone) == str(here)
    here.unlink()
    assert corpus.path(clip) == gone
