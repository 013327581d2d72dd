"""Video-BrowseComp's questions over a web, with their gold: answers, and the videos that prove them.

Published files are JSON lines of two kinds of row. All rows: `question, answer, category, difficulty
("level1|2|3"), evidence_chain, mode`. Offline: `id, source_file, source_desc, why_multi_video, self_check,
videos` with `url, title, role, video_id, local_path` each. Online: `row_id, source, image`, and in the
published set of videos `source_url, video_id`. Unknown keys are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from eval.runs.records import Query, TaskInput
from eval.tasks.published import plain_value, text_of

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


def question_of(fields: Any, fallback: str) -> BrowseQuestion:
    """The question of a published row; `fallback`: its id where it has none. Raises `ValueError`."""
    row = {name: plain_value(value) for name, value in fields.items()}

    def text(name: str) -> str:
        return text_of(row.get(name))

    answers, sources = _texts(row.get("answer")), tuple(_sources(row))
    if not text("question"):
        raise ValueError("question: it is blank")
    if not answers or not all(answers):
        raise ValueError("answer: none, or a blank one")
    mode = text("mode") or ("offline" if row.get("videos") else "online")
    return BrowseQuestion(
        # Each of the two kinds numbers its rows from the start.
        question_id=f"{mode}-{text('id') or text('row_id') or fallback}",
        text=text("question"),
        answers=answers,
        level=_level(text("difficulty")),
        genre=text("category"),
        evidence_chain=_texts(row.get("evidence_chain")),
        sources=sources,
        mode=mode,
        image=text("image"),
    )


def _texts(value: Any) -> tuple[str, ...]:
    """A list may be one text or number, or missing."""
    return tuple(text_of(one) for one in (value if isinstance(value, list) else [value]) if one is not None)


def _sources(row: Mapping[str, Any]) -> Iterator[Source]:
    videos = row.get("videos") or []
    if not isinstance(videos, list) or not all(isinstance(video, Mapping) for video in videos):
        raise ValueError("videos: not a list of objects")
    for video in videos:
        role = text_of(video.get("role")) or "source"
        if role not in ROLES:
            raise ValueError(f"videos: role {role!r} is none of {', '.join(ROLES)}")
        url, title, name = (text_of(video.get(key)) for key in ("url", "title", "video_id"))
        yield Source((url,) if url else (), title, role, name)
    if url := text_of(row.get("source_url")):
        yield Source((url,), " ".join(_texts(row.get("source"))), "source", text_of(row.get("video_id")))
        return
    for url in _texts(row.get("source")):
        if url.startswith(("http://", "https://")):
            yield Source((url,))


def _level(difficulty: str) -> Level:
    plain = difficulty.strip().lower().replace(" ", "").replace("_", "")
    for level in LEVELS:
        if plain in (level, level[-1], f"l{level[-1]}"):
            return level
    raise ValueError(f"difficulty: {difficulty!r} is none of level1, level2, level3")
