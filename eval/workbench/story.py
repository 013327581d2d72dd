"""What happens in a clip, planned from a seed before anything is rendered: scene, looks, exact events."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import get_args

from corpora.records import CAMERA_WEARER, EventParts
from eval.workbench.catalogue import (
    ACTIONS,
    COLORS,
    KINDS,
    LIGHTS,
    PROPS,
    SCENES,
    Action,
    Slot,
    Split,
    allows,
    kind,
    place_name,
    predicate,
    prop_name,
)
from eval.workbench.pen import Color, Style
from eval.workbench.seeds import stream

CLIP_SECONDS = 30.0
VARIANTS: dict[Split, range] = {"dev": range(48, 56), "test": range(56, 64)}
"""How a kind may look; no two splits share a look, and the first 48 are those of training."""
SAME_ACT_SHARE = 0.15
SKINS: tuple[Color, ...] = ((244, 206, 176), (226, 178, 140), (190, 138, 100), (140, 96, 66), (100, 66, 46))


@dataclass(frozen=True, slots=True)
class Thing:
    """One object of a clip: its kind and its look."""

    kind_id: str
    variant: int


@dataclass(frozen=True, slots=True)
class Prop:
    """Decor that stays in view: what it is, its colour, and its position in frame heights."""

    prop_id: str
    color: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Event(EventParts):
    """One event, exactly: the paper's structure (EgoFact, C.2.1), its time, and when its object is in view.

    [start, end) and [seen_from, seen_until) in seconds of the clip.
    """

    action_id: str
    place: str | None
    """Fixture id, the other person, or None."""
    thing: Thing
    start: float
    end: float
    seen_from: float
    seen_until: float
    paraphrase: str = ""
    """The event in other words than `rewritten`; empty where it has no others."""

    @property
    def kind_id(self) -> str:
        """Kind of the object that is used."""
        return self.thing.kind_id


@dataclass(frozen=True, slots=True)
class Person:
    """One of the people beside the work; `x`: of the middle, in frame heights."""

    who: str
    """"woman" or "man"; empty for the camera wearer."""
    shirt: Color
    skin: Color
    x: float


@dataclass(frozen=True, slots=True)
class Passer:
    """One who is between camera and work during [start, end), seconds, and hides a part of it."""

    start: float
    end: float
    side: int
    """-1: comes from the left; 1: from the right."""
    beside: float
    """How far from the middle of the frame they stop, to their side, in frame heights."""
    top: float
    """Height of the shoulders, in frame heights from the top."""
    shirt: Color
    hair: int


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What makes a clip harder to see: a shaking camera, blur, and others in front of the work."""

    shake: float
    """Greatest excursion of the camera beyond its sway, in frame heights."""
    shutter: float
    """Seconds of exposure."""
    unfocused: tuple[tuple[float, float], ...]
    """Intervals out of focus, seconds."""
    passers: tuple[Passer, ...]


@dataclass(frozen=True, slots=True)
class ClipStory:
    """Everything that happens in one clip, with the looks of all that is seen in it."""

    seed: int
    split: Split
    scene: str
    light: str
    wall: Color
    surface: Color
    props: tuple[Prop, ...]
    person: str
    """"woman", "man", or empty."""
    shirt: Color
    skin: Color
    sleeve: Color
    clutter: tuple[Thing, ...]
    events: tuple[Event, ...]
    description: str
    """What the clip shows, without any object that is used in it."""
    duration: float = CLIP_SECONDS
    style: Style = "live"
    stage: int | None = None
    """Seed of what is seen beside hands and objects in use, where clips share it; None: the clip's own."""
    others: tuple[Person, ...] = ()
    """People beside `person`."""
    disturbance: Disturbance | None = None

    @property
    def stage_seed(self) -> int:
        """Seed of the backdrop, of the people in it, and of the grade."""
        return self.seed if self.stage is None else self.stage

    def hand_colors(self, agent: str) -> tuple[Color, Color]:
        """Skin and sleeve of whose hands they are."""
        if agent == CAMERA_WEARER:
            return self.skin, self.sleeve
        other = next((one for one in self.others if one.who == agent), None)
        return (self.skin, self.shirt) if other is None else (other.skin, other.shirt)


def plan_clip(seed: int, split: Split, *, duration: float = CLIP_SECONDS, style: Style = "live") -> ClipStory:
    """The same seed and split give the same story; splits share no seed's story, look or wording."""
    rng = stream("clip", split, seed)
    where = rng.choice(SCENES)
    person = rng.choice(("woman", "man", "woman", "man", ""))
    light = rng.choice(LIGHTS)
    props = plan_props(rng)
    shown = " and ".join(prop_name(prop.prop_id, prop.color) for prop in props)
    what = rng.choice(where.phrases[split])
    acts = _acts(rng, split, person, duration)
    used = {thing.kind_id for _, _, _, thing in acts}
    clutter = [k for k in KINDS if k.kind_id not in used]
    rng.shuffle(clutter)
    return ClipStory(
        seed=seed,
        split=split,
        scene=where.scene_id,
        light=light,
        wall=quiet_tint(rng, 0.55, 0.95),
        surface=quiet_tint(rng, 0.35, 0.8),
        props=props,
        person=person,
        shirt=rng.choice(tuple(COLORS.values())),
        skin=rng.choice(SKINS),
        sleeve=rng.choice(tuple(COLORS.values())),
        clutter=tuple(Thing(k.kind_id, rng.choice(VARIANTS[split])) for k in clutter[: rng.randint(4, 7)]),
        events=timed(rng, acts, duration, partial(plan_event, split)),
        description=f"{what} with {shown} in {light} light",
        duration=duration,
        style=style,
    )


