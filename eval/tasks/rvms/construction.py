"""`rvms-workbench` on disk: a synthetic web with target videos, and queries by memory from their plans.

web/             as `eval.workbench.web` writes it
samples.jsonl    every moment under all nine cue sets
manifest.json    arguments and hashes; written last

A target video has an occasion and a detail, stated in its description and remembered in other words. Other
videos share one of them, so that no search for a single fact leads to one video alone.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from eval.tasks.published import read_records, write_manifest, write_records
from eval.tasks.rvms.dataset import RvmsSample
from eval.tasks.synthetic_webs import DETAILS, OCCASIONS, render_web
from eval.workbench.catalogue import Split
from eval.workbench.long_videos import LongVideo
from eval.workbench.recording import LATER
from eval.workbench.seeds import stream
from eval.workbench.video import Render
from eval.workbench.web import (
    Availability,
    Upload,
    UploadMetadata,
    WebPlan,
    changed_copy,
    new_video,
    reuploaded,
    video_metadata,
    video_name,
)
from rag.web.catalogue import Catalogue

if TYPE_CHECKING:
    from rag.indexing.report import Progress

SAMPLES = "samples.jsonl"
QUERIES = Path(__file__).with_name("workbench")
FIRST_NUMBER = 2_000_000
FIRST_DAY, DAYS = datetime.date(2015, 1, 5), 3400
UNAVAILABLE: tuple[Availability, ...] = ("dead", "private", "region-blocked", "age-gated")
LISTED = 3
"""Objects and scenes that a description names."""
SHORT = (0.5, 0.75, 0.5, 1.0)
Story = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RvmsShape:
    """Size of a benchmark; the same shape, the same bytes."""

    seed: int
    split: Split
    minutes: tuple[float, ...]
    """Of the target videos."""
    copies: tuple[int, ...] = ()
    """Numbers of the targets that are uploaded again cropped, graded and at another speed."""
    mirrors: tuple[int, ...] = ()
    """Numbers of the targets that are uploaded again byte for byte."""
    others: tuple[float, ...] = ()
    """Minutes of the videos that no query asks for."""
    closed: float = 0.1
    """Share of these that are unavailable."""
    noise: int = 30
    short: Render = field(default=Render(360, 10))
    """Of target videos under 3 minutes."""
    long: Render = field(default=Render(360, 4))
    """Of longer ones; the library samples two frames a second."""
    other: Render = field(default=Render(360, 4))
    samples: str = field(default="samples.jsonl", metadata=LATER)
    """File of the queries: every moment under all nine cue sets."""

    @property
    def web(self) -> WebPlan:
        """The rest of the web: noise alone."""
        return WebPlan(self.seed, self.split, 0, noise=self.noise, render=self.other)


FULL = RvmsShape(
    seed=23,
    split="test",
    minutes=(1.0, 1.75, 2.25, 2.75, 4.0, 5.0, 7.0, 9.0, 11.0, 14.0, 18.0, 24.0, 31.0, 38.0, 47.0, 60.0),
    copies=(1, 3, 5, 8, 10),
    mirrors=(2, 6, 9, 13),
    others=(*SHORT * 6, 3.5, 5.0, 7.0),
)
MINI = RvmsShape(
    seed=5,
    split="dev",
    minutes=(0.75, 1.5),
    copies=(0,),
    mirrors=(1,),
    others=(0.5,),
    closed=0.0,
    noise=2,
    short=Render(360, 2),
    other=Render(360, 2),
    samples="mini.jsonl",
)


@dataclass(frozen=True, slots=True)
class TargetVideo:
    """A video that queries ask for, with its uploads."""

    number: int
    upload: Upload
    video: LongVideo
    duplicates: tuple[Upload, ...]
    """Mirrors and changed copies."""


def build_rvms(folder: Path, shape: RvmsShape, *, progress: Progress | None = None) -> None:
    """Render the web and write the queries; resumed by the same call. Raises `UsageError`, `RagError`.

    Commit 34c03511 has what the queries were drafted with.
    """
    from eval.workbench.recording import recorded_fields

    targets, others = plan_uploads(shape)
    uploads = [target.upload for target in targets]
    uploads += [upload for target in targets for upload in target.duplicates]
    catalogue = render_web(folder, shape.web, [*uploads, *others], progress)
    drafted = read_records(QUERIES / shape.samples, RvmsSample)
    samples = [_with_contents(sample, catalogue) for sample in drafted]
    write_records(folder / SAMPLES, samples)
    write_manifest(
        folder,
        (SAMPLES, "web/web.jsonl", "web/pages.jsonl"),
        benchmark="rvms-workbench",
        shape=recorded_fields(shape),
        films=len(targets),
        samples=len(samples),
    )


def plan_uploads(shape: RvmsShape) -> tuple[tuple[TargetVideo, ...], tuple[Upload, ...]]:
    """The target videos, and all other uploads. The same shape, the same plan."""
    rng = stream("rvms planting", shape.seed, shape.split)
    stories = [(occasion, detail) for occasion in OCCASIONS for detail in DETAILS]
    rng.shuffle(stories)
    days = rng.sample(range(DAYS), len(shape.minutes) + len(shape.others))
    targets = [
        _target(rng, shape, number, minutes, stories[number % len(stories)], days[number])
        for number, minutes in enumerate(shape.minutes)
    ]
    # Each of the others shares the occasion of a target or its detail, never both.
    shared = [
        ((occasion, rng.choice(DETAILS)) if rng.random() < 0.5 else (rng.choice(OCCASIONS), detail))
        for occasion, detail in (stories[at % len(targets)] for at in range(len(shape.others)))
    ]
    return tuple(targets), tuple(_others(rng, shape, shared, days[len(targets) :]))


def _target(
    rng: random.Random, shape: RvmsShape, number: int, minutes: float, story: Story, day: int
) -> TargetVideo:
    render = shape.short if minutes < 3 else shape.long
    upload = _upload(rng, shape, ("rvms", number), minutes, render, story, day)
    duplicates = []
    if number in shape.mirrors:
        duplicates.append(reuploaded(rng, shape.web, upload, "rvms mirror", number, upload.video))
    if number in shape.copies:
        copy = changed_copy(shape.web, upload.video, "rvms copy", number)
        duplicates.append(reuploaded(rng, shape.web, upload, "rvms copy", number, copy))
    return TargetVideo(number, upload, upload.video.video(), tuple(duplicates))


def _others(
    rng: random.Random, shape: RvmsShape, stories: Sequence[Story], days: Sequence[int]
) -> Iterator[Upload]:
    closed = set(rng.sample(range(len(stories)), round(shape.closed * len(stories))))
    for at, (minutes, story, day) in enumerate(zip(shape.others, stories, days, strict=True)):
        upload = _upload(rng, shape, ("rvms other", 1000 + at), minutes, shape.other, story, day)
        yield replace(upload, availability=rng.choice(UNAVAILABLE)) if at in closed else upload


def _upload(
    rng: random.Random,
    shape: RvmsShape,
    name: tuple[str, int],
    minutes: float,
    render: Render,
    story: Story,
    day: int,
) -> Upload:
    job = new_video(replace(shape.web, render=render), FIRST_NUMBER + name[1], minutes)
    video = job.video()
    return Upload(
        id=video_name(shape.seed, shape.split, *name),
        metadata=_metadata(rng, video, story),
        upload_date=FIRST_DAY + datetime.timedelta(day),
        video=job,
        lines=video.lines if rng.random() < 0.7 else (),
    )


def _metadata(rng: random.Random, video: LongVideo, story: Story) -> UploadMetadata:
    """The uploader's own: the occasion, some of the scenes, some of the objects; true and incomplete."""
    words = video_metadata(rng, video)
    jobs = list(dict.fromkeys(part.heading.lower() for part in video.parts))
    objects = list(dict.fromkeys(event.patient for part in video.parts for event in part.story.events))
    listed = ", ".join(rng.sample(objects, min(LISTED, len(objects))))
    shown = ", then ".join(jobs[:LISTED])
    why = f"{story[0]}, {story[1]}."
    return replace(
        words, description=f"{why} In this one: {shown}. With {listed}. {words.description}".strip()
    )


def _with_contents(sample: RvmsSample, catalogue: Catalogue) -> RvmsSample:
    by_url = {entry.url: entry for entry in catalogue.videos}
    uploads = tuple(replace(one, video_id=by_url[one.url].content_id) for one in sample.uploads)
    return replace(sample, uploads=uploads)
