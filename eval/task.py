"""A task of the evaluation: dataset, solvers, scorer and report, in one object.

`Task.prepare` reads (or makes) the data and gives a `Prepared`: the queries with
their gold, what a solver sees of each, and the environment that solvers are
opened on. A solver gets the environment and inputs, a scorer gets queries and
gold; nothing that a solver is handed leads to the gold. A task is registered by
an entry point of the group `rag.tasks`, or named as `MODULE:FACTORY`.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

from eval.metrics.scored import Measure, Scored
from eval.reports.described import GENERIC, Report
from eval.runs.records import Output, Query, Score, TaskInput, UnusableRow
from rag.errors import UsageError
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.library import Library

ProgressCallback = Callable[[int, int, str], None]
"""Called with each step of making data: how many are done, of how many, of what: 3, 48, "videos rendered"."""
SYNTHETIC_TEXT = "all-MiniLM-L6-v2"
"""Default text encoder over rendered videos and built questions: the reports on them were made with it."""
SYNTHETIC_IMAGE = "bundled"
"""Default image encoder over rendered videos: the one that was trained on them."""


def task_settings(
    task: str, settings: Settings, library: Path, fixed: Mapping[str, Any], synthetic: bool = False
) -> Settings:
    """The settings that a task is run under, its library in `library`.

    All tables are searched exactly, whatever the user's `search.exact_rows`. `fixed`: dotted names to values
    that the task's questions rest on (`{"ocr.mode": "off"}`). `synthetic`: the data are made;
    `SYNTHETIC_TEXT` and `SYNTHETIC_IMAGE` then hold where neither the user nor the task sets another encoder.

    Raises `UsageError` where the user sets a fixed setting to another value that is not its default.
    """
    changes: dict[str, Any] = {"search.exact_rows": sys.maxsize}
    for name, value in fixed.items():
        section, _, key = name.partition(".")
        held = getattr(settings, section)
        default = type(held).model_fields[key].get_default(call_default_factory=True)
        if key in held.model_fields_set and getattr(held, key) not in (value, default):
            raise UsageError(
                f"{task} fixes {name} = {value}; take {name} = {getattr(held, key)} out of the settings"
            )
        changes[name] = value
    if synthetic:
        held = with_changes(settings, changes).encoder
        made = {"text": SYNTHETIC_TEXT, **({"image": SYNTHETIC_IMAGE} if held.image == "auto" else {})}
        own = held.model_fields_set - {"image"}
        changes.update({f"encoder.{k}": v for k, v in made.items() if k not in own})
    return with_changes(settings, changes).model_copy(update={"library": library})


def with_changes(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """The settings with some of them set, by their dotted names: `{"localize.window_seconds": 10}`."""
    sections: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    updated = {name: getattr(settings, name).model_copy(update=update) for name, update in sections.items()}
    return settings.model_copy(update=updated)


Environment = TypeVar("Environment")


class Solver(Protocol):
    """One way to answer, opened with a seed. The same seed and data give the same output, to the bit."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that the answers depend on beside data, encoders and seed."""
        ...

    def solve(self, asked: Any) -> Output:
        """Answer one input, a `TaskInput` or the task's own subclass of it.

        Raises `Unanswered` where the model gave no usable answer, which is a wrong sample, and another
        `RagError` where the run must stop; it is resumed at this input.
        """
        ...


@runtime_checkable
class LocalizingSolver(Protocol):
    """A solver that can be asked for its window in any clip, so that localization is measured apart
    from retrieval."""

    def localize(self, asked: Any, clip_id: str) -> tuple[float, float] | None:
        """[start, end) seconds; None where it reads the clip whole. Called once the output is fixed."""
        ...


class Scorer(Protocol):
    """Gives the verdict on one output, without running a solver."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: judge, thresholds; kept in the run's identity as `scorer`."""
        ...

    def score(self, query: Query, output: Output) -> Score:
        """The verdict on the output of one query."""


@dataclass(frozen=True)
class SolverSpec(Generic[Environment]):
    """A solver by name: what it is, and how it is opened."""

    about: str
    """One line for `rag eval list`."""
    open: Callable[[Environment, int], Solver]
    """From the environment and a seed."""
    given: Callable[[Query, TaskInput], TaskInput] | None = None
    """For an oracle only: the input with the part of the gold that it is given."""


