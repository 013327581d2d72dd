"""Questions with options about long videos: synthetic, or from tables as VideoMME and others are used with.

A table is tab-separated, one question a line. Columns, in any order and case: `video` (or `video_id`),
`question`, `options` (or `candidates`), `answer`; others are ignored, but `kind` (or `task_type`) gives a
question its family, and `duration_group` (or `duration`) the class of its video's length. Options are a JSON
or Python list, or lines; a label before an option ("A. ", "(B) ") is removed. The answer is a letter, an
option's text, or its index from 0.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, get_args

from eval.runs.records import LETTERS, Query, TaskInput
from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.tasks.longvideo.construction import VideoTruth

Kind = Literal["needle", "order", "count", "cause", "text", "spoken"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""A short event among hundreds; which of four comes first or last; how often; why something is as it is;
what can be read; what is said."""
COLUMNS = {
    "video": ("video", "video_id"),
    "question": ("question",),
    "options": ("options", "candidates"),
    "answer": ("answer",),
    "kind": ("kind", "task_type", "question_category"),
    "duration": ("duration_group", "duration_category", "duration"),
}
OPTIONAL = ("kind", "duration")
MAX_LIST = 20_000
"""Characters of a list of options."""
_LABEL = re.compile(r"^\s*(?:\(([A-Za-z])\)|([A-Za-z])[.):])\s+")
_LETTER = re.compile(r"^\(?([A-Za-z])\)?[.):]?$")


@dataclass(frozen=True, slots=True)
class LongQuestion:
    """One question with its gold."""

    question_id: str
    kind: str
    """One of `KINDS` in the synthetic benchmark; the table's own word, or `all`, in one from elsewhere."""
    video: str
    """File name, relative to the folder of videos."""
    text: str
    options: tuple[str, ...]
    """As they are shown."""
    answer: str
    """Letter of the right option."""
    order: tuple[int, ...]
    """Shuffled option i was at `order[i]`; the last place is the right one's."""
    window: tuple[float, float]
    """[start, end) seconds; (0, 0) where it is unknown."""


@dataclass(frozen=True, slots=True)
class LongInput(TaskInput):
    """What a solver sees of a question, and of which video it is."""

    video: str = ""
    truth: VideoTruth | None = None
    """What happens in the video, given to oracles alone."""


def query_of(question: LongQuestion) -> Query:
    """One cluster a video. Raises `ValueError` for an answer that no option has."""
    if question.answer not in LETTERS[: len(question.options)]:
        raise ValueError(f"{question.question_id}: no option {question.answer!r}")
    return Query(
        query_id=question.question_id,
        text=question.text,
        options=question.options,
        answer=question.answer,
        family=question.kind,
        video=question.video,
        cluster=question.video,
        window=question.window,
        order=question.order,
    )


def input_of(question: LongQuestion) -> LongInput:
    """What a solver sees of a question."""
    return LongInput(question.question_id, question.text, question.options, question.video)


def read_tables(paths: Sequence[Path], duration: str = "") -> list[LongQuestion]:
    """All questions, in order; numbered through where there are several tables.

    `duration`: only those of this class, a value of the column `duration` in any case. Raises `UsageError`
    where no question has it.
    """
    found: list[LongQuestion] = []
    classes: set[str] = set()
    for path in paths:
        for question, held in _classed(path):
            classes.add(held)
            if not duration or held == duration.casefold():
                found.append(question)
    if not found and duration:
        known = ", ".join(sorted(filter(None, classes))) or "no column duration"
        raise UsageError(f"no question has the duration {duration!r}; there is {known}")
    if len(paths) == 1:
        return found
    return [replace(question, question_id=f"q{number:05d}") for number, question in enumerate(found, start=1)]


def read_table(path: Path) -> list[LongQuestion]:
    """The questions in the order of the table. Raises `UsageError`: `file:line: what is wrong`."""
    return [question for question, _ in _classed(path)]


def _classed(path: Path) -> list[tuple[LongQuestion, str]]:
    """The questions, each with the class of its video's length in small letters, empty where it has none."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, delimiter="\t")
            columns = _columns(path, rows.fieldnames or [])
            return [
                (
                    _question(path, rows.line_num, number, row, columns),
                    row[columns["duration"]].strip().casefold() if columns["duration"] else "",
                )
                for number, row in _numbered(rows)
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read as a table: {error}") from error


def _numbered(rows: csv.DictReader[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    for number, row in enumerate(rows, start=1):
        yield number, {str(key).strip().lower(): value or "" for key, value in row.items() if key is not None}


def _columns(path: Path, names: Sequence[str]) -> dict[str, str]:
    held = {name.strip().lower() for name in names}
    found = {what: next((name for name in known if name in held), "") for what, known in COLUMNS.items()}
    missing = [
        " or ".join(COLUMNS[what]) for what, name in found.items() if not name and what not in OPTIONAL
    ]
    if missing:
        raise UsageError(f"{path}:1: no column {missing[0]}; the columns are {', '.join(sorted(held))}")
    return found


def _question(
    path: Path, line: int, number: int, row: Mapping[str, str], columns: Mapping[str, str]
) -> LongQuestion:
    options = _options(row[columns["options"]])
    text, video = row[columns["question"]].strip(), row[columns["video"]].strip()
    right = _right(row[columns["answer"]], options)
    problem = ""
    if not 2 <= len(options) <= len(LETTERS):
        problem = f"{len(options)} options; a question has 2 to {len(LETTERS)}"
    elif not text or not video:
        problem = "question or video is empty"
    elif PurePath(video).is_absolute() or ".." in PurePath(video).parts:
        problem = f"video {video}: not below the folder of the videos"
    elif len({option.casefold() for option in options}) < len(options):
        problem = "two options are the same"
    elif right is None:
        problem = "the answer is none of the options"
    if problem or right is None:
        raise UsageError(f"{path}:{line}: {problem}")
    last = len(options) - 1
    return LongQuestion(
        question_id=f"q{number:05d}",
        kind=(row[columns["kind"]].strip() if columns["kind"] else "") or "all",
        video=video,
        text=text,
        options=tuple(options),
        answer=LETTERS[right],
        order=tuple(last if place == right else place - (place > right) for place in range(len(options))),
        window=(0.0, 0.0),
    )


def _options(text: str) -> list[str]:
    plain = text.strip()
    parts = _list(plain) if plain.startswith("[") and len(plain) <= MAX_LIST else None
    parts = plain.splitlines() if parts is None else parts
    kept = [part.strip() for part in parts if part.strip()]
    labelled = [_LABEL.match(part) for part in kept]
    letters = [(match.group(1) or match.group(2)).upper() for match in labelled if match]
    if letters == list(LETTERS[: len(kept)]):
        kept = [_LABEL.sub("", part, count=1) for part in kept]
    return kept


def _list(text: str) -> list[str] | None:
    """The parts of a JSON or Python list; None for anything else, or what overtaxes the parser."""
    try:
        found = ast.literal_eval(text)
        return [str(part) for part in found] if isinstance(found, list) else None
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _right(answer: str, options: Sequence[str]) -> int | None:
    plain = answer.strip()
    for place, option in enumerate(options):
        if plain.casefold() == option.casefold():
            return place
    if found := _LETTER.match(plain):
        place = LETTERS.index(found.group(1).upper())
    elif plain.isdecimal() and len(plain) <= 2:
        place = int(plain)
    else:
        return _right(_LABEL.sub("", plain, count=1), options) if _LABEL.match(plain) else None
    return place if place < len(options) else None
