"""One video of a library as VideoDetective sees it: stored frames, segments, their graph, and the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Clip, Evidence, Video
from localization.belief import hybrid_prior
from localization.graph import Segments, affinity_graph, centred, cut_segments, sampled
from localization.lexical import (
    Source,
    fused_score,
    inverse_frequencies,
    lexical_score,
    raised,
    semantic_score,
)
from localization.sampling import midpoints, nearest_frames
from localization.windows import TIME_STEP
from rag.agents.video_detective.records import RATE, DetectiveSettings, Words
from rag.errors import UsageError
from rag.reasoners.roles.questions import Facet, Facets
from rag.reasoners.roles.watching import TimelineEvent
from rag.records import Question
from rag.relevance import ImageScoreCalibrator
from rag.retrieval.frames import joined_frames
from rag.words import content_words, tokens, word_set

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from indexers.protocol import TextEncoder, TextTower
    from rag.library import Library

SOURCES: dict[str, Source] = {"subtitle": "asr", "asr": "asr", "ocr": "ocr", "caption": "caption"}
"""Kind of evidence to the paper's source. Subtitles are what was said; chapters and tags are neither."""
Frequencies = tuple[Mapping[str, float], float]
"""IDF of each stem, and of one that no text has."""


@dataclass(frozen=True, slots=True)
class VideoFeatures:
    """`times`: float64 (n,) of all stored frames, rising. `vectors`: float32 (n, d); d = 0 without any."""

    video: Video
    path: str
    clips: tuple[Clip, ...]
    times: NDArray[np.float64]
    vectors: NDArray[np.float32]
    segments: Segments
    graph: csr_array
    texts: tuple[Evidence, ...]
    """Of the kinds in `SOURCES`, in time order."""
    encoder: TextEncoder
    """psi: texts into the space that they are compared in."""
    idf: Frequencies
    """Of equation 8."""

    def inside(self, node: int) -> tuple[int, int]:
        """[first, last) of the stored frames in a segment."""
        edges = (self.segments.starts[node], self.segments.ends[node])
        first, last = (int(np.searchsorted(self.times, edge - TIME_STEP)) for edge in edges)
        return first, last

    def said(self, node: int) -> tuple[Evidence, ...]:
        """The words that overlap a segment."""
        start, end = float(self.segments.starts[node]), float(self.segments.ends[node])
        return tuple(text for text in self.texts if text.start < end and text.end > start)

    def clip_at(self, time: float) -> Clip:
        """The clip that has `time` seconds."""
        held = [clip for clip in self.clips if clip.start <= time + TIME_STEP]
        return held[-1] if held else self.clips[0]


def load_video_features(
    library: Library, video_id: str, settings: DetectiveSettings, idf: Frequencies | None = None
) -> VideoFeatures:
    """Read what is stored of a video. `idf`: where that of the library is known.

    Raises `UsageError` for one of which nothing is stored, and where psi is the image encoder's text tower
    and the library has no image encoder.
    """
    reader = library.engine.reader
    video = reader.video(video_id)
    clips = tuple(reader.clips(video_id))
    if not clips:
        raise UsageError(f"{video.path}: nothing of it is in the library; index it first")
    duration = max(video.duration, max(clip.end for clip in clips))
    times, vectors = _frames(library, clips, duration)
    coarse = sampled(times, RATE)
    segments = cut_segments(times[coarse], vectors[coarse], end=max(duration, float(times[-1]) + 1.0 / RATE))
    graph = affinity_graph(
        centred(segments.vectors) if settings.likeness == "centred" else segments.vectors, segments.centres
    )
    texts = [text for text in reader.evidence(video_id, 0.0, float("inf")) if text.kind in SOURCES]
    return VideoFeatures(
        video,
        library.path_of(video_id),
        clips,
        times,
        vectors,
        segments,
        graph,
        tuple(texts),
        _semantic_encoder(library, settings),
        idf or _inverse_frequencies(library, texts, settings),
    )


def _semantic_encoder(library: Library, settings: DetectiveSettings) -> TextEncoder:
    if settings.semantic == "sentences":
        return library.engine.text_encoder
    if library.engine.tower is None:
        raise UsageError(
            "the paper compares texts in the image encoder's text tower, and this library has no image "
            "encoder: take the preset 'tuned', or index with one (rag index FOLDER --reembed)"
        )
    return library.engine.tower


