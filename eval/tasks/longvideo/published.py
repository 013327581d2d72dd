"""Questions with options about long videos, with their gold: from published files, by the maps in
`published.toml`.

The last map there is of tables of one's own: it has several names for each field.

Subtitles may be published as JSON, of the whole video that a clip was cut from. LongVideoBench:
`subtitles/ID_en.json`, a list of `{"start": "00:00:01.000", "end", "line"}`, or of `{"timestamp": [seconds,
seconds or null], "text"}`. A clip starts at `starting_timestamp_for_subtitles`.
"""

from __future__ import annotations

import ast
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from itertools import product
from pathlib import Path, PurePath
from typing import Any

from corpora.outputs import atomic_write_text
from corpora.video.records import TimedText
from corpora.video.subtitles import ended, plain_cue
from eval.runs.records import LETTERS, Query, TaskInput, UnusableRow, reason_counts
from eval.tasks.layouts import Entry, Layout, Row, first_keys
from eval.tasks.published import SUFFIXES, interval, parsed_json, read_entries, row_files, text_of
from eval.tasks.videos import FoundVideos, files_below
from rag.errors import QuestionError, UsageError
from rag.questions import parse_question
from rag.rendering.webvtt import webvtt
from rag.store.lookup import seconds


@dataclass(frozen=True, slots=True)
class LongQuestion:
    """One question with its gold."""

    question_id: str
    kind: str
    """The file's own word, or `all`."""
    video: str
    """Its name in the data; of synthetic data, its file's."""
    text: str
    options: tuple[str, ...]
    """As they are shown."""
    answer: str
    """Letter of the right option."""
    order: tuple[int, ...]
    """Shuffled option i was at `order[i]`; the last place is the right one's."""
    window: tuple[float, float]
    """[start, end) seconds, the first where there are several; (0, 0) where it is unknown."""


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


def input_of(question: LongQuestion) -> TaskInput:
    """What a solver sees of a question."""
    return TaskInput(question.question_id, question.text, question.options, question.video)


NO_OPTION = ("", "n/a", "nan")
"""What stands in place of an option that a question lacks, in lower case."""
LABELS = ("label", "letter", "key", "id", "choice_id", "option_id", "index", "idx")
TEXTS = ("choice", "option", "text")
"""Keys of the text of an option that is a mapping."""
MAX_LIST = 20_000
"""Characters of a list in a text."""
_LABEL = re.compile(r"\s*(?:\(([A-Za-z])\)\s*|([A-Za-z])[.):](?:\s+|(?=\w\w|\d|\w\s)))")
"""Also without a blank ("A.red"), but not of an abbreviation ("A.D.")."""
_INSTRUCTION = re.compile(
    r"\n[^\S\n]*(?:please )?(?:answer|respond|reply|select|choose)\b[^\n]*\b(?:letter|option)\b[^\n]*\s*$",
    re.IGNORECASE,
)
"""The last line of a question that has its options in its text, to a model."""
_LETTER = re.compile(r"\(?([A-Za-z])\)?[.):]?")
_BESIDE = re.compile(r"(?<=['\"])\s+(?=['\"])")
_TAGGED = re.compile(r"<answer>\s*(.*?)\s*</answer>", re.DOTALL)


def split_question(text: str) -> tuple[str, list[str]]:
    """A question with "(A) ... (B) ..." in its text, taken apart."""
    try:
        found = parse_question(_INSTRUCTION.sub("", text))
    except QuestionError:
        return text, []
    return (found.text, list(found.options)) if found.options else (text, [])


def options_of(value: Any) -> tuple[list[str], int | None]:
    """Texts without labels of a list, of a mapping from letters or numbers, or of a text that is one of these
    or lines; "" for one that is left out; and the number of the first where they have numbers."""
    first = None
    if isinstance(value, str):
        value = listed(value) or _by_line(value)
    if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        texts = [next(filter(None, (text_of(part.get(key)) for key in TEXTS)), "") for part in value]
        key = next((key for key in LABELS if all(text_of(part.get(key)) for part in value)), "")
        placed = _placed({text_of(part[key]): text for part, text in zip(value, texts, strict=True)})[0]
        value = texts if "" in placed or len(placed) < len(texts) else placed
    if isinstance(value, Mapping):
        value, first = _placed(value)
    if not isinstance(value, list | tuple):
        return [], None
    return _unlabelled(
        [", ".join(map(text_of, part)) if isinstance(part, list) else text_of(part) for part in value]
    ), first


