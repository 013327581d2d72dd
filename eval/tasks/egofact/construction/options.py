"""From a candidate to a whole query: distractors, statements, order (EgoFact, C.2.4, C.2.5).

Distractors are five objects beside the right one: in context, distinguishable by sight, no synonyms. In
context means: the clip uses them elsewhere, or they are in view; and the asked action fits them. The
order is used elsewhere, in view, then any that fit. A blind reader is at chance where, given question
and options, each option is as likely the right one; so distractors must follow the distribution of
answers: `ObjectPrior.weights` is that distribution (up to a constant) given the action, and
`keep_shares` thins out the objects of a clip's other events. No rule looks at the right object alone:
what is asked of one option is asked of every pair.

Two-hop options are three object-passage pairs, each with a counter-fact and a fact. Unshuffled, A and B
are about the first distractor, C and D about the second, E and F about the right object; A, C and E are
counter-facts, F is right. (The paper's C.2.5 speaks of 2 facts and 4 counter-facts with one right; three
of each is what section 2.2 and figure 5 say and show.) A counter-fact belongs to the very statement whose
fact is beside it, so that only the passage distinguishes them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from eval.runs.records import LETTERS
from eval.tasks.egofact.construction.questions import Candidate, names_object, option_text
from eval.tasks.egofact.construction.records import BuildSettings, EventStructure, FactPassage
from eval.tasks.egofact.records import Query, Truth
from eval.workbench.seeds import stable_number

if TYPE_CHECKING:
    from eval.tasks.egofact.construction.segments import CachedEncoder


@dataclass(frozen=True)
class ObjectPrior:
    """How likely an object is used in an event."""

    name: str
    by_action: Mapping[str, Mapping[str, float]]
    """Action to canonical name to weight; what does not fit is absent."""
    by_object: Mapping[str, float]
    """How often an object is used, whatever the action."""

    def weights(self, event: EventStructure) -> Mapping[str, float]:
        """Canonical name to how likely it is the object of the event's action."""
        return self.by_action.get(event.action, {})

    def used(self, name: str) -> float:
        """How often it is used, whatever the action; 0 for an unknown one."""
        return self.by_object.get(name, 0.0)


def workbench_prior() -> ObjectPrior:
    """The Workbench world samples evenly among the kinds that an action fits."""
    from eval.workbench.catalogue import ACTIONS, KINDS, allows

    fit = {what.verb: {found.name: 1.0 for found in KINDS if allows(what, found)} for what in ACTIONS}
    used: dict[str, float] = {}
    for names in fit.values():
        for name in names:
            used[name] = used.get(name, 0.0) + 1 / len(names)
    return ObjectPrior("workbench catalogue", fit, used)


def keep_shares(prior: ObjectPrior, weights: Mapping[str, float]) -> dict[str, float]:
    """Probability with which a used object of the clip may be a distractor.

    Objects used elsewhere in the clip follow the distribution of all actions together,
    under which objects that many actions fit are commoner. Kept in proportion to
    weight / used, they follow the distribution of answers.
    """
    ratio = {name: weight / max(prior.used(name), 1e-9) for name, weight in weights.items()}
    top = max((ratio[name] for name in ratio if prior.used(name) > 0), default=1.0)
    return {name: min(1.0, value / top) for name, value in ratio.items()}


def choose_distractors(
    candidate: Candidate,
    prior: ObjectPrior,
    encoder: CachedEncoder,
    settings: BuildSettings,
    rng: random.Random,
) -> tuple[str, ...] | None:
    """Canonical names, those of the clip first; None where too few objects fit."""
    answer = candidate.target.patient_canonical
    weights = {
        name: weight
        for name, weight in prior.weights(candidate.target).items()
        if not names_object(candidate.text, name)
    }
    for named in (candidate.anchor, *candidate.segment.described):
        weights.pop(named.patient_canonical if named else "", None)
    if answer not in weights:
        return None
    chosen: list[str] = []
    for name in _proposals(candidate, prior, weights, rng):
        if name == answer or name in chosen:
            continue
        if (encoder.similarity([name], [answer, *chosen]) < settings.object_similarity).all():
            chosen.append(name)
        if len(chosen) == settings.distractors:
            return tuple(chosen)
    return None


