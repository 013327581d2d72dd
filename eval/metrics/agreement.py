"""Agreement of a binary rule with the ground truth: counts, precision, recall and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eval.metrics.intervals import Estimate, cluster_interval


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of items by the verdict of a rule and by the truth."""

    both: int
    only_rule: int
    only_truth: int
    neither: int
    hits: tuple[tuple[float, str], ...] = ()
    """For each item, 1.0 where rule and truth are equal, and its cluster."""

    @property
    def n(self) -> int:
        """Number of pairs."""
        return sum(self.counts.values())

    @property
    def counts(self) -> dict[str, int]:
        """The four cells by name."""
        return {name: getattr(self, name) for name in ("both", "only_rule", "only_truth", "neither")}

    @property
    def share(self) -> Estimate | None:
        """The share of equal verdicts, its interval clustered; None without items."""
        return cluster_interval([hit for hit, _ in self.hits], [cluster for _, cluster in self.hits])

    @property
    def precision(self) -> float | None:
        """Share of positives of the rule that are true; None without positives."""
        called = self.both + self.only_rule
        return self.both / called if called else None

    @property
    def recall(self) -> float | None:
        """Share of true positives that the rule finds; None without any."""
        true = self.both + self.only_truth
        return self.both / true if true else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None where chance alone explains every verdict."""
        n = self.n
        if not n:
            return None
        agreed = (self.both + self.neither) / n
        rule, true = (self.both + self.only_rule) / n, (self.both + self.only_truth) / n
        chance = rule * true + (1 - rule) * (1 - true)
        return None if chance == 1 else (agreed - chance) / (1 - chance)


def agreement_of(items: Iterable[tuple[bool | None, bool | None, str]]) -> Agreement:
    """`items`: verdict of the rule, truth, cluster. Items without a verdict or truth are left out."""
    counts = {(rule, truth): 0 for rule in (True, False) for truth in (True, False)}
    hits = []
    for rule, truth, cluster in items:
        if rule is not None and truth is not None:
            counts[bool(rule), bool(truth)] += 1
            hits.append((float(bool(rule) == bool(truth)), cluster))
    return Agreement(
        counts[True, True], counts[True, False], counts[False, True], counts[False, False], tuple(hits)
    )
