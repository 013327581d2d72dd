"""Two-hop options: three object-passage pairs, each with a counter-fact and a fact (EgoFact, section 2.2).

Unshuffled, A and B are about the first distractor, C and D about the second,
E and F about the right object; A, C and E are counter-facts, F is right. (The
paper's C.2.5 speaks of 2 facts and 4 counter-facts with one right; three of
each is what section 2.2 and figure 5 say and show.) A counter-fact belongs to
the very statement whose fact stands beside it, so that only the passage tells.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.benchmarks.egofact.records import FactPassage, Statement, Truth
from eval.benchmarks.egofact.settings import BuildSettings
from eval.benchmarks.egofact.templates import names_object, option_text

if TYPE_CHECKING:
    from eval.benchmarks.egofact.vectors import CachedEncoder

__all__ = ["TWO_HOP_TRUTH", "FactPair", "PassageShelf", "choose_pairs"]

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
    passage: FactPassage
    fact: str
    """Whole option text."""
    counterfact: str


class PassageShelf:
    """The passages of each object that are near enough to it (C.2.5, step 1)."""

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
            cosines = self._encoder.similarity([name], [f"{p.title}. {p.text}" for p in held])[0:1]
            self._near[name] = tuple(
                p for p, cosine in zip(held, cosines.ravel(), strict=True) if cosine >= self._least
            )
        return self._near[name]


def choose_pairs(
    right: str,
    distractors: Sequence[str],
    aliases: Mapping[str, Sequence[str]],
    shelf: PassageShelf,
    encoder: CachedEncoder,
    settings: BuildSettings,
    rng: random.Random,
) -> tuple[FactPair, FactPair, FactPair] | None:
    """First distractor, second distractor, right object; None where passages or statements do not suffice.

    `distractors`: in order of preference; one without a fit passage gives way to the next.
    `aliases`: other names by canonical name; no option may say any name of the three objects.
    """
    named = [right, *(name for name in distractors if shelf.of(name))][:3]
    if len(named) < 3 or not shelf.of(right):
        return None
    secret = [name for known in named for name in (known, *aliases.get(known, ()))]
    pairs: list[FactPair] = []
    for name in named:
        pair = next(_pairs(name, pairs, secret, shelf, encoder, settings, rng), None)
        if pair is None:
            return None
        pairs.append(pair)
    return pairs[1], pairs[2], pairs[0]


def _pairs(
    name: str,
    beside: Sequence[FactPair],
    secret: Sequence[str],
    shelf: PassageShelf,
    encoder: CachedEncoder,
    settings: BuildSettings,
    rng: random.Random,
) -> Iterator[FactPair]:
    passages = list(shelf.of(name))
    rng.shuffle(passages)
    for passage in passages:
        if any(passage.activity == other.passage.activity for other in beside):
            continue
        for pair in _told(passage, rng):
            texts = (pair.fact, pair.counterfact)
            if any(names_object(text, word) for text in texts for word in secret):
                continue
            facts = [other.fact for other in beside]
            if not facts or (encoder.similarity([pair.fact], facts) < settings.object_similarity).all():
                yield pair


def _told(passage: FactPassage, rng: random.Random) -> Iterator[FactPair]:
    statements: list[Statement] = [told for told in passage.statements if told.counterfacts]
    rng.shuffle(statements)
    for told in statements:
        wrong = rng.choice(told.counterfacts)
        yield FactPair(
            passage, option_text(passage.activity, told.fact), option_text(passage.activity, wrong)
        )
