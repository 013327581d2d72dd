"""GraphRAG's local search over captioned clips and over passages (EgoFact, 4.1 and D.2.1), compact and ours.

Each clip is described from frames spread over it. Text units are chunks of 1200 tokens, with 100 of
overlap, of these descriptions and of the passages. Each is searched for entities and relationships once;
what a language model says is kept beside the data. With the embedded reasoner the entities of a unit are
its words, and nothing is related. A question takes the entities nearest to it, then the units that hold
most of them. Descriptions of one entity are joined, not summarized, and there are no community reports:
local search alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from corpora.records import Evidence, Passage
from eval.tasks.egofact.replies import StoredReplies
from eval.tasks.egofact.solvers.corpus import Corpus, ranked
from eval.tasks.egofact.solvers.pipeline import no_frames, whole
from eval.tasks.published import text_hash
from localization.sampling import midpoints, nearest_frames
from localization.windows import Window
from rag.answering import Context, FrameSample, Pipeline, Rewriting, read
from rag.errors import ReplyInvalid
from rag.reasoners.prompts import load_prompt
from rag.reasoners.protocol import Reply, Role, RoleCall
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.reasoners.roles.watching import CAPTION_WINDOW, CaptionRequest
from rag.retrieval import RetrievedClip, RetrievedPassage
from rag.words import content_words, folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK_TOKENS, CHUNK_OVERLAP = 1200, 100
"""EgoFact, D.2.1."""
ENTITIES = 10
UNITS = 5
DESCRIPTIONS = 5
"""At most so many descriptions of one entity are joined."""
RELATIONSHIPS = 10
"""Shown with a question."""
EVERY = 100_000
"""More passages than any library of a benchmark holds."""
SETTINGS: Mapping[str, Any] = {
    "chunk_tokens": CHUNK_TOKENS,
    "chunk_overlap": CHUNK_OVERLAP,
    "entities": ENTITIES,
    "units": UNITS,
}


class Entity(Reply):
    """A node."""

    name: str = Field(min_length=1)
    type: str = ""
    description: str = ""


class Relationship(Reply):
    """An edge between two entities, by their names."""

    source: str
    target: str
    description: str = ""
    strength: float = Field(1.0, ge=0, le=10)


class Extraction(Reply):
    """What one text unit says."""

    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()


EXTRACT_ENTITIES = Role(
    "extract_entities",
    "analyst",
    str,
    Extraction,
    lambda text: RoleCall({"text": text}),
    reply_tokens=4096,
    package="eval.tasks.egofact.solvers",
)
ROLES = (CAPTION_WINDOW, EXTRACT_ENTITIES)


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A chunk of a captioned clip, or a passage: one of the two is there."""

    key: str
    text: str
    said: Extraction
    entities: tuple[str, ...]
    """The names of the entities that it names, folded."""
    clip: str | None = None
    passage: Passage | None = None

    @property
    def source(self) -> str:
        """The clip or passage that it is a chunk of."""
        return self.clip if self.clip is not None else self.key


def _unit(key: str, text: str, said: Extraction, **source: Any) -> TextUnit:
    names = sorted({folded(entity.name) for entity in said.entities})
    return TextUnit(key, text, said, tuple(names), **source)


