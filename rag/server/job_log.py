"""The log of a job: a file of JSON lines, from which everything that is known of the job is read.

The server writes when the job was created, and each change of its state. The child process writes the rest,
since the file is its stderr: `progress`, `problem` and `step`, as `rag index` and `rag agent` print them with
`--events`. A line that is no JSON is what the child says when it fails. So a server that is started later
knows the job too, and a child that outlives its server goes on writing.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from rag.rendering.shapes import to_json

State = Literal["queued", "running", "cancelling", "done", "partial", "failed", "cancelled"]
ENDED = ("done", "partial", "failed", "cancelled")
MOST_PROBLEMS = 1000
"""Problems and steps that the document of a job has; the events have all."""
LAST_WORDS = 20
"""Lines of text of a child that are kept."""


class ProblemItem(TypedDict):
    """A file that cannot be used, or only in part."""

    path: str
    reason: str
    action: str


class ProgressItem(TypedDict):
    """How far indexing is: in seconds of media, in documents, in files, and as a share of all in [0, 1]."""

    media_seconds_done: float
    media_seconds_total: float
    documents_done: int
    documents_total: int
    share: float
    files_begun: int
    files_total: int
    eta_seconds: float | None
    file: str | None
    stage: Literal["prepare", "index", "finish"]


class JobDocument(TypedDict):
    """`rag.job/1`: the keys of an index, or those of an agent."""

    schema: Literal["rag.job/1"]
    job_id: str
    kind: Literal["index", "agent"]
    folder: NotRequired[str]
    dry_run: NotRequired[bool]
    prune: NotRequired[bool]
    agent: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    state: State
    created: str
    started: str | None
    ended: str | None
    forecast: dict[str, Any] | None
    progress: ProgressItem | None
    problems: list[ProblemItem]
    problem_count: int
    steps: list[dict[str, Any]]
    result: dict[str, Any] | None
    error: str | None


class JobsDocument(TypedDict):
    """`rag.jobs/1`."""

    schema: Literal["rag.jobs/1"]
    jobs: list[JobDocument]
    roots: list[str]


def timestamp(seconds: float) -> str:
    """`2026-11-23T06:27:00.250Z` of seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class JobLog:
    """One job, as far as its log was read."""

    path: Path
    job_id: str = ""
    kind: Literal["index", "agent"] = "index"
    request: dict[str, Any] = field(default_factory=dict)
    """What was asked for: `folder`, `dry_run`, `prune`; or `agent`, `arguments`."""
    state: State = "queued"
    created: float = 0.0
    started: float | None = None
    ended: float | None = None
    process: tuple[int, str] | None = None
    """Process id of the child, and when it was started."""
    error: str | None = None
    progress: dict[str, Any] | None = None
    problems: list[dict[str, Any]] = field(default_factory=list)
    problem_count: int = 0
    steps: list[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] | None = None
    said: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_WORDS))
    offset: int = 0
    """Behind the last line that was read."""

    @property
    def queue(self) -> str:
        """Of the jobs of one queue one runs at a time: a library has one writer, and agents use a model."""
        return "forecast" if self.request.get("dry_run") else self.kind

    @property
    def has_ended(self) -> bool:
        """Whether its state is final."""
        return self.state in ENDED

    @property
    def result_path(self) -> Path:
        """The stdout of the child: one JSON document."""
        return self.path.with_suffix(".json")

    def write(self, name: str, **fields: Any) -> None:
        """Append an event and read it. Raises OSError."""
        with open(self.path, "ab") as stream:
            # A child that was killed may have left half a line.
            stream.write(f"\n{to_json({'event': name, **fields})}\n".encode("ascii"))
        self.read()

    def read(self) -> None:
        """Take up the lines that were added. Raises OSError."""
        for event, offset in read_events(self.path, self.offset):
            self.offset = offset
            if isinstance(event, str):
                self.said.append(event)
                continue
            try:
                self._apply(event)
            except (KeyError, TypeError, ValueError):  # no event of ours
                self.said.append(to_json(event))

    def _apply(self, event: Mapping[str, Any]) -> None:
        name = event.get("event")
        if name == "created":
            self.job_id, self.kind, self.created = event["job_id"], event["kind"], float(event["time"])
            self.request = dict(event["request"])
        elif name == "state":
            self._enter(event)
        elif name == "progress":
            self.progress = _fields(event)
        elif name == "problem":
            self.problem_count += 1
            if len(self.problems) < MOST_PROBLEMS:
                self.problems.append(_fields(event))
        elif name == "step" and len(self.steps) < MOST_PROBLEMS:
            self.steps.append(event["step"])

    def _enter(self, event: Mapping[str, Any]) -> None:
        # What may be missing comes first: half an event changes nothing.
        state, time = event["state"], float(event["time"])
        process = tuple(event["process"]) if state == "running" else None
        self.state, self.error = state, event.get("error")
        if state in ("running", "queued"):
            self.process = process
            self.started = time if state == "running" else None
        # A quick child writes its first events before the server has written that it runs.
        if state == "queued":
            self.progress, self.result, self.problem_count = None, None, 0
            self.problems, self.steps = [], []
            self.said.clear()
        elif self.has_ended:
            self.ended, self.process, self.result = time, None, self.read_result()
            if self.result is not None and self.kind == "index":
                self.problem_count = len(self.result["problems"])
                self.problems = self.result["problems"][:MOST_PROBLEMS]

    def read_result(self) -> dict[str, Any] | None:
        """What the child printed; None where it did not end by itself, or printed something else."""
        try:
            found = json.loads(self.result_path.read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or (
            self.kind == "index" and not isinstance(found.get("problems"), list)
        ):
            return None
        return found

    def shape(self, *, brief: bool = False) -> dict[str, Any]:
        """`rag.job/1`; `brief`: without the steps and the result of an agent."""
        of_agent = brief and self.kind == "agent"
        return {
            "schema": "rag.job/1",
            "job_id": self.job_id,
            "kind": self.kind,
            **self.request,
            "state": self.state,
            "created": timestamp(self.created),
            "started": None if self.started is None else timestamp(self.started),
            "ended": None if self.ended is None else timestamp(self.ended),
            "forecast": (self.result or {}).get("forecast") if self.kind == "index" else None,
            "progress": self._progress(),
            "problems": list(self.problems),
            "problem_count": self.problem_count,
            "steps": [] if of_agent else list(self.steps),
            "result": None if of_agent else self.result,
            "error": self.error,
        }

    def _progress(self) -> dict[str, Any] | None:
        if self.kind != "index" or self.state not in ("running", "cancelling"):
            return self.progress
        return self.progress or dict(NO_PROGRESS)


NO_PROGRESS = {
    "media_seconds_done": 0.0,
    "media_seconds_total": 0.0,
    "documents_done": 0,
    "documents_total": 0,
    "share": 0.0,
    "files_begun": 0,
    "files_total": 0,
    "eta_seconds": None,
    "file": None,
    "stage": "prepare",
}
"""Until the child says how much there is to do."""


def _fields(event: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key != "event"}


def read_events(path: Path, start: int) -> Iterator[tuple[dict[str, Any] | str, int]]:
    """The whole lines of a log from an offset on, each with the offset behind it; text where it is no event.

    Raises OSError.
    """
    with open(path, "rb") as stream:
        stream.seek(start)
        for line in stream:
            if not line.endswith(b"\n"):
                return
            start += len(line)
            text = line.strip()
            if not text:
                continue
            try:
                event = json.loads(text)
            except ValueError:
                event = None
            yield (event if isinstance(event, dict) else text.decode("utf-8", "replace")), start
