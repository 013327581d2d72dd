"""EgoFact's own measures: the letters of the paper's order, and who judged understanding.

`report.toml` has the tables, the figures and what the paper printed: on Ego4D clips, with GPT-4o-mini,
ImageBind and MetaCLIP, on queries that are not public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.metrics.intervals import Estimate
from eval.metrics.localization import event_shown, judged
from eval.metrics.scored import Measure, Scored, sample_field
from eval.metrics.tables import estimate
from eval.reports.described import load_report
from eval.reports.spec import Section

LETTERS = "ABCDEF"
"""Before shuffling; F is the right option (section 2.2)."""
FACTS = "BDF"


def chose(letters: str) -> Measure:
    """1 where one of `letters` was chosen, in the paper's order.

    There A, C and E of a two-hop query are counter-facts, and B, D and F facts. Counted over two-hop queries
    whose gold passage was retrieved; no answer is none of the letters. Options are shown shuffled, so that a
    liking for a position does not show here.
    """
    return lambda scored: (
        float((scored.sample.unshuffled_choice or "-") in letters) if scored.passage_found else None
    )


chose_fact = chose(FACTS)


def letter_shares(samples: Sequence[Scored]) -> dict[str, Estimate | None]:
    """Share of each letter (figure 5); they sum to 1 less no answer."""
    return {letter: estimate(chose(letter), samples) for letter in LETTERS}


def _judges(section: Section) -> Mapping[str, str]:
    """Who judged understanding, and on what."""
    models = {sample_field(each, "understood_by", "") for row in section.rows for each in row.samples}
    lines = [
        f"{model} holds the caption that the answer was read off for enough to answer (D.1)."
        for model in sorted(models - {""})
    ]
    return {"judges": " ".join(lines) or "by no model in these runs."}


MEASURES: Mapping[str, Measure] = {
    "judged": judged,
    "event shown": event_shown,
    **{letter: chose(letter) for letter in LETTERS},
    "facts (B, D, F)": chose_fact,
}
REPORT = load_report("eval.tasks.egofact", MEASURES, facts=_judges)
