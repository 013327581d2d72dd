"""Tables of questions from elsewhere, in the forms they come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.runs.records import Output, check_sample, make_sample
from eval.tasks import open_task
from eval.tasks.longvideo.dataset import query_of, read_table, read_tables
from eval.tasks.longvideo.report import printed
from eval.tasks.longvideo.solvers import ABLATIONS
from eval.tasks.longvideo.task import LongVideoScorer, open_tables
from rag.errors import UsageError
from rag.settings import Settings

HEAD = "video\tquestion\toptions\tanswer"


def table(tmp_path: Path, *rows: str, name: str = "q.tsv") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_forms_of_options_and_answers(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "video_id\tquestion\tcandidates\tanswer\ttask_type",
        "a1\tWhat?\t['A. red', 'B. green', 'C. blue']\tB\tcolor",
        'a2\tWhat?\t["(A) red", "(B) green"]\tred\tcolor',
        'a3\tWhat?\t"A) red\nB) green"\t1\t',
        "a4\tWhat?\t['A dog', 'a cat']\ta cat\tpets",
        "a5\tWhat?\t['A. red', 'B. green']\tB. green\tcolor",
    )
    found = read_table(path)
    assert [asked.options for asked in found] == [
        ("red", "green", "blue"),
        ("red", "green"),
        ("red", "green"),
        ("A dog", "a cat"),
        ("red", "green"),
    ]
    assert [asked.answer for asked in found] == ["B", "A", "B", "B", "B"]
    assert [asked.kind for asked in found] == ["color", "color", "all", "pets", "color"]
    assert [asked.question_id for asked in found] == [f"q0000{number}" for number in range(1, 6)]
    assert found[0].order == (0, 2, 1)
    for asked in found:
        query, output = query_of(asked), Output(choice=asked.answer)
        sample = make_sample(query, output, LongVideoScorer().score(query, output))
        check_sample(query, sample)
        assert sample.correct
        assert sample.unshuffled_choice == "ABCDEF"[len(asked.options) - 1]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["video\tquestion\tanswer", "a\tb\tc"], "1: no column options or candidates"),
        (["video\tquestion\toptions\tanswer", "a\tb?\t['x']\tA"], "2: 1 options"),
        (["video\tquestion\toptions\tanswer", "a\tb?\t['x', 'y']\tE"], "2: the answer is none"),
        (["video\tquestion\toptions\tanswer", "a\tb?\t['x', 'y']\twhich"], "2: the answer is none"),
        (["video\tquestion\toptions\tanswer", "a\t \t['x', 'y']\tA"], "2: question or video is empty"),
        ([HEAD, "a\tb?\t['x', 'y']\t²"], "2: the answer is none"),
        ([HEAD, "a\tb?\t['x', 'y']\t" + "1" * 5000], "2: the answer is none"),
        ([HEAD, "a\tb?\t['x', 'y', 'X']\tA"], "2: two options are the same"),
        ([HEAD, "../../a\tb?\t['x', 'y']\tA"], "2: video .* not below the folder"),
        ([HEAD, "/a\tb?\t['x', 'y']\tA"], "2: video .* not below the folder"),
        ([HEAD, "a\tb?\t[" + "1+" * 9000 + "1]\tA"], "2: 1 options"),
        ([HEAD, "a\tb?\t[" + "-" * 19000 + "1]\tA"], "2: 1 options"),
        ([HEAD, "a\tb?\t[" + "-" * 90000 + "1]\tA"], "2: 1 options"),
        ([HEAD, "a\tb?\t" + "[" * 9000 + "\tA"], "2: 1 options"),
        ([HEAD, "a\tb?\t[0x" + "f" * 9000 + ", 1]\tA"], "2: 1 options"),
    ],
)
def test_faults_are_named_by_line(tmp_path: Path, rows: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_table(table(tmp_path, *rows))


def test_a_folder_of_tables(tmp_path: Path) -> None:
    head = "video\tquestion\toptions\tanswer"
    table(tmp_path, head, "a\tOne?\t['x', 'y']\tA", name="1.tsv")
    table(tmp_path, head, "b\tTwo?\t['x', 'y']\tB", name="2.tsv")
    found = read_tables(sorted(tmp_path.glob("*.tsv")))
    assert [question.question_id for question in found] == ["q00001", "q00002"]
    assert "truthful-watcher" not in open_tables(tmp_path).solvers
    with pytest.raises(UsageError, match="is missing"):
        open_tables(tmp_path).prepare(Settings())
    with pytest.raises(UsageError, match=r"no \*.tsv"):
        open_tables(tmp_path / "none").prepare(Settings())
    with pytest.raises(UsageError, match="--data DIR"):
        open_tables().prepare(Settings())


DURATIONS = ("b\twhat?\t['x', 'y']\tA\tshort", "c\twhat?\t['x', 'y']\tB\tLong")


def test_one_class_of_durations_keeps_its_numbers(tmp_path: Path) -> None:
    path = table(tmp_path, f"{HEAD}\tduration", *DURATIONS)
    assert [asked.video for asked in read_tables([path])] == ["b", "c"]
    (kept,) = read_tables([path], "long")
    assert (kept.video, kept.question_id) == ("c", "q00002")
    with pytest.raises(UsageError, match="'medium'; there is long, short"):
        read_tables([path], "medium")
    with pytest.raises(UsageError, match="there is no column duration"):
        read_tables([table(tmp_path, HEAD, "b\twhat?\t['x', 'y']\tA", name="plain.tsv")], "long")


def test_a_run_names_its_class_and_its_subtitles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path, f"{HEAD}\tduration_group", *DURATIONS)
    (tmp_path / "videos").mkdir()
    for name in "bc":
        (tmp_path / "videos" / f"{name}.mp4").touch()
    prepared: list[Settings] = []

    class Library:
        @staticmethod
        def index(paths: list[str], *, settings: Settings, progress: object) -> None:
            del paths, progress
            prepared.append(settings)
            raise UsageError("enough")

    monkeypatch.setattr("eval.tasks.longvideo.task.Library", Library)
    task = open_task("longvideo:duration=long,subtitles=off", path.parent)
    assert task.name == "longvideo-long-without-subtitles"
    for opened in (task, open_tables(tmp_path)):
        with pytest.raises(UsageError, match="enough"):
            opened.prepare(Settings())
    assert [settings.search.subtitles for settings in prepared] == [False, True]


def test_an_earlier_name_of_a_system_is_known() -> None:
    task = open_tables()
    assert task.solver("video-agent") is task.solvers["guided-frames"]
    assert {name for name in task.solvers if name.endswith("-paper")} == {
        f"{name}-paper" for name in ABLATIONS
    }


def test_the_papers_figures_stand_beside_its_own_methods_alone() -> None:
    for name in ("no-facets", "no-facets-paper"):
        assert printed(name) == (47.8, "table 3")
    for name in ("retrieval-only", "retrieved-texts", "guided-frames", "video-agent", "literal-prior"):
        assert printed(name) is None
