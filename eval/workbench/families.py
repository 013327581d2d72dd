"""Clips in families: one stage for all, and in each clip other things are done, some of them nearly the same.

A family has a scene, light, decor, objects lying about, three people, and a repertoire: some acts, each
with several objects, of which two may look alike. Every clip of it does a part of the repertoire, in an
order of its own, so that another clip has nearly each of its events, and none has all of them. Others step
in front of the work, the camera shakes, and now and then it loses focus.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from eval.workbench.catalogue import (
    COLORS,
    KINDS,
    LIGHTS,
    SCENES,
    Kind,
    Split,
    allows,
    kind,
    place_name,
    predicate,
)
from eval.workbench.pen import Style
from eval.workbench.seeds import stable_number, stream
from eval.workbench.story import (
    CLIP_SECONDS,
    SKINS,
    VARIANTS,
    Act,
    ClipStory,
    Disturbance,
    Event,
    Passer,
    Person,
    Thing,
    plan_act,
    plan_event,
    plan_props,
    quiet_tint,
    timed,
)


@dataclass(frozen=True, slots=True)
class Families:
    """What a world of families is like."""

    size: int = 5
    """Clips that share a stage and a repertoire."""
    shortest: float = 30.0
    longest: float = 120.0
    """Seconds of a clip: as many quarters of a minute between the two."""
    acts: int = 9
    """Acts of a repertoire: agent, action and place."""
    objects: int = 3
    """Objects of each of them."""
    passing: float = 0.5
    """Share of the events in front of which another person is for a while."""
    shake: float = 0.03
    """Greatest excursion of a shaking camera, in frame heights."""
    shutter: float = 1 / 24
    """Seconds for which a frame is exposed: what moves meanwhile is blurred."""
    unfocused: float = 0.1
    """Share of the time out of focus."""


def plan_member(
    seed: int, split: Split, number: int, families: Families, *, style: Style = "live"
) -> ClipStory:
    """The clip `number` of a world: the same arguments give the same story."""
    stage = stable_number("family", seed, split, number // families.size)
    rng = stream("stage", split, stage)
    where, light, props = rng.choice(SCENES), rng.choice(LIGHTS), plan_props(rng)
    wall, surface = quiet_tint(rng, 0.55, 0.95), quiet_tint(rng, 0.35, 0.8)
    wearer, *others = _people(rng)
    clutter = rng.sample(KINDS, rng.randint(4, 7))
    repertoire = _repertoire(rng, split, families, others, {one.kind_id for one in clutter})
    own = stream("member", split, seed, number)
    duration = _duration(own, families)
    acts = _performed(own, repertoire, duration)
    events = timed(own, acts, duration, lambda act, *times: _worded(own, split, act, *times))
    first, *more = others
    return ClipStory(
        seed=stable_number(seed, split, number),
        split=split,
        scene=where.scene_id,
        light=light,
        wall=wall,
        surface=surface,
        props=props,
        person=first.who,
        shirt=first.shirt,
        skin=wearer.skin,
        sleeve=wearer.shirt,
        clutter=tuple(Thing(one.kind_id, rng.choice(VARIANTS[split])) for one in clutter),
        events=events,
        description=rng.choice(where.phrases[split]),
        duration=duration,
        style=style,
        stage=stage,
        others=tuple(more),
        disturbance=_disturbance(own, families, events, duration),
    )


def _people(rng: random.Random) -> list[Person]:
    """The camera wearer, and then a woman and a man in either order, no two of one shirt."""
    shirts = rng.sample(tuple(COLORS.values()), 3)
    names = rng.sample(("woman", "man"), 2)
    spots = (rng.uniform(0.42, 0.6), rng.uniform(1.15, 1.35))
    # The wearer is seen by the hands alone.
    return [
        Person(who, shirt, rng.choice(SKINS), x)
        for who, shirt, x in zip(("", *names), shirts, (0.0, *spots), strict=True)
    ]


def _repertoire(
    rng: random.Random, split: Split, families: Families, others: list[Person], absent: set[str]
) -> list[Act]:
    """Every act with each of its objects; the second looks like the first where the action allows it."""
    looks: dict[str, int] = {}
    found: dict[tuple[str, str, str | None], list[Act]] = {}
    while len(found) < families.acts:
        agent, what, place = plan_act(rng, rng.choice(others).who)
        fit = [one for one in KINDS if allows(what, one) and one.kind_id not in absent]
        act = (agent, what.action_id, place)
        if act in found or len(fit) < families.objects:
            continue
        chosen = _alike(rng, fit, families.objects)
        for one in chosen:
            looks.setdefault(one.kind_id, rng.choice(VARIANTS[split]))
        found[act] = [(agent, what, place, Thing(one.kind_id, looks[one.kind_id])) for one in chosen]
    return [act for acts in found.values() for act in acts]


def _alike(rng: random.Random, fit: list[Kind], count: int) -> list[Kind]:
    first, *rest = rng.sample(fit, len(fit))
    rest.sort(key=lambda one: one.family != first.family)
    near, far = rest[:1], rest[1:]
    return [first, *near, *rng.sample(far, len(far))][:count]


def _duration(rng: random.Random, families: Families) -> float:
    return 15.0 * rng.randint(round(families.shortest / 15), round(families.longest / 15))


def _performed(rng: random.Random, repertoire: list[Act], duration: float) -> list[Act]:
    """As many a minute as other clips have; each act of the repertoire once before any comes again."""
    count = round(rng.randint(4, 7) * duration / CLIP_SECONDS)
    acts: list[Act] = []
    while len(acts) < count:
        acts += rng.sample(repertoire, len(repertoire))
    return acts[:count]


def _worded(
    rng: random.Random, split: Split, act: Act, start: float, end: float, seen_from: float, seen_until: float
) -> Event:
    """The event in one wording for questions, and in another for descriptions: phrase and noun."""
    agent, what, place, thing = act
    event = plan_event(split, act, start, end, seen_from, seen_until)
    used, other = rng.sample(what.phrases[split], 2)
    nouns = [event.patient_canonical, kind(thing.kind_id).aliases[split]]
    noun, other_noun = rng.sample(nouns, 2)
    named = place_name(place) if place else None
    return replace(
        event,
        rewritten=f"the {agent} {predicate(used, f'the {noun}', named)}",
        patient=noun,
        paraphrase=f"the {agent} {predicate(other, f'the {other_noun}', named)}",
    )


def _disturbance(
    rng: random.Random, families: Families, events: tuple[Event, ...], duration: float
) -> Disturbance:
    passers = []
    for event in events:
        if rng.random() < families.passing:
            side = rng.choice((-1, 1))
            start = max(0.0, event.seen_from - rng.uniform(0.3, 1.2))
            passers.append(
                Passer(
                    start,
                    event.seen_until + rng.uniform(0.3, 1.2),
                    side,
                    rng.uniform(0.05, 0.3),
                    rng.uniform(0.34, 0.6),
                    rng.choice(tuple(COLORS.values())),
                    rng.randrange(5),
                )
            )
    blurred = []
    at = rng.uniform(0, 20)
    while at < duration and families.unfocused > 0:
        length = rng.uniform(0.6, 2.4)
        blurred.append((round(at, 2), round(at + length, 2)))
        at += length / families.unfocused * rng.uniform(0.5, 1.5)
    return Disturbance(
        shake=families.shake * rng.uniform(0.4, 1.0),
        shutter=families.shutter,
        unfocused=tuple(blurred),
        passers=tuple(passers),
    )
