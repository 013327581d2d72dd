"""The kinds of objects in the synthetic world: names, scenes, and what can be done with each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from eval.workbench.data_files import read_data

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


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
    aliases: dict[Split, str]
    """Another name in the wording of each split; no two splits share one."""


PLURAL = frozenset({"pliers", "pruning shears", "scissors", "headphones"})


def with_article(noun: str) -> str:
    """ "an egg", "a scissors": the article by the first letter alone."""
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def indefinite(noun: str) -> str:
    """The noun with its article if it has one: "an egg", "scissors".

    Videos, their text and the training data of the encoder use `with_article`, so that their bytes stay.
    """
    return noun if noun in PLURAL else with_article(noun)


def _kinds() -> Iterator[Kind]:
    for family, rows in read_data("kinds").items():
        for name, row in rows.items():
            yield Kind(
                kind_id=name.replace(" ", "_"),
                name=name,
                family=family,
                scenes=tuple(row["scenes"]),
                affords=frozenset(row["affords"]),
                aliases=dict(zip(SPLITS, row["aliases"], strict=True)),
            )


KINDS: tuple[Kind, ...] = tuple(_kinds())
_BY_ID = {found.kind_id: found for found in KINDS}


def kind(kind_id: str) -> Kind:
    """Raises `KeyError` for a kind the world does not have."""
    return _BY_ID[kind_id]
