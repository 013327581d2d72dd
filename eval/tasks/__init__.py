"""Tasks by name: the entry points of the group `rag.tasks`, ours among them.

`MODULE:FACTORY` names any function that takes a folder (or None for its default
place) and gives a `Task`, without an entry point. Either may end in options, keywords
of that function: `longvideo:duration=long,subtitles=off`. A run keeps the whole name.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.entry_points import all_entry_points, find_entry_point, load_entry_point, own_entry_points
from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.task import SolverSpec, Task

GROUP = "rag.tasks"
SOLVERS = "rag.solvers"
"""Solvers from elsewhere, named `TASK.SOLVER`; each is a `SolverSpec`."""


def task_names() -> list[str]:
    """Names of all registered tasks, sorted."""
    return list(all_entry_points(GROUP))


def open_task(name: str, data: Path | None = None) -> Task[Any]:
    """The task of that name, nothing of it read yet.

    `data`: its folder; None for the default place. Raises `UsageError` for an unknown name or option, or one
    that cannot be loaded.
    """
    name, options = _parsed(name)
    entry = find_entry_point(GROUP, name)
    place = entry.value if entry else name
    module_name, colon, function = place.partition(":")
    if not colon:
        known = ", ".join(task_names())
        raise UsageError(f"no benchmark {name!r}; there are {known}, or name yours as MODULE:FACTORY")
    from eval.task import Task

    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever an extension raises while it loads
        if name in own_entry_points(GROUP):
            raise
        raise UsageError(f"benchmark {name!r} cannot be loaded: {error}") from error
    make = getattr(module, function, None)
    if not callable(make):
        raise UsageError(f"benchmark {name!r} cannot be loaded: {module_name} has no function {function!r}")
    known_options = list(inspect.signature(make).parameters)[1:]
    for option in options:
        if option not in known_options:
            known = f"its options are {', '.join(known_options)}" if known_options else "it has none"
            raise UsageError(f"benchmark {name!r}: no option {option!r}; {known}")
    try:
        task = make(data, **options)
    except TypeError as error:
        raise UsageError(f"benchmark {name!r}: {place} is no function of a folder: {error}") from error
    if not isinstance(task, Task):
        raise UsageError(f"benchmark {name!r}: {place} gives a {type(task).__name__}, not an eval.task.Task")
    return task


def _parsed(name: str) -> tuple[str, dict[str, str]]:
    """A name without its options, and these. Raises `UsageError` for an option without a value."""
    place, _, last = name.rpartition(":")
    if not place or "=" not in last:
        return name, {}
    options: dict[str, str] = {}
    for part in last.split(","):
        option, equals, value = part.partition("=")
        if not option or not equals or not value:
            raise UsageError(f"benchmark {name!r}: {part!r} is no OPTION=VALUE")
        options[option] = value
    return place, options


def solver_names(task: Task[Any]) -> list[str]:
    """The task's own solvers, then those that other packages register for it; none is loaded."""
    outside = (name.partition(".") for name in all_entry_points(SOLVERS))
    return list(dict.fromkeys([*task.solvers, *(name for place, _, name in outside if place == task.name)]))


def find_solver(task: Task[Any], name: str) -> SolverSpec[Any]:
    """Load one solver. Raises `UsageError` for a name that neither the task nor another package knows,
    `SettingsError` for one of another package that cannot be imported.
    """
    entry = f"{task.name}.{name}"
    if name in task.solvers or entry not in all_entry_points(SOLVERS):
        return task.solver(name)
    found: SolverSpec[Any] = load_entry_point(SOLVERS, entry, "solver")
    return found