def _placed(held: Mapping[str, Any]) -> tuple[list[Any], int | None]:
    """Values by their labels, "" for one that is left out: letters from A, numbers from 0 or 1, which is
    returned too; any other labels in their order."""
    labels = {str(label).strip().upper(): value for label, value in held.items()}
    if all(re.fullmatch("[0-9]{1,2}", label) for label in labels):
        numbers = {int(label): value for label, value in labels.items()}
        first = int(0 not in numbers)
        return [numbers.get(at, "") for at in range(first, max(numbers, default=0) + 1)], first
    if all(re.fullmatch("[A-Z]", label) for label in labels):
        return [labels.get(letter, "") for letter in LETTERS[: LETTERS.index(max(labels)) + 1]], None
    return [labels[label] for label in sorted(labels)], None


def _by_line(text: str) -> list[str]:
    """An option a line; where the first is labelled, lines without a label belong to the one before them."""
    if _LABEL.match(text):
        return re.split(rf"\n(?={_LABEL.pattern})", text.strip())[:: _LABEL.groups + 1]
    return [line for line in text.splitlines() if line.strip()]


def labels_of(options: Sequence[str]) -> str:
    """The letters that options are labelled with, in their order."""
    found = filter(None, map(_LABEL.match, options))
    return "".join((one[1] or one[2]).upper() for one in found)


def _unlabelled(parts: Sequence[str]) -> list[str]:
    """Without "A. ", "(B) " before them, where all are labelled in order."""
    kept = [part.strip() for part in parts]
    filled = [part for part in kept if part.casefold() not in NO_OPTION]
    return [_LABEL.sub("", part, 1) for part in kept] if labels_of(filled) == LETTERS[: len(filled)] else kept


def listed(text: str) -> list[Any] | dict[Any, Any] | None:
    """The list or mapping that a text is, as JSON, Python or NumPy print it; None for any other text."""
    plain = text.strip()
    if not plain.startswith(("[", "{")) or len(plain) > MAX_LIST:
        return None
    # No form has line breaks within a text, and NumPy has blanks between texts, no commas.
    for whole in (plain, " ".join(plain.splitlines())):
        separated = _BESIDE.sub(", ", whole)
        for form, parse in product((whole, separated), (parsed_json, ast.literal_eval)):
            try:
                found = parse(form)
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
            # Texts side by side without a comma are one text to Python.
            joined = isinstance(found, list) and len(found) == 1 and form != separated
            if isinstance(found, list | dict) and not joined:
                return found
    return None


def right_option(answer: Any, options: Sequence[str], kinds: Sequence[str], first: int = 0) -> int | None:
    """Place of the right option, by the first of `kinds` that fits; None where none does.

    text: the option's, with or without its label; letter: its label; index: its number from `first`.
    """
    tagged = _TAGGED.search(answer) if isinstance(answer, str) else None
    plain = tagged[1] if tagged else text_of(answer)
    texts = [normalized(option) for option in options]
    letter, number = _LETTER.fullmatch(plain), plain.removesuffix(".0")
    places = {
        "text": next(
            (
                texts.index(one)
                for one in map(normalized, (plain, _LABEL.sub("", plain, 1)))
                if one and one in texts
            ),
            -1,
        ),
        "letter": LETTERS.index(letter[1].upper()) if letter else -1,
        "index": int(number) - first if re.fullmatch("[0-9]{1,2}", number) else -1,
    }
    return next((places[kind] for kind in kinds if 0 <= places[kind] < len(options)), None)


def normalized(text: str) -> str:
    """Fold letter case and blanks, which do not count in a comparison."""
    return " ".join(text.split()).casefold()


