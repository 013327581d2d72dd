"""Questions with options from published files, whatever their fields are called.

`published.toml`, and the patterns in `options`, are all that is known of layouts. Answers and grounded spans
may be in files of their own, which are joined by the questions' ids.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import Any

from eval.runs.records import LETTERS, UnusableRow, reason_counts
from eval.tasks.longvideo.dataset import LongQuestion
from eval.tasks.longvideo.options import (
    LETTER,
    MAX_LIST,
    NAMES,
    NO_OPTION,
    index_of,
    literal,
    normalized,
    other_label,
    question_options,
    right_option,
)
from eval.tasks.longvideo.subtitles import SubtitleSource, subtitle_source
from eval.tasks.published import (
    SUFFIXES,
    UNDER,
    FileRow,
    clock_seconds,
    first_text,
    read_rows,
    row_files,
    text_of,
)
from rag.errors import QuestionError, UsageError
from rag.questions import parse_question

FIELDS: Mapping[str, Sequence[str]] = NAMES["fields"]
NO_ANSWER: Sequence[str] = NAMES["options"]["no_answer"]
SPANS = "location"
"""NExT-GQA's grounded spans of a video by the number of the question."""
UNSURE = "label"
"""Name of an answer, or of anything else: it counts only where it is the first."""
INPUTS = "inputs"
"""Of HD-EPIC: what a question is about, by `video 1` or `image 1`."""
PREFIX = "prefix"
"""Folder of a video in the tables of VLMEvalKit."""
_TAGGED = re.compile(r"<answer>\s*(.*?)\s*</answer>", re.DOTALL)


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
    benchmark: str = ""
    """The one of `published.toml` that all questions are of; empty for others."""


@dataclass
class _Joined:
    """What files beside the questions give."""

    answers: dict[str, Any] = field(default_factory=dict)
    """By question id."""
    unclear: set[str] = field(default_factory=set)
    """Ids that files give different answers for, or that several videos have a question with."""
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
class _Place:
    """Of the option that an answer names."""

    place: int
    text: str
    """The answer."""
    known: bool
    """False for an index of which the file does not show whether it counts from 0 or 1."""


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
    made = _Questions(joined, _answer_forms(rows, joined), _shared_ids(rows))
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
        questions,
        made.videos,
        made.tasks,
        windows,
        tuple(unusable),
        subtitles=made.subtitles,
        benchmark=made.benchmarks.pop() if len(made.benchmarks) == 1 else "",
    )


def _benchmark(fields: Mapping[str, Any]) -> str:
    known: Mapping[str, list[list[str]]] = NAMES["benchmarks"]
    return next((name for name, sets in known.items() if any(fields.keys() >= set(s) for s in sets)), "")


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
            _take_answers({name: answer}, joined)
            found = True
            continue
        spans = {
            str(key): value[SPANS]
            for key, value in row.raw.items()
            if isinstance(value, Mapping) and isinstance(value.get(SPANS), Mapping)
        }
        answers = {} if spans else {str(key): value for key, value in row.raw.items()}
        if all(LETTER.match(text_of(value)) or index_of(value) is not None for value in answers.values()):
            _take_answers(answers, joined)
            joined.spans = {**spans, **joined.spans}
            found = found or bool(answers or spans)
    return found


def _take_answers(answers: Mapping[str, Any], joined: _Joined) -> None:
    for name, answer in answers.items():
        if text_of(joined.answers.setdefault(name, answer)) != text_of(answer):
            joined.unclear.add(name)


def _shared_ids(rows: Sequence[_Row]) -> set[str]:
    """Ids that questions about different videos have: numbers that count those of one video or file."""
    videos: dict[str, set[str]] = {}
    for each in rows:
        if name := first_text(each.row.fields, FIELDS["id"]):
            videos.setdefault(name, set()).add(_video(each.row.fields))
    return {name for name, held in videos.items() if len(held) > 1}


def _answer_forms(rows: Sequence[_Row], joined: _Joined) -> dict[tuple[str, str], _AnswerForm]:
    """Of each field of each file with answers in digits or single letters, what these are.

    Options' texts ("2" of "3", "2", "1") where that holds for all such answers of the file. One that is no
    option decides for indices or labels: indices from 0 where an answer is 0, else from 1 where one is the
    number of its options.
    """
    forms: dict[tuple[str, str], _AnswerForm] = {}
    for each in rows:
        for key, held in _answers(each.row.fields, joined):
            answer = text_of(held).removesuffix(".0")
            form = forms.setdefault((each.file, key), _AnswerForm())
            if not (answer.isdecimal() or LETTER.match(answer)):
                continue
            options = _options(each.row.fields)[1]
            if answer.isdecimal():
                form.digits_are_text &= answer in filter(None, options)
                form.firsts |= {0} if answer == "0" else {1} if answer == str(len(options)) else set()
            else:
                form.letters_are_text &= normalized(answer) in map(normalized, filter(None, options))
    return forms


