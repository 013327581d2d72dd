"""Questions with options from published files, whatever their fields are called.

`FIELDS` and `OPTION_COLUMNS` are all that is known of layouts: VideoMME (parquet, TSV), LVBench, MLVU,
LongVideoBench, EgoSchema, NExT-QA, NExT-GQA, RTV-Bench, and logs of lmms-eval over them. Answers and grounded
spans may be in files of their own, which are joined by the questions' ids.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Any

from eval.runs.records import LETTERS, UnusableRow, reason_counts
from eval.tasks.longvideo.dataset import LongQuestion
from eval.tasks.longvideo.subtitles import SubtitleSource, subtitle_source
from eval.tasks.published import (
    SECTION,
    SUFFIXES,
    UNDER,
    FileRow,
    first_text,
    parsed_json,
    read_rows,
    row_files,
    text_of,
)
from rag.errors import QuestionError, UsageError
from rag.questions import parse_question

FIELDS: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "q"),
    "options": ("options", "candidates", "choices", "option"),
    "answer": (
        *("answer", "correct_choice", "correct_answer", "correct_option", "ground_truth", "gt", "truth"),
        *("label", "right_answer", "answer_idx", "answer_id", "answer_index", "ans"),
    ),
    "id": ("question_id", "questionid", "uid", "q_uid", "id", "question_idx"),
    "number": ("qid",),
    "video": (
        *("video", "videoid", "video_name", "video_path", "q_uid", "video_idx", "key", "video_id", "vid"),
        *("video_uid", "vid_name", "video_url", "url", UNDER),
    ),
    "kind": (
        *("kind", "task_type", "question_type", "question_category", "type", "category"),
        *("sub_category", SECTION),
    ),
    "duration": ("duration_group", "duration_category", "duration"),
    "time": ("time_reference",),
    "windows": ("clue_intervals", "span"),
}
"""Names of each part of a question, the first that a row has counts; of `video`, the first with a file. A
`number` counts the questions of one video."""
OPTION_COLUMNS = re.compile(r"(?:option_?|choice_?|a)(\d{1,2})|(?:option_?|choice_?)?([a-z])")
"""Columns with one option each: `option 0`, `option0`, `a0`, `A`, `option_a`."""
OPTION_TEXT = ("choice", "option", "text")
"""Of an option that is a mapping with a number and a text."""
NO_OPTION = ("", "n/a")
"""In place of an option that a question lacks."""
SPANS = "location"
"""NExT-GQA's grounded spans of a video by the number of the question."""
MAX_LIST = 20_000
"""Characters of a list of options."""
_LABEL = re.compile(r"^\s*(?:\(([A-Za-z])\)\s*|([A-Za-z])[.):](?:\s+|(?=\w\w|\d)))")
"""Also without a blank ("A.red"), but not of an abbreviation ("A.D.")."""
_LETTER = re.compile(r"^\(?([A-Za-z])\)?[.):]?$")
_BESIDE = re.compile(r"(?<=['\"])\s+(?=['\"])")
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,4}):(\d{2}(?:\.\d+)?)")


@dataclass(frozen=True)
class PublishedQuestions:
    """What the files of a folder hold."""

    questions: tuple[LongQuestion, ...]
    videos: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Every name of a question's video, by its `video`."""
    tasks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Folders that a video is likely below, by its name: the task of its questions, and their file."""
    windows: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """All gold windows [start, end) in seconds, by question id, where there are any."""
    unusable: tuple[UnusableRow, ...] = ()
    subtitles: Mapping[str, SubtitleSource] = field(default_factory=dict)
    """Those in JSON, by the question's `video`."""


@dataclass
class _Joined:
    """What files beside the questions give."""

    answers: dict[str, Any] = field(default_factory=dict)
    """By question id."""
    spans: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By video, then by number of the question."""


@dataclass
class _AnswerForm:
    """What the answers of a file are."""

    digits_are_text: bool = True
    """Digits are an option's text, and no index."""
    letters_are_text: bool = True
    """Single letters are an option's text, and no label."""
    firsts: set[int] = field(default_factory=set)
    """The number of the first option, where the answers show it."""


@dataclass(frozen=True)
class _Row:
    file: str
    row: FileRow


