"""An EgoFact corpus over a small library of made-up vectors, and a reasoner whose roles are scripted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from corpora.records import Frames
from eval.tasks.egofact.records import ClipRow, EgoFactInput
from eval.tasks.egofact.solvers.corpus import Corpus
from rag.reasoners.roles.answers import ChosenOption
from rag.reasoners.roles.questions import AnchorEvent, RewrittenQuestion
from rag.records import Usage
from rag.retrieval import Retriever
from rag.settings import Settings
from rag.store.reading import Reader
from tests.fakes.answer_world import BagOfWords, ImageWords, Script, build_library

KETTLE = EgoFactInput(
    "q1", "In a video of a kitchen, what is lifted?", ("kettle", "drill", "lamp", "iron", "spoon", "knife")
)


class ScriptedReasoner:
    """Answers A, looks for the kettle, and keeps every request; further roles are given as functions."""

    name = fingerprint = "scripted"
    reads_pixels = True

    def __init__(self, **roles: Any) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.roles: dict[str, Any] = {
            "rewrite_question": lambda asked: RewrittenQuestion(
                visual_query="A video that shows a kettle.", passage_queries=asked.options
            ),
            "anchor_event": lambda _: AnchorEvent(description="a kettle"),
            "answer_choice": lambda _: ChosenOption(choice="A", confidence=0.5, explanation="Seen."),
            **roles,
        }

    def run(self, role: Any, request: Any) -> Any:
        self.requests.append((role.name, request))
        return self.roles[role.name](request)

    def asked(self, name: str) -> list[Any]:
        return [request for role, request in self.requests if role == name]

    def usage(self) -> Usage:
        return Usage()


def read_frames(_path: str, times: Any) -> Frames:
    return Frames(np.asarray(times), np.zeros((len(times), 4, 4, 3), np.uint8))


def open_corpus(
    folder: Path,
    videos: Script,
    rows: Sequence[ClipRow],
    played_by: Any,
    passages: Mapping[str, str] | None = None,
    **settings: Any,
) -> Corpus:
    """`rows`: of the benchmark; the library holds all clips of `videos`."""
    tower, words = ImageWords(), BagOfWords()
    reader = Reader.open(build_library(folder / "library", videos, passages or {}, tower))
    chosen = Settings(**settings)
    engine = SimpleNamespace(
        reader=reader,
        tower=tower,
        text_encoder=words,
        reasoner=played_by,
        read_frames=read_frames,
        new_retriever=lambda own=None: Retriever(reader, tower, words, own or chosen),
    )
    library: Any = SimpleNamespace(engine=engine, settings=chosen)
    return Corpus(rows, folder, library)