def _answers(fields: Mapping[str, Any], joined: _Joined) -> list[tuple[str, Any]]:
    """The row's own answers by their fields; else the one of the file of answers, of the field ""."""
    held = ((key, fields.get(key)) for key in FIELDS["answer"])
    own = [(key, _untagged(value)) for key, value in held if text_of(value)]
    name = first_text(fields, FIELDS["id"])
    return own or ([("", joined.answers[name])] if name in joined.answers else [])


def _untagged(answer: Any) -> Any:
    """Without `<answer>`, `</answer>` around it, and thoughts before them."""
    found = _TAGGED.search(answer) if isinstance(answer, str) else None
    return found.group(1) if found else answer


def _options(fields: Mapping[str, Any]) -> tuple[str, list[str], int | None]:
    return question_options(first_text(fields, FIELDS["question"]), fields)


class _Questions:
    """The questions of rows, one row after the other."""

    def __init__(
        self, joined: _Joined, forms: Mapping[tuple[str, str], _AnswerForm], shared_ids: set[str]
    ) -> None:
        self.questions: list[LongQuestion] = []
        self.classes: dict[str, str] = {}
        self.videos: dict[str, tuple[str, ...]] = {}
        self.tasks: dict[str, tuple[str, ...]] = {}
        self.windows: dict[str, tuple[tuple[float, float], ...]] = {}
        self.unusable: list[UnusableRow] = []
        self.subtitles: dict[str, SubtitleSource] = {}
        self.benchmarks: set[str] = set()
        self._joined, self._forms, self._shared_ids = joined, forms, shared_ids
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
        keyed = (first_text(fields, (key,)) for key in FIELDS["video"])
        names = tuple(dict.fromkeys(filter(None, (question.video, *keyed))))
        self.videos.setdefault(question.video, names)
        tasks = (question.kind, Path(each.file).stem)
        self.tasks[question.video] = tuple(dict.fromkeys((*self.tasks.get(question.video, ()), *tasks)))
        if source := subtitle_source(fields):
            self.subtitles.setdefault(question.video, source)
        self.classes[name] = first_text(fields, FIELDS["duration"]).casefold()
        spans = [(_span(one), str(one)[:60]) for one in self._intervals(fields, question.video)]
        if unread := next((shown for span, shown in spans if span is None), ""):
            self.unusable.append(UnusableRow(f"{place} ({name})", f"interval left out: {unread}"))
        if windows := tuple(sorted(span for span, _ in spans if span is not None)):
            self.windows[name] = windows
            question = replace(question, window=windows[0])
        self.benchmarks.add(_benchmark(fields))
        self.questions.append(question)

    def _question(self, each: _Row) -> LongQuestion:
        """Raises `ValueError`: the kind of fault, and after a colon its details."""
        fields = each.row.fields
        text, options, numbered = _options(fields)
        shown = [option for option in options if option.casefold() not in NO_OPTION]
        video = _video(fields)
        kind = _kind(fields)
        if not text:
            raise ValueError("no question")
        if (count := _count_inputs(fields)) > 1:
            raise ValueError(f"several inputs: the question is about {count} videos or images")
        if not video:
            raise ValueError("no video")
        if ".." in PurePath(video).parts:
            raise ValueError(f"video outside: {video} is not below the folder of the videos")
        if not shown:
            raise ValueError(f"no options: an open question ({kind})")
        if not 2 <= len(shown) <= len(LETTERS):
            raise ValueError(f"number of options: {len(shown)}; a question has 2 to {len(LETTERS)}")
        place = self._right(each, options, numbered)
        if options[place] not in shown:
            raise ValueError(f"no such answer: the answer is no option: {options[place]!r}")
        if [normalized(option) for option in shown].count(normalized(options[place])) > 1:
            raise ValueError("equal options: another option is the same as the right one")
        right, last = shown.index(options[place]), len(shown) - 1
        try:
            parse_question(text, shown)
        except QuestionError as error:
            raise ValueError(f"not a question: {error}") from error
        return LongQuestion(
            question_id=_name(fields, video, self._shared_ids),
            kind=kind,
            video=video,
            text=text,
            options=tuple(shown),
            answer=LETTERS[right],
            order=tuple(last if at == right else at - (at > right) for at in range(len(shown))),
            window=(0.0, 0.0),
        )

    def _right(self, each: _Row, options: Sequence[str], numbered: int | None) -> int:
        """Place of the right option. A text that is none, or of `NO_ANSWER`, leaves it to the next answer of
        the row; so does an index where the file does not show what it counts from.

        Raises `ValueError`, also where two answers differ.
        """
        fields = each.row.fields
        answers, places = _answers(fields, self._joined), list[_Place]()
        name = first_text(fields, FIELDS["id"])
        if answers and not answers[0][0] and (name in self._joined.unclear or name in self._shared_ids):
            raise ValueError(f"no answer: the files give several for the id {name}")
        for key, answer in answers:
            form = self._forms[each.file, key]
            least = min(form.firsts, default=None)
            start = least if least == 0 or numbered is None else numbered
            place = right_option(
                answer,
                options,
                form.digits_are_text,
                letters_are_text=form.letters_are_text,
                first=start or 0,
            )
            if place is not None and (key != UNSURE or not places):
                indexed = index_of(answer) is not None and not (
                    isinstance(answer, str) and form.digits_are_text
                )
                places.append(_Place(place, text_of(answer), not indexed or start is not None))
            elif (
                place is None
                and not places
                and (LETTER.match(text_of(answer)) or index_of(answer) is not None)
            ):
                break
        if not places:
            given = [text_of(answer) for _, answer in answers]
            if all(one.casefold() in NO_ANSWER for one in given):
                raise ValueError("no answer: none is published")
            raise ValueError(f"no such answer: the answer is none of the options: {given[0][:60]!r}")
        known = [one for one in places if one.known] or places[:1]
        first = known[0]
        if other := next((one for one in known if one.place != first.place), None):
            raise ValueError(f"different answers: {first.text[:60]!r} and {other.text[:60]!r}")
        if LETTER.match(first.text) and (label := other_label(options, first.place)):
            raise ValueError(
                f"labels out of order: the answer is {first.text}, the option there is labelled {label}"
            )
        return first.place

    def _intervals(self, fields: Mapping[str, Any], video: str) -> list[Any]:
        """Of the first field that has some."""
        number = first_text(fields, FIELDS["number"])
        grounded = self._joined.spans.get(video, {}).get(number) if number else None
        held = (grounded, *(fields.get(key) for key in (*FIELDS["windows"], *FIELDS["time"])))
        return next(filter(None, map(_intervals, held)), [])


