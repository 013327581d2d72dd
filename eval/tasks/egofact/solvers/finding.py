"""The retrieval stage: clips and passages of ours, and of the systems it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eval.tasks.egofact.records import EgoFactInput
from eval.tasks.egofact.solvers.corpus import Corpus, ranked
from localization.records import Window
from rag.answering import Context, Rewriting, retrieve_passages
from rag.questions import parse_question
from rag.reasoners.roles import ANCHOR_EVENT, REWRITE_QUESTION, AnchorEvent, ReadPassage, RewrittenQuestion
from rag.records import Question, SearchFilter
from rag.retrieval import RetrievedClip

CLIPS = 5
"""EgoFact, D.2: clips read for a query."""
PASSAGES = 5
"""EgoFact, D.2.2: passages read where they are sought for the whole question."""
EVERYWHERE = SearchFilter()


@dataclass(frozen=True, slots=True)
class Asked:
    """An input, and what the reasoner made of its words."""

    corpus: Corpus
    input: EgoFactInput
    question: Question
    rewritten: RewrittenQuestion
    anchor: AnchorEvent

    @classmethod
    def of(cls, corpus: Corpus, asked: EgoFactInput) -> Asked:
        question = parse_question(asked.text, asked.options, asked.query_id)
        reasoner = corpus.library.reasoner
        return cls(
            corpus,
            asked,
            question,
            reasoner.run(REWRITE_QUESTION, question),
            reasoner.run(ANCHOR_EVENT, question),
        )

    @property
    def event(self) -> str:
        """The event that must be seen: the asked one where the anchor is another."""
        return self.anchor.target or self.anchor.description


@dataclass(frozen=True, slots=True)
class Unit:
    """A retrieved clip, or a part of one where parts are what is retrieved."""

    name: str
    """Of the clip, in the benchmark."""
    found: RetrievedClip
    part: Window | None = None


FindClips = Callable[[Asked], list[Unit]]
FindPassages = Callable[[Asked], list[ReadPassage]]


def clips_by_scene(asked: Asked) -> list[Unit]:
    """Five clips by the rewritten visual query (EgoFact, D.2.3)."""
    return _found(asked, asked.rewritten.visual_query)


def clips_by_question(asked: Asked) -> list[Unit]:
    """Five clips by the question as it stands (VideoRAG of Jeong et al. rewrites nothing)."""
    return _found(asked, asked.input.text)


def given_clip(asked: Asked) -> list[Unit]:
    """The clip that an oracle is given."""
    name = asked.input.given_clip
    assert name is not None, "an oracle's input has its clip"
    return [Unit(name, asked.corpus.found(name))]


def split_units(asked: Asked, seconds: float) -> list[Unit]:
    """The five parts of `seconds` each, of all clips, that fit scene and event best (EgoFact, 4.2).

    A part is represented by the mean of its frames and asked by "scene, event".
    """
    corpus = asked.corpus
    words = f"{asked.rewritten.visual_query.rstrip('. ')}, {asked.event}"
    wanted = corpus.vector(words).astype(np.float64)
    scores, parts = [], {}
    for name, frames in corpus.frames.items():
        clip = corpus.clips[name]
        for index in range(max(1, round((clip.end - clip.start) / seconds))):
            start = clip.start + index * seconds
            end = min(start + seconds, clip.end)
            inside = (frames.times >= start - 1e-6) & (frames.times < end - 1e-6)
            if inside.any():
                mean = frames.vectors[inside].astype(np.float64).mean(axis=0)
                score = float(mean @ wanted / max(float(np.linalg.norm(mean)), 1e-9))
                key = f"{name}#{index:05d}"
                scores.append((key, score))
                parts[key] = (name, Window(clip.video_id, start, end, round(score, 6)))
    return [
        Unit(parts[key][0], corpus.found(parts[key][0], score), parts[key][1])
        for key, score in ranked(scores, CLIPS)
    ]


def passages_by_option(asked: Asked) -> list[ReadPassage]:
    """One passage an option (EgoFact, 3.1 and D.2.3), for every question: the hops are not known."""
    library = asked.corpus.library
    context = Context(
        asked.question, library.retriever, library.reasoner, library.settings, EVERYWHERE, CLIPS, 0.0
    )
    found = retrieve_passages(context, Rewriting(asked.rewritten, asked.anchor))
    return [ReadPassage(p.passage, p.path, p.score, p.option) for p in found]


def passages_by_question(asked: Asked) -> list[ReadPassage]:
    """Five passages by question and options in one query (EgoFact, D.2.2)."""
    words = " ".join([asked.input.text, *asked.input.options])
    found = asked.corpus.library.retriever.find_passages(words, PASSAGES)
    return [ReadPassage(p.passage, p.path, p.score, None) for p in found]


def _found(asked: Asked, visual: str) -> list[Unit]:
    corpus = asked.corpus
    found = corpus.library.retriever.find_clips(asked.input.text, visual, CLIPS)
    return [Unit(corpus.names[f.clip.clip_id], f) for f in found if f.clip.clip_id in corpus.names]
