"""Queries by memory of a synthetic video, in the first person: made from the ground truth by templates.

Details are omitted, blurred or wrong, each at a rate.
The cues do not overlap, as in RVMS-Bench (RACLO, C.5): an impression names no single moment, a moment
neither what was before nor a sound.

A video of a synthetic web has a story, too: an occasion, which several videos share, and a detail, which sets
one apart. A description states it in one wording, and a query refers to it in another.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.workbench.catalogue import (
    COLORS,
    KINDS,
    Split,
    action,
    kind,
    place_name,
    predicate,
    scene,
    tidy,
    with_article,
)
from eval.workbench.long_videos import LongVideo, Part
from eval.workbench.story import ClipStory, Event
from eval.workbench.video import Line
from rag.web.catalogue import Catalogue, read_catalogue

if TYPE_CHECKING:
    from eval.workbench.web import Upload, WebPlan
    from rag.indexing.report import Progress

NEAR = 2.0
"""Seconds on both sides of a moment."""
WORDING: Mapping[str, Any] = tomllib.loads(
    resources.files("eval.tasks").joinpath("wording.toml").read_text(encoding="utf-8")
)
RECALLED: Sequence[str] = WORDING["recalled"]
LIGHT: Mapping[str, str] = WORDING["light"]
PEOPLE = ("man", "woman", "camera wearer")


def action_noise(action_id: str) -> str:
    """What `eval.workbench.sound` makes for the action, in everyday words."""
    return str(WORDING["noises"].get(action_id, "some noise"))


def said_near(lines: Iterable[Line], start: float, end: float) -> Line | None:
    """The line that overlaps [start - 2, end + 2) most; of equal ones the first; None without speech."""
    found = [line for line in lines if line.start < end + NEAR and line.end > start - NEAR]
    return max(
        found, key=lambda line: (min(line.end, end) - max(line.start, start), -line.start), default=None
    )


OMITTED, VAGUE, WRONG = 0.25, 0.25, 0.08
"""Shares of the details that are changed; the others are kept."""


def change(rng: random.Random, *kinds: str) -> str:
    """What becomes of a detail: one of `kinds`, or "kept"; without `kinds` any of the three."""
    draw = rng.random()
    for name, share in (("left out", OMITTED), ("vague", VAGUE), ("wrong", WRONG)):
        if draw < share:
            return name if not kinds or name in kinds else "kept"
        draw -= share
    return "kept"


_PLACE = re.compile(r" (?:\w+ to|from|off|onto|into|upon|on|with|using|under|at|in|to|over) the \{p\}$")
"""Where, or with what: the end of a phrase."""


def _text(*sentences: str) -> str:
    kept = [tidy(sentence) for sentence in sentences if sentence]
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in kept)


def impression(rng: random.Random, video: LongVideo, *, theme: str = "") -> str:
    """G: theme, scenes in their course, people, light and sound of the whole; about 60 words.

    `theme`: what it is about in other words than its maker's, as "on the day after a wedding".
    """
    kept = change(rng, "left out") if theme else "left out"
    about = f", filmed {theme}" if kept == "kept" else ""
    first = f"{rng.choice(RECALLED)} it was a first-person film of everyday jobs{about}"
    return _text(first, *_course(rng, video), _people(video), _light(rng, video))


def moment(rng: random.Random, event: Event, story: ClipStory, *, light: bool = True) -> str:
    """K: who does what with what, and what is around, at one instant; `light`: and the light there."""
    doing = _action(rng, event, story.split)
    where = "" if change(rng, "left out") != "kept" else f" in {WORDING['rooms'][story.scene]}"
    around = [found for prop in story.props if (found := _prop(rng, prop.prop_id, prop.color))]
    behind = f"in the background I see {' and '.join(around)}" if around else ""
    kept = light and change(rng, "left out") == "kept"
    lit = LIGHT[story.light] if kept else ""
    return _text(
        f"{rng.choice(RECALLED)} the frame shows how {doing}{where}", behind, f"it was {lit}" if lit else ""
    )


def beside(rng: random.Random, event: Event, story: ClipStory, position: str) -> str:
    """T, one of its two strings: what went on just before, or just after. `position`: which."""
    opening = "In the preceding seconds, I remember," if position == "before" else "In the following seconds"
    return _text(f"{opening} {_action(rng, event, story.split)}")


def auditory_cue(rng: random.Random, video: LongVideo, part: Part, event: Event) -> str:
    """A: what is said near the moment, the noise of what is done, and the tune."""
    start, end = part.start + event.start, part.start + event.end
    line = said_near(video.lines, start, end)
    spoken = ""
    if line is not None:
        became = change(rng, "left out", "vague")
        words = line.text.rstrip(".").removeprefix("Now ")
        topic = _topic(line.text)
        if became == "kept":
            spoken = f"a voice said something like “{words}”"
        elif became == "vague" and topic:
            spoken = f"a voice said something about the {topic}"
    noise = action_noise(event.action_id) if change(rng, "left out") == "kept" else ""
    opening = f"I vaguely recall {noise}" if noise else "I recall no noise that stood out"
    tune = "a quiet tune went on in the background" if rng.random() < 0.5 else ""
    return _text(opening, spoken, tune)


def vague_object(kind_id: str) -> str:
    """ "some kind of tool" for a hammer."""
    return str(WORDING["families"].get(kind(kind_id).family, "something"))


def _action(rng: random.Random, event: Event, split: Split) -> str:
    """ "the woman wipes down a pan": the agent, the action in another phrase, the thing, the place."""
    done = action(event.action_id).phrases[split]
    phrase = done[1] if len(done) > 1 else done[0]
    thing = _object(rng, event.kind_id, split)
    place = event.place
    if place is not None and place not in PEOPLE:
        became = change(rng, "left out", "vague")
        if became == "left out":
            phrase = _PLACE.sub("", phrase)
        named = "something" if became == "vague" else place_name(place)
        phrase = phrase.replace("the {p}", "something") if became == "vague" else phrase
    else:
        named = place or ""
    agent = "somebody" if event.agent == "camera wearer" else f"a {event.agent}"
    return f"{agent} {predicate(phrase, thing, named)}"


def _object(rng: random.Random, kind_id: str, split: Split) -> str:
    became = change(rng, "vague", "wrong")
    if became == "vague":
        return vague_object(kind_id)
    if became == "wrong":
        family = [other for other in KINDS if other.family == kind(kind_id).family]
        return with_article(rng.choice([o for o in family if o.kind_id != kind_id]).name)
    named = kind(kind_id).aliases[split] if rng.random() < 0.3 else kind(kind_id).name
    return with_article(named)


def _prop(rng: random.Random, prop: str, color: str) -> str:
    became = change(rng)
    if became == "left out":
        return ""
    if became == "vague":
        return with_article(place_name(prop))
    kept = WORDING["near_colors"][color] if became == "wrong" else color
    assert kept in COLORS
    return with_article(f"{kept} {place_name(prop)}")


def _course(rng: random.Random, video: LongVideo) -> list[str]:
    """The scene that it began with, one from its middle, and the last; with what was there."""
    parts = video.parts
    inner = parts[1:-1]
    chosen = [parts[0], *(rng.sample(inner, 1) if inner else []), *(parts[-1:] if parts[1:] else [])]
    openings = ["it began with", "later there was", "it ended with"]
    if len(chosen) == 2:
        del openings[1]
    kept: list[str] = []
    for opening, part in zip(openings, chosen, strict=False):
        if len(kept) and change(rng, "left out") != "kept":
            continue
        phrases = scene(part.story.scene).phrases[part.story.split]
        shown = _prop(rng, part.story.props[0].prop_id, part.story.props[0].color)
        kept.append(f"{opening} {phrases[-1]}" + (f", with {shown} to be seen" if shown else ""))
    return kept


def _people(video: LongVideo) -> str:
    people = [f"a {one}" for one in sorted({part.story.person for part in video.parts} - {""})]
    if not people:
        return ""
    return f"besides the hands of whoever filmed, {' and '.join(people)} came into view"


def _light(rng: random.Random, video: LongVideo) -> str:
    lights = Counter(part.story.light for part in video.parts)
    most, count = lights.most_common(1)[0]
    if count * 2 < len(video.parts) or change(rng, "left out") != "kept":
        return ""
    return f"most of it was {LIGHT[most]}, with a tune in the background"


def _topic(said: str) -> str:
    """The first thing of the world's that a line names; empty where it names none."""
    plain = said.casefold()
    return next((found.name for found in KINDS if f" {found.name}" in plain), "")


def render_web(
    folder: Path, plan: WebPlan, uploads: Sequence[Upload], progress: Progress | None
) -> Catalogue:
    """The web of `plan` with `uploads` beside its own, in `folder/web`; what is complete is kept.

    Raises `UsageError` for a folder with other files.
    """
    from eval.workbench.corpus import check_data_folder
    from eval.workbench.web import make_web

    check_data_folder(folder, "web")
    make_web(folder / "web", plan, inserted=uploads, progress=progress)
    return read_catalogue(folder / "web")


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """One fact in two wordings that share hardly a word."""

    plain: str
    other: str


OCCASIONS = tuple(Paraphrase(**each) for each in WORDING["occasions"])
DETAILS = tuple(Paraphrase(**each) for each in WORDING["details"])
