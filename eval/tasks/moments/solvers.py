"""Solvers of moment retrieval: the product's localizer over stored frames and text, and controls."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

from eval.metrics.moments import MAX_WINDOWS, Interval
from eval.runs.records import ClipWindow, Output
from eval.task import SolverSpec
from eval.tasks.moments.dataset import MomentInput
from eval.tasks.videos import NamedVideos
from eval.workbench.seeds import stable_number
from localization.localizer import window_salience
from localization.settings import LocalizeSettings
from rag.errors import UsageError

SALIENT: Mapping[str, Any] = {"method": "salient", "overlap": 0.5}
"""Settings of `[localize]`: windows of any of its lengths."""


@dataclass(frozen=True)
class MomentEnvironment(NamedVideos):
    """What solvers are opened on."""

    def bounds(self, video: str) -> Interval:
        """[start, end) of a video's clips, by its name; (0, 0) where it has none."""
        clips = self.library.engine.reader.clips(self.ids[video])
        return (clips[0].start, clips[-1].end) if clips else (0.0, 0.0)


@dataclass(frozen=True)
class Localized:
    """`rag localize` in the video, under `[localize]` with `changes`; and the saliency of clips."""

    environment: MomentEnvironment
    changes: Mapping[str, Any]

    @cached_property
    def chosen(self) -> LocalizeSettings:
        """The settings that windows are found under."""
        return self.environment.library.settings.localize.model_copy(update=dict(self.changes))

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        return {"localize": self.chosen.model_dump()}

    def solve(self, asked: MomentInput) -> Output:
        """Answer one input; see `eval.task.Solver`."""
        library = self.environment.library
        settings = library.settings.model_copy(update={"localize": self.chosen})
        retriever, video_id = library.engine.new_retriever(settings), self.environment.ids[asked.video]
        evidence: dict[str, Any] = {}
        if asked.clips:
            start, end = self.environment.bounds(asked.video)
            query = retriever.video_query(video_id, asked.text)
            salience = (
                window_salience(query, asked.clips, start=start, end=end).tolist() if end > start else []
            )
            evidence = {"saliency": salience}
        hits = retriever.localize_video(video_id, asked.text, MAX_WINDOWS)
        windows = [((hit.start, hit.end), hit.score) for hit in hits]
        confidence = hits[0].relevance if hits else 0.0
        return Output(windows=levelled(asked.video, windows), evidence=evidence, confidence=confidence)


def levelled(video: str, windows: Sequence[tuple[Interval, float]]) -> tuple[ClipWindow, ...]:
    """Windows, best first, with scores that never rise: who sorts by score keeps the order."""
    levels = accumulate((round(score, 6) for _, score in windows), min)
    spans = (window for window, _ in windows)
    return tuple(ClipWindow(video, *span, level) for span, level in zip(spans, levels, strict=True))


Windows = Callable[[Interval, random.Random], Sequence[Interval]]
"""From the bounds of a video and chance to windows, best first."""


@dataclass(frozen=True)
class Control:
    """Windows that know nothing of the sentence."""

    environment: MomentEnvironment
    seed: int
    windows: Windows

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        return {"seed": self.seed}

    def solve(self, asked: MomentInput) -> Output:
        """Answer one input; see `eval.task.Solver`."""
        bounds = self.environment.bounds(asked.video)
        chance = random.Random(stable_number("moments chance", self.seed, asked.query_id))
        if bounds[1] <= bounds[0]:
            return Output()
        found = self.windows(bounds, chance)
        ranked = [(window, round(1 - place / len(found), 6)) for place, window in enumerate(found)]
        return Output(windows=levelled(asked.video, ranked))


def _whole(bounds: Interval, chance: random.Random) -> Sequence[Interval]:  # noqa: ARG001 (one shape)
    return [bounds]


def _middle(bounds: Interval, chance: random.Random) -> Sequence[Interval]:  # noqa: ARG001 (as above)
    quarter = (bounds[1] - bounds[0]) / 4
    return [(round(bounds[0] + quarter, 6), round(bounds[1] - quarter, 6))]


def _random(bounds: Interval, chance: random.Random) -> Sequence[Interval]:
    """Between two uniform moments each."""
    start, end = bounds
    found = [sorted(chance.uniform(start, end) for _ in range(2)) for _ in range(MAX_WINDOWS)]
    return [(round(first, 6), max(round(last, 6), round(first, 6) + 1e-6)) for first, last in found]


def _localized(environment: MomentEnvironment, seed: int, changes: Mapping[str, Any]) -> Localized:  # noqa: ARG001 (nothing is random)
    """Raises `UsageError` where there is nothing to localize by."""
    reader = environment.library.engine.reader
    kinds = frozenset[str]().union(*reader.evidence_kinds().values()) - {"tag"}
    if not kinds and environment.library.engine.tower is None:
        raise UsageError(
            "localized and localized-fixed go by image embeddings or text, and the videos have neither: set "
            "encoder.image to one of 'rag models list', index them with subtitles or speech, or leave these "
            "systems out"
        )
    return Localized(environment, changes)


SOLVERS: Mapping[str, SolverSpec[MomentEnvironment]] = {
    "localized": SolverSpec(
        "rag localize with windows of any of localize.lengths, by stored frames and text",
        partial(_localized, changes=SALIENT),
    ),
    "localized-fixed": SolverSpec(
        "rag localize as it is set: windows of one length (localize.window_seconds)",
        partial(_localized, changes={}),
    ),
    "whole-video": SolverSpec("control: the whole video", partial(Control, windows=_whole)),
    "middle": SolverSpec("control: the middle half of the video", partial(Control, windows=_middle)),
    "random": SolverSpec("chance: windows between two random moments", partial(Control, windows=_random)),
}
CONTROLS = ("whole-video", "middle", "random")
