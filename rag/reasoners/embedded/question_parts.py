"""A question in parts that are found one after the other."""

from __future__ import annotations

import re

from rag.words import content_words, split_sentences

MIN_WORDS = 2
"""Words of meaning that a part must have to be looked for by itself."""
MOST_PARTS = 5
_ELSEWHERE = r"in (?:another|a second|the other|a different)"
_ASKS = r"(?:what|which|whom?|where|when|how(?: many| much| long)?)"
_HARD = re.compile(rf";\s+|,?\s+and (?=(?:{_ELSEWHERE}|then|{_ASKS})\b)", re.IGNORECASE)
_SOFT = re.compile(rf",\s+(?=(?:then|afterwards|later|{_ELSEWHERE}|{_ASKS})\b)", re.IGNORECASE)
_OPENS = re.compile(r"^(?:in|after|before|when|while|during|at|on|for|from|by)\b", re.IGNORECASE)
"""A clause that says where or when: "In the video where X", "After she leaves"."""
_BACK = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|its|their|this|these|those|the same|"
    r"that (?!(?:is|are|was|were|has|have|can)\b)\w+|such)\b",
    re.IGNORECASE,
)
_NAMING = re.compile(r"\b(?:video|film|clip|channel|upload\w*|recording)s?\b", re.IGNORECASE)
_NOUN = r"person|man|woman|player|actor|actress|object|thing|tool|item|place|room|video|film|team|animal|dish"
_NESTED = re.compile(
    rf"^(?P<head>.*?)\b(?P<noun>the (?:\w+ ){{0,2}}?(?:{_NOUN})) "
    rf"(?P<clause>(?:who|that|which|where) .+?)(?P<tail> {_ELSEWHERE} \w+\b.*|\?)$",
    re.IGNORECASE,
)


def decompose(question: str) -> list[str]:
    """At most five parts in the order in which they must be found; the question itself where it is one part.

    Sentences, then clauses that ask for something of their own; a part that says too little is joined
    to the one before it. A person or thing described by a clause ("the tool that he buys in another
    video") is a part before what is asked of it.
    """
    found: list[str] = []
    for sentence in split_sentences(" ".join(question.split())):
        for clause in _HARD.split(sentence):
            found += _clauses(clause)
    pieces = [piece for part in _joined(found) for piece in _unnested(part)]
    if len(pieces) > MOST_PARTS:
        pieces = [*pieces[: MOST_PARTS - 1], " ".join(pieces[MOST_PARTS - 1 :])]
    return pieces or [question.strip() or "the question"]


def without_source_sentences(question: str) -> str:
    """A question without the sentences before it that only say which video is meant.

    "The channel X uploaded a video in May. In it, what is poured?" asks for no channel.
    """
    sentences = split_sentences(" ".join(question.split()))
    if len(sentences) < 2 or not sentences[-1].endswith("?"):
        return question
    kept = [sentence for sentence in sentences[:-1] if not _NAMING.search(sentence)]
    return " ".join([*kept, sentences[-1]])


def refers_back(part: str) -> bool:
    """Whether a part speaks of something that an earlier one must find."""
    return bool(_BACK.search(part))


def _clauses(text: str) -> list[str]:
    """Split before what is asked, but not from where or when it is asked."""
    found: list[str] = []
    for clause in _SOFT.split(text):
        clause = clause.strip(" ,;")
        if found and _OPENS.match(found[-1]):
            found[-1] = f"{found[-1]}, {clause}"
        elif clause:
            found.append(clause)
    return found


def _joined(parts: list[str]) -> list[str]:
    """A part that says too little goes with the one before it."""
    found: list[str] = []
    for part in parts:
        if found and len(content_words(part)) < MIN_WORDS:
            found[-1] = f"{found[-1].rstrip('.')}. {part}"
        else:
            found.append(part)
    return found


def _unnested(part: str) -> list[str]:
    found = _NESTED.match(part)
    if found is None or len(content_words(found["clause"])) < MIN_WORDS:
        return [part]
    if len(content_words(found["head"])) < MIN_WORDS and len(content_words(found["tail"])) < MIN_WORDS:
        return [part]
    return [f"{found['noun']} {found['clause']}", f"{found['head']}{found['noun']}{found['tail']}"]
