"""How a thing is spoken of, and what it cannot be subjected to."""

from __future__ import annotations

import re
from dataclasses import dataclass

from eval.workbench.catalogue import (
    KINDS,
    PLURAL,
    Kind,
    indefinite,
)

_TAGS = {
    "F": "egg, bread loaf, banana, carrot, tomato, pineapple, milk carton",
    "L": (
        "paint can, oil can, glue bottle, shampoo bottle, milk carton, baby bottle, watering can, bucket, "
        "kettle, saucepan, vase, mug, wine glass, candle, flower pot, soap bar, fountain pen, blender, "
        "rowing boat"
    ),
    "E": (
        "power drill, soldering iron, flashlight, kettle, toaster, remote control, game controller, laptop, "
        "computer mouse, phone, headphones, desk lamp, calculator, hair dryer, sewing machine, chandelier, "
        "blender"
    ),
    "P": "book, envelope, toilet roll, milk carton, sponge, hairbrush, toothbrush, bread loaf, egg",
    "R": "ball, egg, tomato, cushion, sponge, garden glove, towel, envelope, accordion, hammock",
    "B": (
        "egg, wine glass, mirror, vase, plate, mug, picture frame, chandelier, violin, microscope, telescope"
    ),
}
"""Food, holder of liquids, electric, hurt by rubbing, without a side to lean on, breakable."""
_KINDS = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Thing:
    name: str
    kind: Kind | None
    """None: the world does not have it."""
    tags: frozenset[str]
    telltale: frozenset[str]
    """Words that would give it away: those of its name, its other names, and its family."""

    @property
    def indefinite(self) -> str:
        return indefinite(self.name)

    @property
    def pronoun(self) -> str:
        return "them" if self.name in PLURAL else "it"


def thing(name: str) -> Thing:
    kind = _KINDS.get(name)
    names = [name, *(kind.aliases.values() if kind else ()), kind.family if kind else ""]
    words = {word for text in names for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 2}
    tags = frozenset(tag for tag, things in _TAGS.items() if name in things.split(", "))
    return Thing(name, kind, tags, frozenset(words - {"and", "for", "the", "with"}))
