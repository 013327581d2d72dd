"""Run folders: what is in them, what resumes them, what is skipped, and what is refused."""

import json
from pathlib import Path
from typing import Any, TextIO

import pytest

from eval import resumable
from eval.reports.page import write_report
from eval.runs.folder import folder_name, read_run_folder
from eval.runs.records import Output, UnusableRow, skip_reason
from eval.runs.runner import score_again
from eval.tasks import open_task, task_names
from rag.errors import BudgetSpent, DamagedFile, RagError, ReasonerUnreachable, ReplyInvalid, UsageError
from rag.records import Usage
from rag.settings import Settings
from tests.fakes.toy_benchmark import ToyInput, ToyTask, run_task

SAME = ("queries.jsonl", "samples.jsonl", "results.json")


def answers(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME}


def test_a_run_folder_holds_all_that_a_score_needs(tmp_path) -> None:
    done = run_task(ToyTask(), "localized", 7, tmp_path / "run")
    assert (done.asked, done.kept) == (40, 0)
    run = read_run_folder(tmp_path / "run")
    assert run.complete
    assert run.identity["seed"] == 7
    assert run.identity["settings"] == {"skill": 0.6}
    session = run.manifest["sessions"][0]
    assert session["packages"]["numpy"]
    assert session["machine"]["cores"] >= 1
    assert set(session) == {"commit", "packages", "machine"}
    results = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    accuracy = results["figures"]["accuracy"]["overall"]
    assert accuracy["n"] == 40
    assert accuracy["low"] < accuracy["value"] < accuracy["high"]
    assert accuracy["value"] == pytest.approx(done.right / 40, abs=1e-6)
    assert results["figures"]["passage success@6"]["overall"]["n"] == 20
    pairs = zip(run.queries, run.samples, strict=True)
    found = sum(query.video in [clip.clip_id for clip in sample.clips[:5]] for query, sample in pairs)
    assert 0 < found < 40
    assert results["figures"]["clip success@5"]["overall"]["value"] == pytest.approx(found / 40)
    assert "seconds" not in (tmp_path / "run" / "samples.jsonl").read_text(encoding="utf-8")


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(tmp_path) -> None:
    for name, seed in (("first", 0), ("second", 0), ("third", 1)):
        run_task(ToyTask(count=12), "no-localization", seed, tmp_path / name)
    assert answers(tmp_path / "first") == answers(tmp_path / "second")
    assert answers(tmp_path / "first")["samples.jsonl"] != answers(tmp_path / "third")["samples.jsonl"]


def test_what_is_half_done_is_taken_up(tmp_path) -> None:
    task = ToyTask(count=16)
    for name in ("whole", "part"):
        run_task(task, "localized", 0, tmp_path / name)
    samples = tmp_path / "part" / "samples.jsonl"
    lines = samples.read_bytes().splitlines(keepends=True)
    samples.write_bytes(b"".join(lines[:5]) + lines[5][:9])
    for asked_again, kept in ((11, 5), (0, 16)):
        done = run_task(task, "localized", 0, tmp_path / "part")
        assert (done.asked, done.kept) == (asked_again, kept)
        assert answers(tmp_path / "part") == answers(tmp_path / "whole")


def test_other_settings_and_data_are_refused(tmp_path) -> None:
    wanted: dict[str, Any] = {"name": "localized", "seed": 0, "limit": None}
    changed = ToyTask(count=8)
    changed.dataset = {**changed.dataset, "videos.jsonl": "other"}
    run_task(ToyTask(count=8), folder=tmp_path / "run", **wanted)
    for change, why in (
        ({"name": "no-localization"}, "system was"),
        ({"seed": 1}, "seed was 0, is 1"),
        ({"limit": 5}, "limit was"),
    ):
        with pytest.raises(UsageError, match=why):
            run_task(ToyTask(count=8), folder=tmp_path / "run", **(wanted | change))
    with pytest.raises(UsageError, match=r'dataset.videos.jsonl was "def", is "other".*name another folder'):
        run_task(changed, folder=tmp_path / "run", **wanted)