def _kind(fields: Mapping[str, Any]) -> str:
    """The first of several kinds, which may be a list as text."""
    text = first_text(fields, FIELDS["kind"])
    return first_text({"kind": _list(text)}, ("kind",)) or text or "all"


def _video(fields: Mapping[str, Any]) -> str:
    """Its name: of the one input, of a field, or the row's id where no field has it and it is no number."""
    if inputs := _inputs(fields):
        return first_text(inputs[0], ("id",))
    name, own = first_text(fields, FIELDS["video"]), first_text(fields, FIELDS["id"])
    if not name:
        return "" if own.isdecimal() else own
    if "://" in name:
        return name
    folder = first_text(fields, (PREFIX,))
    path = PurePath(folder, name) if "/" in folder else PurePath(name)
    return str(path.relative_to(path.anchor)) if path.is_absolute() or folder else name


def _count_inputs(fields: Mapping[str, Any]) -> int:
    """Videos and images that a question is about, where a row lists them; else 1."""
    named = [_list(fields.get(key)) for key in FIELDS["video"]]
    paths = first_text(fields, ("video_paths",)).split(";")
    return max(len(_inputs(fields)), len(paths), *map(len, named))


def _inputs(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    held = fields.get(INPUTS)
    return [one for one in held.values() if isinstance(one, Mapping)] if isinstance(held, Mapping) else []


def _name(fields: Mapping[str, Any], video: str, shared_ids: set[str]) -> str:
    name, number = first_text(fields, FIELDS["id"]), first_text(fields, FIELDS["number"])
    if name.isdecimal() and first_text(fields, (UNDER,)) == video:
        name, number = "", name  # counts the questions below the video's name
    if name in shared_ids and name != video:
        name, number = "", name
    return name or (f"{video}_{number}" if number else "")


def _list(value: Any) -> list[Any]:
    """A list, or a text that is one."""
    if isinstance(value, str) and value.strip().startswith("[") and len(value) <= MAX_LIST:
        value = literal(value.strip())
    return value if isinstance(value, list) else []


def _intervals(value: Any) -> list[Any]:
    """Those of a list, or a single one; none where nothing is given."""
    held = _list(value)
    if any(isinstance(one, list | tuple) or _span(one) for one in held):
        return held
    text = text_of(value)
    return [held] if held else [text] if text.casefold() not in NO_OPTION else []


def _span(value: Any) -> tuple[float, float] | None:
    """[start, end) in seconds, of two numbers or of times of a clock; None for anything else."""
    parts = [text_of(one) for one in value] if isinstance(value, list | tuple) else [text_of(value)]
    if clock := clock_span("-".join(parts)):
        return clock[0]
    try:
        start, end = map(float, parts)
    except ValueError:
        return None
    return (start, end) if 0 <= start < end < float("inf") else None


def clock_span(text: str) -> tuple[tuple[float, float], ...]:
    """ "00:41-75:57" as a window in seconds, with the second that it ends in; none for anything else.

    Minutes may be more than 59; "1:02:03" has hours.
    """
    start, _, end = text.replace("\u2013", "-").partition("-")
    try:
        begins, ends = clock_seconds(start), clock_seconds(end)
    except ValueError:
        return ()
    return ((begins, ends + 1.0),) if begins <= ends else ()
