"""Every number of the construction in one place; the paper's where the paper gives one (appendix C)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from eval.tasks.egofact.records import FAMILIES, Family


@dataclass(frozen=True, slots=True)
class Shape:
    """How many clips, and how many queries of each family."""

    clips: int
    local_1hop: int
    local_2hop: int
    temporal_1hop: int
    temporal_2hop: int

    def of(self, family: Family) -> int:
        """Number of queries of a family."""
        return {
            "local-1hop": self.local_1hop,
            "local-2hop": self.local_2hop,
            "temporal-1hop": self.temporal_1hop,
            "temporal-2hop": self.temporal_2hop,
        }[family]

    @property
    def queries(self) -> int:
        """Number of queries."""
        return sum(self.of(family) for family in FAMILIES)


PAPER = Shape(127, 113, 73, 119, 91)
"""EgoFact, table 1 and C.1: 396 queries over 127 clips."""
MINI = Shape(14, 12, 7, 12, 9)
"""A tenth of it, in the same proportions."""


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """Thresholds of the construction."""

    segment_seconds: float = 30.0
    """C.1."""
    cluster_share: float = 0.2
    """C.1: number of clusters k = 0.2 n."""
    spare_clips: float = 1.6
    """Never fewer clusters than this many times the clips wanted (or all clips there are), so that a corpus
    smaller than the paper's 2,124 segments can still fill the shape."""
    min_events: int = 2
    """C.1."""
    pair_seconds: float = 4.0
    """C.2.2: end of the first event to the start of the second, at most."""
    visual_similarity: float = 0.7
    """C.2.3: clips more alike than this may be taken for each other."""
    action_similarity: float = 0.8
    """C.2.3: events more alike than this may be taken for each other."""
    object_similarity: float = 0.9
    """C.2.3: objects less alike than this are different answers; options are at least so different."""
    distractors: int = 5
    """C.2.4."""
    quality: float = 7.0
    """C.2.4: least score, of 10."""
    passage_similarity: float = 0.5
    """C.2.5: least similarity of an object and its passage."""

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return asdict(self)
