"""Questions with options from published files: layouts, hostile rows, subtitles, and where videos are."""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from corpora.video.sidecars import read_sidecar
from eval.reports.spec import Printed, read_report
from eval.runs.records import Output, Query, check_sample, make_sample
from eval.tasks.longvideo.published import (
    FOLDER,
    PublishedQuestions,
    SubtitleSource,
    query_of,
    read_published,
    right_option,
    write_subtitles,
)
from eval.tasks.longvideo.task import LongVideoScore, LongVideoScorer, open_folder
from eval.tasks.videos import FoundVideos, VideoFiles, with_subtitles
from rag.errors import UsageError
from rag.settings import Settings
from tests.fakes.layouts import QUESTIONS, Layout

PRINTED, ABLATIONS = (read_report("eval.tasks.longvideo").printed[name] for name in ("tables", "table3"))
HEAD = "video\tquestion\toptions\tanswer"
ROW = {"video": "a", "question": "What?", "options": ["red", "green"], "answer": "B"}


def table(folder: Path, *rows: str, name: str = "q.tsv") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def of_rows(folder: Path, *rows: Mapping[str, Any]) -> PublishedQuestions:
    (folder / "q.json").write_text(json.dumps(rows), encoding="utf-8")
    return read_published(folder)


@pytest.mark.parametrize("layout", QUESTIONS, ids=lambda layout: layout.name)
def test_published_layouts(tmp_path, layout: Layout) -> None:
    layout.write(tmp_path)
    found = read_published(tmp_path)
    assert [(asked.text, asked.options[ord(asked.answer) - 65]) for asked in found.questions] == [
        ("What is shown?", "a lamp"),
        ("How often?", "2"),
    ]
    options = [("a desk", "a lamp", "a dog"), ("3", "1", "2")]
    if "GroundVQA" in layout.name:
        options = [tuple(sorted(each)) for each in options]
    assert [asked.options for asked in found.questions] == options
    assert [{"v0", "v1"} & {Path(one).stem for one in found.videos[q.video]} for q in found.questions] == [
        {"v0"},
        {"v1"},
    ]
    assert [asked.kind for asked in found.questions] == [layout.kind, layout.kind]
    assert [row.reason.partition(": ")[0] for row in found.unusable] == list(layout.unusable)
    assert {name: [*map(list, held)] for name, held in found.windows.items()} == layout.windows
    named = layout.name.partition(",")[0]
    assert found.benchmark == (named if named in PRINTED.columns else "")
    for asked in found.questions:
        query, output = query_of(asked), Output(choice=asked.answer)
        check_sample(query, make_sample(query, output, LongVideoScorer().score(query, output)))


def test_a_video_of_videomme_may_have_the_name_of_its_number(tmp_path) -> None:
    next(layout for layout in QUESTIONS if layout.name == "VideoMME, parquet").write(tmp_path)
    assert [names[:2] for names in read_published(tmp_path).videos.values()] == [("v0", "600"), ("v1", "601")]


def test_forms_of_options_and_answers(tmp_path) -> None:
    path = table(
        tmp_path,
        "video_id\tquestion\tcandidates\tanswer\ttask_type",
        "a1\tWhat?\t['A. red', 'B. green', 'C. blue']\tB\tcolor",
        'a2\tWhat?\t["(A) red", "(B) green"]\tred\tcolor',
        'a3\tWhat?\t"A) red\nB) green"\t1\t',
        "a4\tWhat?\t['A dog', 'a cat']\ta cat\tpets",
        "a5\tWhat?\t['A. red', 'B. green']\tB. green\tcolor",
        "a6\tWhat?\t\"['A. red' 'B. green'\n 'C. blue']\"\t(C)\tcolor",
        "a7\tWhat?\t{'A': 'red', 'B': 'green'}\t(B) green\tcolor",
    )
    found = read_published(path).questions
    assert [asked.options for asked in found] == [
        ("red", "green", "blue"),
        ("red", "green"),
        ("red", "green"),
        ("A dog", "a cat"),
        ("red", "green"),
        ("red", "green", "blue"),
        ("red", "green"),
    ]
    assert [asked.answer for asked in found] == ["B", "A", "B", "B", "B", "C", "B"]
    assert [asked.kind for asked in found] == ["color", "color", "all", "pets", "color", "color", "color"]
    assert [asked.question_id for asked in found] == [f"q0000{number}" for number in range(1, 8)]
    assert found[0].order == (0, 2, 1)


