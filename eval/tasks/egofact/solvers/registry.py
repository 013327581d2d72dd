"""Solvers by name. `localized@10` and `video-split@10` have windows of 10 seconds; any width may be named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from eval.rag_ask import RagAsk
from eval.runs.records import Query, TaskInput
from eval.task import Solver, SolverSpec
from eval.tasks.egofact.records import EgoFactInput
from eval.tasks.egofact.solvers.captions import Captioner
from eval.tasks.egofact.solvers.controls import Blind, Chance, PassagesOnly
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.finding import (
    Asked,
    FindClips,
    Unit,
    clips_by_question,
    clips_by_scene,
    given_clip,
    passages_by_option,
    passages_by_question,
    split_units,
)
from eval.tasks.egofact.solvers.graph import Graph
from eval.tasks.egofact.solvers.reader import LocalizingReader, Reader
from eval.tasks.egofact.solvers.watching import BUDGET, Localized, diverse, given_window, part, uniform
from localization.settings import LocalizeSettings
from rag.errors import UsageError

WINDOWS = (1, 2, 3, 8, 10, 15, 20, 30)
"""Seconds of the comparison over window lengths (EgoFact, figure 8), beside the 5 of `localized` itself."""
CONTROLS = ("blind", "passages-only", "random")
"""Solvers that need no video, for the queries before the non-triviality filter."""


@dataclass
class Environment:
    """What EgoFact's solvers are opened on."""

    corpus: Corpus

    @cached_property
    def captioner(self) -> Captioner:
        """One for all solvers: its vectors are computed once."""
        return Captioner(self.corpus)


def _settings(**more: Any) -> dict[str, Any]:
    return {"frames": BUDGET, **more}


def _localized(
    environment: Environment,
    seed: int,  # noqa: ARG001 (the protocol's)
    find: FindClips = clips_by_scene,
    seconds: float = 5.0,
    **changes: Any,
) -> Solver:
    library = environment.corpus.library
    base = library.settings.localize.model_dump()
    chosen = LocalizeSettings(**{**base, "window_seconds": seconds, **changes})
    retriever = library.retriever_with(library.settings.model_copy(update={"localize": chosen}))
    settings = _settings(localize=chosen.model_dump(), window_seconds=seconds)
    if find is clips_by_scene and not changes:
        settings["series"] = "localization"
    return LocalizingReader(environment.corpus, find, Localized(retriever), passages_by_option, settings)


def _split(environment: Environment, seed: int, seconds: float = 5.0) -> Solver:  # noqa: ARG001 (as above)
    def find(asked: Asked) -> list[Unit]:
        return split_units(asked, seconds)

    settings = _settings(series="video-split", window_seconds=seconds)
    return Reader(environment.corpus, find, part, passages_by_option, settings)


def _clip_given(query: Query, asked: TaskInput) -> EgoFactInput:
    return EgoFactInput(asked.query_id, asked.text, asked.options, query.video)


def _window_given(query: Query, asked: TaskInput) -> EgoFactInput:
    return EgoFactInput(asked.query_id, asked.text, asked.options, query.video, query.window)


Spec = SolverSpec[Environment]
_NAMED: Mapping[str, Spec] = {
    "rag-ask": Spec(
        "the product: `rag ask`, whole",
        lambda e, _: RagAsk(e.corpus.library, e.corpus.name_of, e.corpus.passage_of),
    ),
    "localized": Spec("ours: five clips, and in each the best 5 seconds, read alone", _localized),
    "localized-paper": Spec(
        "the paper's localization: best mean over 5 s, before and after by a shift of 1 s",
        partial(_localized, method="window", relative="shift", length="fixed"),
    ),
    "localized-per-query": Spec(
        "localized, with the length of the window chosen for each query",
        partial(_localized, length="per-query"),
    ),
    "no-localization": Spec(
        "VideoRAG (Ren) as the paper adapts it: 15 frames spread over each clip",
        lambda e, _: Reader(e.corpus, clips_by_scene, uniform, passages_by_option, _settings()),
    ),
    "videorag-jeong": Spec(
        "VideoRAG (Jeong): clips by the question, frames by diversity, five passages",
        lambda e, _: Reader(e.corpus, clips_by_question, diverse, passages_by_question, _settings()),
    ),
    "graphrag": Spec(
        "local search over captioned clips and passages, as a graph",
        lambda e, _: Graph(e.corpus, e.captioner),
    ),
    "video-split": Spec("parts of 5 seconds as what is retrieved; video-split@W for W seconds", _split),
    "blind": Spec("question and options only", lambda e, _: Blind(e.corpus)),
    "passages-only": Spec("question, options and passages, no video", lambda e, _: PassagesOnly(e.corpus)),
    "random": Spec("chance", lambda _, seed: Chance(seed)),
    "oracle-clip": Spec("localized, in the right clip", partial(_localized, find=given_clip), _clip_given),
    "oracle-window": Spec(
        "the 5 seconds around the right event",
        lambda e, _: LocalizingReader(e.corpus, given_clip, given_window, passages_by_option, _settings()),
        _window_given,
    ),
}


def solver_of(name: str) -> Spec:
    """Raises `UsageError` for a name that is not here."""
    base, at, width = name.partition("@")
    if at:
        seconds = _seconds(width)
        if base == "localized" and seconds:
            return Spec(f"localized, with windows of {width} s", partial(_localized, seconds=seconds))
        if base == "video-split" and seconds:
            return Spec(f"video-split, with parts of {width} s", partial(_split, seconds=seconds))
        raise UsageError(
            f"no system {name!r}: a width goes with localized or video-split, as in localized@10"
        )
    if name not in _NAMED:
        raise UsageError(f"no system {name!r}; there are {', '.join(_NAMED)}")
    return _NAMED[name]


def _seconds(text: str) -> float:
    try:
        return float(text) if float(text) > 0 else 0.0
    except ValueError:
        return 0.0


SOLVERS: Mapping[str, Spec] = {
    **_NAMED,
    **{f"{name}@{w}": solver_of(f"{name}@{w}") for name in ("localized", "video-split") for w in WINDOWS},
}
