"""From the final belief to what the answering reasoner sees: packs of frames and words, 32 frames in all.

VideoDetective, section 3.4, appendix C and table 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from localization.belief import BeliefField
from localization.selection import distinct, diverse, graph_nms
from rag.agents.video_detective.features import VideoFeatures, evenly
from rag.agents.video_detective.records import Pack, Selected, Words
from rag.agents.video_detective.scoring import Scorer
from rag.agents.video_detective.settings import DetectiveSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray


def weak_evidence(scores: Sequence[float], settings: DetectiveSettings) -> str:
    """Why the looks found too little to choose frames by; empty where they found enough (table 6)."""
    best = max(scores, default=0.0)
    if best >= settings.fallback_max_relevance:
        return ""
    mean = sum(scores) / len(scores) if scores else 0.0
    if mean < settings.fallback_mean_relevance:
        return f"weak evidence: best score {best:.2f}, mean {mean:.2f}"
    if best - mean < settings.flat_gap:
        return f"flat evidence: best score {best:.2f} lies {best - mean:.2f} above the mean"
    return ""


def select(
    features: VideoFeatures,
    field: BeliefField,
    priors: Sequence[NDArray[np.float64]],
    observed: Mapping[int, Sequence[Words]],
    scorer: Scorer,
    settings: DetectiveSettings,
    fallback: str,
) -> Selected:
    """The packs in time order; with a `fallback` or uniform sampling, of evenly spread frames.

    `priors`: for each facet float64 (k,), the prior of each segment in [0, 1]. `observed`: by segment, the
    words that looks found there. `fallback`: why the evidence is weak, from `weak_evidence`.
    """
    if fallback or settings.sampling == "uniform":
        return Selected(_evenly_packed(features, field, observed, scorer, settings), fallback)
    nodes = graph_nms(
        field.belief, field.graph, list(priors), count=settings.nodes, suppression=settings.suppression
    )
    frames = _frames(features, nodes, settings)
    home = {index: features.segments.at(float(features.times[index])) for index in frames}
    shown = sorted({*nodes, *home.values()})
    packs = [
        Pack(
            node=node,
            start=float(features.segments.starts[node]),
            end=float(features.segments.ends[node]),
            times=tuple(float(features.times[index]) for index in sorted(frames) if home[index] == node),
            words=_words_of(node, observed, scorer, settings) if node in nodes else None,
            belief=round(float(field.belief[node]), 6),
            chosen=node in nodes,
        )
        for node in shown
    ]
    return Selected(tuple(packs), "")


def uniform_frames(features: VideoFeatures, count: int) -> list[int]:
    """Frames spread evenly over the whole video."""
    return evenly(features.times, 0.0, float(features.segments.ends[-1]), count)


def best_words(words: Sequence[Words]) -> Words | None:
    """e_i^best of equation 14; the earliest of equals."""
    return max(words, key=lambda w: (w.score, -w.start, w.text), default=None)


def _words_of(
    node: int, observed: Mapping[int, Sequence[Words]], scorer: Scorer, settings: DetectiveSettings
) -> Words | None:
    """Of a segment that was never looked at, speech and text on the screen are known all the same."""
    if not settings.texts:
        return None
    return best_words(observed[node] if node in observed else scorer.stored(node))


def _frames(features: VideoFeatures, nodes: Sequence[int], settings: DetectiveSettings) -> list[int]:
    """At most `frames` indices: those of the packs first, then what fills free places (table 7)."""
    rows, room = features.vectors, settings.frames
    wanted: list[int] = []
    for node in nodes:
        start, end = float(features.segments.starts[node]), float(features.segments.ends[node])
        wanted += evenly(features.times, start, end, settings.frames_per_node)
    wanted = list(dict.fromkeys(wanted))
    if not rows.shape[1]:
        return wanted[:room]
    taken = distinct(wanted, rows, similarity=settings.duplicate)[:room]
    for candidates, similarity, most in (
        (wanted, settings.relaxed_duplicate, room),
        (uniform_frames(features, settings.least_uniform), settings.duplicate, settings.least_uniform),
    ):
        free = min(most, room - len(taken))
        taken += distinct(candidates, rows, similarity=similarity, taken=taken)[:free]
    coarse = list(range(0, len(features.times), 2))
    free = room - len(taken)
    return taken + diverse(coarse, rows, free, similarity=settings.fallback_similarity, taken=taken)


def _evenly_packed(
    features: VideoFeatures,
    field: BeliefField,
    observed: Mapping[int, Sequence[Words]],
    scorer: Scorer,
    settings: DetectiveSettings,
) -> tuple[Pack, ...]:
    """Evenly spread frames in packs of `frames_per_node`, each with the best words of their segments."""
    frames = uniform_frames(features, settings.frames)
    packs = []
    for at in range(0, len(frames), settings.frames_per_node):
        times = [float(features.times[index]) for index in frames[at : at + settings.frames_per_node]]
        nodes = list(dict.fromkeys(features.segments.at(time) for time in times))
        words = [found for node in nodes if (found := _words_of(node, observed, scorer, settings))]
        packs.append(
            Pack(
                node=nodes[0],
                start=times[0],
                end=min(times[-1] + 1.0 / settings.rate, float(features.segments.ends[-1])),
                times=tuple(times),
                words=best_words(words),
                belief=round(float(np.max(field.belief[nodes])), 6),
                chosen=False,
            )
        )
    return tuple(packs)