@pytest.mark.parametrize(
    ("answer", "kinds", "place"),
    [
        *[("2", ("text", "index"), 1), ("2", ("letter", "index"), 2), ("(C) 1", ("text",), 2)],
        *[("(c)", ("letter",), 2), (3, ("index",), None), ("E", ("text", "letter"), None)],
    ],
)
def test_the_right_option(answer: Any, kinds: Sequence[str], place: int | None) -> None:
    assert right_option(answer, ["3", "2", "1"], kinds) == place


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"options": ["x"]}, "number of options: 1; a question has 2 to 26"),
        ({"options": ["x", "y", "Y "]}, "equal options: another option is the same as the right one"),
        ({"options": None}, "no options: an open question (all)"),
        ({"answer": "E"}, "no such answer: the answer is none of the options: 'E'"),
        ({"answer": None}, "no answer: none is published"),
        ({"question": " "}, "no question"),
        ({"video": ""}, "no video"),
        ({"video": "../../a"}, "video outside: ../../a"),
        ({"id": "1"}, "duplicate id: 1, as in q.json:1"),
    ],
)
def test_an_unusable_row_is_named_and_the_rest_goes_on(tmp_path, change: dict[str, Any], reason: str) -> None:
    found = of_rows(tmp_path, {**ROW, "id": 1}, {**ROW, "id": 2, **change}, {**ROW, "id": 3})
    assert [asked.question_id for asked in found.questions] == ["1", "3"]
    (row,) = found.unusable
    assert row.place.startswith("q.json:2")
    assert row.reason.startswith(reason)


def test_bad_lines_and_bad_files(tmp_path) -> None:
    lines = [json.dumps(ROW), "{", "[" * 100_000, "7", '"text"', '{"a": ' + "1" * 5000 + "}", json.dumps(ROW)]
    (tmp_path / "q.jsonl").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    (tmp_path / "empty.json").touch()
    (tmp_path / "latin.json").write_bytes(b'[{"question": "\xff"}]')
    (tmp_path / "other.json").write_text('{"seed": "xyz"}', encoding="utf-8")
    found = read_published(tmp_path)
    assert [asked.question_id for asked in found.questions] == ["q00001", "q00002"]
    assert [row.place for row in found.unusable] == [
        *("broken.parquet", "empty.json", "latin.json"),
        *(f"q.jsonl:{number}" for number in (2, 3, 4, 5, 6)),
    ]
    (tmp_path / "again.json").write_text(json.dumps([ROW]), encoding="utf-8")
    assert [row.reason for row in read_published(tmp_path).unusable if "duplicate" in row.reason] == [
        "duplicate row: as again.json:1"
    ] * 2


def test_no_usable_row_is_said_with_its_reasons(tmp_path) -> None:
    with pytest.raises(UsageError, match="no file of rows"):
        read_published(tmp_path)
    (tmp_path / "a.json").write_text('[{"prompt": "What?", "choice": 1}]', encoding="utf-8")
    with pytest.raises(UsageError, match=r"no file with questions and options; a\.json: .*prompt, choice"):
        read_published(tmp_path)
    with pytest.raises(UsageError, match=r"none of 1 rows .*: no options \(1\); q\.json:1"):
        of_rows(tmp_path, {"video": "a", "question": "What?", "answer": "x"})


def test_a_class_of_length_and_the_files_are_chosen(tmp_path) -> None:
    for name, duration in (("val", "Short"), ("test", "long")):
        row = {**ROW, "id": 1, "video": name, "duration": duration}
        (tmp_path / f"{name}.json").write_text(json.dumps([row]), encoding="utf-8")
    assert [asked.question_id for asked in read_published(tmp_path).questions] == ["1", "val_1"]
    assert [asked.video for asked in read_published(tmp_path, duration="SHORT").questions] == ["val"]
    assert [asked.video for asked in read_published(tmp_path, files="te*").questions] == ["test"]
    with pytest.raises(UsageError, match="no question has the duration 'medium'; there is long, short"):
        read_published(tmp_path, duration="medium")


