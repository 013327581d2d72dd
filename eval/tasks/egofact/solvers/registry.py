"""Solvers by name.

`localized@10`, `videorag-ren-localized@10` and `video-split@10` have windows of 10 seconds; any width may be
named. `videorag-ren-localized+ENCODER` localizes with another image encoder than the one that retrieves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from eval.rag_ask import RagAsk, answer_settings
from eval.runs.records import Query, TaskInput
from eval.task import Solver, SolverSpec, with_changes
from eval.tasks.controls import Blind, Chance
from eval.tasks.egofact.records import EgoFactInput
from eval.tasks.egofact.solvers import pipeline
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.graph import ROLES, Graph
from eval.tasks.egofact.solvers.graph import SETTINGS as GRAPH
from rag.answering import Pipeline
from rag.errors import UsageError
from rag.library import Library
from rag.reasoners.prompts import prompt_versions

WINDOWS = (1, 2, 3, 8, 10, 15, 20, 30)
"""Seconds of the comparison over window lengths (EgoFact, figure 8), beside the 5 of `localized` itself."""


@dataclass
class Environment:
    """What EgoFact's solvers are opened on."""

    corpus: Corpus
    indexed_with: Callable[[str], Library]
    """From the name of an image encoder to a second library of the same videos, indexed on first use."""


OURS = Pipeline(read=pipeline.read_without_text)
"""The product's stages, over frames and passages alone."""