def plan_props(rng: random.Random) -> tuple[Prop, ...]:
    """Two pieces of decor."""
    spots = [(0.2, 0.2), (0.72, 0.18), (1.3, 0.2), (1.6, 0.22)]
    chosen = sorted(rng.sample(range(len(spots)), 2))
    names = rng.sample(PROPS, 2)
    colors = [rng.choice(tuple(COLORS)) for _ in names]
    return tuple(
        Prop(name, color, spots[at][0] + rng.uniform(-0.06, 0.06), spots[at][1] + rng.uniform(-0.03, 0.03))
        for name, color, at in zip(names, colors, chosen, strict=True)
    )


Act = tuple[str, Action, str | None, Thing]
"""Agent, action, place, thing."""


def _acts(rng: random.Random, split: Split, person: str, duration: float) -> list[Act]:
    share = duration / CLIP_SECONDS
    count = max(1, round(rng.randint(4, 7) * share))
    acts: list[Act] = []
    for _ in range(count):
        if acts and rng.random() < SAME_ACT_SHARE:
            agent, what, place, _ = rng.choice(acts)
        else:
            agent, what, place = plan_act(rng, person)
        used = {thing.kind_id for *_, thing in acts[-12:]}
        fit = [k for k in KINDS if allows(what, k) and k.kind_id not in used]
        if fit:
            acts.append((agent, what, place, Thing(rng.choice(fit).kind_id, rng.choice(VARIANTS[split]))))
    return acts


def plan_act(rng: random.Random, person: str) -> tuple[str, Action, str | None]:
    """Agent, action and place; `person`: who is there beside the camera wearer, or empty."""
    agent = person if person and rng.random() < 0.25 else CAMERA_WEARER
    while True:
        what = rng.choice(ACTIONS)
        if "person" not in what.places:
            return agent, what, rng.choice(what.places) if what.places else None
        if person:
            return agent, what, person if agent == CAMERA_WEARER else CAMERA_WEARER


def timed(
    rng: random.Random,
    acts: list[Act],
    duration: float,
    event_of: Callable[[Act, float, float, float, float], Event],
) -> tuple[Event, ...]:
    """Events of 1.5 to 4 s with pauses of at least 0.4 s, and the object in view for 0.5 to 1.5 s of each.

    `event_of`: from an act, its start and end, and when its object is seen, to its event.
    """
    lengths = [rng.uniform(1.5, 4.0) for _ in acts]
    room = duration - 1.0 - sum(lengths) - 0.4 * len(lengths)
    if room < 0:
        lengths = [max(1.5, length + room / len(lengths)) for length in lengths]
        room = max(0.0, duration - 1.0 - sum(lengths) - 0.4 * len(lengths))
    cuts = sorted(rng.uniform(0, room) for _ in lengths)
    events = []
    spent = 0.0
    for act, length, cut in zip(acts, lengths, cuts, strict=True):
        start = round(0.5 + cut + spent, 2)
        end = round(start + length, 2)
        spent += length + 0.4
        seen = min(rng.uniform(0.5, 1.5), length - 0.4)
        seen_from = round(start + rng.uniform(0.2, length - seen - 0.2), 2)
        events.append(event_of(act, start, end, seen_from, round(seen_from + seen, 2)))
    return tuple(events)


def plan_event(
    split: Split, act: Act, start: float, end: float, seen_from: float, seen_until: float
) -> Event:
    """The event of an act, in the first phrase of the split."""
    agent, what, place, thing = act
    name = kind(thing.kind_id).name
    named = place_name(place) if place else None
    slots = {slot: named if slot == what.slot else None for slot in get_args(Slot)}
    return Event(
        rewritten=f"the {agent} {predicate(what.phrases[split][0], f'the {name}', named)}",
        agent=agent,
        action=what.verb,
        patient=name,
        patient_canonical=name,
        action_id=what.action_id,
        place=place,
        thing=thing,
        start=start,
        end=end,
        seen_from=seen_from,
        seen_until=seen_until,
        paraphrase="",
        **slots,
    )


def quiet_tint(rng: random.Random, low: float, high: float) -> Color:
    """A quiet colour for walls and surfaces."""
    value = rng.uniform(low, high) * 255
    red, green, blue = (round(min(255, value * rng.uniform(0.82, 1.0))) for _ in range(3))
    return red, green, blue
