"""One question with all that was read for it: what every reasoner is tried on."""

from __future__ import annotations

import numpy as np

from corpora.records import (
    Clip,
    Evidence,
    Frames,
    Passage,
)
from localization.records import Window
from rag.reasoners.roles import AnchorEvent, Reading, ReadPassage, ReadWindow, RewrittenQuestion
from rag.records import Question

CHOICE = Question(
    "q1",
    "In a video of a telescope workshop, which statement is true about the part the woman polishes?",
    ("When cooled. It is made of glass.", "When cooled. It is made of steel.", "It cannot be polished."),
)
OPEN = Question("q2", "What is the mirror of the telescope made of?")


def read_window(index: int, said: str, *, dim: int = 8, pixels: bool = True) -> ReadWindow:
    rng = np.random.default_rng(index)
    start = 30.0 * index + 10
    times = np.arange(4) * 0.5 + start
    vectors = rng.normal(size=(4, dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    images = rng.integers(0, 256, (4, 48, 64, 3), dtype=np.uint8)
    return ReadWindow(
        path=f"videos/{index}.mp4",
        title=f"Workshop {index}",
        clip=Clip(f"v{index}:00000", f"v{index}", 30.0 * index, 30.0 * index + 30),
        window=Window(f"v{index}", start, start + 5, 0.5),
        retrieval_score=0.5,
        texts=(Evidence(f"v{index}", start, start + 2, "subtitle", said),),
        frame_times=times,
        frame_vectors=vectors,
        frames=Frames(times, images) if pixels else None,
    )


def reading(question: Question, *, dim: int = 8, pixels: bool = True) -> Reading:
    """Two windows and two passages, the first of each about the mirror."""
    passages = ("The mirror of the telescope is made of glass.", "Steel rusts when it is wet.")
    return Reading(
        question=question,
        rewritten=RewrittenQuestion(
            visual_query="A video that shows a telescope workshop.",
            passage_queries=question.options or (question.text,),
        ),
        anchor=AnchorEvent(description="the woman polishes something"),
        windows=(
            read_window(0, "This mirror is made of glass.", dim=dim, pixels=pixels),
            read_window(1, "Now we cut the bread.", dim=dim, pixels=pixels),
        ),
        passages=tuple(
            ReadPassage(
                Passage(f"p{index}", f"d{index}", f"Title {index}", text),
                f"texts/{index}.txt",
                0.5,
                index if question.options else None,
            )
            for index, text in enumerate(passages)
        ),
    )
