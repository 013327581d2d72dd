"""Five objects beside the right one (EgoFact, C.2.4): in context, told apart by sight, no synonyms.

In context means: the clip uses them elsewhere, or they lie in view; and the
asked action fits them. The order is used elsewhere, in view, then any that
fit, and `objects` says how the first two are thinned so that, question and
options given, the right one is as likely as any other. No rule looks at the
right object alone: what is asked of one option is asked of every pair.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from eval.tasks.egofact.candidates import Candidate
from eval.tasks.egofact.objects import ObjectPrior, kept
from eval.tasks.egofact.settings import BuildSettings
from eval.tasks.egofact.templates import names_object

if TYPE_CHECKING:
    from eval.tasks.egofact.vectors import CachedEncoder


def choose_distractors(
    candidate: Candidate,
    law: ObjectPrior,
    encoder: CachedEncoder,
    settings: BuildSettings,
    rng: random.Random,
) -> tuple[str, ...] | None:
    """Canonical names, those of the clip first; None where too few objects fit."""
    answer = candidate.target.patient_canonical
    weights = {
        name: weight
        for name, weight in law.weights(candidate.target).items()
        if not names_object(candidate.text, name)
    }
    anchor = candidate.anchor.patient_canonical if candidate.anchor else ""
    weights.pop(anchor, None)
    if answer not in weights:
        return None
    chosen: list[str] = []
    for name in _proposals(candidate, law, weights, rng):
        if name == answer or name in chosen:
            continue
        if _distinct(name, [answer, *chosen], encoder, settings.object_similarity):
            chosen.append(name)
        if len(chosen) == settings.distractors:
            return tuple(chosen)
    return None


def _proposals(
    candidate: Candidate, law: ObjectPrior, weights: dict[str, float], rng: random.Random
) -> Iterable[str]:
    target = candidate.target
    keep = kept(law, weights)
    elsewhere = sorted(
        {event.patient_canonical for event in candidate.segment.events if event is not target} & set(weights)
    )
    rng.shuffle(elsewhere)
    yield from [name for name in elsewhere if rng.random() < keep[name]]
    in_view = sorted((set(candidate.segment.clutter) & set(weights)) - set(elsewhere))
    rng.shuffle(in_view)
    yield from in_view
    left = sorted(set(weights) - set(elsewhere) - set(in_view))
    yield from _drawn(left, [weights[name] for name in left], rng)


def _drawn(names: Sequence[str], weights: Sequence[float], rng: random.Random) -> list[str]:
    """All names in random order, the heavier the earlier (Efraimidis and Spirakis, 2006)."""
    keys = {name: rng.random() ** (1 / weight) for name, weight in zip(names, weights, strict=True)}
    return sorted(names, key=lambda name: (-keys[name], name))


def _distinct(name: str, others: Sequence[str], encoder: CachedEncoder, limit: float) -> bool:
    return bool((encoder.similarity([name], list(others)) < limit).all())
