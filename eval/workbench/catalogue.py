"""Tables of the synthetic world: kinds of objects, actions, scenes and colours, in the wording of each split.

No two splits share a phrase; what they share are the names of objects and places, without which no
question could be asked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from pydantic import TypeAdapter


def read_data(name: str) -> dict[str, Any]:
    """The tables of `data/NAME.toml`, in the order written."""
    file = resources.files("eval.workbench").joinpath("data", f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


Split = Literal["dev", "test"]
SPLITS: tuple[Split, ...] = ("dev", "test")
WORDINGS = ("train", *SPLITS)
"""Those of the splits, and the one that the bundled encoder was trained on."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object that hands can use."""

    kind_id: str
    name: str
    """The noun of options and passages."""
    family: str
    """Kinds of one family look alike and stand in for each other as distractors."""
    scenes: tuple[str, ...]
    """Scenes where it is often seen; it may turn up in any other."""
    affords: frozenset[str]
    """What may be done with it beyond what can be done with anything: plug, tip, cut, open, tighten."""
    aliases: dict[str, str]
    """Another name in the wording of each split; no two splits share one."""


def with_article(noun: str) -> str:
    """ "an egg", "a scissors": the article by the first letter alone."""
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def _kinds() -> Iterator[Kind]:
    for family, rows in read_data("kinds").items():
        for name, row in rows.items():
            yield Kind(
                kind_id=name.replace(" ", "_"),
                name=name,
                family=family,
                scenes=tuple(row["scenes"]),
                affords=frozenset(row["affords"]),
                aliases=dict(zip(WORDINGS, row["aliases"], strict=True)),
            )


KINDS: tuple[Kind, ...] = tuple(_kinds())
_KIND_BY_ID = {found.kind_id: found for found in KINDS}


def kind(kind_id: str) -> Kind:
    """Raises `KeyError` for a kind the world does not have."""
    return _KIND_BY_ID[kind_id]


Slot = Literal["patient_location", "patient_destination", "instrument", "event_location"]


@dataclass(frozen=True, slots=True)
class Action:
    """What hands do with an object, at a place or with an instrument."""

    action_id: str
    verb: str
    slot: Slot | None
    """Which part of the event structure the place fills (EgoFact, C.2.1)."""
    places: tuple[str, ...]
    """Fixture ids; "person": the other person; none where the action needs no place."""
    affordance: str
    """What `Kind.affords` must hold; empty where anything will do."""
    phrases: dict[str, tuple[str, ...]]
    """Predicates with `{o}` for the object and `{p}` for the place. The first of `test` is the one
    that questions use, the second its paraphrase."""


def _phrases(row: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {wording: tuple(row[wording]) for wording in WORDINGS}


ACTIONS: tuple[Action, ...] = tuple(
    Action(
        action_id,
        row["verb"],
        row.get("slot"),
        tuple(row.get("places", ())),
        row.get("affordance", ""),
        _phrases(row),
    )
    for action_id, row in read_data("actions").items()
)
_ACTION_BY_ID = {found.action_id: found for found in ACTIONS}
_DECOR = read_data("decor")
COLORS = TypeAdapter(dict[str, tuple[int, int, int]]).validate_python(_DECOR["colors"])
PALETTE = TypeAdapter(tuple[tuple[int, int, int], ...]).validate_python(_DECOR["palette"])
"""Colours of the bodies and accents of objects."""
LIGHTS = ("warm", "cold", "neutral")
PROPS: tuple[str, ...] = tuple(_DECOR["props"])


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a clip takes place."""

    scene_id: str
    phrases: dict[str, tuple[str, ...]]
    """What goes on there, for "a video that shows ..."."""


SCENES: tuple[Scene, ...] = tuple(
    Scene(scene_id, _phrases(row)) for scene_id, row in read_data("scenes").items()
)
_SCENE_BY_ID = {found.scene_id: found for found in SCENES}


def action(action_id: str) -> Action:
    """Raises `KeyError` for an action the world does not have."""
    return _ACTION_BY_ID[action_id]


def scene(scene_id: str) -> Scene:
    """Raises `KeyError` for a scene the world does not have."""
    return _SCENE_BY_ID[scene_id]


def allows(what: Action, thing: Kind) -> bool:
    """Whether the action can be done with the thing."""
    return not what.affordance or what.affordance in thing.affords


def place_name(place: str) -> str:
    """The noun of a fixture id."""
    return place.replace("_", " ")


def prop_name(prop: str, color: str) -> str:
    """ "a red wall clock"."""
    return with_article(f"{color} {place_name(prop)}")


def predicate(phrase: str, thing: str, place: str | None) -> str:
    """A phrase with its object and place put in; an empty `thing` leaves the gap that a question asks for."""
    return tidy(phrase.format(o=thing, p=place or ""))


def tidy(text: str) -> str:
    """The text with single spaces and none around it."""
    return " ".join(text.split())
