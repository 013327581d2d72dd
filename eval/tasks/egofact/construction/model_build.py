"""From annotated videos and raw WikiHow to a benchmark folder, with a language model in the paper's roles."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.records import Frames
from corpora.video.reader import MediaReader
from eval.task import ProgressCallback
from eval.tasks.egofact.construction.annotated import AnnotatedVideo, raw_segments
from eval.tasks.egofact.construction.build import default_encoder, write_plan
from eval.tasks.egofact.construction.language_model import (
    LlmCheckReader,
    ModelDrafter,
    Narrator,
    WrittenPassages,
    structured,
)
from eval.tasks.egofact.construction.options import ObjectPrior, opening
from eval.tasks.egofact.construction.plan import Plan, choose_representatives, plan_over
from eval.tasks.egofact.construction.records import BuildSettings, FactPassage, Segment, Shape
from eval.tasks.egofact.construction.roles import BUILD_ROLES
from eval.tasks.egofact.construction.segments import CachedEncoder
from eval.tasks.egofact.replies import CallBudget, StoredReplies
from rag.answering import ReadFrames
from rag.errors import FileProblem, ReplyInvalid, UsageError
from rag.library import Library
from rag.reasoners import open_reasoner
from rag.reasoners.prompts import prompt_versions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.settings import Settings

WORK = "work"
"""Below the folder of a benchmark: what a build keeps to go on from."""
REPLIES = "replies.jsonl"
"""Below `WORK`: what the model said; its presence marks a folder as a build."""
NEAREST = 50
"""Passages that are compared with an object by title and opening too."""
TRIED = 3
"""Passages of an object that statements are written for."""

Near = Callable[[str], Sequence[FactPassage]]


@dataclass(frozen=True)
class Builder:
    """What a build by a language model works with."""

    out: Path
    replies: StoredReplies
    model: str
    """Its name, for the manifest."""
    read_frames: ReadFrames
    length_of: Callable[[Path], float | None]
    """Seconds of a video file; None where it cannot be read."""
    near: Near
    """Passages near the name of an object, best first; none without WikiHow."""
    encoder: CachedEncoder
    settings: BuildSettings
    say: ProgressCallback = lambda _: None

    def build(self, name: str, videos: Sequence[AnnotatedVideo], shape: Shape, seed: int) -> Plan:
        """Write the benchmark `name`. What the model said before is taken from `replies`.

        Raises `CallsSpent` where its budget is, another `ReasonerError` where the model fails, and
        `UsageError` where nothing can be asked of the videos.
        """
        there = [video for video in videos if video.file.is_file()]
        if not there:
            raise UsageError(f"none of {len(videos)} annotated videos is there; {videos[0].file} is missing")
        raw = [segment for video in there for segment in self._cut(video)]
        narrated = self._narrated(raw)
        if not narrated:
            raise UsageError(f"none of {len(raw)} clips could be narrated by {self.model}")
        chosen = choose_representatives(narrated, self.encoder, shape.clips, self.settings, seed)
        kept = [structured(clip, self.replies) for clip in chosen]
        kept = [clip for clip in kept if len(clip.events) >= self.settings.min_events]
        reader = LlmCheckReader(self.replies, self.model)
        passages = WrittenPassages(self.near, self.replies, reader)
        prior = ObjectPrior("language model", {}, {})
        drafter = ModelDrafter(prior, passages, self.encoder, self.settings, seed, {}, self.replies)
        before = {
            "annotated videos": {"clips": len(videos)},
            "videos that are there": {"clips": len(there)},
            "segments": {"clips": len(raw)},
            "narrated": {"clips": len(narrated)},
            "representatives with two annotated events": {"clips": len(chosen)},
        }
        plan = plan_over(kept, drafter, passages.found, reader, shape, before)
        write_plan(
            plan,
            [passages.found[each] for each in sorted(passages.found)],
            self.out,
            self.encoder,
            self.settings,
            shape,
            {
                "name": name,
                "split": "test",
                "seed": seed,
                "reader": self.model,
                "objects": prior.name,
                "model": self.model,
                "prompts": prompt_versions(BUILD_ROLES),
                "passages": passages.counts,
            },
        )
        return plan

    def _cut(self, video: AnnotatedVideo) -> list[Segment]:
        length = video.duration if video.duration is not None else self.length_of(video.file)
        if length is None:
            return []
        return raw_segments(video, self.out, self.settings.segment_seconds, length)

    def _narrated(self, clips: Sequence[Segment]) -> list[Segment]:
        """Those of which a narration could be made."""
        narrator = Narrator(self.replies, self.read_frames, lambda clip: os.fspath(self.out / clip.path))
        found = []
        for at, clip in enumerate(clips, 1):
            self.say(f"narrating clip {at} of {len(clips)}")
            try:
                found.append(narrator.narrate(clip))
            except (ReplyInvalid, FileProblem):
                continue
        return found


@dataclass(frozen=True)
class WikiHow:
    """Raw WikiHow rows, indexed as passages: those near the name of an object (C.2.5, step 1)."""

    library: Library
    encoder: CachedEncoder
    least: float
    """Cosine from which a passage, its title or its first sentence is near a name."""

    @staticmethod
    def open(
        table: Path,
        folder: Path,
        settings: Settings,
        encoder: CachedEncoder,
        least: float,
        say: ProgressCallback | None = None,
    ) -> WikiHow:
        """Index `table` into a library in `folder`, where that is not done yet."""
        from eval.tasks.libraries import indexing

        images = settings.encoder.model_copy(update={"image": "none"})
        chosen = settings.model_copy(update={"library": folder, "encoder": images})
        Library.index([table], settings=chosen, progress=indexing(say))
        return WikiHow(Library.open(folder, settings=chosen), encoder, least)

    def near(self, name: str) -> list[FactPassage]:
        """The nearest ones above the threshold, best first, without activity or statements."""
        reader = self.library.engine.reader
        hits = reader.search_passages(self.encoder.encode_text([name])[0], NEAREST)
        passages = reader.passages([hit.key for hit in hits])
        texts = [part for one in passages for part in (one.title or one.text, opening(one.text))]
        cosines = self.encoder.similarity([name], texts).reshape(-1, 2).max(axis=1) if texts else ()
        best = [
            (max(hit.score, float(cosine)), one)
            for hit, cosine, one in zip(hits, cosines, passages, strict=True)
        ]
        best = sorted((pair for pair in best if pair[0] > self.least), key=lambda p: (-p[0], p[1].passage_id))
        return [FactPassage(one.passage_id, one.title, one.text, name, "") for _, one in best[:TRIED]]


@contextlib.contextmanager
def open_builder(
    out: Path,
    settings: Settings,
    wikihow: Path | None,
    budget: CallBudget,
    say: ProgressCallback = lambda _: None,
) -> Iterator[Builder]:
    """A builder over the folder `out`; replies and the index of `wikihow` are kept in `work/` below it.

    Raises `UsageError` where the replies there are another model's, and what opening a model raises.
    """
    numbers = BuildSettings()
    encoder = CachedEncoder(default_encoder(settings))
    reasoner = open_reasoner(settings, None)
    with (
        MediaReader(settings.video.decoder, settings.video.stall_seconds) as media,
        StoredReplies(out / WORK / REPLIES, reasoner, BUILD_ROLES, budget) as replies,
    ):

        def read_frames(path: str, times: NDArray[np.float64]) -> Frames:
            return media.frames_at(path, times.tolist(), short_side=settings.reasoner.image_short_side)

        def length_of(path: Path) -> float | None:
            with contextlib.suppress(FileProblem):
                return media.probe(os.fspath(path)).duration
            return None

        near: Near = lambda _: ()  # noqa: E731 (one of two)
        if wikihow is not None:
            folder = out / WORK / "wikihow"
            near = WikiHow.open(wikihow, folder, settings, encoder, numbers.passage_similarity, say).near
        model = settings.reasoner.model or settings.reasoner.kind
        yield Builder(out, replies, model, read_frames, length_of, near, encoder, numbers, say)
