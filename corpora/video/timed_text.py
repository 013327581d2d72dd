"""Words with a time: what a video says, before anyone knows which video it is."""

from __future__ import annotations

from dataclasses import dataclass

from corpora.records import EvidenceKind


@dataclass(frozen=True, slots=True)
class TimedText:
    """Half-open [start, end) in seconds on the file's own clock; `text` is plain, without markup."""

    start: float
    end: float
    kind: EvidenceKind
    text: str
