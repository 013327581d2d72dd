"""The quality score of a query, 0 to 10 (EgoFact, C.2.4), by rule where the paper asks a language model.

10, less 4 for options that are synonyms (similarity of the paper's "different
objects"), less 1 for each pair of options of the same last word (hard to tell
by sight from their names: "paint can", "oil can"), less 2 for each option
that the action does not fit (out of context), less 4 if the question says an
option's name (answered without watching). Every rule is about all six
options alike, so that none of them betrays the right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from eval.tasks.egofact.objects import ObjectPrior
from eval.tasks.egofact.records import EventStructure
from eval.tasks.egofact.templates import names_object

if TYPE_CHECKING:
    from eval.tasks.egofact.vectors import CachedEncoder


def quality_score(
    text: str,
    target: EventStructure,
    objects: Sequence[str],
    law: ObjectPrior,
    encoder: CachedEncoder,
    synonym: float,
) -> float:
    """`objects`: all six; `synonym`: cosine from which two names mean one thing."""
    cosines = encoder.similarity(list(objects), list(objects))
    pairs = list(combinations(range(len(objects)), 2))
    score = 10.0
    if any(cosines[one, other] >= synonym for one, other in pairs):
        score -= 4
    score -= sum(objects[one].split()[-1] == objects[other].split()[-1] for one, other in pairs)
    fit = law.weights(target)
    score -= 2 * sum(name not in fit for name in objects)
    if any(names_object(text, name) for name in objects):
        score -= 4
    return max(0.0, score)
