"""Benchmarks by name; each is imported only when it is opened.

A benchmark of your own needs no entry: `MODULE:FACTORY` names any function
that takes a folder (or None for its default place) and gives a `Benchmark`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.runs.records import Benchmark

__all__ = ["BENCHMARKS", "Entry", "open_benchmark"]


@dataclass(frozen=True, slots=True)
class Entry:
    factory: str
    """`module:function`; the function reads nothing."""
    about: str


BENCHMARKS: Mapping[str, Entry] = {
    "egofact-workbench": Entry(
        "eval.tasks.egofact.benchmark:open_workbench",
        "396 questions of one and two hops over 127 drawn clips and their passages",
    ),
    "egofact-workbench-mini": Entry(
        "eval.tasks.egofact.benchmark:open_mini", "a tenth of egofact-workbench, for trying out"
    ),
    "egofact-workbench-unfiltered": Entry(
        "eval.tasks.egofact.unfiltered:open_unfiltered",
        "its questions and those of four other seeds before the non-triviality filter, for the controls",
    ),
    "egofact": Entry(
        "eval.tasks.egofact.benchmark:open_folder",
        "files of the same format from elsewhere, as of Ego4D and WikiHow: --data DIR",
    ),
    "browsecomp-workbench": Entry(
        "eval.tasks.browsecomp.benchmark:open_workbench",
        "over 150 questions in three levels over a drawn web of videos",
    ),
    "browsecomp-workbench-mini": Entry(
        "eval.tasks.browsecomp.benchmark:open_mini", "a handful of them over a small web, for trying out"
    ),
    "browsecomp": Entry(
        "eval.tasks.browsecomp.benchmark:open_folder",
        "Video-BrowseComp's published files over a web of one's own: --data DIR",
    ),
    "rvms-workbench": Entry(
        "eval.tasks.rvms.benchmark:open_workbench",
        "432 queries by memory for 48 moments of 16 drawn films, under nine sets of cues",
    ),
    "rvms-workbench-mini": Entry(
        "eval.tasks.rvms.benchmark:open_mini", "18 of them over a small web, for trying out"
    ),
    "rvms": Entry(
        "eval.tasks.rvms.benchmark:open_folder",
        "RVMS-Bench's published rows over a web of one's own: --data DIR",
    ),
    "shotfinder-workbench": Entry(
        "eval.tasks.shotfinder.benchmark:open_workbench",
        "240 shots with one constraint each, over a drawn web of short films in families",
    ),
    "shotfinder-workbench-mini": Entry(
        "eval.tasks.shotfinder.benchmark:open_mini", "22 of them over a small web, for trying out"
    ),
    "shotfinder": Entry(
        "eval.tasks.shotfinder.benchmark:open_folder",
        "ShotFinder's published rows over a web of one's own: --data DIR",
    ),
    "longvideo-workbench": Entry(
        "eval.tasks.longvideo.benchmark:open_workbench",
        "312 questions over 12 drawn films of 30 to 60 minutes",
    ),
    "longvideo-workbench-mini": Entry(
        "eval.tasks.longvideo.benchmark:open_mini", "24 questions over two short films, for trying out"
    ),
    "longvideo": Entry(
        "eval.tasks.longvideo.benchmark:open_tables",
        "tables of questions as VideoMME or LVBench are used with, and their films: --data DIR",
    ),
}


def open_benchmark(name: str, data: Path | None = None) -> Benchmark:
    """The benchmark of that name, its data not read yet.

    `data`: its folder; None for the default place. Raises `UsageError` for an
    unknown name.
    """
    entry = BENCHMARKS.get(name)
    factory = entry.factory if entry else name
    module_name, colon, function = factory.partition(":")
    if not colon:
        known = ", ".join(sorted(BENCHMARKS))
        raise UsageError(f"no benchmark {name!r}; there are {known}, or name yours as MODULE:FACTORY")
    try:
        module = importlib.import_module(module_name)
        make = getattr(module, function)
        if not callable(make):
            raise TypeError(f"{function} is no function")
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        if entry:
            raise
        raise UsageError(f"benchmark {name!r} cannot be loaded: {error}") from error
    return cast("Benchmark", make(data))
