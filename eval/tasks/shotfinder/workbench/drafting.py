"""Queries out of the families: the same words for a shot and its twin, and the constraint that parts them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval.tasks.query_templates import Fuzz, beside, moment
from eval.tasks.shotfinder.records import Place, ShotQuery
from eval.tasks.shotfinder.workbench.families import (
    Family,
    Member,
    ShotShape,
    rng_of,
    stories_of,
)
from eval.workbench.web import Upload

FUZZ = Fuzz()
ASKING = ("I need a shot.", "I am looking for a clip.", "I want to find a video segment.")
TOLD: dict[str, tuple[str, ...]] = {
    "warm": ("The overall tone is warm.", "Warm, orange light lies over all of it."),
    "cold": ("The overall tone is cold.", "It has a cool, bluish look."),
    "neutral": ("The overall tone is neutral.", "The colours are neutral, as in plain daylight."),
    "live": ("It is live action.", "It looks really filmed: live-action footage."),
    "2d": ("It is 2D animation.", "It is drawn flat, as a 2D cartoon."),
    "3d": ("It is 3D animation.", "It is a 3D rendering."),
    "graphics": ("It is pure graphics.", "It is made of graphics alone."),
    "speech": ("Somebody speaks.", "A human voice is heard."),
    "music": ("Background music is heard.", "There is music, and nobody talks."),
    "ambient": ("Only ambient sound is heard.", "Nothing but ambient sound of the place."),
    "720p": ("720P",),
    "1080p": ("1080P",),
}


def draft_queries(
    shape: ShotShape, families: Sequence[tuple[Family, Sequence[tuple[Member, Upload]]]]
) -> list[ShotQuery]:
    """`Place.video_id` holds the file's name until the films are drawn."""
    return [query for family, uploads in families for query in _drafted(shape, family, uploads)]


def _drafted(
    shape: ShotShape, family: Family, uploads: Sequence[tuple[Member, Upload]]
) -> Iterator[ShotQuery]:
    for at in family.asked:
        places = [(member, _place(upload, at, shape)) for member, upload in uploads]
        # A shot that comes twice in one film is told in the same words each time.
        worded = moment(
            rng_of(shape, "words", family.name, uploads[0][0].job.seeds[at]),
            stories_of(shape, uploads[0][0].job)[at].events[0],
            stories_of(shape, uploads[0][0].job)[at],
            FUZZ,
            light=False,
        )
        for member, place in places:
            value = member.value or family.value
            rng = rng_of(shape, "constraint", family.name, at, value)
            told, changes = (
                _around(shape, family, member, at)
                if family.task == "temporal"
                else (rng.choice(TOLD[value]), ())
            )
            twins = tuple(other for one, other in places if one is not member)
            if family.task == "temporal":
                twins = tuple(_place(uploads[0][1], other, shape) for other in family.asked if other != at)
            event = stories_of(shape, member.job)[at].events[0]
            opening = rng_of(shape, "opening", family.name, at).choice(ASKING)
            yield ShotQuery(
                query_id=f"{family.name}-{at}" + (f"-{member.value}" if member.value else ""),
                task=family.task,
                description=f"{opening} {worded.text}",
                constraint=told,
                gold=place,
                frame=round(place.start + (event.seen_from + event.seen_until) / 2, 3),
                value=value,
                twins=twins,
                cluster=family.name,
                changes=(*worded.changes, *changes),
            )


def _around(shape: ShotShape, family: Family, member: Member, at: int) -> tuple[str, tuple[str, ...]]:
    """What comes before and after, as far as it is asked by; on two lines."""
    stories = stories_of(shape, member.job)
    told: list[str] = []
    changes: list[str] = []
    for side, other in (("before", at - 1), ("after", at + 1)):
        if family.value not in (side, "both"):
            told.append("")
            continue
        rng = rng_of(shape, "around", family.name, at, side)
        worded = beside(rng, stories[other].events[0], stories[other], side, FUZZ)
        told.append(worded.text)
        changes += worded.changes
    return "\n".join(told), tuple(changes)


def _place(upload: Upload, at: int, shape: ShotShape) -> Place:
    start = at * shape.shot_seconds
    return Place(upload.video.name, (upload.url,), start, start + shape.shot_seconds)