def read_published(folder: Path, duration: str = "", files: str = "*") -> PublishedQuestions:
    """The questions of all files below a folder, in the order of the files' names.

    `duration`: only those of this class, in any case. `files`: only those of files with such a name (`*` and
    `?` as in a shell); answers and spans are read from any. Raises `UsageError` where there is no such
    question.
    """
    rows, joined, unusable, others = _read(folder, files)
    if not rows:
        raise UsageError(
            f"{folder}: no file with questions and options; "
            + "; ".join([*others, *(f"{row.place}: {row.reason}" for row in unusable)][:5])
        )
    made = _Questions(joined, _answer_forms(rows, joined))
    for each in rows:
        made.add(each)
    unusable += made.unusable
    if not made.questions:
        held = ", ".join(
            f"{kind} ({count})" for kind, count in reason_counts(u.reason for u in unusable).items()
        )
        first = f"{unusable[0].place}: {unusable[0].reason}"
        raise UsageError(
            f"{folder}: none of {len(unusable)} rows is a question with options: {held}; {first}"
        )
    if duration and not (
        kept := [q for q in made.questions if made.classes[q.question_id] == duration.casefold()]
    ):
        known = ", ".join(sorted(filter(None, set(made.classes.values())))) or "no column duration"
        raise UsageError(f"no question has the duration {duration!r}; there is {known}")
    questions = tuple(kept if duration else made.questions)
    windows = {q.question_id: made.windows[q.question_id] for q in questions if q.question_id in made.windows}
    return PublishedQuestions(
        questions, made.videos, made.tasks, windows, tuple(unusable), subtitles=made.subtitles
    )


def _read(folder: Path, pattern: str) -> tuple[list[_Row], _Joined, list[UnusableRow], list[str]]:
    """Rows with a question, what is joined to them, unusable rows, and what the other files are."""
    rows: list[_Row] = []
    joined, unusable, others = _Joined(), [], []
    if not (files := row_files(folder)):
        raise UsageError(f"{folder}: no file of rows ({', '.join(f'*{suffix}' for suffix in SUFFIXES)})")
    for path in files:
        name = os.path.relpath(path, folder)
        asked, bad, beside = [], [], []
        for found in read_rows(path, name):
            if isinstance(found, UnusableRow):
                bad.append(found)
            elif any(key in found.fields for key in FIELDS["question"]):
                asked.append(_Row(name, found))
            else:
                beside.append(found)
        if asked and not fnmatch(path.name, pattern):
            others.append(f"{name}: its name is not {pattern}")
        elif asked:
            rows += asked
            unusable += [*bad, *(UnusableRow(one.place, "no question") for one in beside)]
        elif not _join(beside, joined):
            unusable += bad
            others.append(f"{name}: {_keys(beside)}")
    return rows, joined, unusable, others


def _keys(rows: Sequence[FileRow]) -> str:
    if not rows:
        return "no rows"
    keys = list(rows[0].fields)[:8]
    return f"its keys are {', '.join(keys)}" if keys else "no keys"


def _join(rows: Sequence[FileRow], joined: _Joined) -> bool:
    """Take answers by id, or spans by video, from a file without questions; False where it has neither."""
    found = False
    for row in rows:
        name, answer = first_text(row.fields, FIELDS["id"]), first_text(row.fields, FIELDS["answer"])
        if name and answer:
            joined.answers.setdefault(name, answer)
            found = True
            continue
        spans = {
            str(key): value[SPANS]
            for key, value in row.raw.items()
            if isinstance(value, Mapping) and isinstance(value.get(SPANS), Mapping)
        }
        answers = {} if spans else {str(key): value for key, value in row.raw.items()}
        if all(_LETTER.match(text_of(value)) or _index(value) is not None for value in answers.values()):
            joined.answers = {**answers, **joined.answers}
            joined.spans = {**spans, **joined.spans}
            found = found or bool(answers or spans)
    return found


def _answer_forms(rows: Sequence[_Row], joined: _Joined) -> dict[str, _AnswerForm]:
    """Of each file with answers in digits or single letters, what these are.

    Options' texts ("2" of "3", "2", "1") where that holds for all such answers of the file. One that is no
    option decides for indices or labels: indices from 0 where an answer is 0, else from 1 where one is the
    number of its options.
    """
    forms: dict[str, _AnswerForm] = {}
    for each in rows:
        answer = text_of(_answer(each.row.fields, joined)).removesuffix(".0")
        form = forms.setdefault(each.file, _AnswerForm())
        if answer.isdecimal():
            options = _options(each.row.fields)[1]
            form.digits_are_text &= answer in filter(None, options)
            form.firsts |= {0} if answer == "0" else {1} if answer == str(len(options)) else set()
        elif _LETTER.match(answer):
            options = _options(each.row.fields)[1]
            form.letters_are_text &= _normalized(answer) in map(_normalized, filter(None, options))
    return forms


