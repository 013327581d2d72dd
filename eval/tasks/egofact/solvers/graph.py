"""GraphRAG's local search over captioned clips and over passages (EgoFact, D.2.1), compact and ours.

Text units are chunks of 1200 tokens with 100 of overlap. Entities are the things, acts, scenes and decor
that the descriptions name, and the titles of passages; two entities of one unit are related. A question
takes the entities nearest to it, then the units that hold most of them, as many as fit the context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Clip, Evidence, Passage
from eval.tasks.egofact.scorer import Captioner
from eval.tasks.egofact.solvers.corpus import Corpus, ranked
from eval.tasks.egofact.solvers.pipeline import no_frames, whole
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
SCREENSHOT_SECONDS = 3.0
"""EgoFact, C.1: ten screenshots of a clip."""


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


@dataclass
class Graph:
    """Stages of a pipeline that answers from captions and passages; no image embedding is read at
    question time."""

    corpus: Corpus
    captioner: Captioner

    def pipeline(self) -> Pipeline:
        """The product's pipeline with retrieval over the graph."""
        return Pipeline(
            retrieve_clips=self._clips,
            retrieve_passages=self._passages,
            localize=whole,
            sample_frames=no_frames,
            read=self._read,
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

    def _read(
        self,
        context: Context,
        rewriting: Rewriting,
        clips: Sequence[RetrievedClip],
        windows: Sequence[Window],
        samples: Sequence[FrameSample],
        passages: Sequence[RetrievedPassage],
    ) -> Reading:
        reading = read(context, rewriting, clips, windows, samples, passages)
        texts = [_lines(found.clip, self._captions[self.corpus.names[found.clip.clip_id]]) for found in clips]
        captioned = [
            replace(window, texts=tuple(lines)) for window, lines in zip(reading.windows, texts, strict=True)
        ]
        return replace(reading, windows=tuple(captioned))

    def _local(self, question: str, kind: str) -> list[tuple[TextUnit, float]]:
        """The units with the most of the question's entities, by how near those are to it."""
        wanted = self._encode(question)
        near = dict(ranked(list(zip(self._names, self._rows @ wanted, strict=True)), ENTITIES))
        scores = []
        for unit in self._units:
            if (unit.clip is None) == (kind == "clip"):
                continue
            held = sum(near.get(entity, 0.0) for entity in unit.entities)
            related = sum(
                self._related[entity, other] for entity in unit.entities for other in near if entity != other
            )
            own = float(self._unit_rows[unit.key] @ wanted)
            scores.append((unit.key, held + own + 0.01 * np.log1p(related)))
        by_key = {unit.key: unit for unit in self._units}
        return [(by_key[key], score) for key, score in ranked(scores, UNITS)]

    @cached_property
    def _captions(self) -> dict[str, list[tuple[float, str]]]:
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

    @cached_property
    def _units(self) -> list[TextUnit]:
        units = []
        for name, lines in self._captions.items():
            text = ". ".join(line for _, line in lines)
            for index, chunk in enumerate(chunks(text)):
                units.append(TextUnit(f"clip {name} {index}", chunk, self._entities(chunk), clip=name))
        reader = self.corpus.library.engine.reader
        # All of them, whatever the query.
        ids = [hit.key for hit in reader.search_passages(self._encode("passage").astype(np.float32), EVERY)]
        for passage in sorted(reader.passages(ids), key=lambda p: p.passage_id):
            held = (passage.title.casefold(), *self._entities(passage.title))
            units.append(TextUnit(f"passage {passage.passage_id}", passage.text, held, passage=passage))
        return units

    def _entities(self, text: str) -> tuple[str, ...]:
        folded = f" {text.casefold()} ".replace(".", " ")
        return tuple(sorted(name for name in self._vocabulary if f" {name} " in folded))

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        from eval.workbench.catalogue import KINDS

        words = {kind.name for kind in KINDS} | {name.split(" ", 1)[1] for name in self.captioner.decor}
        return frozenset(word.casefold() for word in words)

    @cached_property
    def _names(self) -> list[str]:
        return sorted({entity for unit in self._units for entity in unit.entities})

    @cached_property
    def _rows(self) -> NDArray[np.float64]:
        return np.stack([self._encode(name) for name in self._names])

    @cached_property
    def _unit_rows(self) -> dict[str, NDArray[np.float64]]:
        return {unit.key: self._encode(unit.text) for unit in self._units}

    @cached_property
    def _related(self) -> Counter[tuple[str, str]]:
        """In how many units two entities occur together."""
        count: Counter[tuple[str, str]] = Counter()
        for unit in self._units:
            for one in unit.entities:
                for other in unit.entities:
                    if one != other:
                        count[one, other] += 1
        return count

    def _encode(self, words: str) -> NDArray[np.float64]:
        row: NDArray[np.float64] = self.corpus.library.engine.text_encoder.encode_text([words])[0].astype(
            np.float64
        )
        return row


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
