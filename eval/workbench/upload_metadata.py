"""The channels of the synthetic web, and the titles, tags and descriptions of uploads."""

from __future__ import annotations

import random
from dataclasses import dataclass

from eval.workbench.data_files import read_data
from eval.workbench.long_videos import LongVideo
from eval.workbench.story import Event
from eval.workbench.wording import place_name


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

    name: str
    titles: tuple[str, ...]
    """Title templates with `{n}`."""
    tags: tuple[str, ...]


_DATA = read_data("channels")
CHANNELS: tuple[Channel, ...] = tuple(
    Channel(name, tuple(row["scenes"]), tuple(_DATA["titles"][row["titles"]]))
    for name, row in _DATA["channels"].items()
)
RELOADERS: tuple[str, ...] = tuple(_DATA["reuploads"]["channels"])
NOISE: tuple[NoiseChannel, ...] = tuple(
    NoiseChannel(row["channel"], tuple(row["titles"]), tuple(row["tags"])) for row in _DATA["noise"]
)
WHERE = {"living": "living room", "desk": "office"}


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
        tuple(
            dict.fromkeys(
                (place, first.patient, *rng.sample(("diy", "home", "pov", "vlog", "routine", "asmr"), 2))
            )
        ),
    )


def reupload_metadata(rng: random.Random, original: UploadMetadata) -> UploadMetadata:
    """Of a re-upload of a video of another channel."""
    title = rng.choice(
        (
            f"{original.title} (reupload)",
            f"{original.title} [FULL HD]",
            f"{original.title.upper()}",
            f"{original.title} - best moments",
            f"found this gem: {original.title}",
        )
    )
    description = rng.choice(
        (
            f"All credit to {original.channel}.",
            "I do not own this video.",
            "",
            f"mirror, {original.channel} deleted it",
        )
    )
    return UploadMetadata(title, description, rng.choice(RELOADERS), (*original.tags[:1], "viral"))


def noise_metadata(rng: random.Random) -> UploadMetadata:
    """Of a video that has nothing to do with anything here."""
    channel = rng.choice(NOISE)
    title = rng.choice(channel.titles).format(n=rng.randint(3, 240))
    return UploadMetadata(
        title, f"New every week on {channel.name}. Like and subscribe!", channel.name, channel.tags
    )


def _description(rng: random.Random, video: LongVideo, event: Event, place: str) -> str:
    """A description: of the activity, of the decor, or empty."""
    shown = [place_name(prop.prop_id) for prop in video.parts[0].story.props]
    options = (
        f"{video.parts[0].heading}. Filmed in one go, no cuts. Camera on my head as always.",
        f"In this one: {event.patient}, and the {' and the '.join(shown)} you keep asking about.",
        f"Just me in the {place}. Thanks for watching!",
        f"{video.duration:.0f} seconds, zero talent.",
        "",
    )
    return rng.choice(options)