def _answer(fields: Mapping[str, Any], joined: _Joined) -> Any:
    """The row's own, else the one of the file of answers."""
    own = next((fields[key] for key in FIELDS["answer"] if text_of(fields.get(key))), None)
    return joined.answers.get(first_text(fields, FIELDS["id"])) if own is None else own


class _Questions:
    """The questions of rows, one row after the other."""

    def __init__(self, joined: _Joined, forms: Mapping[str, _AnswerForm]) -> None:
        self.questions: list[LongQuestion] = []
        self.classes: dict[str, str] = {}
        self.videos: dict[str, tuple[str, ...]] = {}
        self.tasks: dict[str, tuple[str, ...]] = {}
        self.windows: dict[str, tuple[tuple[float, float], ...]] = {}
        self.unusable: list[UnusableRow] = []
        self.subtitles: dict[str, SubtitleSource] = {}
        self._joined, self._forms = joined, forms
        self._places: dict[str, str] = {}
        self._same: dict[tuple[Any, ...], tuple[str, str]] = {}

    def add(self, each: _Row) -> None:
        """Make a question of a row, or an unusable row."""
        try:
            self._keep(each, self._question(each))
        except ValueError as error:
            name = first_text(each.row.fields, FIELDS["id"])
            self.unusable.append(UnusableRow(f"{each.row.place}{f' ({name})' if name else ''}", str(error)))

    def _keep(self, each: _Row, question: LongQuestion) -> None:
        fields, place = each.row.fields, each.row.place
        content = (question.video, question.text, question.options, question.answer)
        name = question.question_id or f"q{len(self.questions) + 1:05d}"
        if name in self._places:
            raise ValueError(f"duplicate id: {name}, as in {self._places[name]}")
        file, first = self._same.setdefault(content, (each.file, place))
        if file != each.file:
            raise ValueError(f"duplicate row: as {first}")
        self._places[name] = place
        question = replace(question, question_id=name)
        names = tuple(dict.fromkeys(filter(None, (first_text(fields, (key,)) for key in FIELDS["video"]))))
        self.videos.setdefault(question.video, names)
        tasks = (question.kind, Path(each.file).stem)
        self.tasks[question.video] = tuple(dict.fromkeys((*self.tasks.get(question.video, ()), *tasks)))
        if source := subtitle_source(fields):
            self.subtitles.setdefault(question.video, source)
        self.classes[name] = first_text(fields, FIELDS["duration"]).casefold()
        if windows := self._windows(fields, question.video):
            self.windows[name] = windows
            question = replace(question, window=windows[0])
        self.questions.append(question)

    def _question(self, each: _Row) -> LongQuestion:
        """Raises `ValueError`: the kind of fault, and after a colon its details."""
        fields = each.row.fields
        text, options, numbered = _options(fields)
        shown = [option for option in options if option.casefold() not in NO_OPTION]
        video = first_text(fields, FIELDS["video"])
        kind = _kind(fields)
        if not text:
            raise ValueError("no question")
        if not video:
            raise ValueError("no video")
        if "://" not in video and (PurePath(video).is_absolute() or ".." in PurePath(video).parts):
            raise ValueError(f"video outside: {video} is not below the folder of the videos")
        if not shown:
            raise ValueError(f"no options: an open question ({kind})")
        if not 2 <= len(shown) <= len(LETTERS):
            raise ValueError(f"number of options: {len(shown)}; a question has 2 to {len(LETTERS)}")
        answer = _answer(fields, self._joined)
        if not text_of(answer):
            raise ValueError("no answer: none is published")
        form = self._forms[each.file]
        given = min(form.firsts, default=None)
        first = given if given == 0 or numbered is None else numbered
        place = right_option(
            answer, options, form.digits_are_text, letters_are_text=form.letters_are_text, first=first or 0
        )
        if place is None or options[place] not in shown:
            raise ValueError(f"no such answer: the answer is none of the options: {text_of(answer)[:60]!r}")
        if [_normalized(option) for option in shown].count(_normalized(options[place])) > 1:
            raise ValueError("equal options: another option is the same as the right one")
        right, last = shown.index(options[place]), len(shown) - 1
        try:
            parse_question(text, shown)
        except QuestionError as error:
            raise ValueError(f"not a question: {error}") from error
        return LongQuestion(
            question_id=_name(fields, video),
            kind=kind,
            video=video,
            text=text,
            options=tuple(shown),
            answer=LETTERS[right],
            order=tuple(last if at == right else at - (at > right) for at in range(len(shown))),
            window=(0.0, 0.0),
        )

    def _windows(self, fields: Mapping[str, Any], video: str) -> tuple[tuple[float, float], ...]:
        number = first_text(fields, FIELDS["number"])
        held = self._joined.spans.get(video, {}).get(number) if number else None
        if isinstance(held, list):
            return _spans(held)
        for key in FIELDS["windows"]:
            if windows := _spans(_list(fields.get(key))):
                return windows
        return clock_span(first_text(fields, FIELDS["time"]))