@pytest.mark.parametrize(
    ("field", "windows", "left_out"),
    [
        ({"clue_intervals": [["00:12", "00:14"], [20, 24]]}, ((12.0, 15.0), (20.0, 24.0)), []),
        ({"span": "00:12-00:14"}, ((12.0, 15.0),), []),
        ({"clue_intervals": [[5, 5], [20, 24]]}, ((20.0, 24.0),), ["interval left out: [5, 5]"]),
        ({"span": ["a", "b"]}, (), ["interval left out: ['a', 'b']"]),
        ({"time_reference": "N/A"}, (), []),
    ],
)
def test_intervals_are_read_or_counted(
    tmp_path, field: dict[str, object], windows: tuple[tuple[float, float], ...], left_out: list[str]
) -> None:
    found = of_rows(tmp_path, {**ROW, "id": "q", **field})
    assert found.windows.get("q", ()) == windows
    assert [(row.place, row.reason) for row in found.unusable] == [
        ("q.json:1 (q)", reason) for reason in left_out
    ]


def test_any_of_several_gold_windows_counts() -> None:
    query = Query("q", "?", ("x", "y"), "A", "all", "v", "v", (1.0, 2.0))
    scorer = LongVideoScorer({"q": ((1.0, 2.0), (8.0, 9.0))})
    shown = Output(choice="A", frames_read={"v": (8.5,)}, evidence={"words": [[8.2, 8.4]]})
    assert scorer.score(query, shown) == LongVideoScore(True, gold_shown=True, gold_read=True)
    assert LongVideoScorer().score(query, shown) == LongVideoScore(True, gold_shown=False, gold_read=False)


def test_a_folder_without_videos_is_refused(tmp_path) -> None:
    table(tmp_path, HEAD, "a\tOne?\t['x', 'y']\tA")
    with pytest.raises(UsageError, match=r"no video of the data .*\(1 are named\): video missing: a"):
        open_folder(tmp_path).prepare(Settings())
    with pytest.raises(UsageError, match="--data DIR"):
        open_folder().prepare(Settings())


def printed(system: str, benchmark: str, table: Printed = PRINTED) -> float | None:
    found = table.on([benchmark])
    return found and found.of(system).get("overall")


def test_the_papers_figures_are_of_its_own_methods_and_benchmarks_alone() -> None:
    ours, direct = "VideoDetective (Qwen3-VL 8B), 32 frames", "Qwen3-VL 8B, 32 frames"
    assert printed("no-facets", "VideoMME", ABLATIONS) == 47.8, "table 3"
    assert [printed(ours, name) for name in PRINTED.columns] == [55.6, 43.2, 56.3, 60.2]
    assert [printed(direct, name) for name in PRINTED.columns] == [50.2, 41.1, 50.1, 58.9]
    assert printed("no-facets", "MLVU", ABLATIONS) is None
    assert printed(ours, "questions") is None


CLOCKED = [
    {"start": "00:00:01.000", "end": "00:00:05.000", "line": "before the clip"},
    {"start": "00:10:00.500", "end": "00:10:03.250", "line": "<i>into</i>\nthe clip --> now & then"},
    {"start": "00:10:12.000", "end": "00:10:20.000", "line": "out of the clip"},
    {"start": "00:10:16.000", "end": "00:10:20.000", "line": "after the clip"},
]
TIMED = [
    {"timestamp": [601.0, None], "text": "one"},
    {"timestamp": [603.5, 605.0], "text": "two"},
    {"timestamp": [606.0, None], "text": "three"},
]
SOURCE = SubtitleSource("v_en.json", 601.0, 15.0)


