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

    from corpora.records import Clip as Clip
    from corpora.records import Evidence as Evidence
    from corpora.records import Passage as Passage
    from corpora.records import Problem as Problem
    from corpora.records import Shot as Shot
    from corpora.records import SoundTrack as SoundTrack
    from corpora.records import Video as Video
    from localization.windows import LocalizedWindow as LocalizedWindow
    from localization.windows import Window as Window
    from rag import errors as errors
    from rag import records as records
    from rag.answering import Pipeline as Pipeline
    from rag.checks import Check as Check
    from rag.errors import RagError as RagError
    from rag.indexing.merging import MergeReport as MergeReport
    from rag.indexing.merging import merge_libraries as merge_libraries
    from rag.indexing.report import Forecast as Forecast
    from rag.indexing.report import IndexReport as IndexReport
    from rag.library import Library as Library
    from rag.records import Answer as Answer
    from rag.records import Citation as Citation
    from rag.records import PassageCitation as PassageCitation
    from rag.records import PassageHit as PassageHit
    from rag.records import Question as Question
    from rag.records import ScoreCurve as ScoreCurve
    from rag.records import ScoredOption as ScoredOption
    from rag.records import SearchFilter as SearchFilter
    from rag.records import ShotFilter as ShotFilter
    from rag.records import UnmeasuredVideos as UnmeasuredVideos
    from rag.records import Usage as Usage
    from rag.records import VideoCitation as VideoCitation
    from rag.records import VideoHit as VideoHit
    from rag.settings import Settings as Settings
    from rag.settings import load_settings as load_settings
    from rag.store.records import Removed as Removed
    from rag.store.records import Stats as Stats
    from rag.web import open_web as open_web

__version__ = "0.1.0"
_MODULES = {
    "corpora.records": "Clip Evidence Passage Problem Shot SoundTrack Video",
    "localization.windows": "LocalizedWindow Window",
    "rag": "errors records",
    "rag.answering": "Pipeline",
    "rag.checks": "Check",
    "rag.errors": "RagError",
    "rag.indexing.merging": "MergeReport merge_libraries",
    "rag.indexing.report": "Forecast IndexReport",
    "rag.library": "Library",
    "rag.records": "Answer Citation PassageCitation PassageHit Question ScoreCurve ScoredOption SearchFilter "
    "ShotFilter UnmeasuredVideos Usage VideoCitation VideoHit",
    "rag.settings": "Settings load_settings",
    "rag.store.records": "Removed Stats",
    "rag.web": "open_web",
}
"""The public names that each module defines."""
__all__ = sorted(["__version__", *(name for names in _MODULES.values() for name in names.split())])


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names.split():
            return import_module(f"rag.{name}") if module == "rag" else getattr(import_module(module), name)
    raise AttributeError(f"module 'rag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
