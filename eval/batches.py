"""Many questions in one run that may be interrupted: read strictly, answers appended, resumed.

The output is JSON lines, one a question, each complete before the next. Beside
it is `<output>.manifest.json` with what the answers depend on. A run that
finds both continues after the last whole line; answers made under other
settings, from another library or to other words are refused, never mixed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.errors import file_error
from corpora.outputs import OverwritePolicy, atomic_write_text, check_output
from eval.resumable import LineWriter, differences, map_os_errors, truncate_partial_line, whole_lines
from rag.errors import UsageError

_ID_KEYS = ("_id", "question_id", "query_id", "id", "qid")
_TEXT_KEYS = ("text", "question", "query")


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """One question of a batch."""

    line: int
    """In the input file, from 1."""
    question_id: str
    text: str
    options: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Changes with the words of the question and its options."""
        words = json.dumps([self.text, self.options])
        return hashlib.blake2b(words.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of the input that holds no question, and why."""

    line: int
    reason: str


def read_questions(path: Path) -> Iterator[BatchQuestion | BadLine]:
    """Questions of a JSON lines file, in order; empty lines are passed over.

    A line is an object with an id (`_id`, `question_id`, `query_id`, `id` or
    `qid`: text or whole number), words (`text`, `question` or `query`) and
    perhaps `options` (a list of texts). Other keys are left alone. Raises
    `UsageError` if the file cannot be read at all, or is one JSON document.
    """
    first_lines: dict[str, int] = {}
    begun = False
    try:
        stream = path.open("rb")
    except OSError as error:
        raise file_error(path, error, "read") from error
    with stream:
        for number, raw in enumerate(stream, 1):
            if not raw.strip():
                continue
            item = _question(number, raw)
            if isinstance(item, BadLine) and not begun and _is_document(path):
                raise UsageError(f"{path}: one JSON document; write an object a line, as jq -c '.[]' does")
            begun = True
            if isinstance(item, BatchQuestion):
                earlier = first_lines.setdefault(item.question_id, number)
                if earlier != number:
                    item = BadLine(number, f"id {item.question_id!r} is in line {earlier} already")
            yield item


def _is_document(path: Path) -> bool:
    """Whether the whole file is one JSON value: a list, or an object over several lines."""
    try:
        text = path.read_bytes().strip()
        value = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, list) or (isinstance(value, dict) and b"\n" in text)


def _question(number: int, raw: bytes) -> BatchQuestion | BadLine:
    try:
        entry = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        return BadLine(number, f"not UTF-8 at byte {error.start}")
    except (json.JSONDecodeError, RecursionError) as error:
        return BadLine(number, f"not JSON: {error}")
    if not isinstance(entry, dict):
        return BadLine(number, "not a JSON object")
    identifier = next((entry[key] for key in _ID_KEYS if key in entry), None)
    text = next((entry[key] for key in _TEXT_KEYS if key in entry), None)
    options = entry.get("options") or []
    if isinstance(identifier, int) and not isinstance(identifier, bool):
        identifier = str(identifier)
    if not isinstance(identifier, str) or not identifier.strip():
        return BadLine(number, f"no id: one of {', '.join(_ID_KEYS)} must be a text")
    if not isinstance(text, str) or not text.strip():
        return BadLine(number, f"no words: one of {', '.join(_TEXT_KEYS)} must be a text")
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        return BadLine(number, "options must be a list of texts")
    try:
        "".join([identifier, text, *options]).encode("utf-8")
    except UnicodeEncodeError:
        return BadLine(number, "half a surrogate pair in its text")
    return BatchQuestion(number, identifier, text, tuple(options))


MANIFEST_SCHEMA = "rag.batch/1"


def manifest_path(path: Path) -> Path:
    """The file that says what the answers in `path` depend on."""
    return path.with_name(path.name + ".manifest.json")


def is_begun(path: Path) -> bool:
    """Whether a manifest beside `path` says that answers are written to it, which a run takes up."""
    try:
        there = json.loads(manifest_path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(there, dict) and there.get("schema") == MANIFEST_SCHEMA


def check_answers(path: Path, policy: OverwritePolicy) -> None:
    """Raises `UsageError` where answers must not be written to `path` with their manifest, or taken up."""
    begun = is_begun(path)
    for each in (path, manifest_path(path)):
        check_output(each, policy, taken_up=begun)


class Output(LineWriter):
    """An append-only JSON lines file with its manifest; a context manager.

    `done` maps the ids that were answered before to their lines' objects. Under `force` what was made
    otherwise is emptied; what was made the same is resumed.
    """

    to_replace = "start over with --force"

    def __init__(
        self,
        path: str | os.PathLike[str],
        manifest: Mapping[str, Any],
        id_key: str,
        policy: OverwritePolicy | None = None,
    ) -> None:
        self.path = Path(path)
        super().__init__(self.path, self.path)
        self._manifest_path = manifest_path(self.path)
        self._manifest = json.loads(json.dumps(dict(manifest)))
        self._id_key = id_key
        self._policy = policy or OverwritePolicy()
        self.done: dict[str, dict[str, Any]] = {}

    def check(self, questions: Sequence[BatchQuestion]) -> list[BatchQuestion]:
        """The questions still to be answered, in order.

        Raises `UsageError` where an answered question is gone or reads otherwise now, unless under `force`.
        """
        try:
            self._check_answered(questions)
        except UsageError:
            if not self._policy.force:
                raise
            with map_os_errors(self.path):
                self._start_over()
        return [question for question in questions if question.question_id not in self.done]

    def _check_answered(self, questions: Sequence[BatchQuestion]) -> None:
        known = {question.question_id: question for question in questions}
        for identifier, entry in self.done.items():
            question = known.get(identifier)
            if question is None:
                self._refuse(f"it answers {identifier!r}, which is no longer asked")
            elif entry.get("digest") != question.digest:
                self._refuse(f"the words of {identifier!r} (line {question.line}) have changed since")

    def append(self, question: BatchQuestion, shape: Mapping[str, Any]) -> None:
        """Write one answer; `shape` is a schema's document, to which the question's digest is added."""
        entry = {**shape, "digest": question.digest}
        if entry.get(self._id_key) != question.question_id:
            raise ValueError(f"an answer to another question than {question.question_id!r}")
        self._append(json.dumps(entry, ensure_ascii=True, allow_nan=False) + "\n")
        self.done[question.question_id] = entry

    def _claim(self) -> None:
        check_answers(self.path, self._policy)

    def _resume(self) -> None:
        if self.path.stat().st_size == 0:
            self._start()
            return
        try:
            self._take_up()
        except UsageError:
            if not self._policy.force:
                raise
            self._start_over()

    def _start(self) -> None:
        atomic_write_text(self._manifest_path, json.dumps(self._manifest, indent=2, sort_keys=True) + "\n")

    def _start_over(self) -> None:
        os.truncate(self.path, 0)
        self.done.clear()
        self._start()

    def _take_up(self) -> None:
        """Read what is there. Raises `UsageError` where it was made otherwise."""
        try:
            there = json.loads(self._manifest_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._refuse(f"{self._manifest_path.name} beside it cannot be read")
        self._require_same(differences("", there, self._manifest))
        for number, line in enumerate(whole_lines(self.path).splitlines(), 1):
            try:
                entry = json.loads(line)
                self.done[entry[self._id_key]] = entry
            except (ValueError, KeyError, TypeError):
                self._refuse(f"its line {number} is not of this command")
        truncate_partial_line(self.path)
