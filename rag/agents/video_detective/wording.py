"""The words of a pack for an open question: what was said there in whole sentences, each by its own kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpora.records import Evidence
from rag.agents.video_detective.features import VideoFeatures
from rag.agents.video_detective.records import Pack, Words
from rag.reasoners.embedded.observe import without_quotations

SPOKEN = ("subtitle", "asr")
MAX_GAP = 2.0
"""Seconds of silence between two cues after which they are two sentences."""
MOST_CUES = 8
"""Cues beyond a pack, on either side, that the sentence at its edge may take."""
MOST_TEXTS = 32
"""Of those of one pack; the nearest to its best line."""

_CLOSED = re.compile(r"[.!?…。！？][\"'”’)\]]*$")


def evidence_of(video_id: str, words: Words) -> Evidence:
    """Words of a video as evidence."""
    return Evidence(video_id, words.start, words.end, words.kind, words.text)


def texts_of(features: VideoFeatures, pack: Pack) -> tuple[Evidence, ...]:
    """All that is stored of a pack in words, its sentences whole, and of its caption what was seen.

    What a caption quotes of speech and screen is listed apart. Empty where no words are
    shown of the pack.
    """
    words = pack.words
    if words is None:
        return ()
    inside = [text for text in features.texts if text.start < pack.end and text.end > pack.start]
    if len(inside) > MOST_TEXTS:
        middle = (words.start + words.end) / 2
        inside = sorted(inside, key=lambda text: abs((text.start + text.end) / 2 - middle))[:MOST_TEXTS]
    texts = dict.fromkeys(inside)
    for kind in SPOKEN:
        spoken = sorted((text for text in features.texts if text.kind == kind), key=_place)
        held = [at for at, text in enumerate(spoken) if text in texts]
        if held:
            texts |= dict.fromkeys(spoken[_opening(spoken, held[0]) : _closing(spoken, held[-1]) + 1])
    if words.kind == "caption":
        seen = without_quotations(words.text)
        caption = evidence_of(features.video.video_id, words)
        if seen:
            texts[Evidence(caption.video_id, caption.start, caption.end, caption.kind, seen)] = None
    return tuple(sorted(texts, key=_place))


def cited_texts(answer: str, texts: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Those that an answer quotes; all where it quotes none."""
    said = _folded(answer)
    held = [text for text in texts if (words := _folded(text.text)) and (words in said or said in words)]
    return tuple(held or texts)


def _opening(spoken: Sequence[Evidence], at: int) -> int:
    """Where the sentence that goes on at `at` begins; `at` where speech has no stops near it."""
    for begin in range(at, max(-1, at - MOST_CUES), -1):
        if begin == 0 or not _goes_on(spoken[begin - 1], spoken[begin]):
            return begin
    return at


def _closing(spoken: Sequence[Evidence], at: int) -> int:
    """Where the sentence that is open at `at` ends; `at` where speech has no stops near it."""
    for end in range(at, min(len(spoken), at + MOST_CUES)):
        if end == len(spoken) - 1 or not _goes_on(spoken[end], spoken[end + 1]):
            return end
    return at


def _goes_on(one: Evidence, other: Evidence) -> bool:
    return other.start - one.end <= MAX_GAP and not _CLOSED.search(one.text.rstrip())


def _place(text: Evidence) -> tuple[float, float, str, str]:
    return text.start, text.end, text.kind, text.text


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
