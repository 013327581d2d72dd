"""The construction in memory (EgoFact, appendix C): clips and passages in, checked queries and counts out.

Each query is checked (section 2.2) by the model, which answers it from the texts it is given, or from
none. A query is valid if, given the gold event and the gold passage, it is
answered right; it is non-trivial if, given question and options alone, it is not. Whether it is
ambiguous, `questions` decides.

The final choice has as many clips, and as many queries of each family, as the shape says (table 1).
Every chosen clip gets a query first; then the families are filled one query a
clip and round, events not yet asked for first. Checks are made only of
queries whose turn has come, in an order that is independent of their answers:
so what was looked at before the non-triviality filter is a fair sample.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.tasks.egofact.construction.options import Drafter
from eval.tasks.egofact.construction.questions import Candidate, Rivals, candidates_of
from eval.tasks.egofact.construction.records import BuildSettings, Segment, Shape
from eval.tasks.egofact.construction.segments import cluster_count, representatives, segment_vectors
from eval.tasks.egofact.records import FAMILIES, Family, Query

if TYPE_CHECKING:
    from eval.tasks.egofact.construction.segments import CachedEncoder


@dataclass(frozen=True, slots=True)
class Selection:
    """The queries and clips that were chosen."""

    queries: tuple[Query, ...]
    clip_ids: frozenset[str]
    shortfalls: tuple[str, ...]
    """What the corpus could not fill, one line each."""


def select(
    candidates: Sequence[Candidate], shape: Shape, accept: Callable[[Candidate], Query | None], seed: int
) -> Selection:
    """`accept` makes and checks a query, or gives None; it is asked at most once for each candidate."""
    turns = _Turns(candidates, accept, seed)
    need = {family: shape.of(family) for family in FAMILIES}
    chosen: list[str] = []
    for clip_id in turns.clip_ids:
        if len(chosen) == shape.clips:
            break
        wanted = sorted(need, key=lambda family: (-need[family] / max(1, shape.of(family)), family))
        for family in wanted:
            if need[family] > 0 and turns.take(clip_id, family):
                need[family] -= 1
                chosen.append(clip_id)
                break
    for family in FAMILIES:
        while need[family] > 0:
            before = need[family]
            for clip_id in sorted(chosen, key=turns.load):
                if need[family] > 0 and turns.take(clip_id, family):
                    need[family] -= 1
            if need[family] == before:
                break
    short = [
        f"{family}: {shape.of(family) - missing} of {shape.of(family)} queries; the corpus has no more"
        for family, missing in need.items()
        if missing
    ]
    if len(chosen) < shape.clips:
        short.insert(0, f"clips: {len(chosen)} of {shape.clips}; the corpus has no more with a good query")
    taken = sorted(turns.taken, key=lambda query: (query.clip_id, query.window, query.family, query.query_id))
    return Selection(tuple(taken), frozenset(chosen), tuple(short))


class _Turns:
    """The candidates of each clip and family in their seeded order, each looked at once."""

    def __init__(
        self, candidates: Sequence[Candidate], accept: Callable[[Candidate], Query | None], seed: int
    ) -> None:
        rng = random.Random(f"egofact selection {seed}")
        self._accept = accept
        self._waiting: dict[tuple[str, Family], list[Candidate]] = {}
        for candidate in sorted(candidates, key=lambda candidate: candidate.key):
            self._waiting.setdefault((candidate.segment.clip_id, candidate.family), []).append(candidate)
        for group in self._waiting.values():
            rng.shuffle(group)
        self.clip_ids = sorted({clip_id for clip_id, _ in self._waiting})
        rng.shuffle(self.clip_ids)
        self._rank = {clip_id: at for at, clip_id in enumerate(self.clip_ids)}
        self._asked: set[tuple[str, float]] = set()
        self._load: dict[str, int] = {}
        self.taken: list[Query] = []

    def load(self, clip_id: str) -> tuple[int, int]:
        """How many queries the clip has, then its place in the seeded order."""
        return self._load.get(clip_id, 0), self._rank[clip_id]

    def take(self, clip_id: str, family: Family) -> bool:
        """Whether the clip had one more good query of the family; it is taken."""
        waiting = self._waiting.get((clip_id, family), [])
        waiting.sort(key=lambda candidate: (clip_id, candidate.target.start) in self._asked)
        while waiting:
            candidate = waiting.pop(0)
            query = self._accept(candidate)
            if query is not None:
                self._asked.add((clip_id, candidate.target.start))
                self._load[clip_id] = self._load.get(clip_id, 0) + 1
                self.taken.append(query)
                return True
        return False


@dataclass(frozen=True, slots=True)
class Plan:
    """What a benchmark consists of, and how it was chosen."""

    segments: tuple[Segment, ...]
    """The clips of the benchmark."""
    queries: tuple[Query, ...]
    counts: Mapping[str, Mapping[str, int]]
    """Step to family (or `clips`) to how many were left after it."""
    shortfalls: tuple[str, ...]
    """What the corpus could not fill, one line each; empty where the shape is filled."""


def choose_representatives(
    segments: Sequence[Segment], encoder: CachedEncoder, clips: int, settings: BuildSettings, seed: int
) -> list[Segment]:
    """C.1: one clip for each cluster, then those with at least two events, in the order given."""
    if not segments:
        return list(segments)
    k = cluster_count(len(segments), clips, settings.cluster_share, settings.spare_clips)
    rows = representatives(segment_vectors(segments, encoder), k, seed)
    chosen = (segments[row] for row in rows)
    return [segment for segment in chosen if len(segment.events) >= settings.min_events]


def plan_over(
    kept: Sequence[Segment],
    drafter: Drafter,
    encoder: CachedEncoder,
    shape: Shape,
    before: Mapping[str, Mapping[str, int]],
) -> Plan:
    """Choose the queries out of the representative clips, whose events are structured.

    `before`: counts of the steps so far.
    """
    settings = drafter.settings
    asked = [one for segment in kept for one in candidates_of(segment, settings.pair_seconds)]
    rivals = Rivals(kept, encoder, settings)
    clear = [candidate for candidate in asked if not rivals.ambiguous(candidate)]
    chosen = select(clear, shape, drafter.accept, drafter.seed)
    counts: dict[str, Mapping[str, int]] = {
        **before,
        "representatives with two events": {"clips": len(kept)},
        "questions": _by_family(asked),
        "non-ambiguous": _by_family(clear),
        **drafter.counts,
        "selected": {"clips": len(chosen.clip_ids), **_by_family(chosen.queries)},
    }
    return Plan(
        segments=tuple(segment for segment in kept if segment.clip_id in chosen.clip_ids),
        queries=chosen.queries,
        counts={
            step: {what: counted[what] for what in ("clips", *FAMILIES) if what in counted}
            for step, counted in counts.items()
        },
        shortfalls=chosen.shortfalls,
    )


def _by_family(found: Iterable[Candidate | Query]) -> Counter[str]:
    return Counter(str(one.family) for one in found)
