"""Entities out of plain text by rules: quoted words, names, numbers, and runs of words that carry meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag.relevance import content_words, lexical_overlap

_POINTING = frozenset({"another", "same", "different", "second"})
"""Words that part one thing from another, and are no search for either."""
LONGEST = 3
"""Words of one run; longer ones are cut, since a keyword is matched as a whole."""

_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,60})[\"“”«»]|(?<!\w)'([^']{2,60})'(?!\w)")
_NAME = re.compile(r"\b[^\W\d_a-z][\w'’.-]*(?: (?:of |de |van |von |the )?[^\W\d_a-z][\w'’.-]*)*")
_BREAK = re.compile(r"[^\w\s'’.-]|(?<!\d)\.|\.(?!\d)|\s-+\s")
_WORD = re.compile(r"\S+")


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
        run: list[str] = []
        for word in [*(match[0] for match in _WORD.finditer(clause)), ""]:
            if word and content_words(word) and word.casefold() not in _POINTING:
                run.append(word.strip(".'’-"))
                continue
            found += _cut(run)
            run = []
    return list(dict.fromkeys(found))


def entities(text: str, most: int) -> tuple[str, ...]:
    """At most `most` keywords: names and quotations first, then runs with a number, then the others."""
    plain = content_runs(text)
    numbered = [run for run in plain if any(letter.isdigit() for letter in run)]
    found: list[str] = []
    for phrase in (*names(text), *numbered, *plain):
        stems = set(content_words(phrase))
        if stems and not any(stems <= set(content_words(other)) for other in found):
            found.append(phrase)
    return tuple(found[:most])


def new_phrases(texts: Iterable[str], known: str, most: int) -> tuple[str, ...]:
    """Entities of the texts that say something `known` does not, in their order."""
    held = set(content_words(known))
    found: list[str] = []
    for text in texts:
        for phrase in entities(text, most):
            stems = content_words(phrase)
            if lexical_overlap(stems, held) < 1 and phrase not in found:
                found.append(phrase)
    return tuple(found[:most])


def query_words(text: str, most: int) -> str:
    """The words of a text that carry meaning, in order, as one would type them into a search box."""
    words: list[str] = []
    stems: set[str] = set()
    for run in content_runs(text):
        for word in run.split():
            new = set(content_words(word)) - stems
            if new:
                words.append(word)
                stems |= new
    return " ".join(words[:most])


def _cut(run: Sequence[str]) -> list[str]:
    return [" ".join(run[at : at + LONGEST]) for at in range(0, len(run), LONGEST)]
