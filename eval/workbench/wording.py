"""How the Workbench world is put into words: actions, places, scenes and looks, in the wording of each split.

No two splits share a phrase; what they share are the names of things and places, without which no
question could be asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eval.workbench.catalogue import Kind, Split, with_article

Slot = Literal["patient_location", "patient_destination", "instrument", "event_location"]


@dataclass(frozen=True, slots=True)
class Action:
    """What hands do with an object, at a place or with an instrument."""

    action_id: str
    verb: str
    slot: Slot | None
    """Which part of the event structure the place fills (EgoFact, C.2.1)."""
    places: tuple[str, ...]
    """Fixture ids; "person" stands for the other person; none where the action needs no place."""
    affordance: str
    """What `Kind.affords` must hold; empty where anything will do."""
    phrases: dict[Split, tuple[str, ...]]
    """Predicates with `{o}` for the object and `{p}` for the place. The first of `test` is the one
    that questions use, the second its paraphrase."""


def _actions(rows: str) -> tuple[Action, ...]:
    """Blocks of `id | verb | slot | places | affordance`, then a line of phrases for each split."""
    found = []
    lines = [line.strip() for line in rows.strip().splitlines() if line.strip()]
    for head, train, dev, test in zip(*(lines[i::4] for i in range(4)), strict=True):
        action_id, verb, slot, places, affordance = (cell.strip() for cell in head.split("|"))
        phrases: dict[Split, tuple[str, ...]] = {
            "train": tuple(train.split("; ")),
            "dev": tuple(dev.split("; ")),
            "test": tuple(test.split("; ")),
        }
        found.append(
            Action(action_id, verb, _slot(slot), tuple(places.split()), affordance, phrases),
        )
    return tuple(found)


def _slot(name: str) -> Slot | None:
    slots: dict[str, Slot | None] = {
        "location": "patient_location",
        "destination": "patient_destination",
        "instrument": "instrument",
        "at": "event_location",
        "": None,
    }
    return slots[name]


ACTIONS: tuple[Action, ...] = _actions(
    """
    pick_up | pick up | location | shelf drawer tray chair doormat box basket windowsill stool suitcase |
      picks up {o} from the {p}; takes {o} from the {p}; grabs {o} off the {p}; gets {o} from the {p}
      lifts {o} off the {p}; fetches {o} from the {p}
      picks {o} from the {p}; collects {o} off the {p}
    place | place | destination | shelf drawer tray chair doormat box basket windowsill stool suitcase |
      puts {o} down on the {p}; sets {o} on the {p}; lays {o} on the {p}; puts {o} onto the {p}
      sets {o} down upon the {p}; leaves {o} on the {p}
      places {o} onto the {p}; deposits {o} on the {p}
    plug | plug | destination | wall_socket extension_cord | plug
      plugs {o} in at the {p}; connects {o} to the {p}; puts the plug of {o} into the {p}
      hooks {o} up to the {p}; joins {o} to the {p}
      plugs {o} into the {p}; powers {o} from the {p}
    tip | tip over | destination | bowl sink pot | tip
      pours from {o} into the {p}; empties {o} into the {p}; tilts {o} over the {p}
      spills from {o} into the {p}; drains {o} into the {p}
      tips {o} over the {p}; decants {o} into the {p}
    wipe | wipe | instrument | cloth paper_towel |
      cleans {o} with the {p}; rubs {o} with the {p}; polishes {o} with the {p}
      mops {o} with the {p}; scrubs {o} using the {p}
      wipes {o} with the {p}; wipes {o} down using the {p}
    tighten | tighten | instrument | wrench hex_key | tighten
      screws {o} tight with the {p}; fastens {o} with the {p}; turns a bolt of {o} with the {p}
      secures {o} with the {p}; bolts {o} using the {p}
      tightens {o} with the {p}; makes {o} firm using the {p}
    cut | cut | instrument | kitchen_knife box_cutter | cut
      slices {o} with the {p}; cuts through {o} with the {p}; chops {o} with the {p}
      carves {o} with the {p}; slits {o} using the {p}
      cuts {o} with the {p}; cuts {o} up using the {p}
    hand_over | hand over | destination | person |
      hands {o} to the {p}; gives {o} to the {p}; passes {o} to the {p}
      offers {o} to the {p}; delivers {o} to the {p}
      hands {o} over to the {p}; passes {o} across to the {p}
    open | open | | | open
      opens up {o}; pulls {o} open; takes {o} apart with both hands
      pries {o} open; unfolds {o}
      opens {o}; opens {o} with both hands
    paint | paint | instrument | paintbrush paint_roller |
      paints {o} using the {p}; colours {o} with the {p}; puts paint on {o} with the {p}
      coats {o} with the {p}; covers {o} in paint with the {p}
      paints {o} with the {p}; brushes colour onto {o} with the {p}
    rinse | rinse | at | tap hose |
      washes {o} under the {p}; holds {o} under the water of the {p}; cleans {o} with water from the {p}
      soaks {o} under the {p}; wets {o} with the {p}
      rinses {o} under the {p}; rinses {o} off at the {p}
    hang | hang | destination | hook clothes_line |
      hangs {o} up on the {p}; suspends {o} from the {p}; puts {o} up on the {p}
      dangles {o} from the {p}; clips {o} to the {p}
      hangs {o} on the {p}; hangs {o} from the {p}
    drop | drop | destination | bin |
      throws {o} into the {p}; tosses {o} into the {p}; drops {o} in the {p}
      chucks {o} into the {p}; discards {o} into the {p}
      drops {o} into the {p}; lets {o} fall into the {p}
    measure | measure | instrument | ruler caliper |
      measures {o} using the {p}; takes the size of {o} with the {p}; checks the length of {o} with the {p}
      gauges {o} with the {p}; sizes {o} up with the {p}
      measures {o} with the {p}; takes a measurement of {o} with the {p}
    weigh | weigh | instrument | scale |
      weighs {o} using the {p}; checks the weight of {o} on the {p}; finds out how heavy {o} is on the {p}
      puts {o} to be weighed on the {p}; reads the weight of {o} off the {p}
      weighs {o} on the {p}; takes the weight of {o} with the {p}
    spray | spray | instrument | spray_bottle |
      sprays {o} using the {p}; mists {o} with the {p}; squirts {o} with the {p}
      moistens {o} with the {p}; spritzes {o} with the {p}
      sprays {o} with the {p}; sprays mist at {o} with the {p}
    wrap | wrap | instrument | foil wrapping_paper |
      wraps {o} up in the {p}; packs {o} in the {p}; covers {o} with the {p}
      rolls {o} up in the {p}; bundles {o} in the {p}
      wraps {o} in the {p}; wraps {o} with the {p}
    dust | dust | instrument | duster vacuum |
      dusts {o} using the {p}; removes dust from {o} with the {p}; brushes dust off {o} with the {p}
      sweeps {o} with the {p}; clears the dust off {o} using the {p}
      dusts {o} with the {p}; takes the dust off {o} with the {p}
    photograph | photograph | instrument | camera |
      photographs {o} using the {p}; takes a picture of {o} with the {p}; shoots a photo of {o} with the {p}
      captures {o} with the {p}; snaps {o} with the {p}
      photographs {o} with the {p}; takes a photograph of {o} using the {p}
    """
)
_BY_ID = {found.action_id: found for found in ACTIONS}
COLORS: dict[str, tuple[int, int, int]] = {
    "red": (206, 44, 40),
    "orange": (236, 132, 28),
    "yellow": (240, 212, 50),
    "green": (48, 150, 66),
    "blue": (40, 92, 200),
    "purple": (136, 60, 168),
    "white": (240, 240, 236),
    "black": (34, 34, 38),
}
LIGHTS = ("warm", "cold", "neutral")
PROPS: tuple[str, ...] = (
    "wall_clock",
    "poster",
    "potted_fern",
    "window",
    "globe",
    "radio",
    "fan",
    "aquarium",
    "floor_lamp",
    "calendar",
    "guitar",
    "trophy",
    "coat_rack",
    "bird_cage",
    "fire_extinguisher",
    "toolbox",
    "ladder",
    "cactus",
    "balloon",
    "flag",
    "crate",
    "mask",
    "barrel",
    "kite",
)


@dataclass(frozen=True, slots=True)
class Scene:
    scene_id: str
    phrases: dict[Split, tuple[str, ...]]
    """What goes on there, for "a video that shows ..."."""


def _scenes(rows: str) -> tuple[Scene, ...]:
    """Blocks of an id, then a line of phrases for train, dev and test."""
    found = []
    lines = [line.strip() for line in rows.strip().splitlines()]
    for scene_id, train, dev, test in zip(*(lines[i::4] for i in range(4)), strict=True):
        phrases: dict[Split, tuple[str, ...]] = {
            "train": tuple(train.split("; ")),
            "dev": tuple(dev.split("; ")),
            "test": tuple(test.split("; ")),
        }
        found.append(Scene(scene_id, phrases))
    return tuple(found)


SCENES: tuple[Scene, ...] = _scenes(
    """
    garage
      fixing things in a garage; mechanical work at a garage bench; a person busy in a garage workshop
      repairs in a garage
      repair work at a garage bench; handiwork in the garage
    shed
      sorting tools in a shed; a person busy in a wooden shed; work inside a garden shed
      clearing out a shed
      tidying up a tool shed; putting a wooden shed in order
    kitchen
      cooking in a kitchen; making a meal at the kitchen counter; a person busy in a kitchen
      kitchen work
      preparing food at a kitchen counter; getting dinner ready in the kitchen
    living
      cleaning a living room; a person busy on a living room carpet; putting a living room in order
      chores in a living room
      tidying up on a living room floor; housework in the lounge
    bedroom
      cleaning a bedroom; a person busy beside a bed; putting a bedroom in order
      chores in a bedroom
      sorting belongings in a bedroom; clearing up beside a bed
    desk
      office work at a desk; a person busy at an office desk; working in a study
      desk work
      doing paperwork at a desk; working in an office
    bathroom
      cleaning a bathroom; a person busy in a tiled bathroom; getting ready in a bathroom
      chores in a bathroom
      washing up in a bathroom; tidying a tiled bathroom
    garden
      gardening outside; a person busy on a lawn; yard work in a garden
      garden chores
      working outdoors in a back garden; yard work on the grass
    """
)
_SCENE_BY_ID = {found.scene_id: found for found in SCENES}


def action(action_id: str) -> Action:
    return _BY_ID[action_id]


def scene(scene_id: str) -> Scene:
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
    return " ".join(text.split())
