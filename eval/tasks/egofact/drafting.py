"""From a candidate to a whole query: options, truth, shuffled order (EgoFact, C.2.4 and C.2.5)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.runs.records import LETTERS
from eval.tasks.egofact.candidates import Candidate
from eval.tasks.egofact.distractors import choose_distractors
from eval.tasks.egofact.objects import ObjectPrior
from eval.tasks.egofact.quality import quality_score
from eval.tasks.egofact.records import Query, Truth
from eval.tasks.egofact.settings import BuildSettings
from eval.tasks.egofact.statements import TWO_HOP_TRUTH, PassageShelf, choose_pairs
from eval.workbench.seeds import stable_number

if TYPE_CHECKING:
    from eval.tasks.egofact.vectors import CachedEncoder

ONE_HOP_TRUTH: tuple[Truth, ...] = (*("object-distractor",) * 5, "true")


@dataclass(frozen=True, slots=True)
class Drafter:
    """What all queries of a build are drafted with."""

    law: ObjectPrior
    shelf: PassageShelf
    encoder: CachedEncoder
    settings: BuildSettings
    seed: int
    aliases: Mapping[str, Sequence[str]]

    def draft(self, candidate: Candidate) -> Query | str:
        """The query; or, in a word, why there is none: `objects`, `quality` or `statements`."""
        seed = stable_number("egofact", self.seed, *candidate.key) % 2**31
        # Both hops of one question have the same objects, so that they differ in the second hop alone.
        objects_of = stable_number("objects", self.seed, *candidate.key[1:]) % 2**31
        names = choose_distractors(
            candidate, self.law, self.encoder, self.settings, random.Random(objects_of)
        )
        if names is None:
            return "objects"
        target = candidate.target
        right = target.patient_canonical
        score = quality_score(
            candidate.text, target, (*names, right), self.law, self.encoder, self.settings.object_similarity
        )
        if score < self.settings.quality:
            return "quality"
        if candidate.hops == 1:
            return _query(candidate, (*names, right), (None,) * 6, ONE_HOP_TRUTH, None, seed)
        pairs = choose_pairs(right, names, self.aliases, self.shelf, random.Random(f"statements {seed}"))
        if pairs is None:
            return "statements"
        options = tuple(text for pair in pairs for text in (pair.counterfact, pair.fact))
        passages = tuple(pair.passage.passage_id for pair in pairs for _ in range(2))
        return _query(candidate, options, passages, TWO_HOP_TRUTH, passages[-1], seed)


def shuffled_order(count: int, seed: int) -> tuple[int, ...]:
    """Where the option at each shuffled place stood before: Fisher-Yates by `random.Random(seed)`."""
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return tuple(order)


def _query(
    candidate: Candidate,
    options: Sequence[str],
    passages: Sequence[str | None],
    truth: Sequence[Truth],
    gold: str | None,
    seed: int,
) -> Query:
    order = shuffled_order(len(options), seed)
    return Query(
        query_id=f"{candidate.family}-{stable_number(seed, *candidate.key, candidate.text) % 16**10:010x}",
        text=candidate.text,
        options=tuple(options[at] for at in order),
        answer=LETTERS[order.index(len(options) - 1)],
        family=candidate.family,
        clip_id=candidate.segment.clip_id,
        window=candidate.target.window,
        seen=candidate.target.seen,
        anchor=candidate.anchor.window if candidate.anchor else None,
        position=candidate.position,
        passage=gold,
        option_passages=tuple(passages[at] for at in order),
        truth=tuple(truth[at] for at in order),
        order=order,
        seed=seed,
    )