def _inverse_frequencies(
    library: Library, texts: Sequence[Evidence], settings: DetectiveSettings
) -> Frequencies:
    if settings.idf == "video":
        return inverse_frequencies(content_words(text.text) for text in texts)
    reader = library.engine.reader
    lines = (
        line.text
        for video in reader.videos()
        for line in reader.evidence(video.video_id, 0.0, float("inf"))
        if line.kind in SOURCES
    )
    return inverse_frequencies(map(content_words, lines), least=1.0)


def evidence_items(texts: Sequence[Evidence], settings: DetectiveSettings) -> list[Evidence]:
    """What is scored of the texts of a segment: each, or all of one source as one text, in time order."""
    if settings.items == "lines":
        return list(texts)
    by_source: dict[Source, list[Evidence]] = {}
    for text in texts:
        by_source.setdefault(SOURCES[text.kind], []).append(text)
    return [
        replace(
            held[0],
            end=max(text.end for text in held),
            text=" ".join(dict.fromkeys(text.text for text in held)),
        )
        for held in by_source.values()
    ]


def evenly(times: NDArray[np.float64], start: float, end: float, count: int) -> list[int]:
    """Indices of the frames nearest to the middles of `count` equal parts of [start, end) seconds, rising.

    `times`: float64 (n,) seconds of the frames, rising. At most `count` indices: parts may share a frame.
    """
    if not len(times) or count < 1:
        return []
    nearest = nearest_frames(times, midpoints(start, end, count, decimals=None))
    return sorted(set(nearest.tolist()))


