"""Options of published questions, and the right one: lists, mappings, columns, lines, labels, indices."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import product, takewhile
from typing import Any

from eval.runs.records import LETTERS
from eval.tasks.published import first_text, parsed_json, text_of
from rag.errors import QuestionError
from rag.questions import parse_question

NAMES: Mapping[str, Any] = tomllib.loads(
    resources.files("eval.tasks.longvideo").joinpath("published.toml").read_text(encoding="utf-8")
)
"""Names of fields, as the published files have them."""
NO_OPTION: Sequence[str] = NAMES["options"]["none"]
OPTION_COLUMNS = re.compile(r"(?:option_?|(?:answer_)?choice_?|a)(\d{1,2})|(?:option_?|choice_?)?([a-z])")
"""Columns with one option each: `option 0`, `option0`, `answer_choice_0`, `a0`, `A`, `option_a`."""
PROMPT = "question_prompt"
"""Of Video-TT: the options of a question in the text below it."""
MAX_LIST = 20_000
"""Characters of a list of options."""
_LABEL = re.compile(r"^\s*(?:\(([A-Za-z])\)\s*|([A-Za-z])[.):](?:\s+|(?=\w\w|\d|\w\s)))")
"""Also without a blank ("A.red"), but not of an abbreviation ("A.D.")."""
_INSTRUCTION = re.compile(
    r"\n[^\S\n]*(?:please )?(?:answer|respond|reply|select|choose)\b[^\n]*\b(?:letter|option)\b[^\n]*\s*$",
    re.IGNORECASE,
)
"""The last line of a question that has its options in its text, to a model."""
LETTER = re.compile(r"^\(?([A-Za-z])\)?[.):]?$")
_BESIDE = re.compile(r"(?<=['\"])\s+(?=['\"])")


def question_options(text: str, fields: Mapping[str, Any]) -> tuple[str, list[str], int | None]:
    """The question `text` without its options, these without labels, empty ones among them, and the number of
    the first where they are numbered."""
    for key in NAMES["options"]["lists"]:
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
    for key in NAMES["options"]["wrong"]:
        right, wrong = text_of(fields.get("answer")), _parts(fields.get(key))[0]
        if right and wrong:
            return text, sorted((right, *wrong), key=lambda option: (normalized(option), option)), None
    prompt = first_text(fields, (PROMPT,))
    asked, options = _split(f"{text}\n{prompt}") if prompt else (text, [])
    return *((asked, options) if options else _split(text)), None


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
        found = parse_question(_INSTRUCTION.sub("", text))
    except QuestionError:
        return text, []
    return (found.text, list(found.options)) if found.options else (text, [])


def _without_options(text: str, options: Sequence[str]) -> str:
    """The text without a copy of the options at its end."""
    words, found = _split(text)
    return words if found and list(map(normalized, found)) == list(map(normalized, options)) else text


def _parts(value: Any) -> tuple[list[str], int | None]:
    """Texts of a list, of a mapping from letters or numbers, or of a text that is one of these or lines; and
    the number of the first where they have numbers."""
    first = None
    if isinstance(value, str):
        plain = value.strip()
        listed = literal(plain) if plain[:1] in ("[", "{") and len(plain) <= MAX_LIST else None
        value = _by_line(plain) if listed is None else listed
    if isinstance(value, list) and value:
        value = _labelled(value) or value
    if isinstance(value, Mapping):
        value, first = _placed(value)
    if not isinstance(value, list | tuple):
        return [], None
    return _unlabelled([_option_text(part) for part in value]), first


def _by_line(text: str) -> list[str]:
    """An option a line; where lines are labelled in order, those between belong to the option before them."""
    lines = [line for line in text.splitlines() if line.strip()]
    labelled: list[str] = []
    for line in lines:
        label = _LABEL.match(line)
        if label and (label.group(1) or label.group(2)).upper() == LETTERS[len(labelled) % len(LETTERS)]:
            labelled.append(line)
        elif labelled:
            labelled[-1] += f"\n{line}"
        else:
            return lines
    return labelled if len(labelled) > 1 else lines


def _labelled(parts: Sequence[Any]) -> dict[str, str]:
    """Texts by label of mappings with the first letters or numbers for labels; empty for other options."""
    if not all(isinstance(part, Mapping) for part in parts):
        return {}
    count = len(parts)
    for key in NAMES["options"]["label"]:
        labels = [text_of(part.get(key)).upper() for part in parts]
        if sorted(labels) in (
            [*LETTERS[:count]],
            *(sorted(map(str, range(first, first + count))) for first in (0, 1)),
        ):
            return {label: _option_text(part) for label, part in zip(labels, parts, strict=True)}
    return {}


def _option_text(part: Any) -> str:
    """Of a mapping its text, of a list all of its texts."""
    if isinstance(part, Mapping):
        return first_text(part, NAMES["options"]["text"])
    return ", ".join(map(text_of, part)) if isinstance(part, list | tuple) else text_of(part)


def _unlabelled(parts: Sequence[str]) -> list[str]:
    """Without "A. ", "(B) " before them, where all are labelled in order."""
    kept = [part.strip() for part in parts]
    filled = [part for part in kept if part.casefold() not in NO_OPTION]
    labels = [_LABEL.match(part) for part in filled]
    letters = [(found.group(1) or found.group(2)).upper() for found in labels if found]
    if letters and letters == list(LETTERS[: len(filled)]):
        kept = [_LABEL.sub("", part, count=1) for part in kept]
    return kept


def other_label(options: Sequence[str], place: int) -> str:
    """The label of the option at `place` where it is another letter than that of the place; else empty.

    Such labels stay with options that are labelled out of order, or twice with one letter.
    """
    found = [_LABEL.match(option) for option in options]
    labels = [(one.group(1) or one.group(2)).upper() for one in found if one]
    known = len(labels) == len(options) and all(label in LETTERS[: len(options)] for label in labels)
    return labels[place] if known and labels[place] != LETTERS[place] else ""


def literal(text: str) -> list[Any] | dict[Any, Any] | None:
    """A JSON or Python list or mapping, or a printed array of NumPy; None for anything else."""
    # Neither form has line breaks within a text.
    for whole in (text, " ".join(text.splitlines())):
        separated = _BESIDE.sub(", ", whole)
        for form, parse in product((whole, separated), (parsed_json, ast.literal_eval)):
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
    letter = LETTER.match(plain)
    if digits_are_text if plain.isdecimal() else letters_are_text or letter is None:
        for place, option in enumerate(options):
            if option and normalized(plain) == normalized(option):
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
    index = index_of(value)
    return index - first if index is not None and first <= index < first + count else None


def normalized(text: str) -> str:
    """For comparison: letter case and blanks do not count."""
    return " ".join(text.split()).casefold()


def index_of(value: Any) -> int | None:
    """A number of at most two digits, also as text; None for anything else."""
    if isinstance(value, bool):
        return None
    text = text_of(value)
    text = text.removesuffix(".0") if isinstance(value, str) else text
    return int(text) if re.fullmatch(r"[0-9]{1,2}", text) else None
