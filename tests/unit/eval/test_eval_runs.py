"""Run folders: what is in them, what resumes them, and what is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from eval.reports.page import write_report
from eval.resumable import differences
from eval.runs.answering import answer_query
from eval.runs.folder import folder_name, read_run_folder
from eval.runs.records import (
    Output,
    PassageScore,
    Query,
    Sample,
    Score,
    canonical,
    check_sample,
    make_sample,
    output_of,
    query_line,
    read_whole_records,
    sample_line,
    score_of,
)
from eval.runs.runner import score_again, write_retrieval
from eval.task import ScorerOptions
from eval.tasks import open_task, task_names
from eval.trec import read_run
from rag.errors import BudgetSpent, RagError, ReasonerUnreachable, ReplyInvalid, UsageError
from rag.records import Usage
from rag.settings import Settings
from tests.fakes.toy_benchmark import ToyInput, ToyScore, ToyTask, make_queries, run_task

SAME = ("queries.jsonl", "samples.jsonl", "results.json", "clips.run.trec", "passages.run.trec")


def answers(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME}


def test_a_run_folder_holds_all_that_a_score_needs(tmp_path: Path) -> None:
    done = run_task(ToyTask(), "localized", 7, tmp_path / "run")
    assert (done.asked, done.kept) == (40, 0)
    run = read_run_folder(tmp_path / "run")
    assert run.complete
    assert run.identity["seed"] == 7
    assert run.identity["settings"]["window_seconds"] == 5.0
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
    timings = (tmp_path / "run" / "timings.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["query_id"] for line in timings][:2] == ["", "q000"]
    assert "seconds" not in (tmp_path / "run" / "samples.jsonl").read_text(encoding="utf-8")
    qrels = (tmp_path / "run" / "clips.qrels").read_text(encoding="utf-8").splitlines()
    assert qrels[0] == f"q000 0 {run.queries[0].video} 1"
    assert len({row.query_id for row in read_run(tmp_path / "run" / "clips.run.trec")}) == 40


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(tmp_path: Path) -> None:
    for name, seed in (("first", 0), ("second", 0), ("third", 1)):
        run_task(ToyTask(), "no-localization", seed, tmp_path / name)
    assert answers(tmp_path / "first") == answers(tmp_path / "second")
    assert answers(tmp_path / "first")["samples.jsonl"] != answers(tmp_path / "third")["samples.jsonl"]


@pytest.mark.parametrize("torn", [b"", b'{"query_id": "q013", "fam'])
def test_what_is_half_done_is_taken_up(tmp_path: Path, torn: bytes) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path / "whole")
    run_task(ToyTask(), "localized", 0, tmp_path / "part")
    samples = tmp_path / "part" / "samples.jsonl"
    lines = samples.read_bytes().splitlines(keepends=True)
    samples.write_bytes(b"".join(lines[:13]) + torn)
    done = run_task(ToyTask(), "localized", 0, tmp_path / "part")
    assert (done.asked, done.kept) == (27, 13)
    assert answers(tmp_path / "part") == answers(tmp_path / "whole")
    again = run_task(ToyTask(), "localized", 0, tmp_path / "part")
    assert (again.asked, again.kept) == (0, 40)
    assert answers(tmp_path / "part") == answers(tmp_path / "whole")


@pytest.mark.parametrize("torn", [b'{"query_id": "q0', b'{"query_id": "q000", "by_role": {}}\n{"que'])
def test_half_a_line_of_what_was_spent_is_dropped(tmp_path: Path, torn: bytes) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path)
    (tmp_path / "usage.jsonl").write_bytes(torn)
    run_task(ToyTask(), "localized", 0, tmp_path)
    assert (tmp_path / "usage.jsonl").read_bytes() in (b"", torn[: torn.rfind(b"\n") + 1])
    (tmp_path / "usage.jsonl").write_bytes(b"no JSON\n")
    with pytest.raises(UsageError, match=r"usage\.jsonl: cannot be read"):
        run_task(ToyTask(), "localized", 0, tmp_path)


class Changed(ToyTask):
    def __init__(self) -> None:
        super().__init__()
        self.dataset = {"queries.jsonl": "abc", "videos.jsonl": "other"}


def test_other_data_are_refused_by_name(tmp_path: Path) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path / "run")
    before = answers(tmp_path / "run")
    with pytest.raises(UsageError, match=r'dataset.videos.jsonl was "def", is "other".*name another folder'):
        run_task(Changed(), "localized", 0, tmp_path / "run")
    assert answers(tmp_path / "run") == before


def test_a_tampered_file_of_the_data_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "queries.jsonl").write_text("the questions\n", encoding="utf-8")
    run_task(ToyTask(data), "random", 0, tmp_path / "run")
    (data / "queries.jsonl").write_text("the questionz\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"it was made otherwise: dataset.queries.jsonl was"):
        run_task(ToyTask(data), "random", 0, tmp_path / "run")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": "no-localization"}, "system was"),
        ({"seed": 1}, "seed was 0, is 1"),
        ({"limit": 5}, "limit was"),
    ],
)
def test_other_settings_are_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    wanted: dict[str, Any] = {"name": "localized", "seed": 0, "limit": None}
    run_task(ToyTask(), folder=tmp_path / "run", **wanted)
    with pytest.raises(UsageError, match=why):
        run_task(ToyTask(), folder=tmp_path / "run", **(wanted | change))


def test_a_larger_limit_goes_on_with_the_run(tmp_path: Path) -> None:
    whole, grown = tmp_path / "whole", tmp_path / "grown"
    run_task(ToyTask(), "localized", 0, whole)
    for limit, kept in ((2, 0), (5, 2), (None, 5)):
        assert run_task(ToyTask(), "localized", 0, grown, limit=limit).kept == kept
    assert answers(grown) == answers(whole)
    for name in ("queries.jsonl", "results.json", "manifest.json"):
        assert (grown / name).read_bytes() == (whole / name).read_bytes()


def test_a_larger_limit_over_other_queries_is_refused(tmp_path: Path) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path, limit=2)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["identity"]["queries"] = "0" * 64
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(UsageError, match="limit was 2"):
        run_task(ToyTask(), "localized", 0, tmp_path)


def test_folders_that_were_changed_by_hand_are_refused(tmp_path: Path) -> None:
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
    with pytest.raises(UsageError, match="is not empty, and was not written by this program"):
        run_task(ToyTask(), "localized", 0, run)


def test_stored_outputs_are_scored_again_without_the_solver(tmp_path: Path) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path / "run")
    first = answers(tmp_path / "run")

    class Silent(ToyTask):
        def _open(self, name: str, _: None, seed: int) -> Any:
            raise AssertionError(f"{name} is opened with seed {seed}")

    task = Silent()
    prepared = task.prepare(Settings())
    again = score_again(task, prepared, tmp_path / "run", ScorerOptions("die", 0.9))
    assert again.identity["scorer"] == {"judge": "die", "threshold": 0.9}
    assert answers(tmp_path / "run")["samples.jsonl"] != first["samples.jsonl"]
    assert answers(tmp_path / "run")["clips.run.trec"] == first["clips.run.trec"]
    score_again(task, prepared, tmp_path / "run", ScorerOptions())
    assert answers(tmp_path / "run") == first
    with pytest.raises(UsageError, match="toy: no judge 'moon'; its judges are coin, die"):
        score_again(task, prepared, tmp_path / "run", ScorerOptions("moon"))


def test_a_run_that_was_scored_otherwise_is_not_resumed(tmp_path: Path) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path / "run")
    task = ToyTask()
    score_again(task, task.prepare(Settings()), tmp_path / "run", ScorerOptions("die"))
    with pytest.raises(UsageError, match=r'it was made otherwise: scorer.judge was "die", is "coin"'):
        run_task(task, "localized", 0, tmp_path / "run")


def test_a_score_is_read_back_from_its_sample() -> None:
    query = make_queries(1)[0]

    @dataclass(frozen=True)
    class Detailed(ToyScore):
        stage: str = ""
        hits: int | None = None

    output = Output(choice="B", evidence={"answer": "b"}, frames_read={query.video: (1.0,), "other": (2.0,)})
    score = Detailed(query.answer == "B", understood=True, stage="retriever", hits=0)
    sample = make_sample(query, output, score, (1.0, 2.0))
    assert (sample.understood, sample.gold_window_found, sample.gold_frames) == (True, (1.0, 2.0), (1.0,))
    assert sample.evidence == {"answer": "b", "stage": "retriever", "hits": 0}
    assert score_of(sample, Detailed) == score
    kept = output_of(sample, Detailed)
    assert kept == replace(output, frames_read={query.video: (1.0,)})
    with pytest.raises(ValueError, match="has no option 'G'"):
        make_sample(query, Output(choice="G"), Score(False))


def test_more_than_six_options_have_letters(tmp_path: Path) -> None:
    few = ToyTask(count=1)
    query = few.queries[0]
    options = tuple(f"thing {number}" for number in range(9))
    few.queries = (replace(query, options=options, answer="I", order=()),)
    run_task(few, "localized", 0, tmp_path / "run")
    (sample,) = read_run_folder(tmp_path / "run").samples
    assert sample.choice in [*"ABCDEFGHI"]
    assert sample.unshuffled_choice is None


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
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


def test_samples_that_contradict_their_query_are_bugs() -> None:
    query = make_queries(1)[0]
    sample = make_sample(query, Output(choice=query.answer, confidence=0.5), Score(True))
    check_sample(query, sample)
    for change in (
        {"correct": False},
        {"unshuffled_choice": "A"},
        {"cluster": "else"},
        {"confidence": 1.5},
        {"scores": (1.0,)},
        {"choice": "G"},
    ):
        with pytest.raises(ValueError, match=query.query_id):
            check_sample(query, replace(sample, **change))


def test_what_is_written_and_read_is_written_alike(tmp_path: Path) -> None:
    query = make_queries(2)[1]
    task = ToyTask()
    prepared, spec = task.prepare(Settings()), task.solver("localized")
    scorer = task.open_scorer(prepared, ScorerOptions())
    sample = answer_query(prepared, spec, spec.open(None, 0), scorer, query)
    line = sample_line(sample)
    (tmp_path / "samples.jsonl").write_text(line, encoding="utf-8")
    (read,) = read_whole_records(tmp_path / "samples.jsonl", Sample)
    assert isinstance(read.passages[0], PassageScore)
    assert sample_line(read) == line
    (tmp_path / "queries.jsonl").write_text(query_line(query), encoding="utf-8")
    assert list(read_whole_records(tmp_path / "queries.jsonl", Query)) == [query]
    assert canonical({"b": -0.0000001, "a": (1, 2.00000049)}) == {"a": [1, 2.0], "b": 0.0}
    assert json.dumps(canonical(-1e-9)) == "0.0"
    with pytest.raises(ValueError, match="nan cannot be written"):
        canonical([float("nan")])
    with pytest.raises(ValueError, match="no JSON for"):
        canonical({"set": {1}})


def test_a_changed_fingerprint_is_named_by_what_changed_in_it():
    there, here = ({"reasoner": json.dumps({"model": name, "prompts": "x" * 999})} for name in ("a", "b"))
    assert list(differences("encoders", there, here)) == ['encoders.reasoner.model was "a", is "b"']
    assert list(differences("odd", "{not", "{json")) == ['odd was "{not", is "{json"']


def test_a_query_without_a_usable_answer_is_one_wrong_sample_and_the_run_goes_on(tmp_path: Path) -> None:
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


def test_an_outage_ends_the_run_and_the_same_command_goes_on_there(tmp_path: Path) -> None:
    with pytest.raises(ReasonerUnreachable):
        run_task(
            ToyTask(failures={"q003": ReasonerUnreachable("no answer")}), "localized", 0, tmp_path / "run"
        )
    done = run_task(ToyTask(), "localized", 0, tmp_path / "run")
    assert (done.kept, done.asked) == (3, 37)


def test_rankings_are_made_fit_for_trec(tmp_path: Path) -> None:
    """Fused clip scores may rise; passages come in the order of the options, one id perhaps twice."""
    query = make_queries(2)[1]
    passages = (PassageScore("a", 0.1, 0), PassageScore("b", 0.7, 1), PassageScore("a", 0.9, 2))
    sample = make_sample(query, Output(choice="A", passages=passages), Score(query.answer == "A"))
    write_retrieval(tmp_path, "toy", [query], [sample])
    rows = list(read_run(tmp_path / "passages.run.trec"))
    assert [(row.doc_id, row.rank) for row in rows] == [("a", 1), ("b", 2)]
    assert (tmp_path / "passages.qrels").read_text(encoding="utf-8") == f"q001 0 {query.passage} 1\n"
    assert (tmp_path / "clips.run.trec").read_bytes() == b""


def test_tasks_are_found_by_entry_point_or_by_factory() -> None:
    assert open_task("tests.fakes.toy_benchmark:open_toy").name == "toy"
    for name in task_names():
        task = open_task(name)
        assert task.name == name
        assert task.about
        assert task.solvers
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


def test_queries_need_names_of_their_own(tmp_path: Path) -> None:
    twice = ToyTask()
    twice.queries = (twice.queries[0], twice.queries[0])
    with pytest.raises(UsageError, match="two queries are called 'q000'"):
        run_task(twice, "random", 0, tmp_path / "run")
    twice.queries = ()
    with pytest.raises(UsageError, match="there are no queries to ask"):
        run_task(twice, "random", 0, tmp_path / "run")


@pytest.mark.parametrize(
    "change",
    [
        {"identity": []},
        {"identity": {}},
        {"sessions": []},
        {"sessions": [{}]},
        {"factory": None},
        {"data": 5},
    ],
    ids=str,
)
def test_a_damaged_manifest_is_reported(tmp_path: Path, change: dict[str, Any]) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path, limit=2)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(UsageError, match=r"manifest\.json: no manifest of schema"):
        read_run_folder(tmp_path)
    with pytest.raises(UsageError, match=r"manifest\.json: no manifest of schema"):
        run_task(ToyTask(), "localized", 0, tmp_path, limit=2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"correct": true', '"correct": false'),
        ('"confidence": 0', '"confidence": 7'),
        ('"confidence": 0', '"confidence": NaN, "none": 0'),
        ('"scores": [0', '"scores": [1e999, 0'),
    ],
)
def test_a_sample_that_no_system_gives_is_reported(tmp_path: Path, old: str, new: str) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path, limit=8)
    path = tmp_path / "samples.jsonl"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match=r"samples\.jsonl:\d+: changed since it was written"):
        read_run_folder(tmp_path)


def asked(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def test_a_full_disk_loses_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path / "whole", limit=8)
    with monkeypatch.context() as patch:
        writing = Path.open

        def full(path: Path, mode: str = "r", **settings: Any) -> Any:
            if mode == "a" and path.name == "timings.jsonl" and path.exists() and len(asked(path)) > 4:
                raise OSError(28, "No space left on device", str(path))
            return writing(path, mode, **settings)

        patch.setattr(Path, "open", full)
        with pytest.raises(RagError, match=r"timings\.jsonl: no space left on device; the same command"):
            run_task(ToyTask(), "localized", 0, tmp_path / "torn", limit=8)
    done = run_task(ToyTask(), "localized", 0, tmp_path / "torn", limit=8)
    assert done.kept == 5
    assert answers(tmp_path / "whole") == answers(tmp_path / "torn")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("longvideo:length=long", "no option 'length'; its options are duration, subtitles"),
        ("tests.fakes.toy_benchmark:open_toy:size=3", "no option 'size'; it has none"),
        ("longvideo:duration=long,subtitles", "'subtitles' is no OPTION=VALUE"),
        ("longvideo:subtitles=maybe", "subtitles is on or off"),
    ],
)
def test_options_of_no_task_are_reported(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        open_task(name)


@pytest.mark.parametrize("name", [":x", ".a:b", "os:sep", "nope:x"])
def test_names_of_no_benchmark_are_reported(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be loaded"):
        open_task(name)