def _kind(fields: Mapping[str, Any]) -> str:
    """The first of several kinds, which may be a list as text."""
    text = first_text(fields, FIELDS["kind"])
    return first_text({"kind": _list(text)}, ("kind",)) or text or "all"


def _name(fields: Mapping[str, Any], video: str) -> str:
    name, number = first_text(fields, FIELDS["id"]), first_text(fields, FIELDS["number"])
    if name.isdecimal() and first_text(fields, (UNDER,)) == video:
        name, number = "", name  # counts the questions below the video's name
    return name or (f"{video}_{number}" if number else "")


def _list(value: Any) -> list[Any]:
    """A list, or a text that is one."""
    if isinstance(value, str) and value.strip().startswith("[") and len(value) <= MAX_LIST:
        value = _literal(value.strip())
    return value if isinstance(value, list) else []


def _spans(held: list[Any]) -> tuple[tuple[float, float], ...]:
    """Those of a list of spans, or a single one, by their time."""
    found = map(_span, held if any(isinstance(one, list) for one in held) else [held])
    return tuple(sorted(span for span in found if span is not None))


def _span(value: Any) -> tuple[float, float] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    try:
        start, end = float(value[0]), float(value[1])
    except (TypeError, ValueError, OverflowError):
        return None
    return (start, end) if 0 <= start < end < float("inf") else None


def clock_span(text: str) -> tuple[tuple[float, float], ...]:
    """ "00:41-75:57" as a window in seconds, with the second that it ends in; none for anything else.

    Minutes may be more than 59; "1:02:03" has hours.
    """
    start, dash, end = text.replace("\u2013", "-").partition("-")
    first, last = (_CLOCK.fullmatch(part.strip()) for part in (start, end))
    if not dash or first is None or last is None:
        return ()
    begins, ends = (
        int(found[1] or 0) * 3600 + int(found[2]) * 60 + float(found[3]) for found in (first, last)
    )
    return ((begins, ends + 1.0),) if begins <= ends else ()


def _options(fields: Mapping[str, Any]) -> tuple[str, list[str], int | None]:
    """The question without its options, these without labels, empty ones among them, and the number of the
    first where they are numbered."""
    text = first_text(fields, FIELDS["question"])
    for key in FIELDS["options"]:
        parts, first = _parts(fields.get(key))
        if parts and (len(parts) > 1 or key != "option"):
            return _without_options(text, parts), parts, first
    columns = [(found, fields[key]) for key in fields if (found := OPTION_COLUMNS.fullmatch(key))]
    numbers = {found[1]: value for found, value in columns if found[1]}
    letters = {found[2].upper(): value for found, value in columns if found[2]}
    unbroken = {letter: letters[letter] for letter in takewhile(letters.__contains__, LETTERS)}
    for held in (numbers, unbroken):
        if len(held) > 1:
            placed, first = _placed(held)
            return text, _unlabelled([text_of(option) for option in placed]), first
    return *_split(text), None


