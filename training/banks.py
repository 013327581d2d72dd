"""Banks of caption vectors that image vectors are compared with, in train wording."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eval.workbench.catalogue import KINDS, with_article
from eval.workbench.wording import LIGHTS, SCENES, action, prop_name
from training.captions import ACTS, IDLE_TEXTS, act_text, decor, full_text, possible, sentence_vectors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from indexers.bundled.encoder import TextSpace

__all__ = ["Banks", "read_banks"]

FULL_WORDINGS = {"camera wearer": 3, "woman": 1, "man": 1}


@dataclass(frozen=True, slots=True)
class Banks:
    """Unit rows of the text space, float32 (wordings, n, 384) each."""

    objects: NDArray[np.float32]
    acts: NDArray[np.float32]
    """The acts, then idle."""
    scenes: NDArray[np.float32]
    lights: NDArray[np.float32]
    props: NDArray[np.float32]
    full: NDArray[np.float32]
    """(captions, 384)"""
    full_at: NDArray[np.int64]
    """(acts, kinds, wordings): rows of `full`; -1 where the act cannot be done with the kind"""

    def prototypes(self) -> dict[str, NDArray[np.float32]]:
        """The mean of all wordings, unit rows."""
        found = {}
        for name in ("objects", "acts", "scenes", "lights", "props"):
            mean = getattr(self, name).mean(axis=0)
            found[name] = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
        return found


def read_banks(space: TextSpace, cache_folder: Path | None, seed: int) -> Banks:
    """Every caption of the banks through the sentence encoder; minutes the first time."""
    rng = random.Random(seed)

    def vectors(wordings: list[list[str]]) -> NDArray[np.float32]:
        rows = space(sentence_vectors([text for wording in wordings for text in wording], cache_folder))
        return rows.reshape(len(wordings), len(wordings[0]), -1)

    texts, places = _full(rng)
    return Banks(
        objects=vectors([[form(kind) for kind in KINDS] for form in _THINGS]),
        acts=vectors([_acts(wording, rng) for wording in range(9)]),
        scenes=vectors([[_shown(scene.phrases["train"][i]) for scene in SCENES] for i in range(3)]),
        lights=vectors([[form.format(light) for light in LIGHTS] for form in _LIGHTS]),
        props=vectors([[form.format(prop_name(*pair)) for pair in decor()] for form in _PROPS]),
        full=space(sentence_vectors(texts, cache_folder)),
        full_at=places,
    )


_THINGS = (
    lambda kind: with_article(kind.name),
    lambda kind: f"the {kind.name}",
    lambda kind: f"the {kind.name} in the hand",
    lambda kind: f"the camera wearer holds {with_article(kind.name)}",
    lambda kind: with_article(kind.aliases["train"]),
    lambda kind: f"the {kind.aliases['train']} in the hand",
)
_PROPS = ("{}", "a video that shows {}", "a room with {}")
_LIGHTS = ("{} light", "a video in {} light", "a picture in {} light")


def _shown(phrase: str) -> str:
    return f"a video that shows {phrase}"


def _acts(wording: int, rng: random.Random) -> list[str]:
    things = ("something", "an object", "a thing")
    texts = []
    for act in ACTS:
        phrases = action(act.action_id).phrases["train"]
        texts.append(act_text(act, phrases[wording % len(phrases)], things[wording % 3]))
    return [*texts, rng.choice(IDLE_TEXTS) if wording else IDLE_TEXTS[0]]


def _full(rng: random.Random) -> tuple[list[str], NDArray[np.int64]]:
    texts: list[str] = []
    places = np.full((len(ACTS), len(KINDS), max(FULL_WORDINGS.values())), -1, np.int64)
    for row, act in enumerate(ACTS):
        for column, kind in enumerate(KINDS):
            if possible(act, kind):
                count = FULL_WORDINGS[act.agent]
                written = [full_text(act, kind, "train", rng) for _ in range(count)]
                for wording in range(places.shape[2]):
                    places[row, column, wording] = len(texts) + wording % count
                texts += written
    return texts, places
