"""Who uploads to the Workbench web, and the titles, tags and descriptions that they give."""

from __future__ import annotations

import random
from dataclasses import dataclass

from eval.workbench.long_videos import LongVideo
from eval.workbench.story import Event
from eval.workbench.wording import place_name


@dataclass(frozen=True, slots=True)
class Channel:
    name: str
    scenes: tuple[str, ...]
    """What it mostly films; empty for one that films anything."""
    habits: tuple[str, ...]
    """Title templates that it likes: `{thing}`, `{doing}`, `{place}`, `{other}`, `{number}`."""


PLAIN = ("{doing} ({place})", "{place} day {number}: {thing} and {other}", "my {place} routine, with {thing}")
HOW = (
    "How I use a {thing} in the {place}",
    "{thing} tips nobody tells you",
    "Watch me with the {thing} | {place}",
)
LOUD = (
    "You will not believe this {place} 😱",
    "{thing} FAIL?? ({place} edition)",
    "I tried {number} {place} hacks",
)
DIARY = ("{place} diary #{number}", "week {number}: {doing}", "a quiet hour in the {place}")
SHORT = ("{thing} #{place} #shorts", "POV: {doing}", "{place} asmr - {thing}, no talking")

CHANNELS: tuple[Channel, ...] = (
    Channel("Marta at Home", ("kitchen", "living"), DIARY),
    Channel("GarageDad72", ("garage", "shed"), HOW),
    Channel("tiny flat diaries", ("bedroom", "desk"), DIARY),
    Channel("The Slow Kitchen", ("kitchen",), PLAIN),
    Channel("bench & vise", ("garage",), PLAIN),
    Channel("Oddjob Otto", (), LOUD),
    Channel("Greenfingers Weekly", ("garden", "shed"), HOW),
    Channel("clean with kim", ("bathroom", "living"), SHORT),
    Channel("PaperTrail Office", ("desk",), PLAIN),
    Channel("Nan's Back Garden", ("garden",), DIARY),
    Channel("first person chores", (), SHORT),
    Channel("Fix It Or Bin It", ("garage", "desk"), LOUD),
    Channel("Sunday Reset", ("living", "bedroom"), HOW),
    Channel("two left hands", (), LOUD),
    Channel("Studio Flat Life", ("desk", "kitchen"), PLAIN),
    Channel("The Tiled Room", ("bathroom",), DIARY),
    Channel("hands only", (), PLAIN),
    Channel("Shed of Theseus", ("shed",), HOW),
    Channel("quietlivingroom", ("living",), SHORT),
    Channel("Everyday Ego", (), DIARY),
)
RELOADERS = (
    "Best Clips Daily",
    "viral vault",
    "HQ Mirror",
    "reup_king",
    "Clips Archive 2",
    "everything tube",
)

NOISE: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "LoFi Harbour",
        ("lofi beats to study to, vol {n}", "rainy night mix {n}", "1 hour of calm piano no. {n}"),
        ("music", "lofi", "study"),
    ),
    (
        "PixelPanic",
        (
            "I beat the final boss with {n} hearts",
            "speedrun in {n} minutes (world record?)",
            "let's play ep. {n}",
        ),
        ("gaming", "speedrun", "let's play"),
    ),
    (
        "Northside FC Fans",
        ("all goals of matchday {n}", "season review, part {n}", "that free kick from {n} metres"),
        ("football", "highlights", "sports"),
    ),
    (
        "TechUnboxed Weekly",
        ("unboxing a {n} euro phone", "{n} gadgets you do not need", "is this laptop worth {n} euros?"),
        ("tech", "unboxing", "review"),
    ),
    (
        "Channel Nine News Local",
        ("evening bulletin, edition {n}", "weather for the weekend, week {n}", "town hall meeting {n}"),
        ("news", "local", "weather"),
    ),
    (
        "Trailspotter",
        ("{n} km along the coast path", "night train, part {n}", "camping at {n} metres"),
        ("travel", "hiking", "train"),
    ),
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
    """Of a film of everyday work: true, and far from complete."""
    where = video.parts[0].story.scene
    events = [event for part in video.parts for event in part.story.events]
    first, second = (rng.sample(events, 2) * 2)[:2] if len(events) > 1 else (events[0], events[0])
    channel = rng.choice([found for found in CHANNELS if not found.scenes or where in found.scenes])
    place = WHERE.get(where, where)
    title = rng.choice(channel.habits).format(
        thing=first.patient,
        other=second.patient,
        doing=video.parts[0].heading.lower(),
        place=place,
        number=rng.randint(2, 98),
    )
    return UploadMetadata(
        title[0].upper() + title[1:] if rng.random() < 0.7 else title,
        _told(rng, video, first, place),
        channel.name,
        tuple(
            dict.fromkeys(
                (place, first.patient, *rng.sample(("diy", "home", "pov", "vlog", "routine", "asmr"), 2))
            )
        ),
    )


def reupload_metadata(rng: random.Random, original: UploadMetadata) -> UploadMetadata:
    """Of somebody who uploads what somebody else has filmed."""
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
    channel, titles, tags = rng.choice(NOISE)
    title = rng.choice(titles).format(n=rng.randint(3, 240))
    return UploadMetadata(title, f"New every week on {channel}. Like and subscribe!", channel, tags)


def _told(rng: random.Random, video: LongVideo, event: Event, place: str) -> str:
    """A description: some say what happens, some what stands around, some nothing."""
    shown = [place_name(prop.prop_id) for prop in video.parts[0].story.props]
    options = (
        f"{video.parts[0].heading}. Filmed in one go, no cuts. Camera on my head as always.",
        f"In this one: {event.patient}, and the {' and the '.join(shown)} you keep asking about.",
        f"Just me in the {place}. Thanks for watching!",
        f"{video.duration:.0f} seconds, zero talent.",
        "",
    )
    return rng.choice(options)