def _frames(
    library: Library, clips: tuple[Clip, ...], duration: float
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """All stored frames of the clips; without embeddings a grid of times."""
    meta = library.engine.reader.meta
    stored = (
        library.engine.reader.frames([clip.clip_id for clip in clips]) if meta and meta.image_encoder else []
    )
    if stored := [part for part in stored if len(part.times)]:
        return joined_frames(stored)
    times = np.arange(0.0, max(duration, 1.0 / RATE), 1.0 / RATE)
    return times, np.zeros((max(1, int(np.ceil(duration * RATE))), 0), np.float32)


FULL = 10.0
"""Standard scores of words that are surely seen."""


def whole_question(question: Question) -> tuple[Facet, ...]:
    """Question and options as one facet: what is left without decomposition."""
    text = " ".join([question.text, *question.options])
    return (Facet("question", tuple(dict.fromkeys(tokens(text))), (text,)),)


def facets_of(reply: Facets, question: Question) -> tuple[Facet, ...]:
    """The facets of a reply; the whole question where it says nothing that can be looked for."""
    found = tuple(facet for facet in reply.facets if facet.keywords or facet.queries)
    return found or whole_question(question)


def keyword_stems(facet: Facet) -> tuple[str, ...]:
    """The stems of a facet's keywords, each once: a keyword of two words counts with both."""
    return tuple(dict.fromkeys(stem for keyword in facet.keywords for stem in content_words(keyword)))


def described(features: VideoFeatures, events: Sequence[TimelineEvent]) -> list[str]:
    """e_i of each segment: the events that overlap it, else the nearest by midpoint (appendix E.5.1)."""
    segments = features.segments
    if not events:
        return [""] * len(segments)
    middles = np.array([(event.start + event.end) / 2 for event in events])
    descriptions = []
    for start, end, centre in zip(segments.starts, segments.ends, segments.centres, strict=True):
        inside = [event.description for event in events if event.start < end and event.end > start]
        nearest = events[int(np.argmin(np.abs(middles - centre)))].description
        descriptions.append(" ".join(inside) if inside else nearest)
    return descriptions


@dataclass
class _FacetQuery:
    """A facet with what is compared of it."""

    facet: Facet
    stems: tuple[str, ...]
    queries: NDArray[np.float64]
    """(q, text dim) unit rows."""
    typical: float | None
    """Equation 9's mean over the video's own words; None where cosines are taken as they are."""


class Scorer:
    """The facets of one question against one video."""

    def __init__(
        self,
        features: VideoFeatures,
        facets: Sequence[Facet],
        tower: TextTower | None,
        settings: DetectiveSettings,
    ) -> None:
        self._features = features
        self._scale = ImageScoreCalibrator(tower) if tower is not None and features.vectors.shape[1] else None
        self._settings = settings
        self._frequencies, self._unknown = features.idf
        self.facets = tuple(facets)
        # Equation 9 by itself needs no rows of the video's own words.
        words = [text.text for text in features.texts] if settings.evidence == "level" else []
        self._ordinary = self._rows(list(dict.fromkeys(words)))
        self._facet_queries = [self._compared(facet) for facet in facets]

    def priors(self, descriptions: Sequence[str]) -> list[NDArray[np.float64]]:
        """Y_r^prior of each facet: float64 (k,) over the segments, at most 1. Equation 5.

        `descriptions`: e_i of each segment, empty where it has none.
        """
        nodes = self._features.segments.vectors
        rows = self._rows([text or " " for text in descriptions]) if any(descriptions) else None
        found = []
        for query in self._facet_queries:
            visual = np.zeros((0, len(nodes)))
            if self._scale is not None and query.facet.keywords:
                visual = self._fits(query.facet.keywords, nodes.astype(np.float32))
            events = [] if rows is None else [query.queries @ rows.T]
            if self._settings.prior == "frames" and self._scale is not None and query.facet.queries:
                events.append(self._best_frames(query.facet.queries))
            semantic = np.concatenate(events) if events else np.zeros((0, len(nodes)))
            prior = hybrid_prior(visual, semantic)
            # Scores of looks are in [0, 1], and no prior may exceed them.
            found.append(np.minimum(prior, 1.0))
        return found

    def _best_frames(self, queries: Sequence[str]) -> NDArray[np.float64]:
        """(q, k): each text against the frame of each segment that fits it best; 0 where one has none."""
        fits = self._fits(queries, self._features.vectors)
        best = np.zeros((len(queries), len(self._features.segments)))
        for node in range(best.shape[1]):
            first, last = self._features.inside(node)
            if last > first:
                best[:, node] = fits[:, first:last].max(axis=1)
        return best

    def fit(self, facets: Sequence[Facet], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """How well frames fit facets, float64 (n,): the best of their keywords and descriptions.

        `vectors`: unit float32 (n, d), one frame a row. All 0 where the library has no image encoder.
        """
        words = [word for facet in facets for word in (*facet.keywords, *facet.queries)]
        if self._scale is None or not words or not len(vectors):
            return np.zeros(len(vectors))
        return np.asarray(self._fits(list(dict.fromkeys(words)), vectors).max(axis=0), np.float64)

    def stored(self, node: int) -> list[Words]:
        """What the library holds of a segment in words, scored: speech and text on the screen."""
        texts = [text for text in self._features.said(node) if SOURCES[text.kind] != "caption"]
        return self.score(evidence_items(texts, self._settings))

    def score(self, texts: Sequence[Evidence]) -> list[Words]:
        """Each text with its best facet (equations 8 to 10, and the maximum of 11)."""
        rows = self._rows([text.text for text in texts])
        return [self._scored(text, row) for text, row in zip(texts, rows, strict=True)]

    def by_facet(self, words: str, source: Source) -> list[float]:
        """s(e, f_r) of one text for each facet in order."""
        return self._scores(words, self._rows([words])[0], source)

    def _fits(self, words: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """(w, n): phi(w) against unit rows (n, d), calibrated or plain, to 6 decimals."""
        assert self._scale is not None, "called only where there are embeddings"
        rows = self._scale.encode(list(words))
        if self._settings.prior == "frames":
            return np.asarray(np.round(self._scale.level_z(rows, vectors) / FULL, 6), np.float64)
        plain = rows.astype(np.float64) @ vectors.astype(np.float64).T
        return np.asarray(np.round(plain, 6), np.float64)

    def _compared(self, facet: Facet) -> _FacetQuery:
        queries, rows = self._rows(facet.queries), self._ordinary
        typical = None
        if len(queries) and len(rows):
            typical = round(float((rows @ queries.T).max(axis=1).mean()), 6)
        return _FacetQuery(facet, keyword_stems(facet), queries, typical)

    def _scored(self, text: Evidence, row: NDArray[np.float64]) -> Words:
        source = SOURCES[text.kind]
        scores = self._scores(text.text, row, source)
        best = max(range(len(scores)), key=lambda r: (scores[r], -r))
        return Words(text.text, source, text.kind, scores[best], self.facets[best].name, text.start, text.end)

    def _scores(self, text: str, row: NDArray[np.float64], source: Source) -> list[float]:
        held = word_set(text)
        scores = []
        for query in self._facet_queries:
            shared = lexical_score(held, query.stems, self._frequencies, self._unknown)
            semantic = semantic_score(row, query.queries)
            if query.typical is not None:
                semantic = raised(semantic, query.typical)
            scores.append(round(fused_score(shared, semantic, source), 6))
        return scores

    def _rows(self, texts: Sequence[str]) -> NDArray[np.float64]:
        encoder = self._features.encoder
        if not texts:
            return np.zeros((0, encoder.dim))
        return np.asarray(encoder.encode_text(list(texts)), np.float64)
