"""The benchmark's files: what is written is read back, and each fault is one clear line."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from corpora.identity import file_sha256
from corpora.records import Clip
from eval.tasks.egofact.dataset import (
    HARD,
    HARD_DEV,
    HARD_MINI,
    MINI_SIZE,
    PAPER_SIZE,
    Workbench,
    load_egofact,
    write_data,
    write_folder,
)
from eval.tasks.egofact.records import ClipRow, PassageRow
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.task import open_mini
from eval.workbench.jobs import video_jobs
from rag.errors import UsageError
from rag.settings import Settings
from tests.fakes.egofact_world import ONE_HOP, TWO_HOP

CLIPS = [ClipRow("a:00000", "videos/a.mp4", 0.0, 30.0, "a shed with a red globe")]
PASSAGES = [PassageRow(f"p{at}", "How to", f"Text {at} ü.", "mug", "work") for at in range(3)]
MANIFEST = {"name": "egofact-test", "split": "test", "seed": 3, "counts": {"queries": 2}}


def _write(folder: Path, queries=(ONE_HOP, TWO_HOP)) -> Path:
    write_folder(folder, CLIPS, PASSAGES, queries, MANIFEST)
    return folder


def _seal(folder: Path) -> None:
    """The manifest of someone who means the files as they are."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["hashes"] = {name: file_sha256(folder / name) for name in manifest["hashes"]}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def _fault(folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_egofact(folder)
    return str(caught.value)


def test_what_is_written_is_read_back(tmp_path):
    read = load_egofact(_write(tmp_path))
    assert read.name == "egofact-test"
    assert read.clips == tuple(CLIPS)
    assert read.passages == tuple(PASSAGES)
    assert read.queries == (ONE_HOP, TWO_HOP)


def test_a_changed_file_is_not_the_one_of_the_manifest(tmp_path):
    _write(tmp_path)
    path = tmp_path / "videos.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("red", "blue"), encoding="utf-8")
    assert _fault(tmp_path) == f"{path}: not the file that the manifest was written for (another SHA-256)"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"answer": "A"}, "1: not a Query: row: truth says another option than the answer A"),
        ({"order": [5, 0, 1, 2, 3, 4]}, "1: not a Query: row: order does not bring F, the right option"),
        ({"video": "z"}, " q1: video 'z' is in no line of videos.jsonl"),
        ({"window": [1.0, 31.0]}, " q1: window [1.0, 31.0] is outside its clip"),
        ({"position": "within"}, "1: not a Query: row: family temporal-1hop with position within and anchor"),
        ({"family": "temporal-2hop"}, "1: not a Query: row: the gold passage is not that of"),
        ({"_id": "q2"}, " two lines have the _id 'q2'"),
        ({"_id": 3}, "1: not a Query: _id: Input should be a valid string"),
    ],
)
def test_a_fault_in_a_query_is_one_line(tmp_path, change, fault):
    path = _write(tmp_path) / "queries.jsonl"
    first, second = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{json.dumps({**json.loads(first), **change})}\n{second}\n", encoding="utf-8")
    _seal(tmp_path)
    assert _fault(tmp_path).startswith(f"{path}:{fault}")


@pytest.mark.parametrize("text", ["", '{"name": "a", "split": "b", "seed": "1", "hashes": {"x": "y"}}'])
def test_a_manifest_that_is_none_is_said_so(tmp_path, text):
    (_write(tmp_path) / "manifest.json").write_text(text, encoding="utf-8")
    assert _fault(tmp_path).startswith(f"{tmp_path}/manifest.json: ")


def test_another_benchmark_does_not_pass_for_this_one(tmp_path) -> None:
    manifest = {"name": "egofact-workbench", "split": "test", "seed": 7}
    clips = [ClipRow(ONE_HOP.clip_id, "a.mp4", 0.0, 30.0, "a room")]
    write_folder(tmp_path, clips, (), (ONE_HOP,), manifest)
    with pytest.raises(UsageError, match="holds egofact-workbench, not egofact-workbench-mini"):
        open_mini(tmp_path).prepare(Settings())
    assert len(load_egofact(tmp_path).queries) == 1


def test_nothing_is_rendered_among_other_files(tmp_path) -> None:
    (tmp_path / "holiday.mp4").write_bytes(b"real")
    with pytest.raises(UsageError, match="holds other files; name a new or empty folder with --data DIR"):
        open_mini(tmp_path).prepare(Settings())
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.mp4"]
    with pytest.raises(UsageError, match="is a file; name a folder"):
        open_mini(tmp_path / "holiday.mp4").prepare(Settings())


def test_a_corpus_moved_after_indexing_is_looked_at_where_it_is(tmp_path) -> None:
    gone, here = str(tmp_path / "gone.mp4"), tmp_path / "here.mp4"
    here.touch()
    reader = SimpleNamespace(paths=lambda _: [gone, str(here)])
    library = SimpleNamespace(engine=SimpleNamespace(reader=reader))
    corpus = Corpus((), tmp_path, library)
    clip = Clip("c", "v", 0.0, 30.0)
    assert corpus.path(clip) == corpus.path(clip, gone) == str(here)
    here.unlink()
    assert corpus.path(clip) == gone


@pytest.mark.parametrize(
    ("made", "queries"),
    [(PAPER_SIZE, 396), (MINI_SIZE, 40), (HARD, 396), (HARD_DEV, 396), (HARD_MINI, 18)],
    ids=lambda each: each.drafted.name if isinstance(each, Workbench) else str(each),
)
def test_the_questions_are_about_the_clips_that_are_rendered(tmp_path, made, queries):
    """And the files are those that all reports were made with."""
    before = json.loads((made.drafted / "manifest.json").read_text(encoding="utf-8"))
    write_data(tmp_path, made)
    read = load_egofact(tmp_path)
    assert read.hashes == before["hashes"]
    assert len(read.queries) == queries
    jobs = {f"corpus/videos/{job.name}": job for job in video_jobs(made.plan)}
    paths = {clip.clip_id: clip.path for clip in read.clips}
    assert set(paths.values()) <= set(jobs)
    for query in read.queries:
        events = jobs[paths[query.clip_id]].clip().events
        assert query.window in [(event.start, event.end) for event in events]
