"""A small web of the synthetic world: channels, uploads with their metadata, and their availability.

Planning renders nothing and takes milliseconds, so a benchmark can plan a web, read what happens in its
videos, write uploads of its own (`Upload`, `new_video`) and have them made with the rest (`make_web`):

web.jsonl, pages.jsonl     as `rag.web` reads them; written last
videos/*.mp4               each video once, however many uploads show it
.workbench/events.jsonl    what happens in each video
.workbench/manifest.json   marks the folder as a Workbench one
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from corpora.identity import content_hash
from eval.workbench.catalogue import Split, place_name, read_data
from eval.workbench.corpus import RECORD, claimed, read_marker, render_missing, write_lines, write_marker
from eval.workbench.jobs import CorpusPlan, Job, truth
from eval.workbench.long_videos import Card, LongVideo
from eval.workbench.passages import world_passages
from eval.workbench.pen import Style
from eval.workbench.recording import recorded_fields
from eval.workbench.seeds import opaque_name, stable_number, stream
from eval.workbench.story import Event
from eval.workbench.video import Line, Render
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.indexing.report import Progress

WHERE = {"living": "living room", "desk": "office"}
HOST = "https://videos.example"
"""A name that can never be a real one (RFC 2606)."""
SITES = ("https://howto.example", "https://handbook.example", "https://allabout.example")
TRANSCRIBED_SHARE = 0.7
NOISE_VIDEOS = 6
"""Noise has many titles over few videos."""


@dataclass(frozen=True, slots=True)
class Channel:
    """Who uploads."""

    name: str
    scenes: tuple[str, ...]
    """What it mostly shows; empty: any."""
    titles: tuple[str, ...]
    """Title templates: `{thing}`, `{doing}`, `{place}`, `{other}`, `{number}`."""


@dataclass(frozen=True, slots=True)
class NoiseChannel:
    """A channel whose videos have nothing to do with the world."""

    channel: str
    titles: tuple[str, ...]
    """Title templates with `{n}`."""
    tags: tuple[str, ...]


_DATA = read_data("channels")
CHANNELS: tuple[Channel, ...] = tuple(
    Channel(name, tuple(row["scenes"]), tuple(_DATA["titles"][row["titles"]]))
    for name, row in _DATA["channels"].items()
)
RELOADERS: tuple[str, ...] = tuple(_DATA["reuploads"]["channels"])
NOISE = TypeAdapter(tuple[NoiseChannel, ...]).validate_python(_DATA["noise"])


@dataclass(frozen=True, slots=True)
class UploadMetadata:
    """What an upload says of itself."""

    title: str
    description: str
    channel: str
    tags: tuple[str, ...]


def video_metadata(rng: random.Random, video: LongVideo) -> UploadMetadata:
    """Of a video of everyday work: true, and far from complete."""
    where = video.parts[0].story.scene
    events = [event for part in video.parts for event in part.story.events]
    first, second = (rng.sample(events, 2) * 2)[:2] if len(events) > 1 else (events[0], events[0])
    channel = rng.choice([found for found in CHANNELS if not found.scenes or where in found.scenes])
    place = WHERE.get(where, where)
    title = rng.choice(channel.titles).format(
        thing=first.patient,
        other=second.patient,
        doing=video.parts[0].heading.lower(),
        place=place,
        number=rng.randint(2, 98),
    )
    return UploadMetadata(
        title[0].upper() + title[1:] if rng.random() < 0.7 else title,
        _description(rng, video, first, place),
        channel.name,
        tuple(dict.fromkeys((place, first.patient, *rng.sample(_DATA["uploads"]["tags"], 2)))),
    )


def reupload_metadata(rng: random.Random, original: UploadMetadata) -> UploadMetadata:
    """Of a re-upload of a video of another channel."""
    reuploads = _DATA["reuploads"]
    title = rng.choice(reuploads["titles"]).format(title=original.title, upper=original.title.upper())
    description = rng.choice(reuploads["descriptions"]).format(channel=original.channel)
    return UploadMetadata(title, description, rng.choice(RELOADERS), (*original.tags[:1], "viral"))


def noise_metadata(rng: random.Random) -> UploadMetadata:
    """Of a video that has nothing to do with anything here."""
    noise = rng.choice(NOISE)
    title = rng.choice(noise.titles).format(n=rng.randint(3, 240))
    return UploadMetadata(
        title, f"New every week on {noise.channel}. Like and subscribe!", noise.channel, noise.tags
    )


def _description(rng: random.Random, video: LongVideo, event: Event, place: str) -> str:
    """A description: of the activity, of the decor, or empty."""
    shown = [place_name(prop.prop_id) for prop in video.parts[0].story.props]
    template: str = rng.choice(_DATA["uploads"]["descriptions"])
    return template.format(
        heading=video.parts[0].heading,
        thing=event.patient,
        decor=" and the ".join(shown),
        place=place,
        seconds=video.duration,
    )


FIRST_DAY, LAST_DAY = datetime.date(2014, 3, 1), datetime.date(2024, 11, 30)
Availability = Literal["ok", "dead", "private", "region-blocked", "age-gated"]


@dataclass(frozen=True, slots=True)
class WebPlan:
    """The arguments that say what a web holds, to the last bit. Shares are of `videos`."""

    seed: int = 0
    split: Split = "test"
    videos: int = 160
    """Different videos of everyday work."""
    minutes: tuple[float, ...] = (0.5, 0.5, 0.75)
    """Lengths that a video may have."""
    reuploads: float = 0.25
    """Share that comes once more, cropped, graded and at another speed (`eval.workbench.near_duplicates`)."""
    mirrors: float = 0.15
    """Share whose bytes are uploaded again by another channel."""
    noise: int = 80
    """Uploads that have nothing to do with the world."""
    dead: float = 0.06
    """Share of all uploads whose link leads nowhere; likewise below."""
    private: float = 0.02
    region_blocked: float = 0.03
    age_gated: float = 0.03
    render: Render = field(default=Render(height=360, fps=10))
    style: Style = "live"


@dataclass(frozen=True, slots=True)
class Upload:
    """One video of the web, as it will stand in the catalogue."""

    id: str
    """11 characters, as in `watch?v=ID`."""
    metadata: UploadMetadata
    upload_date: datetime.date
    video: Job
    """What is to be seen; several uploads may show one video."""
    alias_of: str = ""
    availability: Availability = "ok"
    lines: tuple[Line, ...] = ()
    """The transcript, in the video's own seconds; empty without one."""

    @property
    def url(self) -> str:
        """The address of its page."""
        return watch_url(self.id)


