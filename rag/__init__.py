"""Ask questions of your own videos and documents, offline.

    from rag import Library

    with Library.open(".rag") as library:
        print(library.ask("What is the mirror made of?").text)

Everything that users need is here; agents are in `rag.agents`, LlamaIndex classes in `rag.llamaindex`.
Importing this package loads no model and no heavy library: each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
"""Not imported: `typing` takes half of the time in which an interrupt of `rag` cannot be caught yet."""
if TYPE_CHECKING:
    from typing import Any

    from corpora.records import Clip, Evidence, Passage, Problem, Shot, SoundTrack, Video
    from localization.windows import LocalizedWindow, Window
    from rag import errors, records
    from rag.answering import Pipeline
    from rag.checks import Check
    from rag.errors import RagError
    from rag.indexing.merging import MergeReport, merge_libraries
    from rag.indexing.report import Forecast, IndexReport
    from rag.library import Library
    from rag.records import (
        Answer,
        Citation,
        PassageCitation,
        PassageHit,
        Question,
        ScoreCurve,
        ScoredOption,
        SearchFilter,
        ShotFilter,
        UnmeasuredVideos,
        Usage,
        VideoCitation,
        VideoHit,
    )
    from rag.settings import Settings, load_settings
    from rag.store.records import Removed, Stats
    from rag.web import Faults, open_web

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Check",
    "Citation",
    "Clip",
    "Evidence",
    "Faults",
    "Forecast",
    "IndexReport",
    "Library",
    "LocalizedWindow",
    "MergeReport",
    "Passage",
    "PassageCitation",
    "PassageHit",
    "Pipeline",
    "Problem",
    "Question",
    "RagError",
    "Removed",
    "ScoreCurve",
    "ScoredOption",
    "SearchFilter",
    "Settings",
    "Shot",
    "ShotFilter",
    "SoundTrack",
    "Stats",
    "UnmeasuredVideos",
    "Usage",
    "Video",
    "VideoCitation",
    "VideoHit",
    "Window",
    "__version__",
    "errors",
    "load_settings",
    "merge_libraries",
    "open_web",
    "records",
]
_MODULES = {
    "corpora.records": ("Clip", "Evidence", "Passage", "Problem", "Shot", "SoundTrack", "Video"),
    "localization.windows": ("LocalizedWindow", "Window"),
    "rag.answering": ("Pipeline",),
    "rag.checks": ("Check",),
    "rag.errors": ("RagError",),
    "rag.indexing.merging": ("MergeReport", "merge_libraries"),
    "rag.indexing.report": ("Forecast", "IndexReport"),
    "rag.library": ("Library",),
    "rag.settings": ("Settings", "load_settings"),
    "rag.store.records": ("Removed", "Stats"),
    "rag.web": ("Faults", "open_web"),
}
"""The public names that a module defines; all others are in `rag.records`."""


def __getattr__(name: str) -> Any:
    if name in ("errors", "records"):
        return import_module(f"rag.{name}")
    if name in __all__:
        module = next((module for module, names in _MODULES.items() if name in names), "rag.records")
        return getattr(import_module(module), name)
    raise AttributeError(f"module 'rag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