@dataclass(frozen=True)
class System:
    """The product's pipeline with other stages and settings."""

    about: str
    stages: Callable[[Environment, EgoFactInput], Pipeline] = lambda *_: OURS
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Dotted names of settings to the values that this system has."""
    windows: pipeline.Windows = "localized"
    given: Callable[[Query, TaskInput], TaskInput] | None = None
    localizer: str = ""
    """Name of the image encoder that localizes; empty: the one that retrieves."""

    def open(self, environment: Environment, seed: int) -> Solver:  # noqa: ARG002 (of a `SolverSpec`)
        """The solver; a second library is indexed where `localizer` names its encoder."""
        library = environment.corpus.library
        settings = with_changes(library.settings, self.changes)
        identity: dict[str, Any] = answer_settings(library, settings)
        stages = partial(self.stages, environment)
        if self.localizer:
            second = environment.indexed_with(self.localizer)
            identity = answer_settings(second, settings) | {"localizer": _image_encoder(second)}
            stages = partial(_localized_by, stages, second)
        return pipeline.PipelineSolver(environment.corpus, stages, settings, identity, self.windows)

    @property
    def spec(self) -> SolverSpec[Environment]:
        """Describe the system as a task lists it."""
        return SolverSpec(self.about, self.open, self.given)


def _localized_by(
    stages: Callable[[EgoFactInput], Pipeline], second: Library, asked: EgoFactInput
) -> Pipeline:
    return replace(stages(asked), localize=pipeline.localized_by(second))


def _image_encoder(library: Library) -> str:
    meta = library.engine.reader.meta
    encoder = meta.image_encoder if meta is not None else None
    return "none" if encoder is None else encoder.fingerprint


def _whole_clips(stages: Pipeline, environment: Environment) -> Pipeline:
    """15 frames spread over each clip, in place of a window."""
    sample = pipeline.sampled(environment.corpus, pipeline.spread)
    return replace(stages, localize=pipeline.whole, sample_frames=sample)


def _ren(environment: Environment) -> Pipeline:
    """VideoRAG of Ren et al. as the paper adapts it (3.1): one encoder for images, one for text."""
    return replace(
        OURS,
        retrieve_clips=pipeline.clips_by_image(environment.corpus, pipeline.visual_query),
        retrieve_passages=pipeline.passages_by_option,
    )


def _jeong(environment: Environment) -> Pipeline:
    corpus = environment.corpus
    return replace(
        OURS,
        retrieve_clips=pipeline.clips_by_image(corpus, pipeline.question_text),
        retrieve_passages=pipeline.passages_by_question,
        localize=pipeline.whole,
        sample_frames=pipeline.sampled(corpus, pipeline.diverse(corpus)),
        caption=lambda _, reading: reading,  # it reads frames (D.2.2), whatever the settings say
    )


def _graph(environment: Environment, seed: int) -> Solver:  # noqa: ARG001 (of a `SolverSpec`)
    corpus, made = environment.corpus, dict(GRAPH)
    settings, stages = corpus.library.settings, Graph(corpus).pipeline()
    if settings.reasoner.kind != "embedded":
        made |= {"extracted_by": "reasoner", "prompts": prompt_versions(ROLES)}
    return pipeline.PipelineSolver(corpus, lambda _: stages, settings, made)


def _in_clip(environment: Environment, asked: EgoFactInput) -> Pipeline:
    """In the clip that an oracle is given."""
    return replace(OURS, retrieve_clips=lambda *_: [environment.corpus.found(asked.video)])


def _in_window(environment: Environment, asked: EgoFactInput) -> Pipeline:
    """In the clip, around the event that an oracle is given."""
    assert asked.given_window is not None, "an oracle's input has its window"
    return replace(_in_clip(environment, asked), localize=pipeline.around(asked.given_window))


def _clip_given(query: Query, asked: TaskInput) -> EgoFactInput:
    return EgoFactInput(asked.query_id, asked.text, asked.options, query.video)


def _window_given(query: Query, asked: TaskInput) -> EgoFactInput:
    return EgoFactInput(asked.query_id, asked.text, asked.options, query.video, query.window)


CAPTIONED = {"reasoner.answer_from": "captions"}
PAPERS_WINDOW = {"localize.method": "egofact"}
SYSTEMS: Mapping[str, System] = {
    "videorag-jeong": System(
        "VideoRAG (Jeong): clips by the question, frames by diversity, five passages",
        lambda e, _: _jeong(e),
        windows="none",
    ),
    "videorag-ren": System(
        "VideoRAG (Ren) as the paper adapts it: 15 frames of each clip captioned for the question, "
        "the answer from text alone",
        lambda e, _: _whole_clips(_ren(e), e),
        CAPTIONED,
        windows="none",
    ),
    "videorag-ren-localized": System(
        "the paper's method: VideoRAG (Ren) with the best 5 seconds of each clip in place of the clip",
        lambda e, _: _ren(e),
        CAPTIONED | PAPERS_WINDOW,
    ),
    "localized": System("ours: five clips, and in each the best 5 seconds, read alone"),
    "no-localization": System(
        "15 frames spread over each clip of localized, in place of the 5 seconds",
        lambda e, _: _whole_clips(OURS, e),
        windows="none",
    ),
    "clip-vectors": System(
        "localized, its five clips ranked by their image embeddings alone",
        changes={"search.interaction_clips": 0},
    ),
    "clips-by-scene": System(
        "localized, its five clips ranked without the events of the question",
        lambda *_: replace(OURS, retrieve_clips=pipeline.clips_by_scene),
    ),
    "nearest-passages": System(
        "localized, with the passage nearest to each option by the text encoder alone",
        lambda *_: replace(OURS, retrieve_passages=pipeline.passages_by_option),
    ),
    "localized-paper": System(
        "localized, its windows by the paper: best mean over 5 s, before and after by a shift of 1 s",
        changes=PAPERS_WINDOW,
    ),
    "video-split": System(
        "parts of 5 seconds as what is retrieved; video-split@W for W seconds",
        lambda e, _: replace(OURS, retrieve_clips=pipeline.clip_parts(e.corpus), localize=pipeline.whole),
        windows="parts",
    ),
    "passages-only": System(
        "question, options and passages, no video",
        lambda *_: replace(OURS, retrieve_clips=lambda *_: []),
        windows="none",
    ),
    "oracle-clip": System("localized, in the right clip", _in_clip, given=_clip_given),
    "oracle-window": System("the 5 seconds around the right event", _in_window, given=_window_given),
}

Spec = SolverSpec[Environment]
_NAMED: Mapping[str, Spec] = {
    "rag-ask": Spec(
        "the product: `rag ask`",
        lambda e, _: RagAsk(e.corpus.library, e.corpus.names, lambda _: e.corpus.pool),
    ),
    "graphrag": Spec("local search over captioned clips and passages, as a graph", _graph),
    "blind": Spec(
        "question and options only, by the model that is tested", lambda e, _: Blind(e.corpus.library)
    ),
    "random": Spec("chance", lambda _, seed: Chance(seed)),
    **{name: system.spec for name, system in SYSTEMS.items()},
}


def solver_of(name: str) -> Spec:
    """Raises `UsageError` for a name that is not here."""
    if name in _NAMED:
        return _NAMED[name]
    rest, at, width = name.partition("@")
    base, plus, encoder = rest.partition("+")
    system = SYSTEMS.get(base)
    if system is None:
        raise UsageError(f"no system {name!r}; there are {', '.join(_NAMED)}")
    if at:
        seconds = _seconds(width)
        if system.windows == "none" or system.given or not seconds:
            raise UsageError(
                f"no system {name!r}: a width in seconds goes with a system of windows, as in localized@10"
            )
        changes = {**system.changes, "localize.window_seconds": seconds}
        system = replace(system, about=f"{base}, with windows of {width} s", changes=changes)
    if plus:
        if system.windows != "localized" or system.given or not encoder:
            raise UsageError(
                f"no system {name!r}: an encoder that localizes goes with a system that does, as in "
                "videorag-ren-localized+metaclip-h14-fullcc2.5b"
            )
        system = replace(system, about=f"{system.about}, localized by {encoder}", localizer=encoder)
    return system.spec


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0


SOLVERS: Mapping[str, Spec] = {
    **_NAMED,
    **{f"{name}@{w}": solver_of(f"{name}@{w}") for name in ("localized", "video-split") for w in WINDOWS},
}
