"""One video of a corpus as a job: what it is, how it is made, and what is written down about it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from eval.workbench.catalogue import Split
from eval.workbench.families import Families, plan_member
from eval.workbench.long_videos import (
    Card,
    LongVideo,
    long_frames,
    long_metadata,
    long_sound,
    plan_long_video,
)
from eval.workbench.near_duplicates import Change, changed_frames, changed_sound
from eval.workbench.pen import Style
from eval.workbench.seeds import opaque_name, stable_number
from eval.workbench.shot_videos import SHOT_SECONDS, AudioKind, shot_sound, shot_video
from eval.workbench.sound import story_sound, to_sixteen_bits
from eval.workbench.story import CLIP_SECONDS, ClipStory, Event, plan_clip
from eval.workbench.video import (
    DEFAULT_RENDER,
    NO_METADATA,
    ContainerMetadata,
    Render,
    clip_frames,
    write_video,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["clip", "long", "web", "copy"]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """The arguments that say what a corpus holds, to the last bit."""

    seed: int = 0
    split: Split = "test"
    clips: int = 12
    render: Render = DEFAULT_RENDER
    style: Style = "live"
    long_minutes: tuple[float, ...] = ()
    """One video of so many minutes each."""
    families: Families | None = None
    """Clips in families, in place of clips that each have a stage of their own."""


@dataclass(frozen=True, slots=True)
class Job:
    """One video; `number` counts within its kind.

    `web` is a long video as the Workbench web has it: nothing in the file but its words says what it is.
    With `seeds` it is a video of shots; equal seeds are the same shot, to the pixel but for what follows.
    """

    kind: Kind
    name: str
    number: int
    minutes: float
    plan: CorpusPlan
    original: Job | None = None
    """The video that it is a copy of."""
    change: Change | None = None
    """What was done to a copy; None for an original."""
    cards: tuple[Card, ...] = ()
    """On-screen text of a `web` video beside its own."""
    seeds: tuple[int, ...] = ()
    light: str = ""
    """The light of all shots; empty: each has its own."""
    audio: AudioKind = "ambient"
    """The kind of sound of all shots."""

    @property
    def speed(self) -> float:
        """Speed against the original; above 1 for a faster copy, whose times are divided by it."""
        return 1.0 if self.change is None else self.change.speed

    @property
    def seconds(self) -> float:
        """Duration of the video, or of the one that it is a copy of."""
        if self.seeds:
            return len(self.seeds) * SHOT_SECONDS
        if self.minutes:
            return self.minutes * 60
        return CLIP_SECONDS if self.plan.families is None else self.clip().duration

    @property
    def frames(self) -> int:
        """How many it has."""
        count = round(self.seconds * self.plan.render.fps)
        return count if self.change is None else int((count - 1) / self.speed) + 1

    def clip(self) -> ClipStory:
        """The story of a clip."""
        plan = self.plan
        if plan.families is not None:
            return plan_member(plan.seed, plan.split, self.number, plan.families, style=plan.style)
        return plan_clip(stable_number(plan.seed, plan.split, self.number), plan.split, style=plan.style)

    def video(self) -> LongVideo:
        """The plan of a long or web video."""
        plan = self.plan
        if self.seeds:
            return shot_video(self.seeds, plan.split, plan.style, self.light)
        seed = stable_number(plan.seed, plan.split, self.kind, self.number)
        video = plan_long_video(seed, plan.split, self.minutes, style=plan.style)
        return replace(video, cards=(*video.cards, *self.cards))


def video_jobs(plan: CorpusPlan) -> list[Job]:
    """The videos of a corpus."""
    videos = [Job("clip", f"{_opaque(plan, 'clip', i)}.mp4", i, 0.0, plan) for i in range(plan.clips)]
    for i, minutes in enumerate(plan.long_minutes):
        job = Job("long", "", i, minutes, plan)
        videos.append(replace(job, name=_titled(job.video().title, _opaque(plan, "long", i))))
    return videos


class StoppedError(Exception):
    """Nobody wants the video any more."""


def render_job(video_folder: Path, job: Job, stopped: Callable[[], bool] = lambda: False) -> None:
    """Write the video into the folder `videos` under its name, whole or not at all.

    Raises `StoppedError` at the next frame once `stopped()` is true.
    """
    path = video_folder / job.name
    # A process whose parent was killed may still be writing the same video.
    unfinished = path.with_name(f".{path.stem}.{os.getpid()}.mp4")
    frames, sound, render, metadata = _material(video_folder, job)
    count = write_video(unfinished, _until(stopped, frames), sound, render, metadata)
    if metadata.title:
        _write_info(path, metadata, count / render.fps)
    unfinished.replace(path)


def truth(job: Job) -> dict[str, Any]:
    """The video's line in events.jsonl: exactly what happens in it, [start, end) in its own seconds."""
    source, speed = job.original or job, job.speed
    line = {"video": job.name, "kind": job.kind, "split": job.plan.split}
    if source.kind == "clip":
        story = source.clip()
        fields = {**_stage(story), "description": story.description, "duration": story.duration / speed}
        return {**line, **fields, "events": [_event(event, 0.0, speed) for event in story.events]}
    video = source.video()
    parts = [
        {"start": part.start / speed, "end": part.end / speed, "heading": part.heading}
        | _stage(part.story)
        | {"description": part.story.description}
        for part in video.parts
    ]
    return {
        **line,
        "title": video.title,
        "description": video.description,
        "tags": video.tags,
        "duration": video.duration / speed,
        "parts": parts,
        "lines": [_spanned(asdict(said), speed) for said in video.lines],
        "cards": [_spanned(asdict(card), speed) for card in video.cards],
        "events": [_event(event, part.start, speed) for part in video.parts for event in part.story.events],
    }


