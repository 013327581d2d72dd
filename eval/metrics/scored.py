"""A sample beside its query with its retrieval scored, and the measures that read one field of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from eval.runs.records import Query, Sample


@dataclass(frozen=True, slots=True)
class Scored:
    """A sample beside its query, with what was derived from the two."""

    query: Query
    sample: Sample
    clip_found: bool | None
    """The gold clip is among the first retrieved; None where it is unknown, or the run retrieves no clips."""
    passage_found: bool | None
    """The gold passage is; None for one hop, and where the run retrieves no passages."""
    localizes: bool
    """The run finds windows in gold clips, so that a sample without one has missed it."""
    ranks_windows: bool
    """The run gives windows to the clips it retrieves."""


Measure = Callable[[Scored], float | None]
"""A measure of one sample; None where it does not apply, and then it counts nowhere."""


def sample_field(scored: Scored, name: str, default: Any = None) -> Any:
    """A field of the sample's evidence; `default` where it is missing."""
    return scored.sample.evidence.get(name, default)


def number(name: str) -> Measure:
    """A field of the evidence as a number, 1 where it is true; None where it is missing or None."""

    def measure(scored: Scored) -> float | None:
        value = sample_field(scored, name)
        return None if value is None else float(value)

    return measure


def restricted(measure: Measure, applies: Callable[[Scored], bool]) -> Measure:
    """The measure of the samples for which `applies` holds; None for the others."""
    return lambda scored: measure(scored) if applies(scored) else None


def tokens(scored: Scored) -> float:
    """All tokens of the query."""
    return float(sum(scored.sample.tokens.values()))


CLIPS_AT = 5
PASSAGES_AT = 6
"""EgoFact retrieves as many clips and passages (3.2 and D.2.3)."""


def score_samples(pairs: Sequence[tuple[Query, Sample]]) -> list[Scored]:
    """`pairs`: all samples of one run. Retrieval succeeds where the gold item is among the first k."""
    clips = any(sample.clips for _, sample in pairs)
    passages = any(sample.passages for _, sample in pairs)
    localizes = any(sample.gold_window_found is not None for _, sample in pairs)
    ranks = clips and any(sample.windows for _, sample in pairs)
    return [
        Scored(
            query,
            sample,
            _among(query.video, sample.clips, CLIPS_AT) if clips and query.video else None,
            _among(query.passage, ranked_passages(sample), PASSAGES_AT)
            if passages and query.passage is not None
            else None,
            localizes,
            ranks,
        )
        for query, sample in pairs
    ]


def _among(gold: str, found: Iterable[Sequence[Any]], k: int) -> bool:
    """`found`: ids with their scores, best first; an id that comes again does not count."""
    return gold in list(dict.fromkeys(one[0] for one in found))[:k]


def ranked_passages(sample: Sample) -> list[tuple[str, float]]:
    """Passages of all options in one ranking by score, equal scores by id."""
    return sorted(
        ((found.passage_id, found.score) for found in sample.passages), key=lambda each: (-each[1], each[0])
    )


def correct(scored: Scored) -> float | None:
    """Accuracy: whether the right option was chosen (EgoFact, 4.1); no answer is a wrong one.

    None for a sample that could not be judged.
    """
    return None if unscored_reason(scored) else float(scored.sample.correct)


def unscored_reason(scored: Scored) -> str:
    """Why the sample could not be judged; empty where it was judged."""
    return str(scored.sample.evidence.get("unjudged", ""))


def parse_failure(scored: Scored) -> float:
    """1 where a reply could not be read: a score that parsing alone lowers must show it."""
    return float(scored.sample.parse_failure)
