"""Plain descriptions by rules: their sentences, names, keywords and search words.

Keywords are quoted words, names, numbers, and runs of content words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from rag.words import content_words, split_sentences, word_set


def statements(text: str) -> list[str]:
    """The sentences of a text that say something, in order."""
    return [sentence for sentence in split_sentences(text) if content_words(sentence)]


LONGEST = 3
"""Words of one run; longer ones are cut, since a keyword is matched as a whole."""

_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,60})[\"“”«»]|(?<!\w)'([^']{2,60})'(?!\w)")
_NAME = re.compile(r"\b[^\W\d_a-z][\w'’.-]*(?: (?:of |de |van |von |the )?[^\W\d_a-z][\w'’.-]*)*")
_BREAK = re.compile(r"[^\w\s'’.-]|(?<!\d)\.|\.(?!\d)|\s-+\s")


def names(text: str) -> list[str]:
    """Quoted words and capitalized runs, but for the capital that opens a sentence; each once, in order."""
    found = [quoted or single for quoted, single in _QUOTED.findall(text)]
    for match in _NAME.finditer(text):
        name = match[0].strip(".-'’")
        opens = match.start() == 0 or re.search(r"[.!?:(\"“]\s*$", text[: match.start()])
        if opens and " " not in name and not name.isupper():
            continue
        if len(name) > 1 and content_words(name) and not any(name in other for other in found):
            found.append(name)
    return list(dict.fromkeys(found))


def content_runs(text: str) -> list[str]:
    """Neighbouring words that carry meaning, without the words between them; each once, in order."""
    found: list[str] = []
    for clause in _BREAK.split(text):
        for means, words in groupby(clause.split(), key=lambda word: bool(content_words(word))):
            run = [word.strip(".'’-") for word in words] if means else []
            found += [" ".join(run[at : at + LONGEST]) for at in range(0, len(run), LONGEST)]
    return list(dict.fromkeys(found))


def entities(text: str, most: int) -> tuple[str, ...]:
    """At most `most` keywords: names and quotations first, then runs with a number, then the others."""
    plain = content_runs(text)
    numbered = [run for run in plain if any(map(str.isdigit, run))]
    found: list[str] = []
    for phrase in (*names(text), *numbered, *plain):
        stems = word_set(phrase)
        if stems and not any(stems <= word_set(other) for other in found):
            found.append(phrase)
    return tuple(found[:most])


def new_phrases(texts: Iterable[str], known: str, most: int) -> tuple[str, ...]:
    """Entities of the texts that say something `known` does not, in their order."""
    held = word_set(known)
    found = (phrase for text in texts for phrase in entities(text, most) if not word_set(phrase) <= held)
    return tuple(dict.fromkeys(found))[:most]


def query_words(text: str, most: int) -> str:
    """The words of a text that carry meaning, in order, as one would type them into a search box."""
    words: dict[frozenset[str], str] = {}
    for word in " ".join(content_runs(text)).split():
        words.setdefault(word_set(word), word)
    return " ".join(list(words.values())[:most])
