"""Spoken cues put together into whole sentences, for subtitles break them at the edge of the screen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from corpora.records import Evidence
from rag.words import CLOSED, folded, split_sentences

MAX_GAP = 2.0
"""Seconds of silence between two cues after which they are two sentences."""
MAX_WORDS = 45
"""Speech without punctuation is cut at the last cue that ends before this."""
LONGEST_SENTENCE = 2 * MAX_WORDS
"""Words of a spoken sentence that stays whole because it has an end."""


Run = list[tuple[str, Evidence]]
"""Cues that speech goes on over, with what each says that the one before it does not."""


def joined_cues(cues: Sequence[Evidence]) -> list[tuple[str, float, float]]:
    """Spoken cues put together into sentences: (text, start, end), in time order.

    A cue that repeats the end of the one before it (rolling captions) adds only what is new.
    """
    return [sentence for run in _runs(cues) for sentence in _sentences_of_run(run)]


def cues_with(quotation: str, cues: Sequence[Evidence]) -> Iterable[tuple[Evidence, ...]]:
    """The spoken cues over which a quotation is said, each time that it is, in time order.

    `quotation` is `folded` and not empty; it may begin and end inside a cue.
    """
    for run in _runs(cues):
        parts = [(folded(text), cue) for text, cue in run]
        whole = " ".join(text for text, _ in parts)
        at = whole.find(quotation)
        while at >= 0:
            yield tuple(_cues_at(parts, at, at + len(quotation)))
            at = whole.find(quotation, at + len(quotation))


def _runs(cues: Sequence[Evidence]) -> list[Run]:
    runs: list[Run] = []
    last = ""
    for cue in sorted(cues, key=lambda cue: (cue.start, cue.end, cue.text)):
        text = _new_text(last, " ".join(cue.text.split()))
        last = " ".join(cue.text.split())
        if not text:
            continue
        if runs and _continues(runs[-1], cue):
            runs[-1].append((text, cue))
        else:
            runs.append([(text, cue)])
    return runs


def _new_text(last: str, text: str) -> str:
    """What a cue says after the end of the one before it, of which it repeats three words or all."""
    old, new = last.split(" "), text.split(" ")
    for size in range(min(len(old), len(new)), 0, -1):
        if new[:size] == old[-size:] and (size > 2 or size == len(old)):
            return " ".join(new[size:])
    return text


def _continues(run: Run, cue: Evidence) -> bool:
    words = sum(len(text.split()) for text, _ in run)
    text, before = run[-1]
    closed = bool(CLOSED.search(text))
    return cue.start - before.end <= MAX_GAP and (words < MAX_WORDS or not closed) and words < 4 * MAX_WORDS


def _sentences_of_run(run: Run) -> Iterable[tuple[str, float, float]]:
    """Cut the joined text at sentence ends; a sentence lasts from its first cue to its last."""
    edges = {0, *accumulate(len(text) + 1 for text, _ in run)}
    position = 0
    for sentence in _limited(split_sentences(" ".join(text for text, _ in run)), edges):
        held = _cues_at(run, position, position + len(sentence))
        yield sentence, held[0].start, held[-1].end
        position += len(sentence) + 1


def _cues_at(run: Run, begin: int, stop: int) -> list[Evidence]:
    """The cues that have a character of [begin, stop) of the joined text."""
    starts = accumulate((len(text) + 1 for text, _ in run), initial=0)
    return [cue for at, (text, cue) in zip(starts, run, strict=False) if at < stop and at + len(text) > begin]


def _limited(sentences: Iterable[str], edges: Collection[int]) -> Iterable[str]:
    """Sentences that are too long in pieces, cut where a cue begins if one does; `edges`: those offsets."""
    position = 0
    for sentence in sentences:
        words, at = sentence.split(" "), 0
        starts = [*accumulate((len(word) + 1 for word in words), initial=position)]
        position = starts[-1]
        whole = len(words) <= LONGEST_SENTENCE and CLOSED.search(sentence)
        while len(words) - at > MAX_WORDS and not whole:
            cuts = [stop for stop in range(at + 1, at + MAX_WORDS + 1) if starts[stop] in edges]
            stop = max(cuts, default=at + MAX_WORDS)
            yield " ".join(words[at:stop])
            at = stop
        yield " ".join(words[at:])
