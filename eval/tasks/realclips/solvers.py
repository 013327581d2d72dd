"""Solvers over real footage: the product, its senses one at a time, and chance."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from corpora.records import EvidenceKind
from eval.runs.records import ClipWindow, Output, TaskInput, ranked_clips
from eval.task import SolverSpec
from eval.tasks.videos import NamedVideos
from eval.workbench.seeds import stable_number
from rag.errors import UsageError
from rag.records import SearchFilter

if TYPE_CHECKING:
    from localization.windows import LocalizedWindow
    from rag.records import VideoHit

DEPTH = 20
"""Hits that a query is given, in which the ranks of videos are counted."""
NAMES = frozenset(["tag"])
"""Evidence that a file's name and its metadata give."""
NO_WINDOWS = "no_windows"
"""Evidence of an output: the system finds videos, and no windows in them."""
READ = frozenset(get_args(EvidenceKind)) - NAMES
"""Evidence that is read in a video."""


@dataclass(frozen=True)
class Searched:
    """`rag search` and `rag localize`; with `kinds` the search of text of these kinds alone."""

    videos: NamedVideos
    kinds: frozenset[str] | None = None
    calibrated: ClassVar[bool] = True
    """Whether the relevance of a hit says if anything matches."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        settings = self.videos.library.settings
        return {
            "kinds": sorted(self.kinds or ()),
            "search": settings.search.model_dump(mode="json"),
            "localize": settings.localize.model_dump(mode="json"),
        }

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Name in the data by content id."""
        return {video_id: name for name, video_id in self.videos.ids.items()}

    def solve(self, asked: TaskInput) -> Output:
        """Answer one input; see `eval.task.Solver`.

        A search of some kinds of text finds videos and is asked for no seconds.
        """
        if asked.video and self.kinds is not None:
            return Output(evidence={NO_WINDOWS: True})
        hits = self._hits(asked)
        least = self.videos.library.settings.search.threshold
        confidence = hits[0].relevance if hits else 0.0
        found = [self.names[hit.video_id] for hit in hits]
        return Output(
            clips=ranked_clips(dict.fromkeys(found)),
            windows=tuple(
                ClipWindow(name, hit.start, hit.end, hit.score) for name, hit in zip(found, hits, strict=True)
            ),
            confidence=confidence,
            evidence={"matched": confidence >= least} if self.calibrated else {},
        )

    def _hits(self, asked: TaskInput) -> Sequence[VideoHit | LocalizedWindow]:
        library = self.videos.library
        if asked.video:
            return library.localize(self.videos.ids[asked.video], asked.text)
        hits = library.search(asked.text, kind="video", top_k=DEPTH, where=SearchFilter(kinds=self.kinds))
        return [hit for hit in hits if hit.kind == "video"]


@dataclass(frozen=True)
class Seen(Searched):
    """Stored frames alone, by their cosine with the query."""

    calibrated = False

    def _hits(self, asked: TaskInput) -> Sequence[VideoHit]:
        engine = self.videos.library.engine
        assert engine.tower is not None, "open() has checked it"
        within = frozenset([self.videos.ids[asked.video]]) if asked.video else None
        vector = engine.tower.encode_text([asked.text])[0]
        return engine.new_retriever().find_near(vector, DEPTH, SearchFilter(videos=within))


@dataclass(frozen=True)
class Chance:
    """Videos in random order, and one random window of the video that is asked about."""

    videos: NamedVideos
    seed: int

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        return {"seed": self.seed}

    def solve(self, asked: TaskInput) -> Output:
        """Answer one input; see `eval.task.Solver`."""
        chance = random.Random(stable_number("realclips chance", self.seed, asked.query_id))
        if not asked.video:
            names = sorted(self.videos.paths)
            chance.shuffle(names)
            return Output(clips=ranked_clips(names[:DEPTH]))
        reader = self.videos.library.engine.reader
        length = self.videos.library.settings.localize.window_seconds
        duration = reader.video(self.videos.ids[asked.video]).duration
        start = round(chance.uniform(0.0, max(0.0, duration - length)), 6)
        return Output(windows=(ClipWindow(asked.video, start, round(min(duration, start + length), 6), 1.0),))


def _seen(videos: NamedVideos, seed: int) -> Seen:  # noqa: ARG001 (nothing is random)
    """Raises `UsageError` for a library without image embeddings."""
    if videos.library.engine.tower is None:
        raise UsageError("images-alone needs image embeddings: set encoder.image, or leave this system out")
    return Seen(videos)


def _searched(videos: NamedVideos, seed: int, kinds: frozenset[str] | None) -> Searched:  # noqa: ARG001 (as above)
    return Searched(videos, kinds)


SOLVERS: Mapping[str, SolverSpec[NamedVideos]] = {
    "rag": SolverSpec("rag search over all videos, rag localize inside one", partial(_searched, kinds=None)),
    "images-alone": SolverSpec("stored frames alone, by their cosine with the query", _seen),
    "text-alone": SolverSpec(
        "what is said, and what is read on the screen, alone", partial(_searched, kinds=READ)
    ),
    "names-alone": SolverSpec("titles and file names alone", partial(_searched, kinds=NAMES)),
    "random": SolverSpec("chance: videos in random order, a random window", Chance),
}
