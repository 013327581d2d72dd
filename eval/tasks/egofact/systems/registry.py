"""Systems by name. `localized@10` and `video-split@10` have windows of 10 seconds; any width may be named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from eval.runs.records import System
from eval.tasks.egofact.systems.captions import Captioner
from eval.tasks.egofact.systems.controls import Blind, Chance, PassagesOnly
from eval.tasks.egofact.systems.corpus import Corpus
from eval.tasks.egofact.systems.finding import (
    Asked,
    FindClips,
    FindPassages,
    Unit,
    clips_by_question,
    clips_by_scene,
    gold_clip,
    passages_by_option,
    passages_by_question,
    split_units,
)
from eval.tasks.egofact.systems.graph import Graph
from eval.tasks.egofact.systems.reading import Reader
from eval.tasks.egofact.systems.watching import (
    Localized,
    Watch,
    diverse,
    gold_window,
    part,
    uniform,
)
from localization.settings import LocalizeSettings
from rag.errors import UsageError

WINDOWS = (1, 2, 3, 8, 10, 15, 20, 30)
"""Seconds of the comparison over window sizes (EgoFact, figure 8), beside the 5 of `localized` itself."""
_NAMED: Mapping[str, str] = {
    "localized": "ours: five clips, and in each the best 5 seconds, read alone",
    "localized-paper": "the paper's localization: best mean over 5 s, before and after by a shift of 1 s",
    "localized-per-query": "localized, with the length of the window chosen for each query",
    "no-localization": "VideoRAG (Ren) as the paper adapts it: 15 frames spread over each clip",
    "videorag-jeong": "VideoRAG (Jeong): clips by the question, frames by diversity, five passages",
    "graphrag": "local search over clips told as words and passages, as a graph",
    "video-split": "parts of 5 seconds as what is retrieved; video-split@W for W seconds",
    "blind": "question and options only",
    "passages-only": "question, options and passages, no video",
    "random": "chance",
    "oracle-clip": "localized, in the right clip",
    "oracle-window": "the 5 seconds around the right event",
}
CONTROLS = ("blind", "passages-only", "random")
"""Those that need no picture, for the queries before the non-triviality filter."""


SYSTEMS: Mapping[str, str] = {
    **_NAMED,
    **{f"localized@{w}": f"localized, with windows of {w} s" for w in WINDOWS},
    **{f"video-split@{w}": f"video-split, with parts of {w} s" for w in WINDOWS},
}


def open_system(name: str, corpus: Corpus, captioner: Captioner, seed: int) -> System:
    """Raises `UsageError` for a name that is not here."""
    base, at, width = name.partition("@")
    if at and (base not in ("localized", "video-split") or not _seconds(width)):
        raise UsageError(
            f"no system {name!r}: a width goes with localized or video-split, as in localized@10"
        )
    make = _MAKERS.get(base)
    if make is None:
        raise UsageError(f"no system {name!r}; there are {', '.join(_NAMED)}")
    return make(_Order(name, corpus, captioner, seed, _seconds(width) or 5.0))


@dataclass(frozen=True)
class _Order:
    name: str
    corpus: Corpus
    captioner: Captioner
    seed: int
    seconds: float


def _seconds(text: str) -> float:
    try:
        return float(text) if float(text) > 0 else 0.0
    except ValueError:
        return 0.0


def _reader(order: _Order, find: FindClips, watch: Watch, passages: FindPassages, **said: Any) -> Reader:
    return Reader(order.name, order.corpus, find, watch, passages, order.captioner, {"frames": 15, **said})


def _localized(order: _Order, find: FindClips = clips_by_scene, **changes: Any) -> Reader:
    library = order.corpus.library
    base = library.settings.localize.model_dump()
    chosen = LocalizeSettings(**{**base, "window_seconds": order.seconds, **changes})
    retriever = library.retriever_with(library.settings.model_copy(update={"localize": chosen}))
    said = {"localize": chosen.model_dump(), "window_seconds": order.seconds}
    if find is clips_by_scene and not changes:
        said["series"] = "localization"
    return _reader(order, find, Localized(retriever), passages_by_option, **said)


def _split(order: _Order) -> Reader:
    def find(asked: Asked) -> list[Unit]:
        return split_units(asked, order.seconds)

    return _reader(order, find, part, passages_by_option, series="video-split", window_seconds=order.seconds)


_MAKERS: Mapping[str, Callable[[_Order], System]] = {
    "localized": _localized,
    "localized-paper": partial(_localized, method="window", relative="shift", length="fixed"),
    "localized-per-query": partial(_localized, length="per-query"),
    "no-localization": lambda order: _reader(order, clips_by_scene, uniform, passages_by_option),
    "videorag-jeong": lambda order: _reader(order, clips_by_question, diverse, passages_by_question),
    "graphrag": lambda order: Graph(order.corpus, order.captioner),
    "video-split": _split,
    "blind": lambda order: Blind(order.corpus),
    "passages-only": lambda order: PassagesOnly(order.corpus),
    "random": lambda order: Chance(order.seed),
    "oracle-clip": partial(_localized, find=gold_clip),
    "oracle-window": lambda order: _reader(order, gold_clip, gold_window, passages_by_option),
}
