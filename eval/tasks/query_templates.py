"""What somebody remembers of a Workbench film, in the first person: made from the ground truth by templates.

Details are left out, said vaguely, or remembered wrongly, each at a rate of `Fuzz`; every text comes
with the list of what was done to it. The parts keep to themselves, as RVMS-Bench wants it (RACLO, C.5):
an impression names no single moment, a moment neither what was before nor what was heard.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass

from eval.tasks.memory_sounds import action_noise, said_near
from eval.workbench.catalogue import (
    KINDS,
    Split,
    kind,
    with_article,
)
from eval.workbench.long_videos import LongVideo, Part
from eval.workbench.story import ClipStory, Event
from eval.workbench.wording import (
    COLORS,
    action,
    place_name,
    predicate,
    scene,
    tidy,
)


@dataclass(frozen=True, slots=True)
class Fuzz:
    """Shares of the details; what is neither is told as it was."""

    omitted: float = 0.25
    vague: float = 0.25
    wrong: float = 0.08


CLEAR = Fuzz(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class QueryText:
    """A text of a query, and what was changed in it."""

    text: str
    changes: tuple[str, ...] = ()
    """ "left out: place", "vague: thing", "wrong: colour", in the order of the text."""


FAMILIES = {
    "hand tools": "some kind of tool",
    "cans and bottles": "some bottle or can",
    "cookware": "something for the kitchen",
    "food": "something to eat",
    "household": "some household thing",
    "office": "something from an office",
}
NEAR_COLORS = {
    "red": "orange",
    "orange": "yellow",
    "yellow": "orange",
    "green": "blue",
    "blue": "purple",
    "purple": "blue",
    "white": "yellow",
    "black": "blue",
}
RECALLED = ("I vaguely remember", "From what I recall,", "I think", "If I am not mistaken,")
_PLACE = re.compile(r" (?:\w+ to|from|off|onto|into|upon|on|with|using|under|at|in|to|over) the \{p\}$")
"""Where, or with what: the end of a phrase."""
LIGHT = {"warm": "in a warm light", "cold": "in a cold, bluish light", "neutral": "in plain daylight"}
PEOPLE = ("man", "woman", "camera wearer")
ROOMS = {
    "garage": "a garage",
    "shed": "a shed",
    "kitchen": "a kitchen",
    "living": "a living room",
    "bedroom": "a bedroom",
    "desk": "an office",
    "bathroom": "a bathroom",
    "garden": "a garden",
}


class _Teller:
    """Draws what becomes of each detail, and keeps the list."""

    def __init__(self, rng: random.Random, fuzz: Fuzz) -> None:
        self.rng, self.fuzz = rng, fuzz
        self.changes: list[str] = []

    def fate(self, detail: str, kinds: tuple[str, ...] = ("left out", "vague", "wrong")) -> str:
        drawn, fate = self.rng.random(), "told"
        for name, share in (
            ("left out", self.fuzz.omitted),
            ("vague", self.fuzz.vague),
            ("wrong", self.fuzz.wrong),
        ):
            if drawn < share:
                fate = name
                break
            drawn -= share
        if fate not in kinds:
            return "told"
        if fate != "told":
            self.changes.append(f"{fate}: {detail}")
        return fate

    def worded(self, *sentences: str) -> QueryText:
        told = [tidy(sentence) for sentence in sentences if sentence]
        text = " ".join(f"{one[0].upper()}{one[1:]}." for one in told)
        return QueryText(text, tuple(self.changes))


def impression(rng: random.Random, video: LongVideo, fuzz: Fuzz = Fuzz(), *, theme: str = "") -> QueryText:
    """G: theme, scenes in their course, people, light and sound of the whole; about 60 words.

    `theme`: what it is about in other words than its maker's, as "on the day after a wedding".
    """
    teller = _Teller(rng, fuzz)
    told = teller.fate("theme", ("left out",)) if theme else "left out"
    about = f", filmed {theme}" if told == "told" else ""
    first = f"{rng.choice(RECALLED)} it was a first-person film of everyday jobs{about}"
    return teller.worded(first, *_course(teller, video), _people(video), _tint(teller, video))


def moment(
    rng: random.Random, event: Event, story: ClipStory, fuzz: Fuzz = Fuzz(), *, light: bool = True
) -> QueryText:
    """K: who does what with what, and what stands around, at one instant; `light`: and the light there."""
    teller = _Teller(rng, fuzz)
    doing = _action(teller, event, story.split)
    where = "" if teller.fate("scene", ("left out",)) != "told" else f" in {ROOMS[story.scene]}"
    around = [found for prop in story.props if (found := _prop(teller, prop.prop_id, prop.color))]
    behind = f"in the background I see {' and '.join(around)}" if around else ""
    told = light and teller.fate("light", ("left out",)) == "told"
    lit = LIGHT[story.light] if told else ""
    return teller.worded(
        f"{rng.choice(RECALLED)} the frame shows how {doing}{where}", behind, f"it was {lit}" if lit else ""
    )


def beside(
    rng: random.Random, event: Event, story: ClipStory, position: str, fuzz: Fuzz = Fuzz()
) -> QueryText:
    """T, one of its two strings: what went on just before, or just after. `position`: which."""
    teller = _Teller(rng, fuzz)
    opening = "In the preceding seconds, I remember," if position == "before" else "In the following seconds"
    return teller.worded(f"{opening} {_action(teller, event, story.split)}")


def heard(rng: random.Random, video: LongVideo, part: Part, event: Event, fuzz: Fuzz = Fuzz()) -> QueryText:
    """A: what is said near the moment, the noise of what is done, and the tune."""
    teller = _Teller(rng, fuzz)
    start, end = part.start + event.start, part.start + event.end
    line = said_near(video.lines, start, end)
    spoken = ""
    if line is not None:
        fate = teller.fate("words", ("left out", "vague"))
        words = line.text.rstrip(".").removeprefix("Now ")
        topic = _topic(line.text)
        if fate == "told":
            spoken = f"a voice said something like “{words}”"
        elif fate == "vague" and topic:
            spoken = f"a voice said something about the {topic}"
    noise = action_noise(event.action_id) if teller.fate("noise", ("left out",)) == "told" else ""
    opening = f"I vaguely recall {noise}" if noise else "I recall no noise that stood out"
    tune = "a quiet tune went on in the background" if rng.random() < 0.5 else ""
    return teller.worded(opening, spoken, tune)


def vague_thing(kind_id: str) -> str:
    """ "some kind of tool" for a hammer."""
    return FAMILIES.get(kind(kind_id).family, "something")


def _action(teller: _Teller, event: Event, split: Split) -> str:
    """ "the woman wipes down a pan": the agent, the action in another phrase, the thing, the place."""
    done = action(event.action_id).phrases[split]
    phrase = done[1] if len(done) > 1 else done[0]
    thing = _thing(teller, event.kind_id, split)
    place = event.place
    if place is not None and place not in PEOPLE:
        fate = teller.fate("place", ("left out", "vague"))
        if fate == "left out":
            phrase = _PLACE.sub("", phrase)
        named = "something" if fate == "vague" else place_name(place)
        phrase = phrase.replace("the {p}", "something") if fate == "vague" else phrase
    else:
        named = place or ""
    agent = "somebody" if event.agent == "camera wearer" else f"a {event.agent}"
    return f"{agent} {predicate(phrase, thing, named)}"


def _thing(teller: _Teller, kind_id: str, split: Split) -> str:
    fate = teller.fate("thing", ("vague", "wrong"))
    if fate == "vague":
        return vague_thing(kind_id)
    if fate == "wrong":
        family = [other for other in KINDS if other.family == kind(kind_id).family]
        return with_article(teller.rng.choice([o for o in family if o.kind_id != kind_id]).name)
    named = kind(kind_id).aliases[split] if teller.rng.random() < 0.3 else kind(kind_id).name
    return with_article(named)


def _prop(teller: _Teller, prop: str, color: str) -> str:
    fate = teller.fate(f"decor {prop}")
    if fate == "left out":
        return ""
    if fate == "vague":
        return with_article(place_name(prop))
    told = NEAR_COLORS[color] if fate == "wrong" else color
    assert told in COLORS
    return with_article(f"{told} {place_name(prop)}")


def _course(teller: _Teller, video: LongVideo) -> list[str]:
    """The scene that it began with, one from its middle, and the last; with what stood there."""
    parts = video.parts
    inner = parts[1:-1]
    chosen = [parts[0], *(teller.rng.sample(inner, 1) if inner else []), *(parts[-1:] if parts[1:] else [])]
    openings = ["it began with", "later there was", "it ended with"]
    if len(chosen) == 2:
        del openings[1]
    told: list[str] = []
    for opening, part in zip(openings, chosen, strict=False):
        if len(told) and teller.fate("scene", ("left out",)) != "told":
            continue
        phrases = scene(part.story.scene).phrases[part.story.split]
        shown = _prop(teller, part.story.props[0].prop_id, part.story.props[0].color)
        told.append(f"{opening} {phrases[-1]}" + (f", with {shown} to be seen" if shown else ""))
    return told


def _people(video: LongVideo) -> str:
    people = [f"a {one}" for one in sorted({part.story.person for part in video.parts} - {""})]
    if not people:
        return ""
    return f"besides the hands of whoever filmed, {' and '.join(people)} came into view"


def _tint(teller: _Teller, video: LongVideo) -> str:
    lights = Counter(part.story.light for part in video.parts)
    most, count = lights.most_common(1)[0]
    if count * 2 < len(video.parts) or teller.fate("light", ("left out",)) != "told":
        return ""
    return f"most of it was {LIGHT[most]}, with a tune in the background"


def _topic(said: str) -> str:
    """The first thing of the world's that a line names; empty where it names none."""
    plain = said.casefold()
    return next((found.name for found in KINDS if f" {found.name}" in plain), "")