def plan_web(plan: WebPlan) -> tuple[Upload, ...]:
    """Every upload of the web, in a fixed order; the same plan, the same web."""
    rng = stream("web", plan.seed, plan.split)
    originals = [_original(rng, plan, number) for number in range(plan.videos)]
    again = rng.sample(originals, _share(plan.reuploads, plan.videos))
    same = rng.sample(originals, _share(plan.mirrors, plan.videos))
    copied = [
        reuploaded(rng, plan, upload, "copy", number, changed_copy(plan, upload.video, "web copy", number))
        for number, upload in enumerate(again)
    ]
    mirrored = [
        reuploaded(rng, plan, upload, "mirror", number, upload.video) for number, upload in enumerate(same)
    ]
    noise = [_noise(rng, plan, number) for number in range(plan.noise)]
    return tuple(_with_availability(rng, plan, [*originals, *copied, *mirrored, *noise]))


def text_pages() -> list[dict[str, str]]:
    """The text web: the world's passages, each a page of one of a few sites, by their ids."""
    pages = []
    for passage in sorted(world_passages(), key=lambda passage: passage.passage_id):
        site = SITES[stable_number("site", passage.passage_id) % len(SITES)]
        page = {"id": passage.passage_id, "url": f"{site}/{passage.passage_id}", "title": passage.title}
        pages.append({**page, "content": passage.text, "site": site.removeprefix("https://")})
    return pages


def new_video(plan: WebPlan, number: int, minutes: float, *, cards: tuple[Card, ...] = ()) -> Job:
    """A video of an upload. `number`: of an inserted one any that is not used yet, from 1,000,000 on.

    Its story is that of `Job.video`; `cards` are shown besides the video's own.
    """
    made = CorpusPlan(plan.seed, plan.split, 0, plan.render, plan.style)
    name = opaque_name("web film", plan.seed, plan.split, number)
    return Job("web", f"{name}.mp4", number, minutes, made, cards=cards)


def changed_copy(plan: WebPlan, video: Job, name: str, number: int) -> Job:
    """The video cropped, graded and at another speed; `name`: of what it is a copy for."""
    file = f"{opaque_name(name, plan.seed, plan.split, number)}.mp4"
    return Job("copy", file, number, video.minutes, video.plan, video)


def reuploaded(
    rng: random.Random, plan: WebPlan, upload: Upload, name: str, number: int, video: Job
) -> Upload:
    """`video`, the upload's own or a changed copy of it, uploaded again by another channel."""
    return Upload(
        id=video_name(plan.seed, plan.split, name, number),
        metadata=reupload_metadata(rng, upload.metadata),
        upload_date=upload.upload_date + datetime.timedelta(rng.randint(3, 400)),
        video=video,
        alias_of=upload.id,
    )


def shown_video(video: Job) -> tuple[LongVideo, float]:
    """What happens in the video of an upload, and at which speed: times divide by it."""
    change = video.change
    return (video.original or video).video(), 1.0 if change is None else change.speed


def watch_url(video_id: str) -> str:
    """The address of the page of a video."""
    return f"{HOST}/watch?v={video_id}"


def video_name(*parts: object) -> str:
    """An id of 11 characters that belongs to the parts."""
    raw = stable_number("upload", *parts).to_bytes(8, "big")
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _original(rng: random.Random, plan: WebPlan, number: int) -> Upload:
    job = new_video(plan, number, rng.choice(plan.minutes))
    video = job.video()
    days = (LAST_DAY - FIRST_DAY).days - 400
    return Upload(
        id=video_name(plan.seed, plan.split, "original", number),
        metadata=video_metadata(rng, video),
        upload_date=FIRST_DAY + datetime.timedelta(rng.randrange(days)),
        video=job,
        lines=video.lines if rng.random() < TRANSCRIBED_SHARE else (),
    )