@dataclass
class Graph:
    """Stages of a pipeline that answers from captions and passages; no image embedding is read at question
    time. It is built when the solver is opened: its calls count under no question."""

    corpus: Corpus

    def pipeline(self) -> Pipeline:
        """The product's pipeline with retrieval over the finished graph. Raises `ReasonerError` where the
        model fails."""
        assert self.units is not None, "it is built here"
        return Pipeline(
            retrieve_clips=self._clips,
            retrieve_passages=self._passages,
            localize=whole,
            sample_frames=no_frames,
            read=self.read,
            caption=lambda _, reading: reading,
        )

    # Building

    @property
    def _embedded(self) -> bool:
        return self.corpus.library.settings.reasoner.kind == "embedded"

    @cached_property
    def _built(self) -> tuple[dict[str, str], list[TextUnit]]:
        """The description of each clip, and all text units."""
        reasoner = self.corpus.library.engine.reasoner
        roles = (CAPTION_WINDOW,) if self._embedded else ROLES
        made = " ".join([reasoner.name, *(load_prompt(role).version for role in roles)])
        path = self.corpus.folder / "graph" / f"{text_hash(made)[:12]}.jsonl"
        units = []
        with StoredReplies(path, reasoner, roles) as replies:
            captions = {name: self._caption(replies, name) for name in self.corpus.clips}
            for name, text in captions.items():
                for index, chunk in enumerate(chunks(text) if text else ()):
                    said = self._extract(replies, chunk)
                    units.append(_unit(f"clip {name} {index}", chunk, said, clip=name))
            for one in self.passages:
                parts = [self._extract(replies, chunk) for chunk in chunks(f"{one.title}. {one.text}")]
                said = Extraction(
                    entities=tuple(each for part in parts for each in part.entities),
                    relationships=tuple(each for part in parts for each in part.relationships),
                )
                units.append(_unit(f"passage {one.passage_id}", one.text, said, passage=one))
        return captions, units

    @property
    def units(self) -> list[TextUnit]:
        """All text units, those of clips first."""
        return self._built[1]

    def _caption(self, replies: StoredReplies, name: str) -> str:
        """The description of a clip; empty where no reply can be read."""
        clip, corpus = self.corpus.clips[name], self.corpus
        times = midpoints(clip.start, clip.end, corpus.library.settings.localize.frame_budget)

        def request() -> CaptionRequest:
            view = VideoView("", clip.start, clip.end)
            if corpus.library.engine.reasoner.reads_pixels:
                frames = corpus.library.engine.read_frames(corpus.path(clip), times)
                return CaptionRequest(replace(view, frames=frames))
            stored = corpus.frames[name]
            at = nearest_frames(stored.times, times)
            view = replace(view, frame_times=stored.times[at], frame_vectors=stored.vectors[at])
            return CaptionRequest(view)

        try:
            return replies.run(CAPTION_WINDOW, request, name, len(times)).text.rstrip(".")
        except ReplyInvalid:
            return ""

    def _extract(self, replies: StoredReplies, text: str) -> Extraction:
        """Nothing of a text that is blank, or of which no reply can be read."""
        if self._embedded:
            names = sorted(filter(None, content_words(text)))
            return Extraction(entities=tuple(Entity(name=name) for name in names))
        if not text.strip():
            return Extraction()
        try:
            return replies.run(EXTRACT_ENTITIES, lambda: text, text)
        except ReplyInvalid:
            return Extraction()

    @cached_property
    def passages(self) -> list[Passage]:
        """All of the library, by id."""
        reader = self.corpus.library.engine.reader
        any_query = self.corpus.sentence("passage").astype(np.float32)
        ids = [hit.key for hit in reader.search_passages(any_query, EVERY)]
        return sorted(reader.passages(ids), key=lambda passage: passage.passage_id)

    @cached_property
    def _edges(self) -> list[Relationship]:
        """Those between entities that were named; a model may relate others, and they are left out."""
        named = self._descriptions
        edges = (edge for unit in self.units for edge in unit.said.relationships)
        return [edge for edge in edges if folded(edge.source) in named and folded(edge.target) in named]

    @cached_property
    def _descriptions(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for unit in self.units:
            for entity in unit.said.entities:
                held = found.setdefault(folded(entity.name), [])
                if entity.description and entity.description not in held:
                    held.append(entity.description)
        return found

    @cached_property
    def _related(self) -> dict[tuple[str, str], float]:
        """How closely two entities are related."""
        found: dict[tuple[str, str], float] = {}
        for edge in self._edges:
            source, target = folded(edge.source), folded(edge.target)
            for pair in ((source, target), (target, source)):
                found[pair] = found.get(pair, 0.0) + edge.strength
        return found

    def described(self, entity: str) -> str:
        """What an entity is encoded as where it is compared with a question."""
        joined = " ".join(self._descriptions[entity][:DESCRIPTIONS])
        return f"{entity}: {joined}" if joined else entity

    # Retrieval

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

    def nearest(self, question: str) -> dict[str, float]:
        """The entities nearest to a question, and how near they are."""
        wanted = self.corpus.sentence(question)
        return dict(ranked(list(zip(self._names, self._rows @ wanted, strict=True)), ENTITIES))

    def _local(self, question: str, kind: str) -> list[tuple[TextUnit, float]]:
        """The units with the most of the question's entities, by how near those are to it."""
        wanted, near = self.corpus.sentence(question), self.nearest(question)
        scores: dict[str, tuple[float, TextUnit]] = {}
        for unit in self.units:
            if (unit.clip is None) == (kind == "clip"):
                continue
            held = sum(near.get(entity, 0.0) for entity in unit.entities)
            related = sum(
                self._related.get((entity, other), 0)
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
    def _names(self) -> list[str]:
        return sorted({entity for unit in self.units for entity in unit.entities})

    @cached_property
    def _rows(self) -> NDArray[np.float64]:
        rows = [self.corpus.sentence(self.described(name)) for name in self._names]
        return np.stack(rows) if rows else np.zeros((0, len(self.corpus.sentence("entity"))))

    @cached_property
    def _unit_rows(self) -> dict[str, NDArray[np.float64]]:
        return {unit.key: self.corpus.sentence(unit.text) for unit in self.units}

    def read(
        self,
        context: Context,
        rewriting: Rewriting,
        clips: Sequence[RetrievedClip],
        windows: Sequence[Window],
        samples: Sequence[FrameSample],
        passages: Sequence[RetrievedPassage],
    ) -> Reading:
        """Captions, passages, and of a model the entities and relationships nearest to the question."""
        reading = read(context, rewriting, clips, windows, samples, passages)
        captioned = tuple(
            self._captioned(window, self.corpus.names[found.clip.clip_id])
            for window, found in zip(reading.windows, clips, strict=True)
        )
        reading = replace(reading, windows=captioned)
        if self._embedded:
            return reading
        table = Passage("graph", "graph", "Entities and relationships", self._table(context.question.text))
        return replace(reading, passages=(*reading.passages, ReadPassage(table, "", 1.0, None)))

    def _table(self, question: str) -> str:
        near = self.nearest(question)
        edges = sorted(
            (edge for edge in self._edges if folded(edge.source) in near or folded(edge.target) in near),
            key=lambda edge: (-edge.strength, edge.source, edge.target, edge.description),
        )
        lines = [self.described(name) for name in near]
        lines += [f"{edge.source} - {edge.target}: {edge.description}" for edge in edges[:RELATIONSHIPS]]
        return "\n".join(lines) or "(none)"

    def _captioned(self, window: ReadWindow, name: str) -> ReadWindow:
        text, clip = self._built[0][name], window.clip
        if not text:
            return replace(window, texts=(), caption="")
        said = Evidence(clip.video_id, clip.start, clip.end, "caption", f"{text}.")
        return replace(window, texts=(said,), caption=said.text)


def chunks(text: str, size: int = CHUNK_TOKENS, overlap: int = CHUNK_OVERLAP) -> list[str]:
    """Pieces of `size` words with `overlap` shared with the one before; a token is taken for a word."""
    words = text.split()
    starts = range(0, max(1, len(words) - overlap), size - overlap)
    return [" ".join(words[start : start + size]) for start in starts]
