"""Misspelled words of a question, by how the nearest texts of the library spell them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from rag.function_words import FUNCTION_WORDS
from rag.records import SearchFilter
from rag.retrieval.retriever import Retriever
from rag.store.records import Hit
from rag.words import content_words, tokens

LEAST_LETTERS = 4
LEAST_RATIO = 0.8
"""The least share of letters in common, as difflib counts them: "chian" and "chain"."""
LEAST_PART = 4
"""Letters of each part of a compound, "housework", and before an ending."""
ENDINGS = frozenset(
    (
        *("s", "es", "d", "ed", "ing", "er", "ers", "or", "ors", "y", "ly"),
        *("ness", "less", "ful", "able", "ment", "ments", "ish"),
    )
)
NEAREST_TEXTS = 20
LEAST_ENGLISH = 0.3
"""The least share of a question's words that are English function words: other languages inflect more."""

OTHER_MEANING = (
    *(frozenset({"hypo", "hyper"}), frozenset({"intra", "inter", "intro"}), frozenset({"macro", "micro"})),
    *(frozenset({"ab", "ad"}), frozenset({"pre", "post"}), frozenset({"mono", "multi"})),
    *(
        frozenset({"ate", "ite", "ide"}),
        frozenset({"ane", "ene", "yne", "one", "ol"}),
        frozenset({"one", "olone"}),
    ),
)
"""Parts by which two words differ that are both spelled right: "nitrite" and "nitrate"."""

_WORD = re.compile(r"[^\W\d_]+")


def respelled(text: str, retriever: Retriever, where: SearchFilter) -> dict[str, str]:
    """Map each misspelled word, in lower case, to the nearest one of the texts nearest to the question.

    A word counts as misspelled that the library does not have, with no ending either, and that is no word of
    the text encoder's vocabulary, compound of two, or one with an ending. It keeps its first letter and,
    but for one, the number of its letters: "Mona" is not "Monday". None under an encoder without a
    vocabulary, and in questions that are not English.
    """
    is_word, asked = retriever.text_encoder.is_word, tokens(text)
    if sum(word in FUNCTION_WORDS for word in asked) < LEAST_ENGLISH * len(asked):
        return {}
    words = {word.casefold() for word in _WORD.findall(text) if len(word) >= LEAST_LETTERS}
    rare = [word for word in sorted(words) if content_words(word) and not _is_known(word, is_word)]
    unknown = [word for word in rare if not _held(word, retriever)]
    if not unknown:
        return {}
    spelled = {word.casefold() for near in _nearest(text, retriever, where) for word in _WORD.findall(near)}
    found = {word: _nearest_spelling(word, spelled) for word in unknown}
    found = {word: near for word, near in found.items() if near and not _means_other(word, near[0])}
    return {word: nearest[0] for word, nearest in found.items()}


def _nearest_spelling(word: str, spelled: Iterable[str]) -> list[str]:
    like = [other for other in spelled if other[0] == word[0] and abs(len(other) - len(word)) <= 1]
    return get_close_matches(word, like, 1, LEAST_RATIO)


def in_place(text: str, spelling: Mapping[str, str]) -> str:
    """The text with these words, in lower case as their keys are, spelled so."""
    return _WORD.sub(lambda match: spelling.get(match[0].casefold(), match[0]), text)


def _means_other(word: str, near: str) -> bool:
    """Whether the two are the same but for parts of other meanings, at the beginning or at the end."""
    word, near = word.removesuffix("s"), near.removesuffix("s")
    pairs = [(part, other) for parts in OTHER_MEANING for part in parts for other in parts - {part}]
    return any(
        (word.startswith(part) and other + word.removeprefix(part) == near)
        or (word.endswith(part) and word.removesuffix(part) + other == near)
        for part, other in pairs
    )


def _is_known(word: str, is_word: Callable[[str], bool]) -> bool:
    parts = ((word[:at], word[at:]) for at in range(LEAST_PART, len(word)))
    return is_word(word) or any(
        is_word(begin) and (end in ENDINGS or (len(end) >= LEAST_PART and is_word(end)))
        for begin, end in parts
    )


def _held(word: str, retriever: Retriever) -> list[Hit]:
    return retriever.reader.match_passages(word, 1) or retriever.reader.match_evidence(word, 1)


def _nearest(text: str, retriever: Retriever, where: SearchFilter) -> list[str]:
    reader, row = retriever.reader, retriever.text_encoder.encode_text([text])[0]
    passages = reader.passages([hit.key for hit in reader.search_passages(row, NEAREST_TEXTS, where)])
    spans = reader.spans([hit.key for hit in reader.search_evidence(row, NEAREST_TEXTS, where)])
    return [*(f"{passage.title} {passage.text}" for passage in passages), *(span.text for span in spans)]