FOLDER = "subtitles-of-clips"
"""Below the data."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SubtitleSource:
    """Where the subtitles of a clip are."""

    name: str
    """The name of the file."""
    start: float
    """Where the clip begins, in seconds of the whole video."""
    duration: float
    """How long the clip is, in seconds; infinite where the row does not say it."""


def write_subtitles(folder: Path, sources: Mapping[str, SubtitleSource], found: FoundVideos) -> None:
    """`FOLDER/ID.vtt` for each video that was found and has a source, where it is not there already.

    A source that cannot be read is logged and left out.
    """
    paths = {path.name: folder / path for path in files_below(folder)} if sources else {}
    for video, source in sources.items():
        if video not in found.paths or source.name not in paths:
            continue
        try:
            entries = parsed_json(paths[source.name].read_text(encoding="utf-8-sig"))
            text = webvtt(_cues(entries, source))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            log.warning("%s: no subtitles as LongVideoBench has them: %s", source.name, error)
            continue
        place = folder / FOLDER / f"{Path(found.paths[video]).stem}.vtt"
        if not place.is_file() or place.read_text(encoding="utf-8") != text:
            place.parent.mkdir(exist_ok=True)
            atomic_write_text(place, text)


def _cues(entries: Sequence[Mapping[str, Any]], source: SubtitleSource) -> Iterator[tuple[float, float, str]]:
    """Start and end in seconds of the clip, and text, of the cues that the clip has a part of."""
    for cue in ended([_cue(entry) for entry in entries]):
        begins, ends = max(0.0, cue.start - source.start), min(cue.end - source.start, source.duration)
        if begins < ends and cue.text:
            yield begins, ends, cue.text


def _cue(entry: Mapping[str, Any]) -> TimedText:
    """Raises `ValueError`, `KeyError` or `TypeError` for another layout."""
    if "timestamp" in entry:
        start, end = entry["timestamp"]
        start, end, text = float(start), float(start if end is None else end), entry["text"]
    else:
        start, end = (seconds(str(entry[name]).replace(",", ".")) for name in ("start", "end"))
        text = entry["line"]
    return TimedText(start, end, "subtitle", plain_cue(str(text)))


LAYOUTS = Layout.read("eval.tasks.longvideo", "question")
NO_ANSWER = ("", "-1", "na", "n/a", "none", "null", "unknown", "?")
"""In place of an answer that is not published."""


@dataclass
class PublishedQuestions:
    """What the files of a folder hold, one file after the other."""

    by_id: dict[str, LongQuestion] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    """The class of length, in lower case, by question id."""
    videos: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Every name of a question's video, by its `video`."""
    tasks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Folders that a video is likely below, by its name: the task of its questions, and their file."""
    windows: dict[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """All gold windows [start, end) in seconds, by question id, where there are any."""
    unusable: list[UnusableRow] = field(default_factory=list)
    subtitles: dict[str, SubtitleSource] = field(default_factory=dict)
    """Those in JSON, by the question's `video`."""
    benchmarks: set[str] = field(default_factory=set)
    """That a paper printed figures for; the empty one stands for others."""
    _places: dict[str, str] = field(default_factory=dict)
    _same: dict[tuple[Any, ...], tuple[str, str]] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[LongQuestion, ...]:
        """All questions, in the order of the files."""
        return tuple(self.by_id.values())

    @property
    def benchmark(self) -> str:
        """The one that all questions are of; empty for several or others."""
        return next(iter(self.benchmarks)) if len(self.benchmarks) == 1 else ""

    def read(self, file: str, layout: Layout, entries: Sequence[Entry], beside: Mapping[str, Row]) -> None:
        """Make a question of each row, or an unusable row."""
        rows = [(place, row) for place, row in entries if isinstance(row, Mapping)]
        forms = _forms(layout, [row for _, row in rows])
        for place, value in entries:
            if isinstance(value, UnusableRow):
                self.unusable.append(value)
                continue
            name = layout.text(value, "id")
            added = {key: held for key, held in beside.get(name, {}).items() if value.get(key) in (None, "")}
            row = {**value, **added}
            try:
                self._keep(file, place, layout, row, _question(layout, row, forms))
            except ValueError as error:
                self.unusable.append(UnusableRow(f"{place}{f' ({name})' if name else ''}", str(error)))

    def _keep(self, file: str, place: str, layout: Layout, row: Row, question: LongQuestion) -> None:
        content = (question.video, question.text, question.options, question.answer)
        name = question.question_id or f"q{len(self.by_id) + 1:05d}"
        if name in self._places and self.by_id[name].video != question.video:
            name = f"{question.video}_{name}"  # an id that counts the questions of a video
        if name in self._places:
            raise ValueError(f"duplicate id: {name}, as in {self._places[name]}")
        source, earlier = self._same.setdefault(content, (file, place))
        if source != file:
            raise ValueError(f"duplicate row: as {earlier}")
        self._places[name] = place
        video = question.video
        keyed = (text_of(held) for _, held in layout.values(row, "video"))
        self.videos.setdefault(video, tuple(dict.fromkeys(filter(None, (video, *keyed)))))
        self.tasks[video] = tuple(dict.fromkeys((*self.tasks.get(video, ()), question.kind, Path(file).stem)))
        if (subtitles := PurePath(layout.text(row, "subtitles")).name).lower().endswith(".json"):
            start, seconds = (_number(layout.value(row, each)) for each in ("subtitles_from", "seconds"))
            source_of = SubtitleSource(subtitles, start or 0.0, float("inf") if seconds is None else seconds)
            self.subtitles.setdefault(video, source_of)
        self.classes[name] = layout.text(row, "duration").casefold()
        windows = []
        for each in _intervals(layout.value(row, "spans")):
            try:
                windows.append(interval(each))
            except ValueError:
                shown = f"interval left out: {str(each)[:60]}"
                self.unusable.append(UnusableRow(f"{place} ({name})", shown))
        if windows:
            self.windows[name] = tuple(sorted(windows))
            question = replace(question, window=self.windows[name][0])
        self.benchmarks.add(layout.benchmark)
        self.by_id[name] = replace(question, question_id=name)