def _placed(labelled: Mapping[str, Any]) -> tuple[list[Any], int | None]:
    """Values by their labels, None for one that is left out: letters from A, numbers from 0 or 1, which is
    returned too; any other labels in their order."""
    labels = {str(label).strip().upper(): value for label, value in labelled.items()}
    if len(labels) == len(labelled) and all(re.fullmatch("[0-9]{1,2}", label) for label in labels):
        numbers = {int(label): value for label, value in labels.items()}
        first = int(0 not in numbers)
        return [numbers.get(at) for at in range(first, max(numbers, default=0) + 1)], first
    if len(labels) == len(labelled) and all(re.fullmatch("[A-Z]", label) for label in labels):
        return [labels.get(letter) for letter in LETTERS[: LETTERS.index(max(labels)) + 1]], None
    return [labelled[label] for label in sorted(labelled, key=str)], None


def _split(text: str) -> tuple[str, list[str]]:
    """A question with "(A) ... (B) ..." in its text, taken apart."""
    try:
        found = parse_question(text)
    except QuestionError:
        return text, []
    return (found.text, list(found.options)) if found.options else (text, [])


def _without_options(text: str, options: Sequence[str]) -> str:
    """The text without a copy of the options at its end."""
    words, found = _split(text)
    return words if found and list(map(_normalized, found)) == list(map(_normalized, options)) else text


def _parts(value: Any) -> tuple[list[str], int | None]:
    """Texts of a list, of a mapping from letters or numbers, or of a text that is one of these or lines; and
    the number of the first where they have numbers."""
    first = None
    if isinstance(value, str):
        plain = value.strip()
        listed = _literal(plain) if plain[:1] in ("[", "{") and len(plain) <= MAX_LIST else None
        value = [part for part in plain.splitlines() if part.strip()] if listed is None else listed
    if isinstance(value, Mapping):
        value, first = _placed(value)
    if not isinstance(value, list | tuple):
        return [], None
    texts = [first_text(part, OPTION_TEXT) if isinstance(part, Mapping) else text_of(part) for part in value]
    return _unlabelled(texts), first


def _unlabelled(parts: Sequence[str]) -> list[str]:
    """Without "A. ", "(B) " before them, where all are labelled in order."""
    kept = [part.strip() for part in parts]
    filled = [part for part in kept if part.casefold() not in NO_OPTION]
    labels = [_LABEL.match(part) for part in filled]
    letters = [(found.group(1) or found.group(2)).upper() for found in labels if found]
    if letters and letters == list(LETTERS[: len(filled)]):
        kept = [_LABEL.sub("", part, count=1) for part in kept]
    return kept


def _literal(text: str) -> list[Any] | dict[Any, Any] | None:
    """A JSON or Python list or mapping, or a printed array of NumPy; None for anything else."""
    separated = _BESIDE.sub(", ", text)
    for form in (text, separated):
        for parse in (parsed_json, ast.literal_eval):
            try:
                found = parse(form)
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
            # Texts side by side without a comma, as NumPy prints them, are one text to Python.
            joined = isinstance(found, list) and len(found) == 1 and form != separated
            if isinstance(found, list | dict) and not joined:
                return found
    return None


def right_option(
    answer: Any,
    options: Sequence[str],
    digits_are_text: bool = True,
    *,
    letters_are_text: bool = True,
    first: int = 0,
) -> int | None:
    """Place of the right option: by its text, its letter, its label and text, or its index from `first`.

    A number is an index; digits as text are an option's text where `digits_are_text` and one reads so, a
    single letter where `letters_are_text` and one reads so.
    """
    if not isinstance(answer, str):
        return _place(answer, len(options), first)
    plain = answer.strip()
    letter = _LETTER.match(plain)
    if digits_are_text if plain.isdecimal() else letters_are_text or letter is None:
        for place, option in enumerate(options):
            if option and _normalized(plain) == _normalized(option):
                return place
    if letter is not None:
        place = LETTERS.index(letter.group(1).upper())
        return place if place < len(options) else None
    if (labelled := _LABEL.match(plain)) is not None:
        place = LETTERS.index((labelled.group(1) or labelled.group(2)).upper())
        rest = _LABEL.sub("", plain, count=1)
        if place < len(options) and rest.casefold() == options[place].casefold():
            return place
        return right_option(rest, options)
    return _place(plain, len(options), first)


def _place(value: Any, count: int, first: int) -> int | None:
    index = _index(value)
    return index - first if index is not None and first <= index < first + count else None


def _normalized(text: str) -> str:
    return " ".join(text.split()).casefold()


def _index(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    text = text_of(value)
    text = text.removesuffix(".0") if isinstance(value, str) else text
    return int(text) if re.fullmatch(r"[0-9]{1,2}", text) else None
