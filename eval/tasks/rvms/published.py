"""RVMS-Bench's rows as published, in either spelling of their fields.

The paper's row (C.5): `id, video_url, video_source, video_category, timestamp ("MM:SS / MM:SS"),
resolution, video_language, global_impression, key_moment, temporal_context (two strings),
auditory_memory`. The data card writes `Video Category`, `Video Duration` ("0-3 minutes"), `Time
Progress`. Keys are read without regard to case, blanks and underscores; others are passed over.

A row's task is what it says, else the cues that it holds. No reference frame is published.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from eval.tasks.rvms.records import (
    GROUPS,
    TASKS,
    Group,
    RvmsSample,
    Shown,
    group_of,
)
from rag.agents.raclo.records import cues_of, only_cues
from rag.errors import UsageError
from rag.reasoners.roles import Memory

OTHER_NAMES = {
    "timeprogress": "timestamp",
    "videourl": "video_url",
    "url": "video_url",
    "videosource": "video_source",
    "videocategory": "video_category",
    "category": "video_category",
    "videoduration": "video_duration",
    "videolanguage": "video_language",
    "globalimpression": "global_impression",
    "keymoment": "key_moment",
    "temporalcontext": "temporal_context",
    "auditorymemory": "auditory_memory",
    "tasktype": "task",
}
_CLOCK = re.compile(r"^(?:(\d+):)?(\d{1,3}):(\d{2}(?:\.\d+)?)$")


def _text(value: Any) -> Any:
    return "" if value is None else value


def _two(value: Any) -> Any:
    """Before and after; one string alone is what was before."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_text)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: Text = ""
    video_url: str
    video_category: Text = ""
    video_duration: Text = ""
    timestamp: Text = ""
    task: Text = ""
    global_impression: Text = ""
    key_moment: Text = ""
    temporal_context: Annotated[list[Text], BeforeValidator(_two)] = []
    auditory_memory: Text = ""


def load_published(paths: Sequence[Path]) -> list[RvmsSample]:
    """All rows of all files (`*.jsonl`, or `*.json` with a list), in order. Raises `UsageError`."""
    found: dict[str, RvmsSample] = {}
    for path in paths:
        for sample in read_published(path):
            if sample.sample_id in found:
                raise UsageError(f"{path}: two rows are called {sample.sample_id!r}")
            found[sample.sample_id] = sample
    return list(found.values())


def read_published(path: Path) -> Iterator[RvmsSample]:
    """The rows of one file. Raises `UsageError`, with the row, for one that is none."""
    for number, row in _rows(path):
        try:
            yield _sample(row, f"{path.stem}-{number}")
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "it"
            raise UsageError(f"{path}:{number}: no row of RVMS-Bench: {place}: {first['msg']}") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}:{number}: no row of RVMS-Bench: {error}") from error


def clock_seconds(text: str) -> float:
    """ "MM:SS" or "H:MM:SS" in seconds. Raises `ValueError`."""
    match = _CLOCK.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no time of the form MM:SS")
    hours, minutes, seconds = match.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        data = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".json":
            rows = json.loads(data)
            yield from enumerate(rows if isinstance(rows, list) else [rows], start=1)
            return
        for number, line in enumerate(data.splitlines(), start=1):
            if line.strip():
                yield number, json.loads(line)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as rows of RVMS-Bench: {error}") from error


def _sample(fields: Mapping[str, Any], fallback: str) -> RvmsSample:
    row = _Row.model_validate({_key(name): value for name, value in fields.items()})
    context = [*row.temporal_context, "", ""]
    memory = Memory(row.global_impression, row.key_moment, context[0], context[1], row.auditory_memory)
    told = cues_of(memory)
    task = _task(row.task) or told
    if task not in TASKS:
        raise ValueError(f"its cues are {task or 'none'}; a task is one of {', '.join(TASKS)}")
    if missing := [letter for letter in task if letter not in told]:
        raise ValueError(f"its task is {task}, and it tells nothing for {', '.join(missing)}")
    at, duration = _progress(row.timestamp)
    name = row.id or fallback
    return RvmsSample(
        sample_id=f"{name}-{task}" if row.task else name,
        moment_id=name,
        task=task,
        memory=only_cues(memory, task),
        url=row.video_url,
        topic=row.video_category,
        group=_group(row.video_duration, duration),
        duration=duration,
        key_time=at,
        uploads=(Shown(row.video_url),),
    )


def _key(name: str) -> str:
    plain = re.sub(r"[\s_-]+", "", name).casefold()
    return OTHER_NAMES.get(plain, plain)


def _task(said: str) -> str:
    """Its cues in the order of the tables; "K+G+T" is GKT. Raises `ValueError` for other words."""
    letters = re.sub(r"[\s+,&/_-]+|task", "", said, flags=re.IGNORECASE).upper()
    if not set(letters) <= set("GKTA"):
        raise ValueError(f"{said!r} is no task; it is one of {', '.join(TASKS)}")
    return "".join(letter for letter in "GKTA" if letter in letters)


def _progress(text: str) -> tuple[float | None, float]:
    """ "01:30 / 12:05": the moment, and the duration; (None, 0.0) where nothing is said."""
    if not text.strip():
        return None, 0.0
    at, slash, whole = text.partition("/")
    return clock_seconds(at), clock_seconds(whole) if slash else 0.0


def _group(said: str, duration: float) -> Group:
    plain = said.replace("\u2013", "-").replace(" ", "").casefold()
    for group in GROUPS:
        if plain and plain.startswith(group.partition(" ")[0]):
            return group
    if duration <= 0:
        raise ValueError("neither its duration nor its duration group is said")
    return group_of(duration)
