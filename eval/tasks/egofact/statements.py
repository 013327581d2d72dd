"""Two-hop options: three object-passage pairs, each with a counter-fact and a fact (EgoFact, section 2.2).

Unshuffled, A and B are about the first distractor, C and D about the second,
E and F about the right object; A, C and E are counter-facts, F is right. (The
paper's C.2.5 speaks of 2 facts and 4 counter-facts with one right; three of
each is what section 2.2 and figure 5 say and show.) A counter-fact belongs to
the very statement whose fact stands beside it, so that only the passage tells.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.tasks.egofact.records import FactPassage, Truth
from eval.tasks.egofact.settings import BuildSettings
from eval.tasks.egofact.templates import names_object, option_text

if TYPE_CHECKING:
    from eval.tasks.egofact.vectors import CachedEncoder

TWO_HOP_TRUTH: tuple[Truth, ...] = (
    "counterfact-distractor",
    "fact-distractor",
    "counterfact-distractor",
    "fact-distractor",
    "counterfact",
    "true",
)


@dataclass(frozen=True, slots=True)
class FactPair:
    """A fact of a passage and a counter-fact, as option texts."""

    passage: FactPassage
    fact: str
    """Whole option text."""
    counterfact: str


class PassageShelf:
    """The passages of each object that are near enough to it, by title or opening (C.2.5, step 1)."""

    def __init__(
        self, passages: Sequence[FactPassage], encoder: CachedEncoder, settings: BuildSettings
    ) -> None:
        self._encoder = encoder
        self._least = settings.passage_similarity
        self._by_object: dict[str, list[FactPassage]] = {}
        self._near: dict[str, tuple[FactPassage, ...]] = {}
        for passage in sorted(passages, key=lambda passage: passage.passage_id):
            if passage.object and passage.activity and passage.statements:
                self._by_object.setdefault(passage.object, []).append(passage)

    def of(self, name: str) -> tuple[FactPassage, ...]:
        """In the order of their ids."""
        if name not in self._near:
            held = self._by_object.get(name, [])
            texts = [text for passage in held for text in (passage.title or passage.text, _opening(passage))]
            best = self._encoder.similarity([name], texts).reshape(-1, 2).max(axis=1)
            self._near[name] = tuple(
                passage for passage, cosine in zip(held, best, strict=True) if cosine >= self._least
            )
        return self._near[name]

    def facts(self, name: str) -> frozenset[str]:
        """All that its passages say, in lower case."""
        return frozenset(
            one.fact.lower() for passage in self._by_object.get(name, []) for one in passage.statements
        )


def _opening(passage: FactPassage) -> str:
    """The first sentence, which says what a passage is about."""
    return re.split(r"(?<=[.!?])\s", passage.text.strip(), maxsplit=1)[0]


def choose_pairs(
    right: str,
    distractors: Sequence[str],
    aliases: Mapping[str, Sequence[str]],
    shelf: PassageShelf,
    rng: random.Random,
) -> tuple[FactPair, FactPair, FactPair] | None:
    """First distractor, second distractor, right object; None where passages or statements do not suffice.

    `distractors`: in order of preference; one without a fit passage gives way to the next.
    `aliases`: other names by canonical name; no option may say any name of the three objects.
    """
    if not shelf.of(right):
        return None
    named = [right, *(name for name in distractors if shelf.of(name))][:3]
    if len(named) < 3:
        return None
    secret = [name for known in named for name in (known, *aliases.get(known, ()))]
    pairs: list[FactPair] = []
    for name in named:
        foreign = frozenset().union(*(shelf.facts(other) for other in named if other != name))
        taken = {pair.passage.activity for pair in pairs}
        passages = [passage for passage in shelf.of(name) if passage.activity not in taken]
        rng.shuffle(passages)
        every = (pair for passage in passages for pair in _pairs(passage, foreign, rng))
        pair = next((pair for pair in every if not _says(pair, secret)), None)
        if pair is None:
            return None
        pairs.append(pair)
    return pairs[1], pairs[2], pairs[0]


def _pairs(passage: FactPassage, foreign: frozenset[str], rng: random.Random) -> Iterator[FactPair]:
    """Pairs of a passage; a fact that another of the objects shares would make two options right."""
    statements = [one for one in passage.statements if one.counterfacts]
    rng.shuffle(statements)
    for one in statements:
        wrong = rng.choice(one.counterfacts)
        if one.fact.lower() not in foreign:
            yield FactPair(
                passage, option_text(passage.activity, one.fact), option_text(passage.activity, wrong)
            )


def _says(pair: FactPair, names: Sequence[str]) -> bool:
    return any(names_object(text, name) for text in (pair.fact, pair.counterfact) for name in names)
