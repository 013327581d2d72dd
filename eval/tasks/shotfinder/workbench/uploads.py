"""The uploads of the families' films: titles say what is done, never the tone, style, sound or size."""

from __future__ import annotations

import datetime
import random

from eval.tasks.shotfinder.workbench.families import (
    Family,
    Member,
    ShotShape,
    rng_of,
    stories_of,
)
from eval.workbench.jobs import Job
from eval.workbench.upload_metadata import CHANNELS, WHERE, UploadMetadata
from eval.workbench.web import Upload, video_name

FIRST_DAY, DAYS = datetime.date(2016, 2, 1), 3000
TAGS = ("vlog", "pov", "home", "routine", "diy", "short")
TOLD = (
    "A few seconds of everyday work, cut together.",
    "Camera on my head, as always.",
    "Short one today.",
    "",
)


def uploads_of(shape: ShotShape, family: Family) -> tuple[tuple[Member, Upload], ...]:
    """One for each film; the films of a family are uploaded by different people under different titles."""
    return tuple((member, _upload(shape, family, member, at)) for at, member in enumerate(family.members))


def _upload(shape: ShotShape, family: Family, member: Member, number: int) -> Upload:
    rng = rng_of(shape, "upload", family.name, number)
    job: Job = member.job
    return Upload(
        id=video_name(shape.seed, shape.split, "shotfinder", family.name, number),
        metadata=_words(rng, shape, family, member),
        upload_date=FIRST_DAY + datetime.timedelta(rng.randrange(DAYS)),
        video=job,
    )


def _words(rng: random.Random, shape: ShotShape, family: Family, member: Member) -> UploadMetadata:
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
    also = rng.choice((f"With the {first.patient} and the {second.patient}.", *TOLD))
    return UploadMetadata(
        title[0].upper() + title[1:],
        also,
        channel.name,
        tuple(dict.fromkeys((place, first.patient, *rng.sample(TAGS, 2)))),
    )
