"""Video-BrowseComp's questions over a web, with their gold: answers, and the videos that prove them.

Published files are JSON lines of two kinds of row. All rows: `question, answer, category, difficulty
("level1|2|3"), evidence_chain, mode`. Offline: `id, source_file, source_desc, why_multi_video, self_check,
videos` with `url, title, role, video_id, local_path` each. Online: `row_id, source, image`, and in the
published set of videos `source_url, video_id`. Unknown keys are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from eval.runs.records import Query, TaskInput

Level = Literal["level1", "level2", "level3"]
LEVELS: tuple[Level, ...] = ("level1", "level2", "level3")
"""Explicit retrieval, implicit retrieval, multi-source reasoning (section 3.3)."""
BENCHMARK = "Video-BrowseComp"
ROLES = ("source", "negative", "positive", "seed")


@dataclass(frozen=True, slots=True)
class Source:
    """A video of the evidence chain, in the order in which it is needed."""

    urls: tuple[str, ...]
    """Every upload that shows it: the named one, its mirrors and its re-uploads."""
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
        """Whether it is evidence: every role but `negative`."""
        return self.role != "negative"


@dataclass(frozen=True, slots=True)
class BrowseQuestion:
    """One question with its gold; published or synthetic."""

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
    """Possible answers, where the question gives them; empty for an open question."""
    mode: str = ""
    """`offline` or `online` in the published files, `workbench` here."""
    kind: str = ""
    """What is asked for: `thing`, `action`, `card`, `speech`; empty where it is unknown."""
    image: str = ""
    """An image that belongs to the question (online rows), as the file names it."""

    @property
    def evidence(self) -> tuple[Source, ...]:
        """The sources that prove the answer, in order."""
        return tuple(source for source in self.sources if source.proves)


def query_of(question: BrowseQuestion) -> Query:
    """An open query, so without letters; the gold video is the last of the chain."""
    last = question.evidence[-1] if question.evidence else Source(())
    gold = last.video_id or (last.urls[0] if last.urls else "")
    return Query(
        query_id=question.question_id,
        text=question.text,
        options=(),
        answer=question.answers[0],
        family=question.level,
        video=gold,
        cluster=gold or question.question_id,
        window=(last.start or 0.0, last.end or 0.0),
    )


def input_of(question: BrowseQuestion) -> TaskInput:
    """What a solver sees of a question."""
    return TaskInput(question.question_id, question.text, question.options)


def _as_text(value: Any) -> Any:
    """Ids, answers and levels may be numbers. Raises `ValueError` for one that is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number")
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _listed(value: Any) -> Any:
    """A list may be one string or number, or missing."""
    if value is None:
        return []
    return [value] if isinstance(value, str | int | float) else value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("it is blank")
    return value


Text = Annotated[str, BeforeValidator(_as_text)]
Filled = Annotated[Text, AfterValidator(_not_blank)]
Texts = Annotated[list[Text], BeforeValidator(_listed)]


class _Video(BaseModel):
    model_config = ConfigDict(extra="ignore")

    url: str = ""
    title: str | None = ""
    role: str = "source"
    video_id: Text = ""
    local_path: str | None = ""


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")

    question: Annotated[str, AfterValidator(_not_blank)]
    answer: Annotated[list[Filled], BeforeValidator(_listed)] = Field(min_length=1)
    category: str = ""
    difficulty: Text = ""
    evidence_chain: Texts = []
    mode: str = ""
    id: Text = ""
    row_id: Text = ""
    videos: list[_Video] = []
    source: Texts = []
    source_url: str | None = ""
    video_id: Text = ""
    image: str | None = ""


def question_of(fields: Any, fallback: str) -> BrowseQuestion:
    """The question of a published row; `fallback`: its id where it has none. Raises `ValueError`."""
    row = _Row.model_validate(fields)
    mode = row.mode or ("offline" if row.videos else "online")
    return BrowseQuestion(
        # Each of the two kinds numbers its rows from the start.
        question_id=f"{mode}-{row.id or row.row_id or fallback}",
        text=row.question,
        answers=tuple(row.answer),
        level=_level(row.difficulty),
        genre=row.category,
        evidence_chain=tuple(row.evidence_chain),
        sources=tuple(_sources(row)),
        mode=mode,
        image=row.image or "",
    )


def _level(difficulty: str) -> Level:
    plain = difficulty.strip().lower().replace(" ", "").replace("_", "")
    for level in LEVELS:
        if plain in (level, level[-1], f"l{level[-1]}"):
            return level
    raise ValueError(f"difficulty: {difficulty!r} is none of level1, level2, level3")


def _sources(row: _Row) -> Iterator[Source]:
    for video in row.videos:
        if video.role not in ROLES:
            raise ValueError(f"videos: role {video.role!r} is none of {', '.join(ROLES)}")
        yield Source((video.url,) if video.url else (), video.title or "", video.role, video.video_id)
    if row.source_url:
        yield Source((row.source_url,), " ".join(row.source), "source", row.video_id)
        return
    for url in row.source:
        if url.startswith(("http://", "https://")):
            yield Source((url,))
