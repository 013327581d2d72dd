"""ShotFinder's rows as published, in both spellings.

The files: `id, Video URL, Description` (which constraint; empty for none), `Clip
Description`, `"{Description} Description"` (a string, or a list of two for the
temporal one), the true frame at `images/{id}.jpg`. The paper (appendix C.2.3):
`id, video_link, segment_description_en, context_description_en, ...`; such a row
may name its task as `task` or `Description`, else it has the one constraint that
it describes, and none where it describes several. Other keys are passed over.
Times are not published: a shot is right there by what a verifier says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.tasks.shotfinder.records import (
    CONSTRAINED,
    Place,
    ShotQuery,
    Task,
)
from rag.errors import UsageError

PAPER_KEYS: Mapping[Task, str] = {
    "temporal": "context_description",
    "color": "color_description",
    "style": "style_description",
    "resolution": "resolution",
    "audio": "audio_description",
}
IMAGES = "images"


def load_published(paths: Sequence[Path], folder: Path) -> list[ShotQuery]:
    """All rows of all files (JSON lists or JSON lines), in order; `folder` holds `images`.

    Raises `UsageError` for a row that is none, and for two rows of one id.
    """
    found: dict[str, ShotQuery] = {}
    for path in paths:
        for query in read_published(path, folder):
            if query.query_id in found:
                raise UsageError(f"{path}: two rows are called {query.query_id!r}")
            found[query.query_id] = query
    return list(found.values())


def read_published(path: Path, folder: Path) -> Iterator[ShotQuery]:
    """The rows of one file. Raises `UsageError`, with the row's number."""
    for number, row in enumerate(_rows(path), start=1):
        try:
            yield _query(row, folder, f"{path.stem}-{number}")
        except ValueError as error:
            raise UsageError(f"{path}: row {number} is none of ShotFinder: {error}") from error


def _rows(path: Path) -> list[Any]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        # A string may hold what Python takes for an end of line, U+2028 for one.
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error


def _query(row: Any, folder: Path, name: str) -> ShotQuery:
    if not isinstance(row, dict):
        raise ValueError("not an object")
    keys = {str(key).strip().casefold().replace(" ", "_"): value for key, value in row.items()}
    name = _text(keys.get("id")) or name
    paper = "segment_description_en" in keys or "segment_description" in keys
    task = _paper_task(keys) if paper else _task(_text(keys.get("description")))
    described = (
        _text(keys.get("segment_description_en") or keys.get("segment_description"))
        if paper
        else _text(keys.get("clip_description"))
    )
    url = _text(keys.get("video_url") or keys.get("video_link"))
    if not described or not url:
        raise ValueError("it has no description of a clip, or no address of a video")
    told = _constraint(keys, task, paper)
    if task != "shot" and not told.strip():
        raise ValueError(f"its task is {task}, and nothing says what is asked for")
    image = f"{IMAGES}/{name}.jpg"
    return ShotQuery(
        query_id=name,
        task=task,
        description=described,
        constraint=told,
        gold=Place("", (url,)),
        image=image if (folder / image).is_file() else "",
    )


def _task(text: str) -> Task:
    plain = text.strip().casefold().removesuffix(" description") or "shot"
    plain = {"colour": "color", "shot description": "shot", "clip": "shot"}.get(plain, plain)
    if plain == "shot":
        return "shot"
    for task in CONSTRAINED:
        if plain == task:
            return task
    raise ValueError(f"Description: {text!r} is none of {', '.join(CONSTRAINED)}")


def _paper_task(keys: Mapping[str, Any]) -> Task:
    named = _text(keys.get("task")) or _text(keys.get("description"))
    if named:
        return _task(named)
    # Every row of the paper has a resolution; it is the constraint only where a row says so.
    told = [task for task in CONSTRAINED if task != "resolution" and _paper_text(keys, task).strip()]
    return told[0] if len(told) == 1 else "shot"


def _constraint(keys: Mapping[str, Any], task: Task, paper: bool) -> str:
    if task == "shot":
        return ""
    if paper:
        return _paper_text(keys, task)
    return _joined(keys.get(f"{task}_description"))


def _paper_text(keys: Mapping[str, Any], task: Task) -> str:
    name = PAPER_KEYS[task]
    return _joined(keys.get(f"{name}_en") or keys.get(name))


def _joined(value: Any) -> str:
    """A string, or the two of a list on two lines."""
    if isinstance(value, list):
        return "\n".join(_text(part) for part in value[:2])
    return _text(value)


def _text(value: Any) -> str:
    """Ids and resolutions come as numbers, too."""
    if isinstance(value, bool) or value is None:
        return ""
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