def _material(
    video_folder: Path, job: Job
) -> tuple[Iterable[NDArray[np.uint8]], Iterable[NDArray[np.float32]], Render, ContainerMetadata]:
    render = job.plan.render
    if job.kind == "clip":
        story = job.clip()
        return clip_frames(story, render), [to_sixteen_bits(story_sound(story))], render, NO_METADATA
    if job.original is not None and (change := job.change) is not None:
        source = video_folder / job.original.name
        copied = Render(change.height, render.fps, change.crf)
        frames = changed_frames(source, change, job.frames)
        return frames, changed_sound(source, change), copied, NO_METADATA
    video = job.video()
    sound = shot_sound(video, job.audio) if job.seeds else long_sound(video)
    words = long_metadata(video) if job.kind == "long" else ContainerMetadata(lines=video.lines)
    return long_frames(video, render), sound, render, words


def _stage(story: ClipStory) -> dict[str, Any]:
    shared = {} if story.stage is None else {"stage": story.stage}
    people = {"others": [one.who for one in story.others]} if story.others else {}
    return {
        "seed": story.seed,
        "scene": story.scene,
        "light": story.light,
        "style": story.style,
        "person": story.person,
        "props": [{"prop": prop.prop_id, "color": prop.color} for prop in story.props],
        "clutter": [asdict(thing) for thing in story.clutter],
        **shared,
        **people,
    }


def _event(event: Event, shift: float, speed: float) -> dict[str, Any]:
    fields = asdict(event)
    thing = fields.pop("thing")
    if not event.paraphrase:
        del fields["paraphrase"]
    times = {
        key: round((fields[key] + shift) / speed, 3) for key in ("start", "end", "seen_from", "seen_until")
    }
    return {**fields, **times, **thing}


def _spanned(fields: dict[str, Any], speed: float) -> dict[str, Any]:
    return {**fields, "start": round(fields["start"] / speed, 3), "end": round(fields["end"] / speed, 3)}


def _until(stopped: Callable[[], bool], frames: Iterable[Item]) -> Iterator[Item]:
    for frame in frames:
        if stopped():
            raise StoppedError
        yield frame


def _write_info(path: Path, metadata: ContainerMetadata, seconds: float) -> None:
    info = {
        "title": metadata.title,
        "description": metadata.description,
        "tags": list(metadata.tags),
        "duration": seconds,
        "language": "en",
        "chapters": [
            {"title": chapter.title, "start_time": chapter.start, "end_time": chapter.end}
            for chapter in metadata.chapters
        ],
    }
    text = json.dumps(info, indent=1) + "\n"
    path.with_suffix(".info.json").write_text(text, encoding="utf-8")


def _opaque(plan: CorpusPlan, kind: Kind, number: int) -> str:
    return opaque_name("name", plan.seed, plan.split, kind, number)


def _titled(title: str, opaque: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return f"{slug}-{opaque[:6]}.mp4"
