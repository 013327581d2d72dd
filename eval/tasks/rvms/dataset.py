"""RVMS-Bench's samples: a memory in cues, and its gold: the video in all its uploads, and the moment.

Published rows come in two spellings. The paper's (C.5): `id, video_url, video_source, video_category,
timestamp ("MM:SS / MM:SS"), resolution, video_language, global_impression, key_moment, temporal_context
(two strings), auditory_memory`. The data card writes `Video Category`, `Video Duration` ("0-3 minutes"),
`Time Progress`. Keys are read without regard to case, with `_` for blanks and hyphens; unknown keys are
ignored. A row's task is its `task`, else the cues that it holds. No reference frame is published.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from eval.runs.records import Query, TaskInput
from eval.tasks.layouts import Layout
from eval.tasks.published import clock_seconds, text_of
from rag.agents.raclo.records import CUE_SETS, cues_of, only_cues
from rag.reasoners.roles.material import Memory

Group = Literal["0-3 minutes", "3-10 minutes", "10-30 minutes", "30-60 minutes"]
GROUPS: tuple[Group, ...] = get_args(Group)
"""Durations (section 2.1.2), rising."""
TASKS = CUE_SETS
"""In the order of tables 1 and 2."""
LIMITS = (180.0, 600.0, 1800.0)
BENCHMARK = "RVMS-Bench"


@dataclass(frozen=True, slots=True)
class TargetUpload:
    """One upload that shows the target video."""

    url: str
    video_id: str = ""
    """Content id, where the web has its file."""
    speed: float = 1.0
    """Seconds of the original a second of this one."""


@dataclass(frozen=True, slots=True)
class RvmsSample:
    """Times in seconds of the original, [start, end)."""

    sample_id: str
    moment_id: str
    """The id of the moment; several samples may ask for it, each with other cues."""
    task: str
    """One of `TASKS`."""
    memory: Memory
    """The cues of the task and no others."""
    url: str
    """The address that the rule compares with."""
    topic: str
    group: Group
    duration: float = 0.0
    """0.0 where it is unknown."""
    key_time: float | None = None
    """The time of the reference frame, seconds."""
    shot: tuple[float, float] | None = None
    event: tuple[float, float] | None = None
    uploads: tuple[TargetUpload, ...] = ()
    """All that show the video, the original first; published rows have one."""

    @property
    def asks_video(self) -> bool:
        """Whether model+rule applies: tasks with a global impression (table 1)."""
        return "G" in self.task

    @property
    def asks_moment(self) -> bool:
        """Whether localization applies: tasks with a key moment (table 2)."""
        return "K" in self.task


@dataclass(frozen=True, slots=True)
class RvmsInput(TaskInput):
    """What a solver sees: the cues of the memory."""

    memory: Memory = field(default=Memory())


def memory_texts(memory: Memory) -> tuple[str, ...]:
    """List the cues of a memory that are not empty."""
    parts = (memory.global_impression, memory.key_moment, memory.before, memory.after, memory.auditory_memory)
    return tuple(part for part in parts if part)


def query_of(sample: RvmsSample) -> Query:
    """An open query; the family is the task, the gold window the true shot."""
    gold = sample.uploads[0].video_id or sample.url
    return Query(
        query_id=sample.sample_id,
        text=" ".join(memory_texts(sample.memory)),
        options=(),
        answer=sample.url,
        family=sample.task,
        video=gold,
        cluster=gold,
        window=sample.shot if sample.asks_moment and sample.shot is not None else (0.0, 0.0),
        seen=sample.event if sample.asks_moment else None,
    )


LAYOUT = Layout.read("eval.tasks.rvms", "url")["rows"]


def sample_of(fields: Any, fallback: str) -> RvmsSample:
    """The sample of a published row; `fallback`: its id where it has none. Raises `ValueError`."""
    texts = {name: LAYOUT.text(fields, name) for name in LAYOUT.fields}
    if not texts["url"]:
        raise ValueError("video_url: missing")
    held = LAYOUT.value(fields, "around")
    # One string alone is what was before.
    before, after, *_ = [*map(text_of, held if isinstance(held, list) else [held]), "", ""]
    memory = Memory(texts["impression"], texts["moment"], before, after, texts["sound"])
    present = cues_of(memory)
    task = _task(texts["task"]) or present
    if task not in TASKS:
        raise ValueError(f"its cues are {task or 'none'}; a task is one of {', '.join(TASKS)}")
    if missing := [letter for letter in task if letter not in present]:
        raise ValueError(f"its task is {task}, and it has no text for {', '.join(missing)}")
    at, duration = _progress(texts["time"])
    name = texts["id"] or fallback
    return RvmsSample(
        sample_id=f"{name}-{task}" if texts["task"] else name,
        moment_id=name,
        task=task,
        memory=only_cues(memory, task),
        url=texts["url"],
        topic=texts["category"],
        group=_group(texts["group"], duration),
        duration=duration,
        key_time=at,
        uploads=(TargetUpload(texts["url"]),),
    )


def _task(text: str) -> str:
    """Its cues in the order of the tables; "K+G+T" is GKT. Raises `ValueError` for other words."""
    letters = re.sub(r"[\s+,&/_-]+|task", "", text, flags=re.IGNORECASE).upper()
    if not set(letters) <= set("GKTA"):
        raise ValueError(f"{text!r} is no task; it is one of {', '.join(TASKS)}")
    return "".join(letter for letter in "GKTA" if letter in letters)


def _progress(text: str) -> tuple[float | None, float]:
    """ "01:30 / 12:05": the moment, and the duration; (None, 0.0) for an empty text."""
    if not text.strip():
        return None, 0.0
    at, slash, whole = text.partition("/")
    return clock_seconds(at), clock_seconds(whole) if slash else 0.0


def _group(text: str, duration: float) -> Group:
    plain = text.replace("\u2013", "-").replace(" ", "").casefold()
    for group in GROUPS:
        if plain and plain.startswith(group.partition(" ")[0]):
            return group
    if duration <= 0:
        raise ValueError("it has neither a duration nor a duration group")
    return GROUPS[sum(duration >= limit for limit in LIMITS)]
