"""GraphRAG with a language model (EgoFact, 4.1 and D.2.1): captions, entities and relationships are its own.

Each clip is described from frames spread over it, each chunk of the descriptions and each passage is
searched for entities and relationships once, and kept beside the data. Descriptions of one entity are
joined, not summarized, and there are no community reports: local search alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import Field

from corpora.records import Passage
from eval.tasks.egofact.replies import StoredReplies
from eval.tasks.egofact.solvers.graph import Graph, chunks
from eval.tasks.jsonl import text_hash
from localization.sampling import midpoints, nearest_frames
from localization.windows import Window
from rag.answering import Context, FrameSample, Pipeline, Rewriting
from rag.errors import ReplyInvalid
from rag.reasoners.prompts import load_prompt
from rag.reasoners.protocol import Example, Reply, Role, RoleCall
from rag.reasoners.roles.caption_window import CAPTION_WINDOW, CaptionRequest
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.retrieval import RetrievedClip, RetrievedPassage
from rag.words import folded

DESCRIPTIONS = 5
"""Of one entity, at most, that are joined."""
RELATIONSHIPS = 10
"""Shown with a question."""


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


def _examples() -> Iterator[Example[str, Extraction]]:
    nodes = (Entity(name="mirror", type="object"), Entity(name="woman", type="person"))
    edge = Relationship(source="woman", target="mirror", description="She polishes it.", strength=8)
    yield Example(
        "a caption", "The woman polishes a mirror.", Extraction(entities=nodes, relationships=(edge,))
    )
    yield Example("nothing", "", Extraction())


EXTRACT_ENTITIES = Role(
    "extract_entities",
    "analyst",
    str,
    Extraction,
    lambda text: RoleCall({"text": text}),
    reply_tokens=4096,
    examples=_examples,
    package="eval.tasks.egofact.solvers",
)
ROLES = (CAPTION_WINDOW, EXTRACT_ENTITIES)


@dataclass
class ModelGraph(Graph):
    """Built when the solver is opened: its calls count under no question."""

    def pipeline(self) -> Pipeline:
        """Stages over the finished graph. Raises `ReasonerError` where the model fails."""
        assert self._built, "a pair"
        return super().pipeline()

    @cached_property
    def _built(self) -> tuple[dict[str, list[tuple[float, str]]], dict[str, Extraction]]:
        """Captions by clip, and what each text unit says by its key. Raises `ReasonerError`."""
        reasoner = self.corpus.library.engine.reasoner
        made = " ".join([reasoner.name, *(load_prompt(role).version for role in ROLES)])
        path = self.corpus.folder / "graph" / f"{text_hash(made)[:12]}.jsonl"
        with StoredReplies(path, reasoner, ROLES) as replies:
            captions = {name: self._caption(replies, name) for name in self.corpus.clips}
            extracted: dict[str, Extraction] = {}
            for name, lines in captions.items():
                for index, chunk in enumerate(chunks(". ".join(line for _, line in lines))):
                    extracted[f"clip {name} {index}"] = _extract(replies, chunk)
            for passage in self.passages:
                parts = [_extract(replies, chunk) for chunk in chunks(f"{passage.title}. {passage.text}")]
                extracted[f"passage {passage.passage_id}"] = Extraction(
                    entities=tuple(each for part in parts for each in part.entities),
                    relationships=tuple(each for part in parts for each in part.relationships),
                )
        return captions, extracted

    def _caption(self, replies: StoredReplies, name: str) -> list[tuple[float, str]]:
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
            text = replies.run(CAPTION_WINDOW, request, name, len(times)).text
        except ReplyInvalid:
            text = ""
        return [(clip.start, text.rstrip("."))] if text else []

    @property
    def captions(self) -> dict[str, list[tuple[float, str]]]:
        return self._built[0]

    def entities(self, key: str, text: str, title: str = "") -> tuple[str, ...]:  # noqa: ARG002 (a graph's)
        return tuple(sorted({folded(entity.name) for entity in self._built[1][key].entities}))

    @cached_property
    def related(self) -> dict[tuple[str, str], float]:
        found: dict[tuple[str, str], float] = {}
        for edge in self._edges:
            source, target = folded(edge.source), folded(edge.target)
            for pair in ((source, target), (target, source)):
                found[pair] = found.get(pair, 0.0) + edge.strength
        return found

    @cached_property
    def _edges(self) -> list[Relationship]:
        """Those between entities that were named; a model may relate others, and they are left out."""
        named = self._descriptions
        edges = (edge for unit in self._built[1].values() for edge in unit.relationships)
        return [edge for edge in edges if folded(edge.source) in named and folded(edge.target) in named]

    @cached_property
    def _descriptions(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for unit in self._built[1].values():
            for entity in unit.entities:
                held = found.setdefault(folded(entity.name), [])
                if entity.description and entity.description not in held:
                    held.append(entity.description)
        return found

    def described(self, entity: str) -> str:
        joined = " ".join(self._descriptions[entity][:DESCRIPTIONS])
        return f"{entity}: {joined}" if joined else entity

    def read(
        self,
        context: Context,
        rewriting: Rewriting,
        clips: Sequence[RetrievedClip],
        windows: Sequence[Window],
        samples: Sequence[FrameSample],
        passages: Sequence[RetrievedPassage],
    ) -> Reading:
        """Captions, passages, and the entities and relationships nearest to the question."""
        reading = super().read(context, rewriting, clips, windows, samples, passages)
        captioned = tuple(
            replace(window, caption=" ".join(text.text for text in window.texts))
            for window in reading.windows
        )
        table = Passage("graph", "graph", "Entities and relationships", self._table(context.question.text))
        return replace(
            reading, windows=captioned, passages=(*reading.passages, ReadPassage(table, "", 1.0, None))
        )

    def _table(self, question: str) -> str:
        near = self.nearest(question)
        edges = sorted(
            (edge for edge in self._edges if folded(edge.source) in near or folded(edge.target) in near),
            key=lambda edge: (-edge.strength, edge.source, edge.target, edge.description),
        )
        lines = [self.described(name) for name in near]
        lines += [f"{edge.source} - {edge.target}: {edge.description}" for edge in edges[:RELATIONSHIPS]]
        return "\n".join(lines) or "(none)"


def _extract(replies: StoredReplies, text: str) -> Extraction:
    """Nothing of a text that is blank, or of which no reply can be read."""
    if not text.strip():
        return Extraction()
    try:
        return replies.run(EXTRACT_ENTITIES, lambda: text, text)
    except ReplyInvalid:
        return Extraction()
