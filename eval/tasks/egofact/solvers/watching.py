"""The localization stage: which frames of a clip are read, at most 15 (EgoFact, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eval.tasks.egofact.solvers.finding import Asked, Unit
from localization.records import Window
from rag.retrieval import Retriever
from rag.store.records import ClipFrames

if TYPE_CHECKING:
    from numpy.typing import NDArray

BUDGET = 15


@dataclass(frozen=True, slots=True)
class Watched:
    """A window of a clip and the frames read in it."""

    window: Window
    localized: bool
    """Whether the window was localized; False where it is the clip or the retrieved part itself."""
    times: NDArray[np.float64]
    """(m,) seconds of the clip's video: of the frames."""
    vectors: NDArray[np.float32]
    """(m, d), m <= 15."""


Watch = Callable[[Asked, Unit], Watched]


@dataclass(frozen=True)
class Localized:
    """The window found by the library's own localization, under the settings of `retriever`."""

    retriever: Retriever

    def __call__(self, asked: Asked, unit: Unit) -> Watched:
        anchor = asked.anchor
        (window,) = self.retriever.localize(
            [unit.found], anchor.description, anchor.position, target=anchor.target
        )
        return _inside(asked.corpus.frames[unit.name], window, localized=True)


def uniform(asked: Asked, unit: Unit) -> Watched:
    """15 frames spread evenly over the clip: the middles of 15 equal parts (VideoRAG of Ren et al.)."""
    frames, clip = asked.corpus.frames[unit.name], unit.found.clip
    step = (clip.end - clip.start) / BUDGET
    wanted = clip.start + step * (np.arange(BUDGET) + 0.5)
    near = np.unique([int(np.argmin(np.abs(frames.times - at))) for at in wanted])
    window = Window(clip.video_id, clip.start, clip.end, 0.0)
    return Watched(window, False, frames.times[near], frames.vectors[near])


def diverse(asked: Asked, unit: Unit) -> Watched:
    """15 frames, half for being unlike each other and half for being like the question.

    After VideoRAG of Jeong et al., which narrows the frames by clustering and takes those that a
    scorer likes best: clusters by farthest-point picking from the frame nearest to the clip's
    mean, and the similarity to the question for a scorer, since theirs is trained on videos that
    are not here.
    """
    frames, clip = asked.corpus.frames[unit.name], unit.found.clip
    vectors = frames.vectors.astype(np.float64)
    centre = vectors.mean(axis=0)
    chosen = [int(np.argmax(vectors @ centre))]
    while len(chosen) < min(BUDGET * 2, len(vectors)):
        nearest = (vectors @ vectors[chosen].T).max(axis=1).round(6)
        nearest[chosen] = np.inf
        chosen.append(int(np.argmin(nearest)))
    likeness = (vectors[chosen] @ asked.corpus.vector(asked.input.text).astype(np.float64)).round(6)
    best = sorted(range(len(chosen)), key=lambda i: (-likeness[i], chosen[i]))[:BUDGET]
    kept = np.array(sorted(chosen[i] for i in best))
    window = Window(clip.video_id, clip.start, clip.end, 0.0)
    return Watched(window, False, frames.times[kept], frames.vectors[kept])


def part(asked: Asked, unit: Unit) -> Watched:
    """The retrieved part itself."""
    assert unit.part is not None, "parts are what is retrieved"
    return _inside(asked.corpus.frames[unit.name], unit.part, localized=False)


def given_window(asked: Asked, unit: Unit) -> Watched:
    """5 seconds around the event that an oracle is given: what perfect localization would read."""
    clip = unit.found.clip
    width = min(5.0, clip.end - clip.start)
    gold = asked.input.given_window
    assert gold is not None, "an oracle's input has its window"
    middle = (gold[0] + gold[1]) / 2
    start = min(max(clip.start, middle - width / 2), clip.end - width)
    window = Window(clip.video_id, round(start, 6), round(start + width, 6), 0.0)
    return _inside(asked.corpus.frames[unit.name], window, localized=True)


def _inside(frames: ClipFrames, window: Window, *, localized: bool) -> Watched:
    """The frames of a window, evenly chosen where there are more than the budget."""
    inside = np.flatnonzero((frames.times >= window.start - 1e-6) & (frames.times < window.end - 1e-6))
    if len(inside) == 0:
        inside = np.array([int(np.argmin(np.abs(frames.times - (window.start + window.end) / 2)))])
    if len(inside) > BUDGET:
        inside = inside[np.linspace(0, len(inside) - 1, BUDGET).round().astype(int)]
    return Watched(window, localized, frames.times[inside], frames.vectors[inside])
