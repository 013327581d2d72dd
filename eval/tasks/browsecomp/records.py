"""One question over a web, with its truth and the videos that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["level1", "level2", "level3"]
LEVELS: tuple[Level, ...] = ("level1", "level2", "level3")
"""Explicit retrieval, implicit retrieval, multi-source reasoning (section 3.3)."""


@dataclass(frozen=True, slots=True)
class Source:
    """A video of the evidence chain, in the order in which it is needed."""

    urls: tuple[str, ...]
    """Every upload that shows it: the one that is named, its mirrors and its re-uploads."""
    title: str = ""
    role: str = "source"
    """`source`, `positive`, `seed` or `negative`; negatives are decoys and prove nothing."""
    video_id: str = ""
    """The publisher's id, or the content id of the file."""
    start: float | None = None
    """[start, end) seconds of what proves the answer, where that is known."""
    end: float | None = None

    @property
    def proves(self) -> bool:
        return self.role != "negative"


@dataclass(frozen=True, slots=True)
class BrowseQuestion:
    question_id: str
    text: str
    answers: tuple[str, ...]
    """Any of them is right; the first is the one that is shown."""
    level: Level
    genre: str
    evidence_chain: tuple[str, ...] = ()
    """What has to be confirmed, step by step, in words."""
    sources: tuple[Source, ...] = ()
    options: tuple[str, ...] = ()
    """What may be answered, where the question says so; empty for a free answer."""
    mode: str = ""
    """`offline` or `online` in the published files, `workbench` here."""
    kind: str = ""
    """What is asked for: `thing`, `action`, `card`, `speech`; empty where nobody said."""
    image: str = ""
    """A picture that belongs to the question (online rows), as the file names it."""

    @property
    def evidence(self) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if source.proves)
