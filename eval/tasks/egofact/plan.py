"""The construction in memory (EgoFact, appendix C): clips and passages in, queries and counts out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eval.tasks.egofact.ambiguity import Rivals
from eval.tasks.egofact.candidates import Candidate, candidates_of
from eval.tasks.egofact.checks import CheckReader, non_trivial, valid
from eval.tasks.egofact.clustering import cluster_count, representatives
from eval.tasks.egofact.drafting import Drafter
from eval.tasks.egofact.keywords import segment_vectors
from eval.tasks.egofact.objects import ObjectPrior
from eval.tasks.egofact.records import FAMILIES, FactPassage, Query, Segment
from eval.tasks.egofact.selection import Selection, select
from eval.tasks.egofact.settings import BuildSettings, Shape
from eval.tasks.egofact.statements import PassageShelf

if TYPE_CHECKING:
    from eval.tasks.egofact.vectors import CachedEncoder


@dataclass(frozen=True, slots=True)
class Plan:
    """The queries that are to be drafted."""

    segments: tuple[Segment, ...]
    """The clips of the benchmark."""
    queries: tuple[Query, ...]
    candidates: tuple[Query, ...]
    """Valid and non-ambiguous queries that were looked at, before the non-triviality filter."""
    counts: Mapping[str, Mapping[str, int]]
    """Step to family (or `clips`) to how many were left after it."""
    shortfalls: tuple[str, ...]


@dataclass(slots=True)
class _Count:
    steps: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, step: str, what: str, number: int = 1) -> None:
        self.steps.setdefault(step, Counter())[what] += number

    def candidates(self, step: str, found: Iterable[Candidate]) -> None:
        for candidate in found:
            self.add(step, candidate.family)

    def as_counts(self) -> dict[str, dict[str, int]]:
        order = ("clips", *FAMILIES)
        return {
            step: {what: counted[what] for what in order if what in counted}
            for step, counted in self.steps.items()
        }


def choose_representatives(
    segments: Sequence[Segment], encoder: CachedEncoder, clips: int, settings: BuildSettings, seed: int
) -> list[Segment]:
    """C.1: one clip for each cluster, then those with at least two events, in the order given."""
    if not segments:
        return []
    k = cluster_count(len(segments), clips, settings.cluster_share, settings.spare_clips)
    rows = representatives(segment_vectors(segments, encoder), k, seed)
    chosen = (segments[row] for row in rows)
    return [segment for segment in chosen if len(segment.events) >= settings.min_events]


def plan_queries(
    segments: Sequence[Segment],
    passages: Sequence[FactPassage],
    *,
    law: ObjectPrior,
    encoder: CachedEncoder,
    reader: CheckReader,
    shape: Shape,
    settings: BuildSettings,
    seed: int,
    aliases: Mapping[str, Sequence[str]],
) -> Plan:
    """Everything from clips to the final queries; same arguments, same plan."""
    count = _Count()
    count.add("segments", "clips", len(segments))
    kept = choose_representatives(segments, encoder, shape.clips, settings, seed)
    count.add("representatives with two events", "clips", len(kept))
    asked = [one for segment in kept for one in candidates_of(segment, settings.pair_seconds)]
    count.candidates("questions", asked)
    rivals = Rivals(kept, encoder, settings)
    clear = [candidate for candidate in asked if not rivals.ambiguous(candidate)]
    count.candidates("non-ambiguous", clear)
    drafter = Drafter(law, PassageShelf(passages, encoder, settings), encoder, settings, seed, aliases)
    gate = _Gate(drafter, reader, {passage.passage_id: passage for passage in passages}, count)
    chosen: Selection = select(clear, shape, gate.accept, seed)
    for query in chosen.queries:
        count.add("selected", query.family)
    count.add("selected", "clips", len(chosen.clip_ids))
    return Plan(
        segments=tuple(segment for segment in kept if segment.clip_id in chosen.clip_ids),
        queries=chosen.queries,
        candidates=tuple(gate.candidates),
        counts=count.as_counts(),
        shortfalls=chosen.shortfalls,
    )


@dataclass(slots=True)
class _Gate:
    """Drafts and checks one candidate at a time, and keeps what stood before the non-triviality filter."""

    drafter: Drafter
    reader: CheckReader
    passages: Mapping[str, FactPassage]
    count: _Count
    candidates: list[Query] = field(default_factory=list)

    def accept(self, candidate: Candidate) -> Query | None:
        family = candidate.family
        self.count.add("looked at", family)
        query = self.drafter.draft(candidate)
        if isinstance(query, str):
            self.count.add(f"without {query}", family)
            return None
        gold = [candidate.target.rewritten]
        if query.passage is not None:
            gold.append(self.passages[query.passage].text)
        if not valid(query, gold, self.reader):
            self.count.add("not valid", family)
            return None
        self.candidates.append(query)
        if not non_trivial(query, self.reader):
            self.count.add("trivial", family)
            return None
        return query
