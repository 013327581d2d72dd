"""The reading stage that all solvers share: only the frames and passages that it is handed differ."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from corpora.records import Evidence
from eval.runs.records import ClipScore, ClipWindow, Output, PassageScore
from eval.tasks.egofact.records import EgoFactInput
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.finding import (
    Asked,
    FindClips,
    FindPassages,
    Unit,
)
from eval.tasks.egofact.solvers.watching import Watch, Watched
from localization.records import Window
from rag.reasoners.roles import ANSWER_CHOICE, Reading, ReadPassage, ReadWindow


@dataclass(frozen=True)
class Reader:
    """A solver out of stages: retrieve clips, read frames of them, retrieve passages, and let the reasoner
    choose."""

    corpus: Corpus
    find: FindClips
    watch: Watch
    passages: FindPassages
    settings: Mapping[str, Any] = field(default_factory=dict)
    _asked: dict[str, Asked] = field(default_factory=dict, compare=False)
    """The question asked last."""

    def solve(self, asked: EgoFactInput) -> Output:
        clock = [time.perf_counter()]
        self.corpus.library.reasoner.usage()
        question = self._rewritten(asked)
        clock.append(time.perf_counter())
        units, passages = self.find(question), self.passages(question)
        clock.append(time.perf_counter())
        watched = [self.watch(question, unit) for unit in units]
        clock.append(time.perf_counter())
        windows = [self._window(unit, seen) for unit, seen in zip(units, watched, strict=True)]
        output = read(question, windows, passages)
        clock.append(time.perf_counter())
        names = ("rewrite", "retrieve", "localize", "answer")
        return replace(
            output,
            clips=_clip_scores(units),
            windows=_windows(units, watched),
            frames_read=_frames_read(units, watched),
            timings={name: round(b - a, 6) for name, a, b in zip(names, clock, clock[1:], strict=False)},
        )

    def _rewritten(self, asked: EgoFactInput) -> Asked:
        if asked.query_id not in self._asked:
            self._asked.clear()
            self._asked[asked.query_id] = Asked.of(self.corpus, asked)
        return self._asked[asked.query_id]

    def _window(self, unit: Unit, seen: Watched) -> ReadWindow:
        """What was watched; decoded too, at the same times, for a reasoner that reads pixels."""
        found, library = unit.found, self.corpus.library
        return ReadWindow(
            path=found.path,
            title=found.title,
            clip=found.clip,
            window=seen.window,
            retrieval_score=found.score,
            texts=(),
            frame_times=seen.times,
            frame_vectors=seen.vectors,
            frames=library.read_frames(found.path, seen.times) if library.reasoner.reads_pixels else None,
        )


@dataclass(frozen=True)
class LocalizingReader(Reader):
    """A reader whose `watch` localizes a window in the clip."""

    def localize(self, asked: EgoFactInput, clip_id: str) -> tuple[float, float] | None:
        question = self._rewritten(asked)
        unit = Unit(clip_id, self.corpus.found(clip_id))
        seen = self.watch(question, unit)
        return (seen.window.start, seen.window.end) if seen.localized else None


def read(asked: Asked, windows: Sequence[ReadWindow], passages: Sequence[ReadPassage]) -> Output:
    """Ask the reasoner, which must choose."""
    reasoner = asked.corpus.library.reasoner
    reply = reasoner.run(
        ANSWER_CHOICE,
        Reading(
            question=asked.question,
            rewritten=asked.rewritten,
            anchor=asked.anchor,
            windows=tuple(windows),
            passages=tuple(passages),
            must_choose=True,
        ),
    )
    usage = reasoner.usage()
    return Output(
        choice=reply.choice,
        scores=reply.scores,
        confidence=reply.confidence,
        passages=tuple(PassageScore(p.passage.doc_id, p.score, p.option) for p in passages),
        evidence={"explanation": reply.explanation, "event": asked.event},
        tokens={
            "prompt": usage.prompt_tokens,
            "completion": usage.completion_tokens,
            "image": usage.image_tokens,
        },
    )


def text_window(unit: Unit, lines: Sequence[Evidence]) -> ReadWindow:
    """A clip that is read as words."""
    found = unit.found
    return ReadWindow(
        path=found.path,
        title=found.title,
        clip=found.clip,
        window=Window(found.clip.video_id, found.clip.start, found.clip.end, 0.0),
        retrieval_score=found.score,
        texts=tuple(lines),
    )


def _clip_scores(units: Sequence[Unit]) -> tuple[ClipScore, ...]:
    """Each clip once, with its best part's score."""
    best: dict[str, float] = {}
    for unit in units:
        best[unit.name] = max(best.get(unit.name, 0.0), unit.found.score)
    return tuple(ClipScore(name, score) for name, score in best.items())


def _windows(units: Sequence[Unit], watched: Sequence[Watched]) -> tuple[ClipWindow, ...]:
    return tuple(
        ClipWindow(unit.name, seen.window.start, seen.window.end, seen.window.score)
        for unit, seen in zip(units, watched, strict=True)
        if seen.localized or unit.part is not None
    )


def _frames_read(units: Sequence[Unit], watched: Sequence[Watched]) -> dict[str, tuple[float, ...]]:
    """Times by clip, ascending, each once."""
    times: dict[str, set[float]] = {}
    for unit, seen in zip(units, watched, strict=True):
        times.setdefault(unit.name, set()).update(round(float(time), 6) for time in seen.times)
    return {name: tuple(sorted(held)) for name, held in times.items()}
