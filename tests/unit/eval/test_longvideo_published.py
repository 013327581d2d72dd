"""Questions with options from published files: every layout, hostile rows, and task options."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eval.runs.records import Output, Query, check_sample, make_sample
from eval.tasks import open_task
from eval.tasks.longvideo.dataset import query_of
from eval.tasks.longvideo.options import right_option
from eval.tasks.longvideo.published import PublishedQuestions, clock_span, read_published
from eval.tasks.longvideo.report import printed
from eval.tasks.longvideo.solvers import ABLATIONS
from eval.tasks.longvideo.task import LongVideoScore, LongVideoScorer, open_folder
from rag.errors import UsageError
from rag.settings import Settings
from tests.fakes.multiple_choice_layouts import LAYOUTS, Layout

HEAD = "video\tquestion\toptions\tanswer"
ROW = {"video": "a", "question": "What?", "options": ["red", "green"], "answer": "B"}


def table(folder: Path, *rows: str, name: str = "q.tsv") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def of_rows(folder: Path, *rows: Mapping[str, Any]) -> PublishedQuestions:
    (folder / "q.json").write_text(json.dumps(rows), encoding="utf-8")
    return read_published(folder)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_published_layouts(tmp_path: Path, layout: Layout) -> None:
    layout.write(tmp_path, ["v0", "v1"])
    found = read_published(tmp_path)
    assert [(asked.text, asked.options[ord(asked.answer) - 65]) for asked in found.questions] == [
        ("What is shown?", "a lamp"),
        ("How often?", "2"),
    ]
    assert [asked.options for asked in found.questions] == [("a desk", "a lamp", "a dog"), ("3", "1", "2")]
    assert [{"v0", "v1"} & {Path(one).stem for one in found.videos[q.video]} for q in found.questions] == [
        {"v0"},
        {"v1"},
    ]
    assert [asked.kind for asked in found.questions] == [layout.kind, layout.kind]
    assert [row.reason.partition(": ")[0] for row in found.unusable] == list(layout.unusable)
    assert found.windows == layout.windows
    for asked in found.questions:
        query, output = query_of(asked), Output(choice=asked.answer)
        check_sample(query, make_sample(query, output, LongVideoScorer().score(query, output)))


def test_forms_of_options_and_answers(tmp_path: Path) -> None:
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
    ("options", "parts"),
    [
        ("A. red\nor pink\nB. green\nC. blue", ("red\nor pink", "green", "blue")),
        ("(A) red\n(B) green\nA. is no label here", ("red", "green\nA. is no label here")),
        ("A. I. Smith\nJones\nBrown", ("A. I. Smith", "Jones", "Brown")),
        ("red\nA. green\nB. blue", ("red", "A. green", "B. blue")),
        ("['red\nor pink', 'green']", ("red or pink", "green")),
        ('["red\nor pink", "green"]', ("red or pink", "green")),
        ("['red\nor pink'\n 'green']", ("red or pink", "green")),
        (["red\nor pink", "green"], ("red\nor pink", "green")),
    ],
)
def test_line_breaks_within_options(tmp_path: Path, options: object, parts: tuple[str, ...]) -> None:
    (asked,) = of_rows(tmp_path, {**ROW, "options": options, "answer": parts[1]}).questions
    assert asked.options == parts


def test_options_in_the_question_as_well_and_kinds_as_a_list(tmp_path: Path) -> None:
    mlvu = {**ROW, "question": "What?\n(A) red\n(B) green\n", "answer": "B", "question_type": '["a", "b"]'}
    one = {**ROW, "video": "b", "question_type": '["c d"]'}
    ego = {"video_idx": "a", "question": "Who?", "option": ["A. I", "B. you"], "answer": "1"}
    found = of_rows(tmp_path, mlvu, ego, one).questions
    assert [(asked.text, asked.options, asked.answer, asked.kind) for asked in found] == [
        ("What?", ("red", "green"), "B", "a"),
        ("Who?", ("I", "you"), "B", "all"),
        ("What?", ("red", "green"), "B", "c d"),
    ]


@pytest.mark.parametrize(
    ("answer", "digits_are_text", "place"),
    [
        ("2", True, 1),
        ("2", False, 2),
        (2, True, 2),
        (2.0, True, 2),
        ("c", True, 2),
        ("(C) 1", True, 2),
        ("C. three", True, None),
        (3, True, None),
        (-1, True, None),
        (True, True, None),
        pytest.param(10**5000, True, None, id="huge"),
        ("²", True, None),
        ("1" * 5000, True, None),
        ("E", True, None),
    ],
)
def test_the_right_option(answer: Any, digits_are_text: bool, place: int | None) -> None:
    assert right_option(answer, ["3", "2", "1"], digits_are_text) == place


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"options": ["x"]}, "number of options: 1; a question has 2 to 26"),
        ({"options": [f"option {number}" for number in range(30)]}, "number of options: 30"),
        ({"options": ["x", "y", "Y "]}, "equal options: another option is the same as the right one"),
        ({"options": None}, "no options: an open question (all)"),
        ({"options": "[" + "1+" * 9000 + "1]"}, "number of options: 1;"),
        ({"options": "[" + "-" * 19000 + "1]"}, "number of options: 1;"),
        ({"options": "[0x" + "f" * 9000 + ", 1]"}, "number of options: 1;"),
        ({"options": "[" * 9000}, "number of options: 1;"),
        ({"answer": "E"}, "no such answer: the answer is none of the options: 'E'"),
        ({"answer": 10**30}, "no such answer: "),
        ({"answer": None}, "no answer: none is published"),
        ({"answer": float("nan")}, "no answer: none is published"),
        ({"question": " "}, "no question"),
        ({"question": "x" * 20_000}, "not a question: "),
        ({"question": {"en": "What?"}}, "no question"),
        ({"video": ""}, "no video"),
        ({"video": "../../a"}, "video outside: ../../a"),
        ({"id": "1"}, "duplicate id: 1, as in q.json:1"),
    ],
)
def test_an_unusable_row_is_named_and_the_rest_goes_on(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    found = of_rows(tmp_path, {**ROW, "id": 1}, {**ROW, "id": 2, **change}, {**ROW, "id": 3})
    assert [asked.question_id for asked in found.questions] == ["1", "3"]
    (row,) = found.unusable
    assert row.place.startswith("q.json:2")
    assert row.reason.startswith(reason)


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ([{"options": {"1": "x", "2": "y", "10": "z"}, "answer": "10"}], "z"),
        ([{"options": {"1": "x", "2": "y", "3": "z"}, "answer": "1"}], "x"),
        ([{"options": {"0": "x", "1": "y"}, "answer": "1"}], "y"),
        ([{"options": {"B": "x", "C": "y"}, "answer": "B"}], "x"),
        ([{"option_1": "x", "option_2": "y", "option_3": "z", "answer": 2}], "y"),
        ([{"option 1": "x", "option 2": "y", "answer": 1}, {"answer": 0}], "y"),
        ([{"options": ["x", "y", "z"], "answer": 2}, {"answer": 2}], "y"),
        ([{"options": ["x", "y", "z"], "answer": 2}, {"answer": 2}, {"answer": 0}], "z"),
        ([{**{f"option {at}": f"o{at}" for at in range(12)}, "answer": "11"}], "o11"),
        ([{**{letter: f"o{letter}" for letter in "ABCDEFGHIJ"}, "answer": "J"}], "oJ"),
        ([{"option_a": "x", "option_b": "y", "answer": "B"}], "y"),
        ([{"options": [{"id": "B", "text": "x"}, {"id": "A", "text": "y"}], "answer": "B"}], "x"),
        ([{"options": [{"label": "1", "text": "x"}, {"label": "2", "text": "y"}], "answer": "1"}], "x"),
        ([{"options": [{"id": 0, "text": "x"}, {"id": 1, "text": "y"}], "answer": "1"}], "y"),
        ([{"options": [{"id": 31, "text": "x"}, {"id": 7, "text": "y"}], "answer": "B"}], "y"),
    ],
)
def test_numbers_and_letters_of_options(tmp_path: Path, rows: list[dict[str, Any]], right: str) -> None:
    plain = {"video": "a", "question": "What?", "options": ["red", "green"]}
    held = [{**plain, "options": rows[0].get("options"), **rows[0]}, *({**plain, **row} for row in rows[1:])]
    first = of_rows(tmp_path, *held).questions[0]
    assert first.options["ABCDEFGHIJKLMN".index(first.answer)] == right


def test_single_letters_are_text_only_where_they_all_are(tmp_path: Path) -> None:
    vitamin = {"video": "a", "question": "Which vitamin?", "options": ["A", "C", "D", "B"], "answer": "B"}
    assert of_rows(tmp_path, vitamin, {**ROW, "answer": "green"}).questions[0].answer == "D"
    assert of_rows(tmp_path, vitamin, {**ROW, "answer": "B"}).questions[0].answer == "B"
    shown = {**vitamin, "options": ["A. F", "B. A", "C. B"]}
    assert of_rows(tmp_path, shown, {**ROW, "answer": "(A)"}).questions[0].options[1] == "A"
    assert of_rows(tmp_path, shown, {**ROW, "answer": "(A)"}).questions[0].answer == "B"


def test_an_id_that_counts_within_a_video_or_file_is_qualified_by_the_video(tmp_path: Path) -> None:
    found = of_rows(tmp_path, {**ROW, "id": 1}, {**ROW, "id": 1, "video": "b"}, {**ROW, "id": 2})
    assert [asked.question_id for asked in found.questions] == ["a_1", "b_1", "2"]
    other = {**ROW, "id": 2, "question": "Who?"}
    (row,) = of_rows(tmp_path, {**ROW, "id": 2}, other).unusable
    assert row.reason == "duplicate id: 2, as in q.json:1"


def test_an_answer_by_an_id_that_several_questions_or_files_have_is_none(tmp_path: Path) -> None:
    asked = {key: ROW[key] for key in ("question", "options")}
    rows = [{**asked, "id": 1, "video": "a"}, {**asked, "id": 1, "video": "b"}]
    rows += [{**asked, "id": at, "video": "a"} for at in (2, 3)]
    (tmp_path / "a_answers.json").write_text('{"1": 0, "2": 1, "3": 0}', encoding="utf-8")
    (tmp_path / "b_answers.json").write_text('{"2": 1, "3": 1}', encoding="utf-8")
    found = of_rows(tmp_path, *rows)
    assert [(asked.question_id, asked.answer) for asked in found.questions] == [("2", "B")]
    assert [row.reason for row in found.unusable] == [
        f"no answer: the files give several for the id {name}" for name in "113"
    ]


def test_several_answers_of_a_row(tmp_path: Path) -> None:
    found = of_rows(
        tmp_path,
        {**ROW, "answer": "It is green.", "gt": 1},
        {**ROW, "answer": "It is green."},
        {**ROW, "answer": "red", "gt": 1},
        {**ROW, "answer": "E", "label": 1},
        {**ROW, "answer": "-1"},
        {**ROW, "options": ["NA", "OK"], "answer": "NA", "gt": 0},
        {**ROW, "answer": "B", "label": 0},
    )
    assert [asked.answer for asked in found.questions] == ["B", "A", "B"]
    assert [row.reason for row in found.unusable] == [
        "no such answer: the answer is none of the options: 'It is green.'",
        "different answers: 'red' and '1'",
        "no such answer: the answer is none of the options: 'E'",
        "no answer: none is published",
    ]


def test_options_in_a_prompt_below_the_question_and_an_instruction_after_them(tmp_path: Path) -> None:
    """Video-TT and TemporalBench, as lmms-eval reads them."""
    instruction = "Answer with the option's letter from the given choices directly."
    shown = "A. red\nB. green"
    rows = [
        {"video_id": "a", "question": "What?", "question_prompt": shown, "answer": "B"},
        {"video_id": "a", "question": "What?", "question_prompt": "Please answer in short.", "answer": "It."},
        {"video_name": "a", "question": f"Which?\n{shown}\n{instruction}", "GT": "B", "idx": 0},
    ]
    found = of_rows(tmp_path, *rows)
    assert [(q.text, q.options, q.answer) for q in found.questions] == [
        ("What?", ("red", "green"), "B"),
        ("Which?", ("red", "green"), "B"),
    ]
    assert [row.reason for row in found.unusable] == ["no options: an open question (all)"]


def test_a_text_counts_where_the_file_does_not_show_what_an_index_counts_from(tmp_path: Path) -> None:
    row = {**ROW, "options": ["red", "green", "blue"], "answer": 1, "answer_text": "red"}
    assert of_rows(tmp_path, row).questions[0].answer == "A"
    found = of_rows(tmp_path, row, {**row, "answer": 0})
    assert [asked.answer for asked in found.questions] == ["A"]
    assert [row.reason for row in found.unusable] == ["different answers: '1' and 'red'"]


def test_labels_out_of_order(tmp_path: Path) -> None:
    labelled = ["A. 107", "B. 93", "B. 91", "D. 99"]
    rows = [{**ROW, "options": labelled, "answer": letter} for letter in "BCD"]
    initials = {**ROW, "options": ["J. Smith", "K. Jones"], "answer": "B"}
    found = of_rows(tmp_path, *rows, initials)
    assert [asked.answer for asked in found.questions] == ["B", "D", "B"]
    assert [row.reason for row in found.unusable] == [
        "labels out of order: the answer is C, the option there is labelled B"
    ]


@pytest.mark.parametrize("missing", [float("nan"), None, "nan"])
@pytest.mark.parametrize("mapped", [True, False])
def test_a_number_that_is_none_is_no_option(tmp_path: Path, missing: Any, mapped: bool) -> None:
    options = ["red", "blue", missing]
    held = dict(zip("ABC", options, strict=True)) if mapped else options
    (asked,) = of_rows(tmp_path, {**ROW, "options": held, "answer": "B"}).questions
    assert asked.options == ("red", "blue")


def test_wrong_options_beside_the_right_answer(tmp_path: Path) -> None:
    """GroundVQA reads QAEgo4D so; the order does not depend on which is right."""
    row = {"video_id": "a", "question": "What?", "answer": "green", "wrong_answers": ["red", "blue"]}
    (asked,) = of_rows(tmp_path, row).questions
    assert (asked.options, asked.answer) == (("blue", "green", "red"), "B")


def test_a_video_by_its_folder_in_a_table_and_by_the_id(tmp_path: Path) -> None:
    plain = {key: ROW[key] for key in ("question", "options", "answer")}
    prefixed = [{**ROW, "video": "v.mp4", "prefix": f"./video/{name}/"} for name in ("star", "clevrer")]
    found = of_rows(
        tmp_path, *prefixed, {**plain, "id": "dev_Music_1"}, {**plain, "id": 7}, {**ROW, "video": "/a"}
    )
    names = ["video/star/v.mp4", "video/clevrer/v.mp4", "dev_Music_1", "a"]
    assert [asked.video for asked in found.questions] == names
    assert [row.reason for row in found.unusable] == ["no video"]


def test_a_list_of_videos_is_not_read_as_its_first(tmp_path: Path) -> None:
    several = [{"video": ["a", "b"]}, {"video": "['a', 'b']"}, {"video": "", "video_paths": "a.mp4;b.mp4"}]
    single = [{"video": ["a"]}, {"inputs": {"text": "What?"}}]
    found = of_rows(tmp_path, *({**ROW, "id": at, **row} for at, row in enumerate(several + single)))
    assert [(asked.question_id, asked.video) for asked in found.questions] == [("3", "a"), ("4", "a")]
    assert [row.reason for row in found.unusable] == [
        "several inputs: the question is about 2 videos or images"
    ] * 3


def test_a_table_with_semicolons(tmp_path: Path) -> None:
    rows = ("video;question;option 0;option 1;answer", "a;What, where?;red, or so;green;1")
    (asked,) = read_published(table(tmp_path, *rows, name="q.csv")).questions
    assert (asked.text, asked.options, asked.answer) == ("What, where?", ("red, or so", "green"), "B")


def test_labels_without_a_blank(tmp_path: Path) -> None:
    found = of_rows(
        tmp_path,
        {**ROW, "options": ["A.red", "B.5 men", "C.\u7eff\u8272"], "answer": "B.5 men"},
        {**ROW, "options": ["(A)red", "(B)green"], "answer": "B"},
        {**ROW, "options": ["A.D.", "B.C."], "answer": "B.C."},
    ).questions
    assert [asked.options for asked in found] == [
        ("red", "5 men", "\u7eff\u8272"),
        ("red", "green"),
        ("A.D.", "B.C."),
    ]
    assert [asked.answer for asked in found] == ["B", "B", "B"]


def test_lines_of_a_table_that_are_not_of_its_columns_or_not_utf_8(tmp_path: Path) -> None:
    head = b"video,question,answer,a0,a1\n"
    lines = b"v,ok?,A,x,y\nv,Hello, who?,A,x,y\nv,caf\xe9?,A,x,y\nv,blank?,B,x,y,,\n"
    (tmp_path / "q.csv").write_bytes(head + lines)
    found = read_published(tmp_path)
    assert [asked.text for asked in found.questions] == ["ok?", "blank?"]
    assert [(row.place, row.reason.partition(":")[0]) for row in found.unusable] == [
        ("q.csv:3", "not a line of the table"),
        ("q.csv:4", "not UTF-8"),
    ]


def test_equal_wrong_options_stay(tmp_path: Path) -> None:
    """MLVU has ten such questions."""
    (asked,) = of_rows(tmp_path, {**ROW, "options": ["blue", "green", "blue"], "answer": "green"}).questions
    assert (asked.options, asked.answer) == (("blue", "green", "blue"), "B")


def test_bad_lines_and_bad_files(tmp_path: Path) -> None:
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


def test_no_usable_row_is_said_with_its_reasons(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file of rows"):
        read_published(tmp_path)
    (tmp_path / "a.json").write_text('[{"prompt": "What?", "choice": 1}]', encoding="utf-8")
    with pytest.raises(UsageError, match=r"no file with questions and options; a\.json: .*prompt, choice"):
        read_published(tmp_path)
    with pytest.raises(UsageError, match=r"none of 1 rows .*: no options \(1\); q\.json:1"):
        of_rows(tmp_path, {"video": "a", "question": "What?", "answer": "x"})


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("00:41-00:41", ((41.0, 42.0),)),
        ("00:00-75:57", ((0.0, 4558.0),)),
        ("1:00:01\u201301:02:03", ((3601.0, 3724.0),)),
        ("02:00-01:00", ()),
        ("0.5", ()),
        ("", ()),
    ],
)
def test_times_of_a_clock(text: str, window: tuple[tuple[float, float], ...]) -> None:
    assert clock_span(text) == window


@pytest.mark.parametrize(
    ("field", "windows", "left_out"),
    [
        ({"clue_intervals": [["00:12", "00:14"], [20, 24]]}, ((12.0, 15.0), (20.0, 24.0)), []),
        ({"clue_intervals": ["0:20-0:24", "00:12 - 00:14"]}, ((12.0, 15.0), (20.0, 25.0)), []),
        ({"clue_intervals": "[('00:12', '00:14')]"}, ((12.0, 15.0),), []),
        ({"span": "00:12-00:14"}, ((12.0, 15.0),), []),
        ({"span": ["00:12", "00:14"], "time_reference": "00:01-00:02"}, ((12.0, 15.0),), []),
        ({"span": [], "time_reference": "00:01-00:02"}, ((1.0, 3.0),), []),
        ({"clue_intervals": [[5, 5], [20, 24]]}, ((20.0, 24.0),), ["interval left out: [5, 5]"]),
        ({"span": ["a", "b"]}, (), ["interval left out: ['a', 'b']"]),
        ({"time_reference": "late"}, (), ["interval left out: late"]),
        ({"time_reference": "N/A"}, (), []),
    ],
)
def test_intervals_are_read_or_counted(
    tmp_path: Path, field: dict[str, object], windows: tuple[tuple[float, float], ...], left_out: list[str]
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


DURATIONS = ("b\twhat?\t['x', 'y']\tA\tshort", "c\twhat?\t['x', 'y']\tB\tLong")


def test_one_class_of_durations_keeps_its_numbers(tmp_path: Path) -> None:
    table(tmp_path, f"{HEAD}\tduration", *DURATIONS)
    assert [asked.video for asked in read_published(tmp_path).questions] == ["b", "c"]
    (kept,) = read_published(tmp_path, "long").questions
    assert (kept.video, kept.question_id) == ("c", "q00002")
    with pytest.raises(UsageError, match="'medium'; there is long, short"):
        read_published(tmp_path, "medium")
    shutil.rmtree(tmp_path)
    with pytest.raises(UsageError, match="there is no column duration"):
        read_published(table(tmp_path, HEAD, "b\twhat?\t['x', 'y']\tA"), "long")


def test_files_of_questions_are_chosen_by_name(tmp_path: Path) -> None:
    for name in ("val", "test"):
        table(
            tmp_path,
            "video_id,qid,question,answer,a0,a1",
            f"{name},1,What?,red,green,red",
            name=f"{name}.csv",
        )
    spans = {name: {"location": {"1": [[1, 2]]}} for name in ("val", "test")}
    (tmp_path / "gsub.json").write_text(json.dumps(spans), encoding="utf-8")
    found = read_published(tmp_path, files="te?t*")
    assert [asked.video for asked in found.questions] == ["test"]
    assert found.windows == {"test_1": ((1.0, 2.0),)}
    assert open_task("longvideo:files=te?t*", tmp_path).name == "longvideo-te?t*"
    with pytest.raises(UsageError, match=r"no file with questions .*: its name is not train\.csv"):
        read_published(tmp_path, files="train.csv")


def test_a_run_names_its_class_and_its_subtitles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(tmp_path, f"{HEAD}\tduration_group", *DURATIONS)
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

    monkeypatch.setattr("eval.tasks.videos.Library", Library)
    task = open_task("longvideo:duration=long,subtitles=off", tmp_path)
    assert task.name == "longvideo-long-without-subtitles"
    for opened in (task, open_folder(tmp_path)):
        with pytest.raises(UsageError, match="enough"):
            opened.prepare(Settings())
    assert [settings.search.subtitles for settings in prepared] == [False, True]
    assert "truthful-watcher" not in task.solvers


def test_a_folder_without_videos_is_refused(tmp_path: Path) -> None:
    table(tmp_path, HEAD, "a\tOne?\t['x', 'y']\tA")
    with pytest.raises(UsageError, match=r"no video of the data .*\(1 are named\): video missing: a"):
        open_folder(tmp_path).prepare(Settings())
    with pytest.raises(UsageError, match="--data DIR"):
        open_folder().prepare(Settings())


def test_an_earlier_name_of_a_system_is_known() -> None:
    task = open_folder()
    assert task.solver("video-agent") is task.solvers["guided-frames"]
    assert {name for name in task.solvers if name.endswith("-paper")} == {
        f"{name}-paper" for name in ABLATIONS
    }


def test_the_papers_figures_stand_beside_its_own_methods_alone() -> None:
    for name in ("no-facets", "no-facets-paper"):
        assert printed(name) == (47.8, "table 3")
    for name in ("retrieval-only", "retrieved-texts", "guided-frames", "video-agent", "literal-prior"):
        assert printed(name) is None
