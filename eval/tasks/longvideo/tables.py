"""Questions from elsewhere: a table as VideoMME, LVBench, MLVU and LongVideoBench are used with.

Tab-separated, one question a line. Columns, in any order and any case: `video`
(or `video_id`), `question`, `options` (or `candidates`), `answer`; others are
passed over, but `kind` (or `task_type`) gives a question its family. Options are
a JSON or Python list, or lines; a label before an option ("A. ", "(B) ") goes.
The answer is a letter, an option's text, or its index from 0.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from eval.runs.records import LETTERS
from eval.tasks.longvideo.records import LongQuestion
from rag.errors import UsageError

NAMES = {
    "video": ("video", "video_id"),
    "question": ("question",),
    "options": ("options", "candidates"),
    "answer": ("answer",),
}
LONGEST = 20_000
"""Characters of a list of options."""
KINDS = ("kind", "task_type", "question_category")
_LABEL = re.compile(r"^\s*(?:\(([A-Fa-f])\)|([A-Fa-f])[.):])\s+")
_LETTER = re.compile(r"^\(?([A-Fa-f])\)?[.):]?$")


def read_table(path: Path) -> list[LongQuestion]:
    """The questions in the order of the table. Raises `UsageError`: `file:line: what is wrong`."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, delimiter="\t")
            columns = _columns(path, rows.fieldnames or [])
            return [_question(path, rows.line_num, number, row, columns) for number, row in _numbered(rows)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read as a table: {error}") from error


def _numbered(rows: csv.DictReader[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    for number, row in enumerate(rows, start=1):
        yield number, {str(key).strip().lower(): value or "" for key, value in row.items() if key is not None}


def _columns(path: Path, names: Sequence[str]) -> dict[str, str]:
    held = {name.strip().lower() for name in names}
    found = {what: next((name for name in known if name in held), "") for what, known in NAMES.items()}
    missing = [" or ".join(NAMES[what]) for what, name in found.items() if not name]
    if missing:
        raise UsageError(f"{path}:1: no column {missing[0]}; the columns are {', '.join(sorted(held))}")
    return {**found, "kind": next((name for name in KINDS if name in held), "")}


def _question(
    path: Path, line: int, number: int, row: Mapping[str, str], columns: Mapping[str, str]
) -> LongQuestion:
    options = _options(row[columns["options"]])
    text = row[columns["question"]].strip()
    if not 2 <= len(options) <= len(LETTERS):
        raise UsageError(f"{path}:{line}: {len(options)} options; 2 to {len(LETTERS)} can be asked")
    video = row[columns["video"]].strip()
    if not text or not video:
        raise UsageError(f"{path}:{line}: question or video is empty")
    if PurePath(video).is_absolute() or ".." in PurePath(video).parts:
        raise UsageError(f"{path}:{line}: video {video}: not below the folder of the videos")
    if len({option.casefold() for option in options}) < len(options):
        raise UsageError(f"{path}:{line}: two options are the same")
    right = _right(row[columns["answer"]], options)
    if right is None:
        raise UsageError(f"{path}:{line}: the answer is none of the options")
    last = len(options) - 1
    order = [place + (place >= right) for place in range(last)]
    places = {option: place for place, option in enumerate([*order, right])}
    return LongQuestion(
        question_id=f"q{number:05d}",
        kind=(row[columns["kind"]].strip() if columns["kind"] else "") or "all",
        video=video,
        text=text,
        options=tuple(options),
        answer=LETTERS[right],
        order=tuple(places[option] for option in range(len(options))),
        window=(0.0, 0.0),
    )


def _options(text: str) -> list[str]:
    plain = text.strip()
    parts = _list(plain) if plain.startswith("[") and len(plain) <= LONGEST else None
    parts = plain.splitlines() if parts is None else parts
    kept = [part.strip() for part in parts if part.strip()]
    labelled = [_LABEL.match(part) for part in kept]
    letters = [(match.group(1) or match.group(2)).upper() for match in labelled if match]
    if letters == list(LETTERS[: len(kept)]):
        kept = [_LABEL.sub("", part, count=1) for part in kept]
    return kept


def _list(text: str) -> list[str] | None:
    """The parts of a JSON or Python list; None for what is none, or made to overtax a parser."""
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
    elif plain.isdecimal() and len(plain) <= len(str(len(LETTERS))):
        place = int(plain)
    else:
        return _right(_LABEL.sub("", plain, count=1), options) if _LABEL.match(plain) else None
    return place if place < len(options) else None