def test_a_larger_limit_goes_on_with_the_run(tmp_path) -> None:
    whole, grown = tmp_path / "whole", tmp_path / "grown"
    run_task(ToyTask(count=8), "localized", 0, whole)
    for limit, kept in ((2, 0), (5, 2), (None, 5)):
        assert run_task(ToyTask(count=8), "localized", 0, grown, limit=limit).kept == kept
    assert answers(grown) == answers(whole)
    for name in ("queries.jsonl", "results.json", "manifest.json"):
        assert (grown / name).read_bytes() == (whole / name).read_bytes()


def test_folders_that_were_changed_by_hand_are_refused(tmp_path) -> None:
    run = tmp_path / "run"
    run_task(ToyTask(), "localized", 0, run)
    whole = {path: path.read_bytes() for path in run.iterdir()}

    def refused(name: str, content: bytes, why: str) -> None:
        (run / name).write_bytes(content)
        with pytest.raises(UsageError, match=why):
            read_run_folder(run)
        for path, kept in whole.items():
            path.write_bytes(kept)

    lines = whole[run / "samples.jsonl"].splitlines(keepends=True)
    refused("samples.jsonl", b"".join([lines[1], lines[0], *lines[2:]]), "samples.jsonl:1: answers 'q001'")
    refused("samples.jsonl", b"".join([*lines, lines[0]]), "where 'no more' is due")
    refused("samples.jsonl", b'{"query_id": 3}\n', "samples.jsonl:1: no sample: query_id")
    refused(
        "queries.jsonl", whole[run / "queries.jsonl"].replace(b"event 3?", b"event 4?"), "their hash differs"
    )
    refused("manifest.json", b"{}", "no manifest of schema")
    with pytest.raises(UsageError, match="no run of 'rag eval run'"):
        read_run_folder(tmp_path)
    (run / "manifest.json").unlink()
    with pytest.raises(UsageError, match="is not empty"):
        run_task(ToyTask(), "localized", 0, run)


def test_a_second_writer_is_refused(tmp_path) -> None:
    class Nested(ToyTask):
        def _open(self, name: str, _: None, seed: int) -> Any:
            outer = super()._open(name, _, seed)

            class Inner:
                settings = outer.settings

                def solve(self, asked: ToyInput) -> Output:
                    with pytest.raises(UsageError, match="another run is writing it"):
                        run_task(ToyTask(), "localized", 0, tmp_path / "run")
                    solved: Output = outer.solve(asked)
                    return solved

            return Inner()

    run_task(Nested(), "localized", 0, tmp_path / "run", limit=1)