def read_published(folder: Path, duration: str = "", files: str = "*") -> PublishedQuestions:
    """The questions of all files below a folder, in the order of the files' names.

    `duration`: only those of this class, in any case. `files`: only those of files with such a name (`*` and
    `?` as in a shell); answers and spans are read from any. Raises `UsageError` where there is no such
    question.
    """
    if not (paths := row_files(folder)):
        raise UsageError(f"{folder}: no file of rows ({', '.join(f'*{suffix}' for suffix in SUFFIXES)})")
    made, others, asked = PublishedQuestions(), list[str](), False
    for path in paths:
        name = os.path.relpath(path, folder)
        entries = list(read_entries(path, name))
        layout = next((each for each in LAYOUTS.values() if each.recognizes(entries)), None)
        if layout is None:
            made.unusable += [value for _, value in entries if isinstance(value, UnusableRow)]
            others.append(first_keys(name, entries))
        elif fnmatch(path.name, files):
            made.read(name, layout, list(layout.rows_of(entries)), layout.joined(paths))
            asked = True
        else:
            others.append(f"{name}: its name is not {files}")
    unusable = made.unusable
    if not asked:
        raise UsageError(f"{folder}: no file with questions and options; {'; '.join(others[:5])}")
    if not made.by_id:
        kinds = reason_counts(row.reason for row in unusable)
        held = ", ".join(f"{kind} ({count})" for kind, count in kinds.items())
        first = f"{unusable[0].place}: {unusable[0].reason}"
        raise UsageError(
            f"{folder}: none of {len(unusable)} rows is a question with options: {held}; {first}"
        )
    wanted = [name for name, held in made.classes.items() if not duration or held == duration.casefold()]
    if not wanted:
        known = ", ".join(sorted(filter(None, set(made.classes.values())))) or "no column duration"
        raise UsageError(f"no question has the duration {duration!r}; there is {known}")
    made.by_id = {name: made.by_id[name] for name in wanted}
    made.windows = {name: made.windows[name] for name in wanted if name in made.windows}
    return made


def _forms(layout: Layout, rows: Sequence[Row]) -> tuple[Sequence[str], int]:
    """What the answers of a file are, and what its indices count from.

    Digits are indices unless each is the text of an option: from 1 where none is 0, and one is the number of
    its options.
    """
    answers = ((layout.text(row, "answer"), row) for row in rows) if "index" in layout.answers else ()
    digits = [(answer, _options(layout, row)[1]) for answer, row in answers if answer.isdecimal()]
    if all(answer in options for answer, options in digits):
        return layout.answers, 0
    from_1 = all(answer != "0" for answer, _ in digits) and any(a == str(len(held)) for a, held in digits)
    return ("index", *layout.answers), int(from_1)


