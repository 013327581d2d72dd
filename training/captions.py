"""Captions of the synthetic world in the wording of a split, their vectors, and banks of train captions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import CAMERA_WEARER
from eval.workbench.catalogue import (
    ACTIONS,
    COLORS,
    KINDS,
    LIGHTS,
    PROPS,
    SCENES,
    Kind,
    action,
    allows,
    place_name,
    predicate,
    prop_name,
    with_article,
)
from eval.workbench.story import Event
from indexers.bundled.encoder import SENTENCES, TextSpace
from indexers.digests import fingerprint
from indexers.models.lookup import find_weights
from indexers.settings import EncoderSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray


SHRINKAGE = 3.0
"""Of the whitening, in mean eigenvalues, chosen by text alone: it parts captions and costs no right one."""
IDLE_TEXTS = (
    "nothing is happening",
    "the hands are empty",
    "the camera wearer does nothing",
    "nothing is happening, the hands are empty",
    "nobody is doing anything",
)
NONE = len(KINDS)
"""The number of "no object in view"."""


@dataclass(frozen=True, slots=True)
class Act:
    """Who does what where: an event without its object."""

    agent: str
    action_id: str
    place: str | None


def _acts() -> tuple[Act, ...]:
    found = []
    for agent in (CAMERA_WEARER, "woman", "man"):
        for what in ACTIONS:
            places: tuple[str | None, ...] = what.places or (None,)
            if "person" in what.places:
                places = ("woman", "man") if agent == CAMERA_WEARER else (CAMERA_WEARER,)
            found += [Act(agent, what.action_id, place) for place in places]
    return tuple(found)


ACTS = _acts()
IDLE = len(ACTS)
"""The number of "nothing happens"."""
_ACT_NUMBER = {act: number for number, act in enumerate(ACTS)}
_KIND_NUMBER = {kind.kind_id: number for number, kind in enumerate(KINDS)}


def act_of(event: Event) -> int:
    """The number of the event's act in `ACTS`."""
    return _ACT_NUMBER[Act(event.agent, event.action_id, event.place)]


def kind_number(kind_id: str) -> int:
    """Index of the kind in `KINDS`."""
    return _KIND_NUMBER[kind_id]


def act_text(act: Act, phrase: str, thing: str = "something") -> str:
    """ "the camera wearer plugs something into the wall socket"."""
    return f"the {act.agent} {predicate(phrase, thing, place_name(act.place) if act.place else None)}"


def thing_text(thing: Kind, rng: random.Random) -> str:
    """ "a kettle", "the tea kettle": by name three times of four, else by its other name in training."""
    noun = thing.name if rng.random() < 0.75 else thing.aliases["train"]
    return f"the {noun}" if rng.random() < 0.5 else with_article(noun)


def full_text(act: Act, thing: Kind, rng: random.Random) -> str:
    """ "the camera wearer plugs the kettle in at the wall socket", in a phrase of the training split."""
    return act_text(act, rng.choice(action(act.action_id).phrases["train"]), thing_text(thing, rng))


def possible(act: Act, thing: Kind) -> bool:
    """Whether the act can be done with the thing."""
    return allows(action(act.action_id), thing)


def decor() -> list[tuple[str, str]]:
    """Every prop in every colour; a pair's place in the list is its number."""
    return [(prop, color) for prop in PROPS for color in COLORS]


def sentence_vectors(texts: Sequence[str], cache_folder: Path | None = None) -> NDArray[np.float32]:
    """Unit sentence vectors, float32 (n, 384); kept in the folder under a hash of the texts."""
    kept = cache_folder / f"{fingerprint({'texts': list(texts)})[:24]}.npy" if cache_folder else None
    if kept is not None and kept.is_file():
        return np.asarray(np.load(kept), np.float32)
    rows = _reader().encode(list(texts), batch_size=64, normalize_embeddings=True, show_progress_bar=False)
    vectors = np.asarray(rows, np.float32)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, vectors)
    return vectors


@cache
def _reader() -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(find_weights(SENTENCES, EncoderSettings())), device="cpu")


def text_space(cache_folder: Path | None = None) -> TextSpace:
    """The text space of the tower, from train wording alone: a mean taken off and a shrunk whitening."""
    rng = random.Random(0)
    texts = [*IDLE_TEXTS]
    for act in ACTS:
        for phrase in action(act.action_id).phrases["train"]:
            texts.append(act_text(act, phrase))
            fit = [kind for kind in KINDS if possible(act, kind)]
            texts += [act_text(act, phrase, thing_text(kind, rng)) for kind in rng.sample(fit, 3)]
    for kind in KINDS:
        texts += [
            with_article(kind.name),
            f"the {kind.name} in the hand",
            with_article(kind.aliases["train"]),
        ]
    for scene in SCENES:
        for _ in range(20):
            props = " and ".join(prop_name(*rng.choice(decor())) for _ in range(2))
            texts.append(
                f"a video that shows {rng.choice(scene.phrases['train'])} with {props} "
                f"in {rng.choice(LIGHTS)} light"
            )
    return whitening(sentence_vectors(texts, cache_folder), SHRINKAGE)


def whitening(vectors: NDArray[np.float32], shrinkage: float) -> TextSpace:
    """The space that whitens `vectors`, float32 (n, d): one raw sentence vector a row.

    `shrinkage`: how many times the mean eigenvalue is added to every eigenvalue.
    """
    mean = vectors.astype(np.float64).mean(axis=0)
    rest = vectors - mean
    values, axes = np.linalg.eigh(rest.T @ rest / len(rest))
    scale = 1 / np.sqrt(values + shrinkage * values.mean())
    matrix = (axes * (scale / scale.mean())) @ axes.T
    return TextSpace(mean.astype(np.float32), matrix.astype(np.float32))


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
        acts=vectors([_act_texts(wording, rng) for wording in range(9)]),
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


def _act_texts(wording: int, rng: random.Random) -> list[str]:
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
                written = [full_text(act, kind, rng) for _ in range(count)]
                for wording in range(places.shape[2]):
                    places[row, column, wording] = len(texts) + wording % count
                texts += written
    return texts, places