def test_a_query_without_a_usable_answer_is_one_wrong_sample_and_the_run_goes_on(tmp_path) -> None:
    unread, spent = ReplyInvalid("no usable reply"), BudgetSpent("30 calls")
    unread.usage = Usage(calls=3, prompt_tokens=70, completion_tokens=5, image_tokens=30)
    run_task(ToyTask(failures={"q003": unread, "q004": spent}), "localized", 0, tmp_path / "run")
    run_task(ToyTask(), "localized", 0, tmp_path / "undisturbed")
    lines = (tmp_path / "run" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    others = (tmp_path / "undisturbed" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    assert [at for at, line in enumerate(lines) if line != others[at]] == [3, 4]
    first, second = read_run_folder(tmp_path / "run").samples[3:5]
    assert (first.choice, first.correct, first.parse_failure, first.tokens["prompt"]) == (
        None,
        False,
        True,
        40,
    )
    # The images are a part of the prompt, and not counted twice.
    assert sum(first.tokens.values()) == 75
    assert (second.correct, second.parse_failure, second.evidence["failure"]) == (False, False, "BudgetSpent")
    (page, *_) = write_report([tmp_path / "run"], tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    assert "Queries without a usable answer" in text
    assert "| localized | 2.5" in text.split("Queries without a usable answer")[1]


def test_tasks_are_found_by_entry_point_or_by_factory(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_task("tests.fakes.toy_benchmark:open_toy").name == "toy"
    for name in task_names():
        task = open_task(name)
        assert task.name == name
        assert task.about
        assert all(spec.about for spec in task.solvers.values())
        assert not list(tmp_path.iterdir()), "nothing is made when a task is opened"
    assert "egofact-workbench" in task_names()
    for name, why in (
        ("nothing", "no benchmark 'nothing'; there are browsecomp"),
        ("no_such_module:make", "cannot be loaded: No module named"),
        ("tests.fakes.toy_benchmark:gone", "cannot be loaded"),
        ("tests.fakes.toy_benchmark:stable_random", "gives a Random, not an eval.task.Task"),
    ):
        with pytest.raises(UsageError, match=why):
            open_task(name)
    assert folder_name("video-split 5/s", 3) == "video-split_5_s-seed3"


class FullDisk:
    """A file that takes five lines."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.left = stream, 5

    def write(self, line: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device", self.stream.name)
        self.stream.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def test_a_full_disk_loses_no_answer(tmp_path, monkeypatch) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path / "whole", limit=8)
    opened = resumable.open_locked
    with monkeypatch.context() as patch:
        patch.setattr(resumable, "open_locked", lambda *named: FullDisk(opened(*named)))
        with pytest.raises(RagError, match=r"samples\.jsonl: no space left on device; run it again"):
            run_task(ToyTask(), "localized", 0, tmp_path / "torn", limit=8)
    done = run_task(ToyTask(), "localized", 0, tmp_path / "torn", limit=8)
    assert done.kept == 5
    assert answers(tmp_path / "whole") == answers(tmp_path / "torn")


KEPT = ("samples.jsonl", "results.json", "unusable.jsonl")
GONE = {"q002": "video missing: a", "q003": "video unreadable: b: empty, 0 bytes", "q007": "video missing: c"}
UNUSABLE = (
    UnusableRow("test.json:3", "no answer: 'E' is none of 4 options"),
    UnusableRow("test.json:9", "no video"),
)


def _bytes(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in KEPT}


def _task(skipped: dict[str, str], count: int = 8) -> ToyTask:
    task = ToyTask(count=count)
    task.skipped, task.unusable = skipped, UNUSABLE
    return task


def test_skipped_queries_count_nowhere_and_are_named(tmp_path) -> None:
    done = run_task(_task(GONE), "localized", 0, tmp_path / "run")
    assert (done.asked, done.skipped) == (8, 3)
    results = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    assert results["figures"]["accuracy"]["overall"]["n"] == 5
    assert results["figures"]["parse failures"]["overall"]["n"] == 5
    assert results["skipped"] == {"n": 3, "reasons": {"video missing": 2, "video unreadable": 1}}
    assert results["unusable rows"] == {"n": 2, "reasons": {"no answer": 1, "no video": 1}}
    write_report([tmp_path / "run"], tmp_path / "report")
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| localized | 5 | 2 | video missing | a; c |" in page
    assert "| localized | 5 | 1 | video unreadable | b: empty, 0 bytes |" in page
    assert "'E' is none of 4 options: test.json:3" in page


def test_a_second_run_changes_no_byte_and_a_video_that_appears_is_asked(tmp_path) -> None:
    run_task(_task({}), "localized", 0, tmp_path / "whole")
    run_task(_task(GONE), "localized", 0, tmp_path / "run")
    first = _bytes(tmp_path / "run")
    assert run_task(_task(GONE), "localized", 0, tmp_path / "run").asked == 0
    assert _bytes(tmp_path / "run") == first
    # The run ends while the queries that can be asked now are.
    task = _task({"q003": GONE["q003"]})
    task.failures = {"q007": ReasonerUnreachable("down")}
    with pytest.raises(ReasonerUnreachable):
        run_task(task, "localized", 0, tmp_path / "run")
    held = read_run_folder(tmp_path / "run").samples
    assert [bool(skip_reason(sample)) for sample in held] == [n in (3, 7) for n in range(8)]
    assert run_task(_task({}), "localized", 0, tmp_path / "run").asked == 2
    assert _bytes(tmp_path / "run") == _bytes(tmp_path / "whole")


def test_a_video_that_breaks_while_it_is_read_is_skipped_and_tried_again(tmp_path) -> None:
    task = _task({})
    task.failures = {"q004": DamagedFile("no frame can be decoded")}
    run_task(task, "localized", 0, tmp_path / "run")
    held = read_run_folder(tmp_path / "run").samples
    assert skip_reason(held[4]).startswith("video unreadable: ")
    first = _bytes(tmp_path / "run")
    assert run_task(task, "localized", 0, tmp_path / "run").asked == 1
    assert _bytes(tmp_path / "run") == first
    prepared = task.prepare(Settings())
    task.judge = "die"
    assert score_again(task, prepared, tmp_path / "run").samples[4] == held[4]
