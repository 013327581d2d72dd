"""GraphRAG's local search over captioned clips and over passages (EgoFact, D.2.1), compact and ours.

Text units are chunks of 1200 tokens with 100 of overlap. A question takes the entities nearest to it, then
the units that hold most of them. `model_graph` has a language model write the captions and extract entities
and relationships; the embedded reasoner's graph knows the Workbench's names alone: things, acts, scenes and
decor that the captions name, and the titles of passages, related where they are in one unit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Clip, Evidence, Passage
from eval.tasks.egofact.construction.records import SCREENSHOT_SECONDS
from eval.tasks.egofact.scorer import Captioner
from eval.tasks.egofact.solvers.corpus import Corpus, ranked
from eval.tasks.egofact.solvers.pipeline import no_frames, whole
from eval.workbench.catalogue import KINDS
from localization.windows import Window
from rag.answering import Context, FrameSample, Pipeline, Rewriting, read
from rag.reasoners.roles.reading import Reading
from rag.retrieval import RetrievedClip, RetrievedPassage

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK_TOKENS, CHUNK_OVERLAP = 1200, 100
"""EgoFact, D.2.1."""
ENTITIES = 10
UNITS = 5
EVERY = 100_000
"""More passages than any library of a benchmark holds."""


SETTINGS: Mapping[str, Any] = {
    "chunk_tokens": CHUNK_TOKENS,
    "chunk_overlap": CHUNK_OVERLAP,
    "entities": ENTITIES,
    "units": UNITS,
}


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A chunk of a captioned clip, or a passage: one of the two is there."""

    key: str
    text: str
    entities: tuple[str, ...]
    clip: str | None = None
    passage: Passage | None = None

    @property
    def source(self) -> str:
        """The clip or passage that it is a chunk of."""
        return self.clip if self.clip is not None else self.key


@dataclass
class Graph(ABC):
    """Stages of a pipeline that answers from captions and passages; no image embedding is read at
    question time."""

    corpus: Corpus

    @property
    @abstractmethod
    def captions(self) -> Mapping[str, Sequence[tuple[float, str]]]:
        """Clip to lines that describe it, each with its time in seconds."""

    @abstractmethod
    def entities(self, key: str, text: str, title: str = "") -> tuple[str, ...]:
        """The entities of a text unit, by its key; `title`: of a passage."""

    @property
    @abstractmethod
    def related(self) -> Mapping[tuple[str, str], float]:
        """How closely two entities are related; 0 for a pair that is missing."""

    def described(self, entity: str) -> str:
        """What an entity is encoded as where it is compared with a question."""
        return entity

    def pipeline(self) -> Pipeline:
        """The product's pipeline with retrieval over the graph."""
        return Pipeline(
            retrieve_clips=self._clips,
            retrieve_passages=self._passages,
            localize=whole,
            sample_frames=no_frames,
            read=self.read,
            caption=lambda _, reading: reading,
        )

    def _clips(self, context: Context, rewriting: Rewriting) -> list[RetrievedClip]:  # noqa: ARG002 (a stage)
        found = self._local(context.question.text, "clip")
        return [self.corpus.found(unit.clip or "", score) for unit, score in found]

    def _passages(self, context: Context, rewriting: Rewriting) -> list[RetrievedPassage]:  # noqa: ARG002 (a stage)
        found = self._local(context.question.text, "passage")
        return [
            RetrievedPassage(unit.passage, "", score, 1.0)
            for unit, score in found
            if unit.passage is not None
        ]

    def read(
        self,
        context: Context,
        rewriting: Rewriting,
        clips: Sequence[RetrievedClip],
        windows: Sequence[Window],
        samples: Sequence[FrameSample],
        passages: Sequence[RetrievedPassage],
    ) -> Reading:
        """A stage: the clips with their captions for all that is known of them."""
        reading = read(context, rewriting, clips, windows, samples, passages)
        texts = [_lines(found.clip, self.captions[self.corpus.names[found.clip.clip_id]]) for found in clips]
        captioned = [
            replace(window, texts=tuple(lines)) for window, lines in zip(reading.windows, texts, strict=True)
        ]
        return replace(reading, windows=tuple(captioned))

    def nearest(self, question: str) -> dict[str, float]:
        """The entities nearest to a question, and how near they are."""
        wanted = self.corpus.sentence(question)
        return dict(ranked(list(zip(self._names, self._rows @ wanted, strict=True)), ENTITIES))

    def _local(self, question: str, kind: str) -> list[tuple[TextUnit, float]]:
        """The units with the most of the question's entities, by how near those are to it."""
        wanted, near = self.corpus.sentence(question), self.nearest(question)
        scores: dict[str, tuple[float, TextUnit]] = {}
        for unit in self._units:
            if (unit.clip is None) == (kind == "clip"):
                continue
            held = sum(near.get(entity, 0.0) for entity in unit.entities)
            related = sum(
                self.related.get((entity, other), 0)
                for entity in unit.entities
                for other in near
                if entity != other
            )
            own = float(self._unit_rows[unit.key] @ wanted)
            score = held + own + 0.01 * np.log1p(related)
            # Of several chunks of one clip or passage, the best one counts.
            if unit.source not in scores or score > scores[unit.source][0]:
                scores[unit.source] = score, unit
        found = ranked([(unit.key, score) for score, unit in scores.values()], UNITS)
        by_key = {unit.key: unit for _, unit in scores.values()}
        return [(by_key[key], score) for key, score in found]

    @cached_property
    def _units(self) -> list[TextUnit]:
        units = []
        for name, lines in self.captions.items():
            text = ". ".join(line for _, line in lines)
            for index, chunk in enumerate(chunks(text)):
                key = f"clip {name} {index}"
                units.append(TextUnit(key, chunk, self.entities(key, chunk), clip=name))
        for passage in self.passages:
            key = f"passage {passage.passage_id}"
            held = self.entities(key, passage.text, passage.title)
            units.append(TextUnit(key, passage.text, held, passage=passage))
        return units

    @cached_property
    def passages(self) -> list[Passage]:
        """All of the library, by id."""
        reader = self.corpus.library.engine.reader
        any_query = self.corpus.sentence("passage").astype(np.float32)
        ids = [hit.key for hit in reader.search_passages(any_query, EVERY)]
        return sorted(reader.passages(ids), key=lambda passage: passage.passage_id)

    @cached_property
    def _names(self) -> list[str]:
        return sorted({entity for unit in self._units for entity in unit.entities})

    @cached_property
    def _rows(self) -> NDArray[np.float64]:
        rows = [self.corpus.sentence(self.described(name)) for name in self._names]
        return np.stack(rows) if rows else np.zeros((0, len(self.corpus.sentence("entity"))))

    @cached_property
    def _unit_rows(self) -> dict[str, NDArray[np.float64]]:
        return {unit.key: self.corpus.sentence(unit.text) for unit in self._units}


