"""Options of the same words, in the arrangement of a text: "5 francs for wood and 8 for coal", or 8 and 5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rag.function_words import FUNCTION_WORDS, listed
from rag.reasoners.embedded.agreement import denies
from rag.words import number_tokens, numbers, stem

_PARTS = re.compile(r"\s*;\s*|, |\s+(?:and|or|but|while|whereas|und|oder|aber|während)\s+", re.IGNORECASE)
_SIDES = listed("before after above below up down over under off out")
"""Function words by which two values of one thing differ."""
LONGEST = 1000
"""Characters of an option or a text that are compared."""
STATED = 0.7
"""`arranged` from which a text says what an option says."""
Words = tuple[float | str, ...]
"""Numbers, and stems of other words."""


def misarranged(question: str, options: Sequence[str], texts: Sequence[str]) -> list[float | None]:
    """Of each option, in [0, 1], by how much less its text says it than the best one's says that: `arranged`.

    None for those that are no lists and have no rival, and for all where none has one or the best is not
    `STATED`. `texts`: one for each option.
    """
    question, *options = (text[:LONGEST] for text in (question, *options))
    rivals = [any(are_rivals(one, other) for other in options) for one in options]
    if not any(rivals):
        return [None] * len(options)
    compared = [rival or _is_list(one) for one, rival in zip(options, rivals, strict=True)]
    fits = [arranged(question, option, text[:LONGEST]) for option, text in zip(options, texts, strict=True)]
    best = max(fit for fit, held in zip(fits, compared, strict=True) if held)
    known = best >= STATED
    return [best - fit if held and known else None for fit, held in zip(fits, compared, strict=True)]


def are_rivals(one: str, other: str) -> bool:
    """Whether two options have the same words in another order, or are lists of which one has all words of
    the other. Not so where one denies a part, which its words do not show."""
    ours, theirs = _words(one), _words(other)
    if ours == theirs or min(len(ours), len(theirs)) < 2 or denies(one) or denies(other):
        return False
    mine, its = set(ours), set(theirs)
    return mine == its or (_is_list(one) and _is_list(other) and (mine <= its or its <= mine))


def _is_list(text: str) -> bool:
    return len(_PARTS.split(text)) > 1


def arranged(question: str, option: str, text: str) -> float:
    """How much of an option a text says, in [0, 1]: the mean of two shares.

    One is of the words of each part that one part of the text has, the other of the numbers, or else of all
    words, that are in the order of the text. Where the question names two things ("wood and coal") that the
    text has, it is the first share alone, of the parts of the text with these things.
    """
    said, words = _words(text), _words(option)
    pieces = [piece for piece in map(_words, _PARTS.split(text)) if piece]
    parts = [part for part in map(_words, _PARTS.split(option)) if part]
    if not pieces or not parts:
        return 0.0
    named = _two_named(question)
    if len(parts) == len(named) == 2 and set(named) <= set(said) and set(named).isdisjoint(words):
        of_each = [[piece for piece in pieces if name in piece] for name in named]
        return sum(map(_share_in, parts, of_each)) / 2
    paired = sum(_share_in(part, pieces) for part in parts) / len(parts)
    return (paired + _in_order(_values(words), _values(said))) / 2


def _share_in(part: Words, pieces: Sequence[Words]) -> float:
    """The greatest share of the words of a part that a piece of a text has."""
    return max((sum(word in piece for word in part) / len(part) for piece in pieces), default=0.0)


def _two_named(question: str) -> Words:
    """The words beside the only "and" of a question; none without one."""
    sides = [_words(side) for side in _PARTS.split(question)]
    return (sides[0][-1], sides[1][0]) if len(sides) == 2 and all(sides) else ()


def _values(words: Words) -> Words:
    """The numbers of several, without their units, which may be said once for all; else all words."""
    found = tuple(word for word in words if isinstance(word, float))
    return found if len(found) > 1 else words


def _in_order(one: Words, other: Words) -> float:
    """The share of one's words in the longest common subsequence of both."""
    row = [0] * (len(other) + 1)
    for word in one:
        before, row = row, [0]
        for at, held in enumerate(other):
            row.append(before[at] + 1 if word == held else max(row[at], before[at + 1]))
    return row[-1] / max(1, len(one))


@lru_cache(maxsize=1024)
def _words(text: str) -> Words:
    """Those that carry meaning, in order."""
    found: list[float | str] = []
    for word in number_tokens(text):
        value = numbers(word)
        if value:
            found.append(value[0])
        elif word not in FUNCTION_WORDS or word in _SIDES:
            found.append(stem(word))
    return tuple(found)