def _proposals(
    candidate: Candidate, prior: ObjectPrior, weights: dict[str, float], rng: random.Random
) -> Iterable[str]:
    target = candidate.target
    keep = keep_shares(prior, weights)
    elsewhere = sorted(
        {event.patient_canonical for event in candidate.segment.events if event is not target} & set(weights)
    )
    rng.shuffle(elsewhere)
    yield from [name for name in elsewhere if rng.random() < keep[name]]
    in_view = sorted((set(candidate.segment.clutter) & set(weights)) - set(elsewhere))
    rng.shuffle(in_view)
    yield from in_view
    left = sorted(set(weights) - set(elsewhere) - set(in_view))
    # In random order, the heavier the earlier (Efraimidis and Spirakis, 2006).
    keys = {name: rng.random() ** (1 / weights[name]) for name in left}
    yield from sorted(left, key=lambda name: (-keys[name], name))


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


class Passages(Protocol):
    """Passages with statements about objects."""

    def of(self, name: str) -> tuple[FactPassage, ...]:
        """Those about an object that are near enough to it."""
        ...

    def facts(self, name: str) -> frozenset[str]:
        """All true statements about an object, in lower case."""
        ...


class PassageIndex:
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
            texts = [
                text for passage in held for text in (passage.title or passage.text, opening(passage.text))
            ]
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


def opening(text: str) -> str:
    """The first sentence, which says what a passage is about."""
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def choose_pairs(
    right: str,
    distractors: Sequence[str],
    aliases: Mapping[str, Sequence[str]],
    passages: Passages,
    rng: random.Random,
) -> tuple[FactPair, FactPair, FactPair] | None:
    """First distractor, second distractor, right object; None where passages or statements do not suffice.

    `distractors`: in order of preference; one without a fit passage gives way to the next.
    `aliases`: other names by canonical name; no option may say any name of the three objects.
    """
    if not passages.of(right):
        return None
    named = [right, *islice((name for name in distractors if passages.of(name)), 2)]
    if len(named) < 3:
        return None
    secret = [name for known in named for name in (known, *aliases.get(known, ()))]
    pairs: list[FactPair] = []
    for name in named:
        foreign = frozenset().union(*(passages.facts(other) for other in named if other != name))
        taken = {pair.passage.activity for pair in pairs}
        fresh = [passage for passage in passages.of(name) if passage.activity not in taken]
        rng.shuffle(fresh)
        every = (pair for passage in fresh for pair in _pairs(passage, foreign, rng))
        pair = next((pair for pair in every if not _names_any(pair, secret)), None)
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


def _names_any(pair: FactPair, names: Sequence[str]) -> bool:
    return any(names_object(text, name) for text in (pair.fact, pair.counterfact) for name in names)


ONE_HOP_TRUTH: tuple[Truth, ...] = (*("object-distractor",) * 5, "true")


@dataclass(frozen=True)
class Drafter:
    """What all queries of a build are drafted with: distractors by rules."""

    prior: ObjectPrior
    passages: Passages
    encoder: CachedEncoder
    settings: BuildSettings
    seed: int
    aliases: Mapping[str, Sequence[str]]

    def draft(self, candidate: Candidate) -> Query | str:
        """The query; or, in a word, why there is none: `objects`, `quality` or `statements`."""
        seed = stable_number("egofact", self.seed, *candidate.key) % 2**31
        names = self.objects(candidate)
        if isinstance(names, str):
            return names
        right = candidate.target.patient_canonical
        if candidate.hops == 1:
            return _query(candidate, (*names, right), (None,) * 6, ONE_HOP_TRUTH, None, seed)
        pairs = choose_pairs(right, names, self.aliases, self.passages, random.Random(f"statements {seed}"))
        if pairs is None:
            return "statements"
        options = tuple(text for pair in pairs for text in (pair.counterfact, pair.fact))
        ids = tuple(pair.passage.passage_id for pair in pairs for _ in range(2))
        return _query(candidate, options, ids, TWO_HOP_TRUTH, ids[-1], seed)

    def objects(self, candidate: Candidate) -> tuple[str, ...] | str:
        """Five distractors, in order of preference; or, in a word, why there are none."""
        # Both hops of one question have the same objects, so that they differ in the second hop alone.
        objects_of = stable_number("objects", self.seed, *candidate.key[1:]) % 2**31
        names = choose_distractors(
            candidate, self.prior, self.encoder, self.settings, random.Random(objects_of)
        )
        return "objects" if names is None else names


def shuffled_order(count: int, seed: int) -> tuple[int, ...]:
    """The original index of the option at each shuffled place: Fisher-Yates by `random.Random(seed)`."""
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
