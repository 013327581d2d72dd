"""`shotfinder-workbench` on disk: a web of short videos in families, and the shots that are searched in it.

web/             as `eval.workbench.web` writes it
queries.jsonl    the queries, with their gold
manifest.json    arguments, counts and hashes; written last

A family of the colour, style, sound or resolution task is two videos of the same stories; each is asked for
the same shots, so that for every query there is a shot that fits the description as well and not the
constraint. A temporal video shows one story twice, and only the shots before and after differ.
"""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from eval.tasks.published import read_records, write_manifest, write_records
from eval.tasks.shotfinder.dataset import Place, ShotQuery, Task
from eval.tasks.synthetic_webs import WORDING, render_web
from eval.workbench.catalogue import Split
from eval.workbench.jobs import CorpusPlan
from eval.workbench.pen import Style
from eval.workbench.recording import LATER
from eval.workbench.seeds import opaque_name, stable_number, stream
from eval.workbench.shot_videos import AudioKind, ShotJob, shot_job, shot_story
from eval.workbench.story import ClipStory
from eval.workbench.video import Render
from eval.workbench.web import CHANNELS, WHERE, Upload, UploadMetadata, WebPlan, video_name
from rag.web.catalogue import Catalogue

if TYPE_CHECKING:
    from rag.indexing.report import Progress

QUERIES = "queries.jsonl"
DRAFTED = Path(__file__).with_name("workbench")
FIRST_NUMBER = 2_000_000
FIRST_DAY, DAYS = datetime.date(2016, 2, 1), 3000
PAIRS: Mapping[Task, tuple[tuple[str, str], ...]] = {
    "color": (("warm", "cold"), ("cold", "neutral"), ("neutral", "warm")),
    "style": (
        ("live", "2d"),
        ("3d", "graphics"),
        ("live", "3d"),
        ("2d", "graphics"),
        ("live", "graphics"),
        ("2d", "3d"),
    ),
    "audio": (("speech", "music"), ("speech", "ambient")),
    "resolution": (("720p", "1080p"),),
}
STYLES: Mapping[str, Style] = {"live": "live", "2d": "flat", "3d": "shaded", "graphics": "graphics"}
SOUNDS: Mapping[str, AudioKind] = {"speech": "speech", "music": "music", "ambient": "ambient"}
SIDES = ("before", "after", "both")
WORDS = WORDING["shots"]


@dataclass(frozen=True, slots=True)
class ShotShape:
    """How many families of each kind, and how they are rendered; the same shape, the same bytes."""

    seed: int = 41
    split: Split = "test"
    families: Mapping[str, int] = field(
        default_factory=lambda: {"color": 12, "style": 12, "audio": 12, "resolution": 12}
    )
    sides: tuple[int, int, int] = (9, 9, 6)
    """Temporal videos asked for by what comes before, after, and both."""
    shots: int = 3
    """Of a video that is no temporal one; the first `asked` are asked for."""
    asked: int = 2
    shot_seconds: float = 4.0
    render: Render = field(default=Render(height=360, fps=2))
    """As many frames a second as a library samples."""
    noise: int = 60
    queries: str = field(default="queries", metadata=LATER)
    """Name of the file of queries, in which `Place.video_id` is the name of a video's file."""


FULL = ShotShape()
MINI = ShotShape(
    families={"color": 3, "style": 2, "audio": 2, "resolution": 1},
    sides=(1, 1, 1),
    shots=2,
    asked=1,
    noise=8,
    queries="mini",
)


@dataclass(frozen=True, slots=True)
class Member:
    """One video of a family."""

    value: str
    """What it has and its twin has not; empty for a temporal video."""
    job: ShotJob


@dataclass(frozen=True, slots=True)
class Family:
    """Videos that differ in one property, and the shots that are asked for."""

    name: str
    task: Task
    value: str
    """Of a temporal video: the side that is asked by."""
    members: tuple[Member, ...]
    asked: tuple[int, ...]
    """Indices of the shots that are asked for."""


def build_shotfinder(folder: Path, shape: ShotShape, *, progress: Progress | None = None) -> None:
    """Render the web and write the queries; resumed by the same call. Raises `UsageError` or `RagError`.

    Commit 34c03511 has what the queries were drafted with.
    """
    from eval.workbench.recording import recorded_fields

    uploads = [upload for family in plan_families(shape) for _, upload in uploads_of(shape, family)]
    plan = WebPlan(seed=shape.seed, split=shape.split, videos=0, noise=shape.noise, render=shape.render)
    catalogue = render_web(folder, plan, uploads, progress)
    drafted = read_records(DRAFTED / f"{shape.queries}.jsonl", ShotQuery)
    queries = [_with_contents(query, catalogue) for query in drafted]
    write_records(folder / QUERIES, queries)
    write_manifest(
        folder,
        (QUERIES, "web/web.jsonl"),
        benchmark="shotfinder-workbench",
        shape=recorded_fields(shape),
        queries=dict(Counter(query.task for query in queries)),
        values=dict(sorted(Counter(f"{query.task} {query.value}" for query in queries).items())),
    )


