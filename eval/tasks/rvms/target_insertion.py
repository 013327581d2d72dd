"""The web of `rvms-workbench`, planned before anything is drawn: remembered films, their doubles, and others.

A film has an occasion and a detail, told in its description and remembered in other words; films that
nobody remembers share them, so that no search by them leads to one film alone.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from eval.tasks.browsecomp.workbench.words import DETAILS, OCCASIONS, Told
from eval.workbench.catalogue import Split
from eval.workbench.jobs import Job
from eval.workbench.long_videos import LongVideo
from eval.workbench.seeds import stable_number, stream
from eval.workbench.upload_metadata import UploadMetadata, reupload_metadata, video_metadata
from eval.workbench.video import Render
from eval.workbench.web import (
    Availability,
    Upload,
    WebPlan,
    new_video,
    shown_video,
    video_name,
)

FIRST_NUMBER = 2_000_000
FIRST_DAY, DAYS = datetime.date(2015, 1, 5), 3400
CLOSED: tuple[Availability, ...] = ("dead", "private", "region-blocked", "age-gated")
LISTED = 3
"""Things and scenes that a description names."""


@dataclass(frozen=True, slots=True)
class RvmsShape:
    """How large a benchmark is; the same shape, the same bytes."""

    seed: int
    split: Split
    minutes: tuple[float, ...]
    """One remembered film of so many minutes each."""
    moments: int = 3
    """Asked for of each film."""
    copies: tuple[int, ...] = ()
    """Numbers of the films that come once more, cropped, graded and at another speed."""
    mirrors: tuple[int, ...] = ()
    """Numbers of the films whose very bytes are uploaded again."""
    others: tuple[float, ...] = ()
    """Minutes of the films that nobody remembers."""
    closed: float = 0.1
    """Share of these whose link is dead or closed."""
    noise: int = 30
    short: Render = field(default=Render(360, 10))
    """Of remembered films under 3 minutes."""
    long: Render = field(default=Render(360, 4))
    """Of longer ones. A library keeps two frames a second, so more would only be drawn and thrown away."""
    other: Render = field(default=Render(360, 4))

    @property
    def web(self) -> WebPlan:
        """The rest of the web: noise alone."""
        return WebPlan(self.seed, self.split, 0, noise=self.noise, render=self.other)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A film that is asked for."""

    number: int
    upload: Upload
    video: LongVideo
    theme: str
    """Its occasion and detail, in other words than its description's."""
    doubles: tuple[Upload, ...]
    """Mirrors and changed copies."""

    def speed_of(self, upload: Upload) -> float:
        return shown_video(upload.video)[1]


def plan_uploads(shape: RvmsShape) -> tuple[tuple[Remembered, ...], tuple[Upload, ...]]:
    """The remembered films, and all other uploads. The same shape, the same plan."""
    rng = stream("rvms planting", shape.seed, shape.split)
    stories = [(occasion, detail) for occasion in OCCASIONS for detail in DETAILS]
    rng.shuffle(stories)
    days = rng.sample(range(DAYS), len(shape.minutes) + len(shape.others))
    known = [
        _remembered(rng, shape, number, minutes, stories[number % len(stories)], days[number])
        for number, minutes in enumerate(shape.minutes)
    ]
    # Of the others each shares the occasion of a remembered film, or its detail, never both.
    shared = [
        ((occasion, rng.choice(DETAILS)) if rng.random() < 0.5 else (rng.choice(OCCASIONS), detail))
        for occasion, detail in (stories[at % len(known)] for at in range(len(shape.others)))
    ]
    return tuple(known), tuple(_others(rng, shape, shared, days[len(known) :]))


def _remembered(
    rng: random.Random, shape: RvmsShape, number: int, minutes: float, story: tuple[Told, Told], day: int
) -> Remembered:
    render = shape.short if minutes < 3 else shape.long
    upload = _upload(rng, shape, "rvms", number, minutes, render, story, day)
    doubles = []
    if number in shape.mirrors:
        doubles.append(_again(rng, shape, "mirror", number, upload, upload.video))
    if number in shape.copies:
        name = f"{stable_number('rvms copy', shape.seed, shape.split, number):016x}"[:12]
        video = upload.video
        copy = Job("copy", f"{name}.mp4", number, video.minutes, video.plan, video)
        doubles.append(_again(rng, shape, "copy", number, upload, copy))
    occasion, detail = story
    return Remembered(
        number, upload, upload.video.video(), f"{occasion.other}, {detail.other}", tuple(doubles)
    )


def _others(
    rng: random.Random, shape: RvmsShape, stories: Sequence[tuple[Told, Told]], days: Sequence[int]
) -> Iterator[Upload]:
    closed = set(rng.sample(range(len(stories)), round(shape.closed * len(stories))))
    for at, (minutes, story, day) in enumerate(zip(shape.others, stories, days, strict=True)):
        upload = _upload(rng, shape, "rvms other", 1000 + at, minutes, shape.other, story, day)
        yield replace(upload, availability=rng.choice(CLOSED)) if at in closed else upload


def _upload(
    rng: random.Random,
    shape: RvmsShape,
    kind: str,
    number: int,
    minutes: float,
    render: Render,
    story: tuple[Told, Told],
    day: int,
) -> Upload:
    plan = replace(shape.web, render=render)
    job = new_video(plan, FIRST_NUMBER + number, minutes)
    video = job.video()
    return Upload(
        id=video_name(shape.seed, shape.split, kind, number),
        metadata=_words(rng, video, story),
        upload_date=FIRST_DAY + datetime.timedelta(day),
        video=job,
        lines=video.lines if rng.random() < 0.7 else (),
    )


def _words(rng: random.Random, video: LongVideo, story: tuple[Told, Told]) -> UploadMetadata:
    """As its maker tells of it: the occasion, some of the scenes, some of the things; true and incomplete."""
    words = video_metadata(rng, video)
    jobs = list(dict.fromkeys(part.heading.lower() for part in video.parts))
    things = list(dict.fromkeys(event.patient for part in video.parts for event in part.story.events))
    named = rng.sample(things, min(LISTED, len(things)))
    shown = ", then ".join(jobs[:LISTED])
    occasion, detail = story
    why = f"{occasion.plain}, {detail.plain}."
    told = f"{why} In this one: {shown}. With {', '.join(named)}. {words.description}"
    return replace(words, description=told.strip())


def _again(
    rng: random.Random, shape: RvmsShape, kind: str, number: int, upload: Upload, video: Job
) -> Upload:
    return Upload(
        id=video_name(shape.seed, shape.split, f"rvms {kind}", number),
        metadata=reupload_metadata(rng, upload.metadata),
        upload_date=upload.upload_date + datetime.timedelta(rng.randint(3, 400)),
        video=video,
        alias_of=upload.id,
    )
