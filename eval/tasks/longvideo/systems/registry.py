"""Systems by name: VideoDetective, what table 3 takes away from it, the baselines of table 1, controls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from eval.tasks.adapter import System
from eval.tasks.longvideo.systems.baselines import Retrieval, Uniform, VideoAgent
from eval.tasks.longvideo.systems.controls import Blind, Chance
from eval.tasks.longvideo.systems.corpus import Corpus
from eval.tasks.longvideo.systems.detective import Detective
from eval.tasks.longvideo.systems.surviving import Surviving
from rag.agents.video_detective.settings import PAPER
from rag.errors import UsageError

SYSTEMS: Mapping[str, str] = {
    "video-detective": "the whole of it",
    "literal-prior": "equations 1, 5, 9 and 13 to the letter: plain cosines, and the prior spread as well",
    "literal-no-propagation": "the same without diffusion",
    "no-propagation": "without diffusion: what is seen of a segment says nothing of others",
    "no-facets": "the question as one facet, looked at once (table 3 takes both away together)",
    "no-refinement": "one look a facet, at its anchor",
    "no-texts": "no words reach the answer",
    "uniform-texts": "looks as ever, but frames and words from evenly spread places",
    "uniform": "32 frames spread evenly, without words: direct inference",
    "retrieval-only": "the eight best segments by stored vectors and words, in one step",
    "video-agent": "even frames, then the best frames for what is missing, while unsure",
    "truthful-watcher": "the whole of it, with a watcher that tells what truly happens",
    "truthful-no-propagation": "the same without diffusion",
    "blind": "question and options only",
    "random": "chance",
}
LITERAL: Mapping[str, Any] = {
    "likeness": "plain",
    "prior": "literal",
    "evidence": "literal",
    "carried": "all",
}
WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "video-detective": {},
    "literal-prior": LITERAL,
    "literal-no-propagation": {**LITERAL, "propagation": False},
    "no-propagation": {"propagation": False},
    "no-facets": {"facets": False, "refinement": False},
    "no-refinement": {"refinement": False},
    "no-texts": {"texts": False},
    "uniform-texts": {"sampling": "uniform"},
}
TRUTHFUL: Mapping[str, Mapping[str, Any]] = {
    "truthful-watcher": {},
    "truthful-no-propagation": {"propagation": False},
}
BASELINES: Mapping[str, Callable[[str, Corpus], System]] = {
    "uniform": Uniform,
    "retrieval-only": Retrieval,
    "video-agent": VideoAgent,
}


def open_system(name: str, corpus: Corpus, seed: int) -> System:
    """Raises `UsageError` for a name that is not here."""
    if name == "random":
        return Chance(seed)
    if name == "blind":
        return Blind(corpus)
    return Surviving(_asking(name, corpus), corpus)


def _asking(name: str, corpus: Corpus) -> System:
    """One that asks the mind."""
    if name in WITHOUT:
        return Detective(name, corpus, dataclasses.replace(PAPER, **WITHOUT[name]))
    if name in TRUTHFUL:
        if not corpus.videos:
            raise UsageError(f"{name} needs films whose truth is known")
        return Detective(name, corpus, dataclasses.replace(PAPER, **TRUTHFUL[name]), truthful=True)
    if name not in BASELINES:
        raise UsageError(f"no system {name!r}; there are {', '.join(SYSTEMS)}")
    return BASELINES[name](name, corpus)
