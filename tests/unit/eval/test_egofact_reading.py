"""Stages of EgoFact's systems: which frames are read of a clip, and that none is decoded without need."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corpora.records import Clip, Frames
from eval.tasks.egofact.solvers.pipeline import around, clip_parts, diverse, sampled, spread, whole
from rag.retrieval import RetrievedClip
from rag.store.records import ClipFrames

CLIP = Clip("c", "v", 0.0, 30.0)
FOUND = RetrievedClip(CLIP, "a.mp4", "", 0.5, 1.0, 1.0, ())
NOTHING: Any = None


def corpus(vectors: np.ndarray[Any, Any] | None = None) -> Any:
    """One clip with two frames a second; the words of every question point along the first axis."""
    times = np.arange(0, 30, 0.5)
    held = np.eye(60, dtype=np.float32) if vectors is None else vectors
    return SimpleNamespace(
        names={"c": "clip"},
        clips={"clip": CLIP},
        frames={"clip": ClipFrames(CLIP, times, held, held[0])},
        vector=lambda _: held[0],
        found=lambda _, score=1.0: RetrievedClip(CLIP, "a.mp4", "", score, 1.0, 1.0, ()),
    )


def context(reads: bool = False, budget: int = 15, read_frames: Any = None) -> Any:
    reader = SimpleNamespace(video=lambda _: SimpleNamespace(width=64), files_of=lambda _: ())
    return SimpleNamespace(
        question=SimpleNamespace(text="what?", options=()),
        reasoner=SimpleNamespace(reads_pixels=reads),
        retriever=SimpleNamespace(reader=reader),
        settings=SimpleNamespace(localize=SimpleNamespace(frame_budget=budget)),
        read_frames=read_frames,
        top_k=5,
    )


@pytest.mark.parametrize("reads", [False, True])
def test_frames_are_decoded_at_their_own_times_for_a_reasoner_that_reads_pixels_alone(reads: bool) -> None:
    asked: list[tuple[str, list[float]]] = []

    def read_frames(path: str, times: Any) -> Frames:
        asked.append((path, times.tolist()))
        return Frames(times, np.zeros((len(times), 2, 2, 3), np.uint8))

    stage = sampled(corpus(), spread)
    (sample,) = stage(context(reads, 3, read_frames), [FOUND], [])
    assert sample.times is not None
    assert sample.times.tolist() == [5.0, 15.0, 25.0]
    assert asked == ([("a.mp4", [5.0, 15.0, 25.0])] if reads else [])
    assert (sample.pixels is not None) is reads


def test_diverse_frames_are_within_the_budget_and_hold_the_one_most_like_the_question() -> None:
    held = corpus()
    (sample,) = sampled(held, diverse(held))(context(budget=4), [FOUND], [])
    assert sample.times is not None
    assert len(sample.times) == 4
    assert 0.0 in sample.times
    assert list(sample.times) == sorted(sample.times)


def test_a_part_is_retrieved_as_a_clip_of_its_own_and_read_whole() -> None:
    rewriting: Any = SimpleNamespace(
        rewritten=SimpleNamespace(visual_query="a room"),
        anchor=SimpleNamespace(target="", description="an event"),
    )
    parts = clip_parts(corpus(), 10.0)(context(), rewriting)
    assert [(each.clip.start, each.clip.end) for each in parts] == [(0.0, 10.0), (10.0, 20.0), (20.0, 30.0)]
    windows = whole(context(), rewriting, parts)
    assert [(window.start, window.end) for window in windows] == [(0.0, 10.0), (10.0, 20.0), (20.0, 30.0)]


@pytest.mark.parametrize(
    ("given", "window"), [((10.0, 12.0), (8.5, 13.5)), ((0.0, 1.0), (0.0, 5.0)), ((29.0, 30.0), (25.0, 30.0))]
)
def test_an_oracle_reads_five_seconds_around_the_event_inside_the_clip(
    given: tuple[float, float], window: tuple[float, float]
) -> None:
    (found,) = around(given)(NOTHING, NOTHING, [FOUND])
    assert (found.start, found.end) == window