def _options(layout: Layout, row: Row) -> tuple[str, list[str], int | None]:
    """The question without its options, these, and the number of the first where they are numbered."""
    text, inside = split_question(layout.text(row, "question"))
    options, first = options_of(layout.value(row, "options"))
    if wrong := options_of(layout.value(row, "wrong"))[0]:
        right = layout.text(row, "answer")
        options = sorted((right, *wrong), key=lambda option: (normalized(option), option))
    if len(options) < 2 and not any(options):
        return text, inside, None
    same = [*map(normalized, inside)] == [*map(normalized, options)]
    return text if same else layout.text(row, "question"), options, first


def _question(layout: Layout, row: Row, forms: tuple[Sequence[str], int]) -> LongQuestion:
    """The question of a row, with an empty id where that has none.

    Raises `ValueError`: the kind of fault, and after a colon its details.
    """
    text, options, numbered = _options(layout, row)
    shown = [option for option in options if option.casefold() not in NO_OPTION]
    video, kind = _video(layout, row), layout.text(row, "kind") or "all"
    if not text:
        raise ValueError("no question")
    if not shown:
        raise ValueError(f"no options: an open question ({kind})")
    if not video:
        raise ValueError("no video")
    if ".." in PurePath(video).parts:
        raise ValueError(f"video outside: {video} is not below the folder of the videos")
    if not 2 <= len(shown) <= len(LETTERS):
        raise ValueError(f"number of options: {len(shown)}; a question has 2 to {len(LETTERS)}")
    kinds, first = forms
    right = options[_right(layout, row, options, kinds, first if numbered is None else numbered)]
    if [normalized(option) for option in shown].count(normalized(right)) != 1:
        raise ValueError("equal options: another option is the same as the right one")
    place, last = shown.index(right), len(shown) - 1
    try:
        parse_question(text, shown)
    except QuestionError as error:
        raise ValueError(f"not a question: {error}") from error
    return LongQuestion(
        question_id=layout.text(row, "id"),
        kind=kind,
        video=video,
        text=text,
        options=tuple(shown),
        answer=LETTERS[place],
        order=tuple(last if at == place else at - (at > place) for at in range(len(shown))),
        window=(0.0, 0.0),
    )


def _right(layout: Layout, row: Row, options: Sequence[str], kinds: Sequence[str], first: int) -> int:
    """Place of the right option, by the first answer of the row that is one. Raises `ValueError`."""
    answers = [held for _, held in layout.values(row, "answer")]
    places = (right_option(each, options, kinds, first) for each in answers)
    place = next((place for place in places if place is not None), None)
    given = [text_of(each) for each in answers]
    if place is None and all(each.casefold() in NO_ANSWER for each in given):
        raise ValueError("no answer: none is published")
    if place is None or options[place].casefold() in NO_OPTION:
        raise ValueError(f"no such answer: the answer is none of the options: {given[0][:60]!r}")
    labels = labels_of(options)
    if len(given[0]) == 1 and len(labels) == len(options) and max(labels) <= LETTERS[len(options) - 1]:
        raise ValueError(f"labels out of order: the answer is {given[0]}, the options are labelled {labels}")
    return place


def _video(layout: Layout, row: Row) -> str:
    """The name of the one video that a question is about. Raises `ValueError` for several."""
    value = layout.value(row, "video")
    if isinstance(value, str):
        value = listed(value) or value
    if isinstance(value, Mapping):
        value = [one.get("id") for one in value.values() if isinstance(one, Mapping)]
    if isinstance(value, list) and len(value) > 1:
        raise ValueError(f"several inputs: the question is about {len(value)} videos or images")
    name = text_of(value[0] if isinstance(value, list) and value else value)
    return name if "://" in name else name.lstrip("/")


def _intervals(value: Any) -> Iterator[Any]:
    """The intervals of a list, or a single one; none where nothing is given."""
    held = listed(value) or value if isinstance(value, str) else value
    if isinstance(held, list) and any(isinstance(one, list) or "-" in str(one) for one in held):
        yield from held
    elif held and text_of(held).casefold() not in NO_OPTION[1:]:
        yield held


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
