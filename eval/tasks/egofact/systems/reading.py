"""The one reader that all systems call: only the frames and passages they hand it differ."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from corpora.records import Evidence
from eval.runs.records import ClipScore, ClipWindow, PassageScore, Query, Sample, sample_of
from eval.tasks.egofact.systems.captions import Captioner
from eval.tasks.egofact.systems.corpus import Corpus
from eval.tasks.egofact.systems.finding import (
    Asked,
    FindClips,
    FindPassages,
    Unit,
)
from eval.tasks.egofact.systems.watching import Watch, Watched
from localization.records import Window
from rag.reasoners.roles import ANSWER_CHOICE, Reading, ReadPassage, ReadWindow


@dataclass(frozen=True)
class Reader:
    """Find clips, watch frames of them, find passages, and let the reasoner choose.

    `settings` say what the answers depend on.
    """

    name: str
    corpus: Corpus
    find: FindClips
    watch: Watch
    passages: FindPassages
    captioner: Captioner
    settings: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, query: Query) -> Sample:
        clock = [time.perf_counter()]
        self.corpus.library.reasoner.usage()
        asked = Asked.of(self.corpus, query)
        clock.append(time.perf_counter())
        units, passages = self.find(asked), self.passages(asked)
        clock.append(time.perf_counter())
        watched = [self.watch(asked, unit) for unit in units]
        clock.append(time.perf_counter())
        windows = [self._window(unit, seen) for unit, seen in zip(units, watched, strict=True)]
        sample = read(asked, windows, passages)
        clock.append(time.perf_counter())
        names = ("rewrite", "retrieve", "localize", "answer")
        seconds = {name: round(b - a, 6) for name, a, b in zip(names, clock, clock[1:], strict=False)}
        return replace(
            sample,
            clips=_clip_scores(units),
            windows=_windows(units, watched),
            timings=seconds,
            **self._of_gold(asked, units, watched),
        )

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

    def _of_gold(self, asked: Asked, units: Sequence[Unit], watched: Sequence[Watched]) -> dict[str, Any]:
        """What was, or would have been, watched of the gold clip."""
        gold = asked.query.video
        held = [seen for unit, seen in zip(units, watched, strict=True) if unit.name == gold]
        window = None
        if all(unit.part is None for unit in units):
            found = held[0] if held else self.watch(asked, Unit(gold, self.corpus.found(gold)))
            window = (found.window.start, found.window.end) if found.localized else None
        times = sorted({round(float(t), 6) for seen in held for t in seen.times})
        understood = None
        if held:
            understood = any(self.captioner.tells(seen.vectors, asked.event) for seen in held)
        return {"gold_window_found": window, "gold_frames": tuple(times), "understood": understood}


def read(asked: Asked, windows: Sequence[ReadWindow], passages: Sequence[ReadPassage]) -> Sample:
    """Ask the reasoner, which must choose, and write down what it said."""
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
    return sample_of(
        asked.query,
        reply.choice,
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