def write(folder: Path, entries: Any) -> None:
    (folder / "subtitles").mkdir()
    (folder / "subtitles" / "v_en.json").write_text(json.dumps(entries), encoding="utf-8")
    write_subtitles(
        folder, {"v.mp4": SOURCE, "gone.mp4": SOURCE}, FoundVideos({"v.mp4": "/videos/v.mp4"}, {})
    )


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (CLOCKED, [(0.0, 2.25, "into the clip --> now & then"), (11.0, 15.0, "out of the clip")]),
        (TIMED, [(0.0, 2.5, "one"), (2.5, 4.0, "two"), (5.0, 10.0, "three")]),
    ],
)
def test_both_layouts_are_cut_to_the_clip(
    tmp_path, entries: Any, expected: list[tuple[float, float, str]]
) -> None:
    write(tmp_path, entries)
    texts = read_sidecar(str(tmp_path / FOLDER / "v.vtt")).texts
    assert [(text.start, text.end, text.text) for text in texts] == expected
    found = FoundVideos({"v.mp4": "/videos/v.mp4"}, {})
    assert with_subtitles(Settings(), tmp_path, found).scan.subtitles == (str(tmp_path / FOLDER),)


@pytest.mark.parametrize("entries", [{"a": 1}, [{"start": "x", "end": "y", "line": "z"}]])
def test_another_layout_is_logged(tmp_path, entries: Any, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        write(tmp_path, entries)
    assert "v_en.json: no subtitles as LongVideoBench has them: " in caplog.text
    assert not (tmp_path / FOLDER).exists()


def test_a_row_names_its_subtitles(tmp_path) -> None:
    row = {"video_path": "v.mp4", "question": "Who?", "candidates": ["a", "b"], "correct_choice": 1}
    row |= {"question_category": "SOS"}
    row |= {"subtitle_path": "v_en.json", "starting_timestamp_for_subtitles": 601, "duration": 15.0}
    other = {**row, "video_path": "w.mp4", "subtitle_path": "./subtitle/w.srt"}
    (tmp_path / "lvb_val.json").write_text(json.dumps([row, other]), encoding="utf-8")
    assert read_published(tmp_path).subtitles == {"v.mp4": SOURCE}


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in (
        *("videos/CgvJqGxzRfE.mp4", "videos/v.1.MKV", "videos/Holiday [abc_DEF-123].webm"),
        *("video/1_plotQA/movie_1.mp4", "video/9_summary/movie_1.mp4", "deep/er/clip.mov.mp4"),
        *("no_suffix", "library/own.mp4", ".hidden/dark.mp4", "videos/notes.txt"),
    ):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("CgvJqGxzRfE", "videos/CgvJqGxzRfE.mp4"),
        ("./video/CgvJqGxzRfE.mp4", "videos/CgvJqGxzRfE.mp4"),
        ("https://www.youtube.com/watch?v=CgvJqGxzRfE&t=3", "videos/CgvJqGxzRfE.mp4"),
        ("https://youtu.be/abc_DEF-123", "videos/Holiday [abc_DEF-123].webm"),
        ("/home/else/1_plotQA/movie_1.mp4", "video/1_plotQA/movie_1.mp4"),
    ],
)
def test_names_in_the_forms_of_published_files(folder: Path, name: str, found: str) -> None:
    assert VideoFiles(folder).find([name]) == str(folder / found)


@pytest.mark.parametrize("name", ["cgvjqgxzrfe", "own.mp4", "dark", "notes", ".."])
def test_other_files_and_other_folders_are_not_found(folder: Path, name: str) -> None:
    with pytest.raises(LookupError, match="video missing: "):
        VideoFiles(folder).find([name])


def test_the_folder_of_the_task_decides_between_equal_names(folder: Path) -> None:
    files = VideoFiles(folder)
    assert files.find(["movie_1.mp4"], near=["9_summary"]).endswith("9_summary/movie_1.mp4")
    (folder / "video/1_plotQA/movie_1.mp4").write_text("longer than the other", encoding="utf-8")
    with pytest.raises(LookupError, match=r"two different files: video/1_plotQA.*, video/9_summary"):
        files.find(["movie_1.mp4"])
    assert files.find(["601", "", "CgvJqGxzRfE"]).endswith("CgvJqGxzRfE.mp4")


def test_subtitles_that_are_published_apart(folder: Path) -> None:
    for name in ("subtitle/CgvJqGxzRfE.srt", "videos/v.1.srt", "other/z.srt", "info/CgvJqGxzRfE.info.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    paths = {name: VideoFiles(folder).find([name]) for name in ("CgvJqGxzRfE", "v.1")}
    settings = with_subtitles(Settings(), folder, FoundVideos(paths, {}))
    assert settings.scan.subtitles == (str(folder / "subtitle"),)