@dataclass
class SentenceGraph(Graph):
    """The embedded reasoner's: fixed Workbench sentences for captions, the Workbench's names for entities."""

    captioner: Captioner

    @cached_property
    def captions(self) -> dict[str, list[tuple[float, str]]]:
        """Clip to its captions at ten moments, and its setting."""
        found = {}
        for name, frames in self.corpus.frames.items():
            step = max(1, round(SCREENSHOT_SECONDS / 0.5))
            kept = np.arange(0, len(frames.times), step)
            captions = self.captioner.captions(frames.vectors[kept])
            found[name] = [(float(frames.times[0]), self.captioner.setting(frames.vectors))]
            found[name] += [
                (float(frames.times[at]), caption.sentence)
                for at, caption in zip(kept, captions, strict=True)
            ]
        return found

    def entities(self, key: str, text: str, title: str = "") -> tuple[str, ...]:
        """Names that a caption says; of a passage its title and the names in it."""
        passage = key.startswith("passage")
        folded = f" {(title if passage else text).casefold()} ".replace(".", " ")
        held = tuple(sorted(name for name in self._vocabulary if f" {name} " in folded))
        return (title.casefold(), *held) if passage else held

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        words = {kind.name for kind in KINDS} | {name.split(" ", 1)[1] for name in self.captioner.decor}
        return frozenset(word.casefold() for word in words)

    @cached_property
    def related(self) -> Counter[tuple[str, str]]:
        """In how many units two entities occur together."""
        count: Counter[tuple[str, str]] = Counter()
        for unit in self._units:
            for one in unit.entities:
                for other in unit.entities:
                    if one != other:
                        count[one, other] += 1
        return count


def chunks(text: str, size: int = CHUNK_TOKENS, overlap: int = CHUNK_OVERLAP) -> list[str]:
    """Pieces of `size` words with `overlap` shared with the one before; a token is taken for a word."""
    words = text.split()
    starts = range(0, max(1, len(words) - overlap), size - overlap)
    return [" ".join(words[start : start + size]) for start in starts]


def _lines(clip: Clip, lines: Sequence[tuple[float, str]]) -> list[Evidence]:
    return [
        Evidence(clip.video_id, at, min(at + SCREENSHOT_SECONDS, clip.end), "caption", f"{line}.")
        for at, line in lines
    ]