def _noise(rng: random.Random, plan: WebPlan, number: int) -> Upload:
    noisy = replace(plan, style="graphics")
    days = (LAST_DAY - FIRST_DAY).days
    return Upload(
        id=video_name(plan.seed, plan.split, "noise", number),
        metadata=noise_metadata(rng),
        upload_date=FIRST_DAY + datetime.timedelta(rng.randrange(days)),
        video=new_video(noisy, 900_000 + number % NOISE_VIDEOS, 0.5),
    )


def _with_availability(rng: random.Random, plan: WebPlan, uploads: Sequence[Upload]) -> list[Upload]:
    """Some are gone or closed, chosen at random."""
    order = list(range(len(uploads)))
    rng.shuffle(order)
    availability: dict[int, Availability] = {}
    shares: tuple[tuple[Availability, float], ...] = (
        ("dead", plan.dead),
        ("private", plan.private),
        ("region-blocked", plan.region_blocked),
        ("age-gated", plan.age_gated),
    )
    for kind, share in shares:
        for _ in range(_share(share, len(uploads))):
            if order:
                availability[order.pop()] = kind
    return [replace(upload, availability=availability.get(at, "ok")) for at, upload in enumerate(uploads)]


def _share(share: float, count: int) -> int:
    return min(count, round(share * count))


def make_web(
    folder: str | os.PathLike[str],
    plan: WebPlan,
    *,
    inserted: Sequence[Upload] = (),
    workers: int = 2,
    progress: Progress | None = None,
) -> int:
    """Write the web of `plan` into `folder`, with uploads beside its own; gives how many videos were missing.

    It can be killed at any moment, and the same call goes on. Raises `UsageError` where the folder holds
    something else or two uploads share an id, `RagError` where it cannot be written.
    """
    home = Path(folder).absolute()
    uploads = [*plan_web(plan), *inserted]
    pages = text_pages()
    if len({upload.id for upload in uploads}) < len(uploads):
        raise UsageError("two uploads of the web share an id")
    arguments, rounds = _arguments(plan, inserted), _videos(uploads)
    with claimed(home, arguments) as hidden:
        lines, made = render_missing(home, rounds, workers, progress)
        if made or not read_marker(home) or not (home / "web.jsonl").exists():
            write_lines(hidden / "events.jsonl", (truth(job) for jobs in rounds for job in jobs))
            write_marker(home, {**arguments, "videos": lines})
            (hidden / RECORD).unlink(missing_ok=True)
            write_lines(home / "pages.jsonl", pages)
            write_lines(home / "web.jsonl", _rows(home / "videos", uploads, lines))
    return made


def _arguments(plan: WebPlan, inserted: Sequence[Upload]) -> dict[str, Any]:
    """The content of plan.json; inserted uploads are in it as a hash."""
    added = json.dumps(recorded_fields([inserted, []]), default=str)
    return {
        **recorded_fields(plan),
        "kind": "web",
        "planted": hashlib.sha256(added.encode()).hexdigest()[:16],
    }


def _videos(uploads: Iterable[Upload]) -> tuple[list[Job], list[Job]]:
    """Every video once, then the near-duplicates, which need them; dead and private links have no file."""
    wanted = {
        upload.video.name: upload.video
        for upload in uploads
        if upload.availability not in ("dead", "private")
    }
    for job in list(wanted.values()):
        if job.original is not None:
            wanted[job.original.name] = job.original
    videos = sorted(wanted.values(), key=lambda job: job.name)
    return [job for job in videos if job.original is None], [
        job for job in videos if job.original is not None
    ]


def _rows(
    video_folder: Path, uploads: Iterable[Upload], lines: Iterable[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    files = {
        line["name"]: {
            "file": f"videos/{line['name']}",
            "content_id": content_hash(video_folder / line["name"]),
            "duration": line["duration"],
        }
        for line in lines
    }
    for upload in sorted(uploads, key=lambda upload: upload.id):
        yield _row(upload) | files.get(upload.video.name, {})


def _row(upload: Upload) -> dict[str, Any]:
    words, video = upload.metadata, upload.video
    speed = video.change.speed if video.change is not None else 1.0
    row: dict[str, Any] = {
        "id": upload.id,
        "url": upload.url,
        "title": words.title,
        "description": words.description,
        "channel": words.channel,
        "upload_date": upload.upload_date.isoformat(),
        "duration": round(video.seconds / speed, 1),
        "tags": list(words.tags),
        "thumbnail": f"{HOST}/thumbnails/{upload.id}.jpg",
        "language": "en",
        "availability": upload.availability,
    }
    if upload.lines:
        row["transcript"] = [
            {"start": round(line.start / speed, 2), "end": round(line.end / speed, 2), "text": line.text}
            for line in upload.lines
        ]
    if upload.alias_of:
        row["alias_of"] = upload.alias_of
    return row
