"""What the frames of the windows say for each option, from their stored vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.embedded.rewriting import declarative, parts, two_hop
from rag.reasoners.roles import Reading
from rag.relevance import PictureScale, content_words, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Vote", "picture_votes"]

TEMPLATES = ("a photo of {}.", "{}")
TOP_FRAMES = 3
"""An object is seen in some frames of a window, not in all: the best three of each are averaged."""
MOST_NAMES = 10


@dataclass(frozen=True, slots=True)
class Vote:
    z: float
    """Standard score against the background, less the mean over the options."""
    windows: tuple[int, ...]
    """The window that fits best."""


def picture_votes(reading: Reading, scale: PictureScale | None) -> list[Vote] | None:
    """One vote an option, or None where there is no picture encoder or no frame vector."""
    seen = [
        (index, window.frame_vectors)
        for index, window in enumerate(reading.windows)
        if window.frame_vectors is not None and len(window.frame_vectors)
    ]
    if scale is None or not seen:
        return None
    weights = _weights(reading, scale, seen)
    rows = []
    for prompts in _prompts(reading):
        if not prompts:
            rows.append(np.zeros(len(seen)))
            continue
        queries = scale.encode(prompts)
        rows.append(np.array([_fit(scale, queries, vectors) for _, vectors in seen]))
    fits = np.stack(rows)
    votes = (fits * weights).sum(axis=1)
    votes -= votes.mean()
    return [
        Vote(round(float(vote), 6), (seen[int(np.argmax(fits[index] * weights))][0],))
        for index, vote in enumerate(votes)
    ]


def _weights(
    reading: Reading, scale: PictureScale, seen: Sequence[tuple[int, NDArray[np.float32]]]
) -> NDArray[np.float64]:
    """(w,) summing to 1: how well each window shows the scene and the event of the question.

    Ranks are too level for this: of five clips one is right, and the others would outvote it.
    """
    queries = scale.encode([reading.rewritten.visual_query, reading.anchor.description])
    z = np.array([scale.z(queries, vectors).mean() for _, vectors in seen])
    score = np.array([reading.windows[index].retrieval_score for index, _ in seen])
    powers = np.exp(z - z.max()) * np.maximum(score, 1e-3)
    return np.asarray(powers / powers.sum(), np.float64)


def _fit(scale: PictureScale, queries: NDArray[np.float32], vectors: NDArray[np.float32]) -> float:
    """Of several names for one thing the one that fits best, over its best frames."""
    z = np.sort(scale.z(queries, vectors), axis=1)[:, -TOP_FRAMES:]
    return float(z.mean(axis=1).max())


def _prompts(reading: Reading) -> list[list[str]]:
    """For each option the sentences that its picture would fit."""
    event = declarative(parts(reading.question.text).core)
    shared: dict[str, list[str]] = {}
    prompts = []
    for option in reading.question.options:
        hop = two_hop(option)
        if hop is None:
            told = (
                event.replace("something", option.rstrip(". "))
                if "something" in event
                else f"{event}: {option}"
            )
            prompts.append([TEMPLATES[0].format(option.rstrip(". ")), TEMPLATES[1].format(told)])
            continue
        if hop.when not in shared:
            members = [i for i, other in enumerate(reading.question.options) if _same_hop(other, hop.when)]
            shared[hop.when] = [TEMPLATES[0].format(name) for name in _names(reading, members)]
        prompts.append(shared[hop.when])
    return prompts


def _same_hop(option: str, when: str) -> bool:
    hop = two_hop(option)
    return hop is not None and hop.when == when


def _names(reading: Reading, options: Sequence[int]) -> list[str]:
    """Words that may name the object: the most frequent of the passages found for these options."""
    count: Counter[str] = Counter()
    forms: dict[str, str] = {}
    found_for = {read.passage.passage_id: read for read in reading.passages if read.option in options}
    for read in found_for.values():
        for word in tokens(f"{read.passage.title} {read.passage.text}"):
            for found in content_words(word):
                if word.isalpha() and len(word) > 2:
                    count[found] += 1
                    forms[found] = min(forms.get(found, word), word, key=lambda form: (len(form), form))
    ranked = sorted(count, key=lambda word: (-count[word], word))
    return [forms[word] for word in ranked[:MOST_NAMES]]