@dataclass(frozen=True)
class Prepared(Generic[Environment]):
    """A task's data, ready to be asked."""

    queries: Sequence[Query]
    """With gold, in the order asked; ids are unique."""
    inputs: Mapping[str, TaskInput]
    """All that a solver sees, by query id."""
    environment: Environment
    """What solvers are opened on (library, web, reasoner). Leads to no gold."""
    dataset: Mapping[str, str]
    """Hash of each file that queries or answers depend on, by name relative to the data."""
    encoders: Mapping[str, str]
    """Fingerprint of each encoder and reasoner, by role."""
    gold: Mapping[str, Any] = field(default_factory=dict)
    """The task's own gold records by query id, for its scorer and failure analysis."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """By query id, why it cannot be asked: its video is missing or unreadable. It is a skipped sample."""
    unusable: Sequence[UnusableRow] = ()
    """Rows of the data that are no query, in their order."""


@dataclass(frozen=True, slots=True)
class Footage:
    """[start, end) seconds of a video of a library, to be looked at."""

    library: Library
    video_id: str
    start: float = 0.0
    end: float = math.inf


class Task(ABC, Generic[Environment]):
    """Base class of evaluation tasks. The constructor reads nothing."""

    name: str
    about: str = ""
    """One line for `rag eval list`."""
    folder: Path | None = None
    """The folder of the data; None where it has none or none was given."""
    report: Report = GENERIC
    score_type: type[Score] = Score
    measures: ClassVar[Mapping[str, Measure]] = {}
    """Measures of this task in `results.json`, beside those of all tasks."""

    @property
    @abstractmethod
    def solvers(self) -> Mapping[str, SolverSpec[Environment]]:
        """Every solver by name. Needs no data."""

    @abstractmethod
    def prepare(self, settings: Settings, progress: ProgressCallback | None = None) -> Prepared[Environment]:
        """Make, index and read the data.

        `settings`: the user's, resolved; those that the task cannot honour are refused
        (`eval.task.task_settings`). Raises `UsageError` with one line.
        """

    def solver(self, name: str) -> SolverSpec[Environment]:
        """Raises `UsageError` for a name that `solvers` lacks; a task may know more names than it lists."""
        found = self.solvers.get(name)
        if found is None:
            raise UsageError(f"no system {name!r}; there are {', '.join(self.solvers)}")
        return found

    def open_scorer(self, prepared: Prepared[Environment]) -> Scorer:  # noqa: ARG002 (of a subclass)
        """Right is the gold letter, unless a task says otherwise."""
        return ExactScorer()

    def files(self, samples: Sequence[Scored]) -> Mapping[str, str]:  # noqa: ARG002 (of a subclass)
        """Further files of a run folder, text by name: what a benchmark's server takes."""
        return {}

    def footage(self, prepared: Prepared[Environment], name: str) -> Footage | None:  # noqa: ARG002 (of a subclass)
        """The stretch of a library's video that a `Query.video` or `ClipWindow.clip_id` names; None where it
        cannot be shown."""
        return None


TaskT = TypeVar("TaskT", bound=Task[Any])


def task_opener(
    kind: Callable[[str, str, Path | None, Any], TaskT], name: str, about: str, shape: Any = None
) -> Callable[[Path | None], TaskT]:
    """The function of an entry point, which takes the folder of the data.

    `kind`: from name, line about it, folder and `shape` to the task. `shape`: of synthetic data, which are by
    default in a folder of the task's name; None for data from elsewhere.
    """

    def open_it(data: Path | None = None) -> TaskT:
        return kind(name, about, data or (None if shape is None else Path(name)), shape)

    return open_it


@dataclass(frozen=True, slots=True)
class ExactScorer:
    """Right is the gold letter; no judge."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {"scorer": "exact"}

    def score(self, query: Query, output: Output) -> Score:
        """Score one output; see `eval.task.Scorer`."""
        return Score(correct=output.choice == query.answer)