def plan_families(shape: ShotShape) -> tuple[Family, ...]:
    """The same shape, the same families. No two shots that are asked for show one action with one object."""
    picker = _Picker(shape)
    families: list[Family] = []
    for task, pairs in PAIRS.items():
        for number, values in zip(range(shape.families.get(task, 0)), cycle(pairs), strict=False):
            name = f"{task}-{number:02d}"
            seeds = picker.seeds(name, shape.shots)
            members = tuple(
                Member(value, _job(shape, f"{name}-{value}", seeds, task, value)) for value in values
            )
            families.append(Family(name, task, "", members, tuple(range(shape.asked))))
    for number, side in enumerate(
        side for side, count in zip(SIDES, shape.sides, strict=True) for _ in range(count)
    ):
        name = f"temporal-{number:02d}"
        a, x, b, c, d = picker.seeds(name, 5)
        member = Member("", _job(shape, name, (a, x, b, c, x, d), "temporal", ""))
        families.append(Family(name, "temporal", side, (member,), (1, 4)))
    return tuple(families)


def stories_of(shape: ShotShape, job: ShotJob) -> tuple[ClipStory, ...]:
    """What happens in each shot of a video."""
    plan = job.plan
    return tuple(
        shot_story(seed, plan.split, shape.shot_seconds, plan.style, job.light) for seed in job.seeds
    )


class _Picker:
    """Stories with one event each that no other video has, in changing scenes."""

    def __init__(self, shape: ShotShape) -> None:
        self._shape = shape
        self._used: set[tuple[str, str]] = set()

    def seeds(self, name: str, count: int) -> tuple[int, ...]:
        found: list[int] = []
        kinds: set[str] = set()
        before = ""
        for story_seed, story in self._candidates(name):
            (event,) = story.events
            action = (event.action_id, event.kind_id)
            if story.scene == before or action in self._used or event.kind_id in kinds:
                continue
            before = story.scene
            self._used.add(action)
            kinds.add(event.kind_id)
            found.append(story_seed)
            if len(found) == count:
                break
        return tuple(found)

    def _candidates(self, name: str) -> Iterator[tuple[int, ClipStory]]:
        shape, attempt = self._shape, 0
        while True:
            seed = stable_number("shot story", shape.seed, shape.split, name, attempt)
            story = shot_story(seed, shape.split, shape.shot_seconds)
            attempt += 1
            if len(story.events) == 1:
                yield seed, story


def _job(shape: ShotShape, name: str, seeds: tuple[int, ...], task: Task, value: str) -> ShotJob:
    number = FIRST_NUMBER + stable_number("shot film number", name) % 1_000_000
    height = int(value.removesuffix("p")) if task == "resolution" else shape.render.height
    render = Render(height, shape.render.fps, shape.render.crf)
    style = STYLES[value] if task == "style" else "live"
    file = opaque_name("shot film name", shape.seed, shape.split, name)
    return shot_job(
        f"{file}.mp4",
        number,
        CorpusPlan(shape.seed, shape.split, 0, render, style),
        seeds,
        shape.shot_seconds,
        light=value if task == "color" else "",
        audio=SOUNDS[value] if task == "audio" else "ambient",
    )


def _rng(shape: ShotShape, *parts: object) -> random.Random:
    """A generator of one purpose."""
    return stream("shotfinder", shape.seed, shape.split, *parts)


def uploads_of(shape: ShotShape, family: Family) -> tuple[tuple[Member, Upload], ...]:
    """One for each video; the videos of a family are uploaded by different people under different titles,
    which never name the tone, style, sound or size."""
    return tuple((member, _upload(shape, family, member, at)) for at, member in enumerate(family.members))


def _upload(shape: ShotShape, family: Family, member: Member, number: int) -> Upload:
    rng = _rng(shape, "upload", family.name, number)
    return Upload(
        id=video_name(shape.seed, shape.split, "shotfinder", family.name, number),
        metadata=_metadata(rng, shape, family, member),
        upload_date=FIRST_DAY + datetime.timedelta(rng.randrange(DAYS)),
        video=member.job,
    )


def _metadata(rng: random.Random, shape: ShotShape, family: Family, member: Member) -> UploadMetadata:
    """True, and far from complete: a title names one of the shots that are asked for, or none."""
    stories = stories_of(shape, member.job)
    shown = [stories[at] for at in dict.fromkeys(family.asked)]
    rng.shuffle(shown)
    first, second = shown[0].events[0], shown[-1].events[0]
    place = WHERE.get(shown[0].scene, shown[0].scene)
    channel = rng.choice([one for one in CHANNELS if not one.scenes or shown[0].scene in one.scenes])
    title = rng.choice([one for one in channel.titles if "talking" not in one]).format(
        thing=first.patient,
        other=second.patient,
        doing=f"{first.action} the {first.patient}",
        place=place,
        number=rng.randint(2, 98),
    )
    description = rng.choice((f"With the {first.patient} and the {second.patient}.", *WORDS["descriptions"]))
    tags = tuple(dict.fromkeys((place, first.patient, *rng.sample(WORDS["tags"], 2))))
    return UploadMetadata(title[0].upper() + title[1:], description, channel.name, tags)


def _with_contents(query: ShotQuery, catalogue: Catalogue) -> ShotQuery:
    """Content ids in place of file names."""
    ids = {entry.url: entry.content_id for entry in catalogue.videos}

    def held(place: Place) -> Place:
        return replace(place, video_id=ids[place.urls[0]])

    return replace(query, gold=held(query.gold), twins=tuple(held(twin) for twin in query.twins))
