"""The one reader: a reasoner that reads pixels is shown the very frames whose vectors were watched."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corpora.records import Clip, Frames
from eval.tasks.egofact.solvers.finding import Unit
from eval.tasks.egofact.solvers.reader import Reader
from eval.tasks.egofact.solvers.watching import Watched
from localization.records import Window
from rag.retrieval import RetrievedClip

CLIP = Clip("c", "v", 0.0, 30.0)
UNIT = Unit("clip", RetrievedClip(CLIP, "a.mp4", "", 1.0, 1.0, 1.0, ()))
SEEN = Watched(Window("v", 5.0, 10.0, 0.5), True, np.array([5.0, 7.5]), np.zeros((2, 4), np.float32))


@pytest.mark.parametrize("reads", [False, True])
def test_frames_are_decoded_for_a_reasoner_that_reads_pixels_alone(reads: bool) -> None:
    asked: list[tuple[str, list[float]]] = []

    def read_frames(path: str, times: Any) -> Frames:
        asked.append((path, times.tolist()))
        return Frames(times, np.zeros((len(times), 2, 2, 3), np.uint8))

    library = SimpleNamespace(reasoner=SimpleNamespace(reads_pixels=reads), read_frames=read_frames)
    corpus: Any = SimpleNamespace(library=library)
    nothing: Any = None
    window = Reader(corpus, nothing, nothing, nothing)._window(UNIT, SEEN)
    assert window.frame_vectors is SEEN.vectors
    assert asked == ([("a.mp4", [5.0, 7.5])] if reads else [])
    assert (window.frames is not None) is reads
