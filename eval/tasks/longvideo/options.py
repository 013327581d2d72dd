"""Options of published questions, and the right one: lists, mappings, lines, labels, indices."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from eval.runs.records import LETTERS
from eval.tasks.published import parsed_json, text_of
from rag.errors import QuestionError
from rag.questions import parse_question

NO_OPTION = ("", "n/a", "nan")
"""In place of an option that a question lacks."""
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
    """For comparison: letter case and blanks do not count."""
    return " ".join(text.split()).casefold()
