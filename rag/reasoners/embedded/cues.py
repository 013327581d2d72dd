"""Spoken cues put together into whole sentences, for subtitles break them at the edge of the screen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from corpora.records import Evidence
from rag.words import CLOSED, split_sentences

MAX_GAP = 2.0
"""Seconds of silence between two cues after which they are two sentences."""
MAX_WORDS = 45
"""Speech without punctuation is cut at the last cue that ends before this."""
LONGEST_SENTENCE = 2 * MAX_WORDS
"""Words of a spoken sentence that stays whole because it has an end."""


def joined_cues(cues: Sequence[Evidence]) -> list[tuple[str, float, float]]:
    """Spoken cues put together into sentences: (text, start, end), in time order.

    A cue that repeats the end of the one before it (rolling captions) adds only what is new.
    """
    runs: list[list[tuple[str, float, float]]] = []
    last = ""
    for cue in sorted(cues, key=lambda cue: (cue.start, cue.end, cue.text)):
        text = _new_text(last, " ".join(cue.text.split()))
        last = " ".join(cue.text.split())
        if not text:
            continue
        if runs and _continues(runs[-1], cue):
            runs[-1].append((text, cue.start, cue.end))
        else:
            runs.append([(text, cue.start, cue.end)])
    return [sentence for run in runs for sentence in _sentences_of_run(run)]


def _new_text(last: str, text: str) -> str:
    if not last:
        return text
    if text == last:
        return ""
    if text.startswith(last + " "):
        return text[len(last) + 1 :]
    lines = last.split(" ")
    for size in range(min(len(lines), 12), 2, -1):
        tail = " ".join(lines[-size:])
        if text.startswith(tail + " "):
            return text[len(tail) + 1 :]
    return text


def _continues(run: Sequence[tuple[str, float, float]], cue: Evidence) -> bool:
    words = sum(len(text.split()) for text, _, _ in run)
    closed = bool(CLOSED.search(run[-1][0]))
    return cue.start - run[-1][2] <= MAX_GAP and (words < MAX_WORDS or not closed) and words < 4 * MAX_WORDS


def _sentences_of_run(run: Sequence[tuple[str, float, float]]) -> Iterable[tuple[str, float, float]]:
    """Cut the joined text at sentence ends; a sentence lasts from its first cue to its last."""
    spans: list[tuple[int, int, float, float]] = []
    at = 0
    for part, start, end in run:
        spans.append((at, at + len(part), start, end))
        at += len(part) + 1
    edges = {begin for begin, _, _, _ in spans}
    position = 0
    for sentence in _limited(split_sentences(" ".join(part for part, _, _ in run)), edges):
        stop = position + len(sentence)
        held = [(start, end) for begin, upto, start, end in spans if begin < stop and upto > position]
        yield sentence, held[0][0], held[-1][1]
        position = stop + 1


def _limited(sentences: Iterable[str], edges: Collection[int]) -> Iterable[str]:
    """Sentences that are too long in pieces, cut where a cue begins if one does; `edges`: those offsets."""
    position = 0
    for sentence in sentences:
        words = sentence.split(" ")
        whole = len(words) <= LONGEST_SENTENCE and CLOSED.search(sentence)
        while len(words) > MAX_WORDS and not whole:
            cut = _last_edge(words, position, edges)
            piece = " ".join(words[:cut])
            yield piece
            words = words[cut:]
            position += len(piece) + 1
        yield " ".join(words)
        position += len(" ".join(words)) + 1


def _last_edge(words: Sequence[str], position: int, edges: Collection[int]) -> int:
    """How many of `words`, which begin at `position`, come before the last edge within `MAX_WORDS`."""
    offset, last = position, 0
    for count, word in enumerate(words[:MAX_WORDS], start=1):
        offset += len(word) + 1
        last = count if offset in edges else last
    return last or MAX_WORDS
