"""Parsing of questions: the text, its options, and the limits on both.

Options are given separately, or in the text as "(A) ... (B) ...", "(a) ...", or "A. ... B. ..." ("A)" and
"A:" too), where the labels run A, B, C, ... to the end of the text; the question is the text before them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from rag.errors import QuestionError
from rag.records import Question

MAX_OPTIONS = 26
MAX_CHARACTERS = 16_000
"""Characters of question and options at most. Longer text is refused, not truncated: no encoder here reads
more than a few hundred words, and an answer to part of a question would look like one to all of it."""
SHOWN = 40
"""Characters of a question without words that are named."""

_OPENS_LINE = re.compile(r"(?:^|\n)[ \t]*\Z")
_JOINING = ("and", "or", "and/or", "or not")
_ENDS = ".:?!…。：？！؟"
_JOINERS = "\u200c\u200d"
"""Within words of Persian and of Indian scripts, and within emoji."""
_NO_JOINERS = str.maketrans("", "", _JOINERS)
_WITHIN_WORDS = str.maketrans("", "", "\u00ad\u2060\ufeff")
"""Soft hyphens and word joiners: what is before them and after is one word."""
_STYLES = (
    re.compile(r"(?:(?<=\s)|^)\(([A-Z])\)"),
    re.compile(r"(?:(?<=\s)|^)\(([a-z])\)"),
    re.compile(r"^[ \t]*([A-Z])[.):](?=\s)", re.MULTILINE),
    re.compile(r"(?:(?<=\s)|^)([A-Z])[.):](?=\s)"),
)


def parse_question(text: str, options: Sequence[str] = (), question_id: str = "") -> Question:
    """Read one question.

    `options`, where given, are taken in order A, B, C, ... and the text is not split.
    `question_id`: default, 12 hex digits of a hash over text and options.
    Raises `QuestionError` for a text without a word, an empty option, a single
    option, more than 26 options, more than 16,000 characters in all, or what is no text.
    """
    options = (options,) if isinstance(options, str) else options
    _require_texts("the question", text)
    if not isinstance(options, Iterable):
        raise QuestionError(f"the options are of type {type(options).__name__}; give a sequence of texts")
    options = tuple(options)
    _require_texts("an option", *options)
    _require_length(len(text) + sum(len(option) for option in options))
    words, found = (text, [*options]) if options else _split(text)
    words, found = parse_query(words), [_clean(option) for option in found]
    if len(found) > MAX_OPTIONS:
        raise QuestionError(f"the question has {len(found)} options, and {MAX_OPTIONS} (A to Z) is the limit")
    if len(found) == 1:
        raise QuestionError("a single option; give two or more, or none for an open question")
    for index, option in enumerate(found):
        if not option:
            raise QuestionError(f"option {option_label(index)} is empty")
    return Question(question_id or _identity(words, found), words, tuple(found))


def parse_distinct_question(text: str, options: Sequence[str] = ()) -> Question:
    """`parse_question` of what one person asks; two options that look the same are a `QuestionError`.

    They differ in case or in characters of no width alone. Of published questions some have such options, and
    are asked as they are.
    """
    question = parse_question(text, options)
    first: dict[str, int] = {}
    for index, option in enumerate(question.options):
        same = first.setdefault(option.translate(_NO_JOINERS).casefold(), index)
        if same != index:
            raise QuestionError(f"options {option_label(same)} and {option_label(index)} are the same")
    return question


def parse_query(text: str) -> str:
    """The text of a search, without control characters and lone surrogates, whitespace collapsed.

    Raises `QuestionError` for a text without a word, or of more than 16,000 characters, and for no text.
    """
    _require_texts("the question", text)
    _require_length(len(text))
    words = _clean(text)
    if not _has_words(words):
        raise QuestionError(
            f"the question has no word and no number: {words[:SHOWN]}" if words else "the question is empty"
        )
    return words


def option_label(index: int) -> str:
    """A for 0, B for 1, ... Z for 25."""
    if not 0 <= index < MAX_OPTIONS:
        raise QuestionError(f"there is no label for option number {index + 1}")
    return chr(ord("A") + index)


def _require_texts(named: str, *given: object) -> None:
    for value in given:
        if not isinstance(value, str):
            raise QuestionError(f"{named} is of type {type(value).__name__}; give a text")


def _require_length(characters: int) -> None:
    if characters > MAX_CHARACTERS:
        raise QuestionError(
            f"the question has {characters:,} characters, and {MAX_CHARACTERS:,} is the limit; "
            "shorten it, or index the long text as a passage"
        )


def _split(text: str) -> tuple[str, list[str]]:
    for style in _STYLES:
        markers = list(style.finditer(text))
        places: dict[int, list[int]] = {}
        for at, marker in enumerate(markers):
            places.setdefault(ord(marker.group(1).upper()) - ord("A"), []).append(at)
        for start in reversed(places.get(0, ())):
            run = [markers[at] for at in _run(places, start)]
            if len(run) >= 2 and _has_words(text[: run[0].start()]):
                ends = [*(marker.start() for marker in run[1:]), len(text)]
                options = [text[m.end() : end] for m, end in zip(run, ends, strict=True)]
                if _are_options(text[: run[0].start()], run, options):
                    return text[: run[0].start()], options
    return text, []


def _are_options(before: str, run: Sequence[re.Match[str]], options: Sequence[str]) -> bool:
    """Whether labels within a line are of options, and no part of the question: "hepatitis (A) and (B)", or
    the initials of "Who is taller, A. Smith or B. Jones?"."""
    if all(_OPENS_LINE.search(marker.string, 0, marker.start()) for marker in run):
        return True
    initials = run[0].group().strip()[-1] in ".:" and before.rstrip()[-1] not in _ENDS
    said = all(_has_words(option) and option.strip().casefold() not in _JOINING for option in options)
    joined = any(option.split()[-1:] in (["and"], ["or"]) for option in options[:-1])
    return said and not (initials and joined)


def _run(places: Mapping[int, Sequence[int]], start: int) -> list[int]:
    """The markers labelled A, B, C, ... in this order, from an A on; a label out of order is part of the
    option's text. `places`: of each label, 0 for A, the markers that have it, in order."""
    run = [start]
    while True:
        labelled = places.get(len(run), ())
        after = bisect_right(labelled, run[-1])
        if after == len(labelled):
            return run
        run.append(labelled[after])


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _clean(text: str) -> str:
    """Without control characters, soft hyphens, word joiners and lone surrogates, whitespace collapsed."""
    kept = "".join(
        character
        if character in _JOINERS or (character.isprintable() and not "\ud800" <= character <= "\udfff")
        else " "
        for character in text.translate(_WITHIN_WORDS)
    )
    return " ".join(kept.split())


def _identity(text: str, options: Sequence[str]) -> str:
    digest = blake2b(digest_size=6)
    for part in (text, *options):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()
