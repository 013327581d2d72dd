"""From annotated videos and raw WikiHow to a benchmark folder, by a language model (EgoFact, appendix C)."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.records import Frames
from corpora.video.reader import MediaReader
from eval.task import SYNTHETIC_TEXT, ProgressCallback
from eval.tasks.egofact.construction.annotated import AnnotatedVideo
from eval.tasks.egofact.construction.options import Drafter, WrittenPassages
from eval.tasks.egofact.construction.plan import Plan, choose_representatives, plan_over
from eval.tasks.egofact.construction.records import (
    SCREENSHOT_SECONDS,
    BuildSettings,
    EventStructure,
    FactPassage,
    Segment,
    Shape,
)
from eval.tasks.egofact.construction.roles import (
    BUILD_ROLES,
    DESCRIBE_SCREENSHOT,
    EVENT_STRUCTURE,
    NARRATE_TIMELINE,
    TIMELINE_KEYWORDS,
    Screenshot,
    Timeline,
)
from eval.tasks.egofact.construction.segments import CachedEncoder, cut_segments
from eval.tasks.egofact.dataset import write_folder
from eval.tasks.egofact.records import ClipRow, PassageRow
from eval.tasks.egofact.replies import StoredReplies
from localization.sampling import midpoints
from rag.answering import ReadFrames
from rag.errors import FileProblem, ReplyInvalid, UsageError
from rag.library import Library
from rag.reasoners import open_reasoner
from rag.reasoners.prompts import prompt_versions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.settings import Settings

PREFIXES = ("the video that shows ", "the video that ", "a video that shows ")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes // 60):02d}:{int(minutes % 60):02d}:{rest:05.2f}"


def described(concise: str) -> str:
    """The concise narration as it follows "a video that shows"."""
    text = " ".join(concise.split()).rstrip(". ")
    for prefix in PREFIXES:
        if text.lower().startswith(prefix):
            return text[len(prefix) :]
    return text


def structured(event: EventStructure, replies: StoredReplies) -> EventStructure | None:
    """An annotated line as an event structure (C.2.1); None where it names no action, or the reply cannot be
    read."""
    if event.action:
        return event
    text = event.rewritten
    with contextlib.suppress(ReplyInvalid):
        reply = replies.run(EVENT_STRUCTURE, lambda: text, text)
        if reply.rewritten.strip() and reply.action.strip():
            return EventStructure(**reply.model_dump(), start=event.start, end=event.end)
    return None


WORK = "work"
"""Below the folder of a benchmark: what a build keeps to continue from."""
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
    say: ProgressCallback = lambda *_: None

    def build(self, name: str, videos: Sequence[AnnotatedVideo], shape: Shape, seed: int) -> Plan:
        """Write the benchmark `name`. What the model said before is taken from `replies`.

        Raises `ReasonerError` where the model fails, and `UsageError` where nothing can be asked of the
        videos.
        """
        there = [video for video in videos if video.file.is_file()]
        if not there:
            raise UsageError(f"none of {len(videos)} annotated videos is there; {videos[0].file} is missing")
        raw = [segment for video in there for segment in self._cut(video)]
        narrated = self._narrated(raw)
        if not narrated:
            raise UsageError(f"none of {len(raw)} clips could be narrated by {self.model}")
        chosen = choose_representatives(narrated, self.encoder, shape.clips, self.settings, seed)
        parsed = ([structured(event, self.replies) for event in clip.events] for clip in chosen)
        kept = [
            replace(clip, events=tuple(filter(None, events)))
            for clip, events in zip(chosen, parsed, strict=True)
        ]
        kept = [clip for clip in kept if len(clip.events) >= self.settings.min_events]
        passages = WrittenPassages(self.near, self.replies)
        drafter = Drafter(passages, self.settings, seed, self.replies)
        before = {
            "annotated videos": {"clips": len(videos)},
            "videos that are there": {"clips": len(there)},
            "segments": {"clips": len(raw)},
            "narrated": {"clips": len(narrated)},
            "representatives with two annotated events": {"clips": len(chosen)},
        }
        plan = plan_over(kept, drafter, self.encoder, shape, before)
        self._write(plan, passages, shape, {"name": name, "split": "test", "seed": seed})
        return plan

    def _write(
        self, plan: Plan, passages: WrittenPassages, shape: Shape, named: Mapping[str, str | int]
    ) -> None:
        """The folder of a plan. Raises `UsageError` for one without queries."""
        if not plan.queries:
            raise UsageError(
                "no question can be asked of this corpus; it needs more clips with several events"
            )
        held = [passages.found[each] for each in sorted(passages.found)]
        counts = {"clips": len(plan.segments), "passages": len(held), "queries": len(plan.queries)}
        manifest = {
            **named,
            "shape": asdict(shape),
            "counts": counts,
            "steps": plan.counts,
            "shortfalls": list(plan.shortfalls),
            "settings": asdict(self.settings),
            "encoder": {"name": self.encoder.name, "weights": self.encoder.weights},
            "reader": self.model,
            "model": self.model,
            "prompts": prompt_versions(BUILD_ROLES),
            "passages": passages.counts,
            "clustering": "k-means on unit vectors, seeded k-means++, medoid of each cluster",
        }
        clips = [ClipRow(one.clip_id, one.path, one.start, one.end, one.description) for one in plan.segments]
        rows = [PassageRow(one.passage_id, one.title, one.text, one.object, one.activity) for one in held]
        write_folder(self.out, clips, rows, plan.queries, manifest)

    def _cut(self, video: AnnotatedVideo) -> list[Segment]:
        """The clips of a video that hold an event; their paths start at the folder of the benchmark."""
        length = video.duration if video.duration is not None else self.length_of(video.file)
        if length is None:
            return []
        path, seconds = os.path.relpath(video.file, self.out), self.settings.segment_seconds
        events = [event for event in video.events if event.end <= length]
        cut = cut_segments(video.video_id, path, events, seconds, length, video.scenarios)
        return [clip for clip in cut if clip.events]

    def _narrated(self, clips: Sequence[Segment]) -> list[Segment]:
        """Those of which a narration could be made."""
        found = []
        for at, clip in enumerate(clips):
            self.say(at, len(clips), "clips narrated")
            try:
                found.append(self._narrate(clip))
            except (ReplyInvalid, FileProblem):
                continue
        return found

    def _narrate(self, clip: Segment) -> Segment:
        """The clip with its description, narration and keywords (C.1)."""
        timeline = self._timeline(clip)
        key = (clip.clip_id, timeline.text)
        narration = self.replies.run(NARRATE_TIMELINE, lambda: timeline, *key)
        words = self.replies.run(TIMELINE_KEYWORDS, lambda: timeline, *key).keywords
        return replace(
            clip, description=described(narration.concise), narration=narration.detailed, keywords=words
        )

    def _timeline(self, clip: Segment) -> Timeline:
        """Screenshots and annotated lines in time order (C.1)."""
        times = midpoints(clip.start, clip.end, max(1, round((clip.end - clip.start) / SCREENSHOT_SECONDS)))
        decoded = cache(lambda: self.read_frames(os.fspath(self.out / clip.path), times))

        def screenshot(at: int) -> Screenshot:
            frames = decoded()
            one = replace(frames, times=frames.times[at : at + 1], images=frames.images[at : at + 1])
            return Screenshot(one, clip.scenarios)

        entries = [(event.start, "Sound", event.rewritten) for event in clip.events]
        for at, time in enumerate(times.tolist()):
            key = (clip.clip_id, round(time, 3))
            text = self.replies.run(DESCRIBE_SCREENSHOT, partial(screenshot, at), *key).description
            entries.append((time, "Scene", text))
        lines = (
            f"[{_clock(time)}] ({kind}) {' '.join(text.split())}" for time, kind, text in sorted(entries)
        )
        return Timeline("\n".join(lines), clip.scenarios)


def opening(text: str) -> str:
    """The first sentence, which says what a passage is about."""
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


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
    out: Path, settings: Settings, wikihow: Path | None, say: ProgressCallback = lambda *_: None
) -> Iterator[Builder]:
    """A builder over the folder `out`; replies and the index of `wikihow` are kept in `work/` below it.

    Raises `UsageError` where the replies there are another model's, and what opening a model raises.
    """
    from indexers.registry import open_query_encoder

    numbers, named = BuildSettings(), settings.encoder
    if "text" not in named.model_fields_set:  # the thresholds of construction are of its cosines
        named = named.model_copy(update={"text": SYNTHETIC_TEXT})
    encoder = CachedEncoder(open_query_encoder(named.text, named))
    reasoner = open_reasoner(settings, None)
    with (
        MediaReader(settings.video.decoder, settings.video.stall_seconds) as media,
        StoredReplies(out / WORK / REPLIES, reasoner, BUILD_ROLES) as replies,
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
