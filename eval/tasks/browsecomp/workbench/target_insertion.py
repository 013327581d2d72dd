"""The uploads that questions are about, planned before anything is drawn.

Each shows a film of several minutes, has a channel and a day of its own, tells
a story in its description, and says one thing in passing. Some say, or show on
a card, under which name the work goes on: that is the way to another of them.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eval.tasks.browsecomp.workbench.words import (
    DETAILS,
    OCCASIONS,
    SERIES,
    SPOKEN,
    Spoken,
    Told,
)
from eval.workbench.long_videos import LongVideo
from eval.workbench.screen_text import Card
from eval.workbench.seeds import stream
from eval.workbench.speech import spoken_seconds
from eval.workbench.upload_metadata import CHANNELS, RELOADERS, UploadMetadata
from eval.workbench.video import Line
from eval.workbench.web import (
    Upload,
    WebPlan,
    new_video,
    video_name,
)

FIRST_NUMBER = 1_000_000
FIRST_DAY, DAYS = datetime.date(2015, 1, 5), 3400
MIRROR_SHARE = 0.2
CARD_SECONDS = 5.0
TAGS = ("vlog", "pov", "home", "routine", "diy")


@dataclass(frozen=True, slots=True)
class PlantingPlan:
    videos: int = 28
    minutes: float = 3.5
    chained: int = 24
    """Films that tell where the work goes on."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where the work goes on, as a film says or shows it during [start, end)."""

    target: int
    """Number of the film that it leads to."""
    by: str
    """`speech` or `card`."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Planted:
    number: int
    upload: Upload
    video: LongVideo
    """With all its cards."""
    occasion: Told
    detail: Told
    spoken: Spoken
    word: str
    said: Line
    """The line that holds `word`."""
    pointer: Pointer | None
    mirrors: tuple[Upload, ...] = ()

    @property
    def uploads(self) -> tuple[Upload, ...]:
        return (self.upload, *self.mirrors)


def plant(plan: WebPlan, planting: PlantingPlan) -> tuple[Planted, ...]:
    """The same plans, the same uploads."""
    rng = stream("browsecomp planting", plan.seed, plan.split)
    named = list(_named(rng, planting))
    stories = [(occasion, detail) for occasion in OCCASIONS for detail in DETAILS]
    rng.shuffle(stories)
    found = []
    for number, (words, day) in enumerate(named):
        target = (number + planting.videos // 3) % planting.videos if number < planting.chained else None
        onward = None if target is None else named[target][0]
        occasion, detail = stories[number % len(stories)]
        told = replace(words, description=f"{occasion.plain}, {detail.plain}. {words.description}")
        found.append(_planted(rng, plan, planting, number, told, day, (occasion, detail), target, onward))
    return tuple(found)


def _named(rng: random.Random, planting: PlantingPlan) -> Iterator[tuple[UploadMetadata, datetime.date]]:
    """Channel, title and day: on no day do two uploads of one channel come out."""
    channels = list(CHANNELS)
    rng.shuffle(channels)
    numbers = rng.sample(range(101, 999), planting.videos)
    days = rng.sample(range(DAYS), planting.videos)
    few = max(1, planting.videos // 4)
    for at in range(planting.videos):
        # Four of one channel lie close to each other under every search for it.
        channel = channels[at % min(few, len(channels))]
        words = UploadMetadata(
            title=rng.choice(SERIES).format(n=numbers[at]),
            description="Camera on my head, as always.",
            channel=channel.name,
            tags=tuple(rng.sample(TAGS, 2)),
        )
        yield words, FIRST_DAY + datetime.timedelta(days[at])


def _planted(
    rng: random.Random,
    plan: WebPlan,
    planting: PlantingPlan,
    number: int,
    words: UploadMetadata,
    day: datetime.date,
    story: tuple[Told, Told],
    target: int | None,
    onward: UploadMetadata | None,
) -> Planted:
    bare = new_video(plan, FIRST_NUMBER + number, planting.minutes)
    video = bare.video()
    lines = list(video.lines)
    spoken = SPOKEN[number % len(SPOKEN)]
    word = rng.choice(spoken.words)
    said = _free_line(rng, video, lines, spoken.line.format(word=word))
    lines.append(said)
    pointer: Pointer | None = None
    cards: tuple[Card, ...] = ()
    if target is not None and onward is not None:
        if number % 2:
            cards = (_free_card(rng, video, f"Goes on: {onward.channel}, {onward.title}"),)
            pointer = Pointer(target, "card", cards[0].start, cards[0].end)
        else:
            text = f"The second half of this is on the channel {onward.channel}, called {onward.title}."
            line = _free_line(rng, video, lines, text)
            lines.append(line)
            pointer = Pointer(target, "speech", line.start, line.end)
    job = new_video(plan, FIRST_NUMBER + number, planting.minutes, cards=cards)
    transcript = tuple(sorted(lines, key=lambda line: line.start))
    upload = Upload(
        id=video_name(plan.seed, plan.split, "browsecomp", number),
        metadata=words,
        upload_date=day,
        video=job,
        lines=transcript,
    )
    mirrors = (_mirror(rng, plan, number, upload),) if rng.random() < MIRROR_SHARE else ()
    return Planted(number, upload, job.video(), *story, spoken, word, said, pointer, mirrors)


def _mirror(rng: random.Random, plan: WebPlan, number: int, upload: Upload) -> Upload:
    words = upload.metadata
    return replace(
        upload,
        id=video_name(plan.seed, plan.split, "browsecomp mirror", number),
        metadata=UploadMetadata(
            f"{words.title} (reupload)", f"All credit to {words.channel}.", rng.choice(RELOADERS), ("viral",)
        ),
        upload_date=upload.upload_date + datetime.timedelta(rng.randint(20, 300)),
        alias_of=upload.id,
    )


def _free_line(rng: random.Random, video: LongVideo, lines: Sequence[Line], text: str) -> Line:
    """Somewhere in the film where nobody speaks; after the last word where there is no such place."""
    length = spoken_seconds(text)
    for _ in range(400):
        start = round(rng.uniform(2.0, video.duration - length - 1.0), 2)
        if all(line.end <= start or line.start >= start + length for line in lines):
            return Line(start, round(start + length, 2), text)
    last = max(lines, key=lambda line: line.end)
    return Line(round(last.end + 0.1, 2), round(last.end + 0.1 + length, 2), text)


def _free_card(rng: random.Random, video: LongVideo, text: str) -> Card:
    """Somewhere in the film where no other card stands."""
    for _ in range(400):
        start = float(rng.randint(6, int(video.duration - CARD_SECONDS - 1)))
        end = start + CARD_SECONDS
        inside = any(part.start + 1 <= start and end <= part.end - 1 for part in video.parts)
        if inside and all(card.end + 1 <= start or card.start >= end + 1 for card in video.cards):
            return Card(start, end, text)
    raise AssertionError("a film of minutes has five seconds without a card")
