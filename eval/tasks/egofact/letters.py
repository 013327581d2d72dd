"""Which options are chosen, by their letters in the paper's order (EgoFact, figure 5).

In that order A, C and E of a two-hop query are counter-facts and B, D and F
facts, F the right one; options are shown shuffled, so a liking for a position
does not show here. Counted over two-hop queries whose gold passage was
retrieved: a reader that understands passages favours B, D and F.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.metrics.intervals import Estimate, cluster_interval
from eval.metrics.scored import Scored

LETTERS = "ABCDEF"
"""Before shuffling; F is the right option (section 2.2)."""
FACTS = frozenset("BDF")


def chose_fact(scored: Scored) -> float | None:
    """1 where B, D or F was chosen; None where it does not count. No answer is no fact."""
    return float(scored.sample.unshuffled_choice in FACTS) if scored.passage_found else None


def letter_shares(samples: Sequence[Scored]) -> dict[str, Estimate | None]:
    """Share of each letter; they sum to 1 less the share without an answer."""
    counted = [scored for scored in samples if scored.passage_found]
    clusters = [scored.query.cluster for scored in counted]
    return {
        letter: cluster_interval(
            [float(scored.sample.unshuffled_choice == letter) for scored in counted], clusters
        )
        for letter in LETTERS
    }
