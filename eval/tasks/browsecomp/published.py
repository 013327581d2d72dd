"""Video-BrowseComp's files as published: JSON lines of two kinds of row, and the rows of its pool.

All rows: `question, answer, category, difficulty ("level1|2|3"), evidence_chain,
mode`. Offline: `id, source_file, source_desc, why_multi_video, self_check, videos`
with `url, title, role, video_id, local_path` each. Online: `row_id, source, image`.
Keys beyond these are passed over: the files may grow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from eval.tasks.browsecomp.records import (
    LEVELS,
    BrowseQuestion,
    Level,
    Source,
)
from rag.errors import UsageError

ROLES = ("source", "negative", "positive", "seed")


def _text(value: Any) -> Any:
    """Ids, answers and levels come as numbers, too. Raises `ValueError` for what is no number."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number")
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _listed(value: Any) -> Any:
    """One string or number where a list is due, or nothing."""
    if value is None:
        return []
    return [value] if isinstance(value, str | int | float) else value


def _told(value: str) -> str:
    if not value.strip():
        raise ValueError("it is blank")
    return value


Text = Annotated[str, BeforeValidator(_text)]
Told = Annotated[Text, AfterValidator(_told)]
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

    question: Annotated[str, AfterValidator(_told)]
    answer: Annotated[list[Told], BeforeValidator(_listed)] = Field(min_length=1)
    category: str = ""
    difficulty: Text = ""
    evidence_chain: Texts = []
    mode: str = ""
    id: Text = ""
    row_id: Text = ""
    videos: list[_Video] = []
    source: Texts = []
    image: str | None = ""


def load_published(paths: Sequence[Path]) -> list[BrowseQuestion]:
    """All rows of all files, in order. Raises `UsageError` for two rows of one id."""
    found: dict[str, BrowseQuestion] = {}
    for path in paths:
        for question in read_published(path):
            if question.question_id in found:
                raise UsageError(f"{path}: two rows are called {question.question_id!r}")
            found[question.question_id] = question
    return list(found.values())


def read_published(path: Path) -> Iterator[BrowseQuestion]:
    """The rows of one file. Raises `UsageError`, with the line, for a row that is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            yield _question(path, number, line)


def _question(path: Path, number: int, line: bytes) -> BrowseQuestion:
    try:
        row = _Row.model_validate(json.loads(line))
        level = _level(row.difficulty)
        mode = row.mode or ("offline" if row.videos else "online")
        name = row.id or row.row_id or f"{path.stem}-{number}"
        sources = tuple(_sources(row))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "it"
        raise UsageError(f"{path}:{number}: no row of Video-BrowseComp: {place}: {first['msg']}") from error
    except RecursionError as error:
        raise UsageError(f"{path}:{number}: no row of Video-BrowseComp: it is nested too deeply") from error
    except ValueError as error:
        raise UsageError(f"{path}:{number}: no row of Video-BrowseComp: {error}") from error
    return BrowseQuestion(
        # The two kinds of row number themselves alone.
        question_id=f"{mode}-{name}",
        text=row.question,
        answers=tuple(row.answer),
        level=level,
        genre=row.category,
        evidence_chain=tuple(row.evidence_chain),
        sources=sources,
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
    for url in row.source:
        if url.startswith(("http://", "https://")):
            yield Source((url,))
