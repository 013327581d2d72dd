"""Solvers by name. `localized@10` and `video-split@10` have windows of 10 seconds; any width may be named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from eval.rag_ask import RagAsk
from eval.runs.records import Query, TaskInput
from eval.task import Solver, SolverSpec
from eval.tasks.controls import Blind, Chance
from eval.tasks.egofact.records import EgoFactInput
from eval.tasks.egofact.scorer import Captioner
from eval.tasks.egofact.solvers import pipeline
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.graph import SETTINGS as GRAPH
from eval.tasks.egofact.solvers.graph import SentenceGraph
from eval.tasks.egofact.solvers.model_graph import ROLES as MODEL_ROLES
from eval.tasks.egofact.solvers.model_graph import ModelGraph
from localization.settings import LocalizeSettings
from rag.answering import Pipeline, retrieve_passages
from rag.errors import UsageError
from rag.reasoners.prompts import prompt_versions
from rag.settings import Settings

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


OURS = Pipeline(read=pipeline.read_without_text)
"""The product's stages, over frames and passages alone."""


def _localized(
    environment: Environment,
    seed: int,  # noqa: ARG001 (of a `SolverSpec`)
    stages: Callable[[Corpus, EgoFactInput], Pipeline] = lambda _, __: OURS,
    series: bool = False,
    seconds: float = 5.0,
    captioned: bool = False,
    interaction: bool = True,
    **changes: Any,
) -> Solver:
    corpus = environment.corpus
    settings = _answering(corpus.library.settings, captioned)
    if not interaction:
        search = settings.search.model_copy(update={"interaction_clips": 0})
        settings = settings.model_copy(update={"search": search})
    chosen = LocalizeSettings(**{**settings.localize.model_dump(), "window_seconds": seconds, **changes})
    return pipeline.LocalizingSolver(
        corpus,
        partial(stages, corpus),
        settings.model_copy(update={"localize": chosen}),
        {
            "frames": chosen.frame_budget,
            "localize": chosen.model_dump(),
            "window_seconds": seconds,
            "interaction_clips": settings.search.interaction_clips,
            **({"series": "localization"} if series else {}),
            **_answered_from(settings),
        },
    )


def _answering(settings: Settings, captioned: bool) -> Settings:
    """The library's settings, under which captions are read where `captioned` or they say so."""
    if not captioned:
        return settings
    reasoner = settings.reasoner.model_copy(update={"answer_from": "captions"})
    return settings.model_copy(update={"reasoner": reasoner})


def _answered_from(settings: Settings) -> dict[str, str]:
    """For the identity of a run: empty where frames are read."""
    how = settings.reasoner.answer_from
    return {} if how == "frames" else {"answer_from": how}


def _replaced(
    environment: Environment,
    stages: Pipeline,
    shows_windows: bool = False,
    captioned: bool = False,
    **settings: Any,
) -> pipeline.PipelineSolver:
    """A solver that localizes nothing."""
    chosen = _answering(environment.corpus.library.settings, captioned)
    budget = chosen.localize.frame_budget
    return pipeline.PipelineSolver(
        environment.corpus,
        lambda _: stages,
        chosen,
        {"frames": budget, **settings, **_answered_from(chosen)},
        shows_windows=shows_windows,
    )


def _jeong(environment: Environment, seed: int) -> Solver:  # noqa: ARG001 (of a `SolverSpec`)
    corpus = environment.corpus
    stages = replace(
        OURS,
        retrieve_clips=pipeline.clips_by_question,
        retrieve_passages=pipeline.passages_by_question,
        localize=pipeline.whole,
        sample_frames=pipeline.sampled(corpus, pipeline.diverse(corpus)),
        caption=lambda _, reading: reading,  # it reads frames (D.2.2), whatever the settings say
    )
    return _replaced(environment, stages)


def _whole_clips(environment: Environment, seed: int, captioned: bool = False) -> Solver:  # noqa: ARG001 (as above)
    stages = replace(
        OURS, localize=pipeline.whole, sample_frames=pipeline.sampled(environment.corpus, pipeline.spread)
    )
    return _replaced(environment, stages, captioned=captioned)


def _split(environment: Environment, seed: int, seconds: float = 5.0) -> Solver:  # noqa: ARG001 (as above)
    stages = replace(
        OURS, retrieve_clips=pipeline.clip_parts(environment.corpus, seconds), localize=pipeline.whole
    )
    return _replaced(environment, stages, True, series="video-split", window_seconds=seconds)


