"""The lines of what is known of a video, and their relevance to a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from corpora.records import SPOKEN, Evidence
from rag.reasoners.embedded.cues import joined_cues
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.material import VideoView
from rag.relevance import text_relevance
from rag.words import content_words, lexical_overlap, word_set

MOST_LINES = 24
"""Lines that are worth a vector for one text; those that share most of its words."""


def lines(view: VideoView) -> list[Evidence]:
    """Spoken cues put together into sentences, all else unchanged; in time order, each once."""
    found = {replace(one, text=" ".join(one.text.split())) for one in view.texts if one.kind not in SPOKEN}
    for kind in SPOKEN:
        spoken = [one for one in view.texts if one.kind == kind]
        found |= {
            replace(spoken[0], start=start, end=end, text=text) for text, start, end in joined_cues(spoken)
        }
    return sorted(found, key=lambda line: (line.start, line.end, line.kind, line.text))


def rank_lines(text: str, view: VideoView, vectors: SentenceVectors) -> list[tuple[float, Evidence]]:
    """Lines with their relevance to `text`, best first; of equal ones the earlier."""
    wanted = content_words(text)
    held = lines(view)
    held.sort(key=lambda line: -lexical_overlap(wanted, word_set(line.text)))
    scores = relevances(text, [line.text for line in held[:MOST_LINES]], vectors)
    return sorted(
        zip(scores, held, strict=False), key=lambda one: (-one[0], one[1].start, one[1].end, one[1].text)
    )


def relevances(
    text: str,
    others: Sequence[str],
    vectors: SentenceVectors,
    stored: Mapping[str, NDArray[np.float32]] = MappingProxyType({}),
) -> list[float]:
    """Of each of the others to `text`, in [0, 1] (`text_relevance`).

    `stored`: vectors float32 (dim,) that need not be encoded, by text.
    """
    rows = vectors.of([text, *others], stored)
    wanted = content_words(text)
    return [
        text_relevance(float(rows[text] @ rows[other]), lexical_overlap(wanted, word_set(other)))
        for other in others
    ]
