"""A solver out of the product's pipeline with some of its stages replaced; it must choose an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval.runs.records import ClipScore, ClipWindow, Output, PassageScore
from eval.tasks.egofact.records import EgoFactInput
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.stages import CLIPS, event_of
from rag.answering import EVERYWHERE, Context, Pipeline, Rewriting, Trace
from rag.questions import parse_question
from rag.settings import Settings


@dataclass(frozen=True)
class PipelineSolver:
    """`stages`: from an input to its pipeline, for the oracles' inputs hold what they are given."""

    corpus: Corpus
    stages: Callable[[EgoFactInput], Pipeline]
    chosen: Settings
    """Those of the library, with another `localize` where a system has one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    shows_windows: bool = True
    """Whether the windows read are less than the clips."""
    _last: dict[str, tuple[Context, Rewriting]] = field(default_factory=dict, compare=False)
    """Of the question asked last."""

    def solve(self, asked: EgoFactInput) -> Output:
        """Answer one query; see `eval.task.Solver`."""
        context = self.context(asked)
        trace = self.stages(asked).run(context)
        self._last.clear()
        self._last[asked.query_id] = context, trace.rewriting
        return self._output(trace)

    def context(self, asked: EgoFactInput) -> Context:
        """Of one question; nothing is ever below its threshold."""
        engine = self.corpus.library.engine
        return Context(
            question=parse_question(asked.text, asked.options, asked.query_id),
            retriever=engine.new_retriever(self.chosen),
            reasoner=engine.reasoner,
            settings=self.chosen,
            where=EVERYWHERE,
            top_k=CLIPS,
            threshold=0.0,
            read_frames=engine.read_frames,
            must_choose=True,
        )

    def _output(self, trace: Trace) -> Output:
        reply, usage = trace.reply, trace.answer.usage
        names = self.corpus.names if trace.clips else {}
        assert reply is not None, "nothing is below a threshold of 0"
        read = list(zip(trace.clips, trace.windows, trace.samples, strict=True))
        clips: dict[str, float] = {}
        frames: dict[str, set[float]] = {}
        for found, _, sample in read:
            name = names[found.clip.clip_id]
            clips[name] = max(clips.get(name, 0.0), found.score)
            if sample.times is not None:
                frames.setdefault(name, set()).update(round(float(time), 6) for time in sample.times)
        windows = [
            ClipWindow(names[found.clip.clip_id], window.start, window.end, window.score)
            for found, window, _ in read
        ]
        return Output(
            choice=getattr(reply, "choice", None),
            scores=getattr(reply, "scores", ()),
            confidence=reply.confidence,
            clips=tuple(ClipScore(name, score) for name, score in clips.items()),
            passages=tuple(PassageScore(p.passage.doc_id, p.score, p.option) for p in trace.passages),
            windows=tuple(windows) if self.shows_windows else (),
            frames_read={name: tuple(sorted(times)) for name, times in frames.items()},
            evidence={"explanation": reply.explanation, "event": event_of(trace.rewriting)},
            tokens={
                "prompt": usage.prompt_tokens,
                "completion": usage.completion_tokens,
                "image": usage.image_tokens,
            },
            timings=trace.answer.timings,
        )


@dataclass(frozen=True)
class LocalizingSolver(PipelineSolver):
    """One whose `localize` stage picks a window in a clip."""

    def localize(self, asked: EgoFactInput, clip_id: str) -> tuple[float, float] | None:
        """The window [start, end) in seconds of a clip; None without one."""
        stages = self.stages(asked)
        if asked.query_id not in self._last:
            context = self.context(asked)
            self._last[asked.query_id] = context, stages.rewrite(context)
        context, rewriting = self._last[asked.query_id]
        (window,) = stages.localize(context, rewriting, [self.corpus.found(clip_id)])
        return window.start, window.end