def _graph(environment: Environment, seed: int) -> Solver:  # noqa: ARG001 (of a `SolverSpec`)
    corpus = environment.corpus
    settings = corpus.library.settings
    if settings.reasoner.kind == "embedded":
        stages, made = SentenceGraph(corpus, environment.captioner).pipeline(), GRAPH
    else:
        prompts = prompt_versions(MODEL_ROLES)
        stages, made = (
            ModelGraph(corpus).pipeline(),
            {**GRAPH, "extracted_by": "reasoner", "prompts": prompts},
        )
    return pipeline.PipelineSolver(corpus, lambda _: stages, settings, made, shows_windows=False)


def _in_clip(corpus: Corpus, asked: EgoFactInput) -> Pipeline:
    """In the clip that an oracle is given."""
    name = asked.given_clip
    assert name is not None, "an oracle's input has its clip"
    return replace(OURS, retrieve_clips=lambda _, __: [corpus.found(name)])


def _in_window(corpus: Corpus, asked: EgoFactInput) -> Pipeline:
    """In the clip, around the event that an oracle is given."""
    assert asked.given_window is not None, "an oracle's input has its window"
    return replace(_in_clip(corpus, asked), localize=pipeline.around(asked.given_window))


def _clip_given(query: Query, asked: TaskInput) -> EgoFactInput:
    return EgoFactInput(asked.query_id, asked.text, asked.options, query.video)


def _window_given(query: Query, asked: TaskInput) -> EgoFactInput:
    return EgoFactInput(asked.query_id, asked.text, asked.options, query.video, query.window)


Spec = SolverSpec[Environment]
_NAMED: Mapping[str, Spec] = {
    "rag-ask": Spec(
        "the product: `rag ask`",
        lambda e, _: RagAsk(e.corpus.library, e.corpus.names, lambda _: e.corpus.pool),
    ),
    "localized": Spec(
        "ours: five clips, and in each the best 5 seconds, read alone", partial(_localized, series=True)
    ),
    "clip-vectors": Spec(
        "localized, its five clips ranked by their image embeddings alone",
        partial(_localized, interaction=False),
    ),
    "clips-by-scene": Spec(
        "localized, its five clips ranked without the events of the question",
        partial(_localized, stages=lambda _, __: replace(OURS, retrieve_clips=pipeline.clips_by_scene)),
    ),
    "nearest-passages": Spec(
        "localized, with the nearest passage of each option",
        partial(
            _localized,
            stages=lambda _, __: replace(OURS, retrieve_passages=partial(retrieve_passages, candidates=1)),
        ),
    ),
    "localized-paper": Spec(
        "the paper's localization: best mean over 5 s, before and after by a shift of 1 s",
        partial(_localized, method="egofact"),
    ),
    "no-localization": Spec("15 frames spread over each clip, read themselves", _whole_clips),
    "no-localization-captioned": Spec(
        "VideoRAG (Ren) as the paper adapts it: 15 frames of each clip captioned for the question, "
        "the answer from text alone",
        partial(_whole_clips, captioned=True),
    ),
    "localized-captioned": Spec(
        "localized, its windows captioned for the question, the answer from text alone",
        partial(_localized, captioned=True),
    ),
    "localized-paper-captioned": Spec(
        "the paper's method: its localization, captions for the question, the answer from text alone",
        partial(_localized, method="egofact", captioned=True),
    ),
    "videorag-jeong": Spec(
        "VideoRAG (Jeong): clips by the question, frames by diversity, five passages", _jeong
    ),
    "graphrag": Spec("local search over captioned clips and passages, as a graph", _graph),
    "video-split": Spec("parts of 5 seconds as what is retrieved; video-split@W for W seconds", _split),
    "blind": Spec(
        "question and options only, by the model that is tested", lambda e, _: Blind(e.corpus.library)
    ),
    "passages-only": Spec(
        "question, options and passages, no video",
        lambda e, _: _replaced(e, replace(OURS, retrieve_clips=pipeline.no_clips)),
    ),
    "random": Spec("chance", lambda _, seed: Chance(seed)),
    "oracle-clip": Spec("localized, in the right clip", partial(_localized, stages=_in_clip), _clip_given),
    "oracle-window": Spec(
        "the 5 seconds around the right event", partial(_localized, stages=_in_window), _window_given
    ),
}


def solver_of(name: str) -> Spec:
    """Raises `UsageError` for a name that is not here."""
    base, at, width = name.partition("@")
    if at:
        seconds = _seconds(width)
        if base == "localized" and seconds:
            return Spec(
                f"localized, with windows of {width} s", partial(_localized, series=True, seconds=seconds)
            )
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
