"""Plain descriptions by rules: their sentences, keywords and search words."""

from __future__ import annotations

import re
from itertools import groupby

from rag.words import content_words, split_sentences, word_set

LONGEST = 3
"""Words of one run; longer ones are cut, since a keyword is matched as a whole."""
LONGEST_QUERY = 10
"""Words of a search."""
_BREAK = re.compile(r"[^\w\s'’.-]|(?<!\d)\.|\.(?!\d)|\s-+\s")


def statements(text: str) -> list[str]:
    """The sentences of a text that say something, in order."""
    return [sentence for sentence in split_sentences(text) if content_words(sentence)]


def content_runs(text: str) -> list[str]:
    """Neighbouring words that carry meaning, capitalized ones apart from others; each once, in order."""
    found: list[str] = []
    for clause in _BREAK.split(text):
        words = [word.strip("'’-") for word in clause.split()]
        for (means, _), same in groupby(words, key=lambda word: (bool(content_words(word)), _capital(word))):
            run = list(same) if means else []
            found += [" ".join(run[at : at + LONGEST]) for at in range(0, len(run), LONGEST)]
    return list(dict.fromkeys(found))


def _capital(text: str) -> bool:
    return text[:1].isupper()


def entities(text: str, most: int, known: str = "") -> tuple[str, ...]:
    """At most `most` keywords: capitalized runs and runs with a figure first, then the others; each says
    something that those before it and `known` do not."""

    def is_named(run: str) -> bool:
        return _capital(run) or any(map(str.isdigit, run))

    found: list[str] = []
    for phrase in sorted(content_runs(text), key=is_named, reverse=True):
        if not any(word_set(phrase) <= word_set(other) for other in (known, *found)):
            found.append(phrase)
    return tuple(found[:most])


def query_words(text: str, most: int = LONGEST_QUERY) -> str:
    """The first `most` words of a text that carry meaning, in order, as typed into a search box."""
    words: dict[frozenset[str], str] = {}
    for word in " ".join(content_runs(text)).split():
        words.setdefault(word_set(word), word)
    return " ".join(list(words.values())[:most])
