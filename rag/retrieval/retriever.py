"""Finding: clips by their pictures and their words, passages by theirs, and the window inside a clip.

Nothing is decoded here, and nothing encoded but the question's own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from corpora.records import Clip, Evidence
from indexers.protocol import TextEncoder, TextTower
from localization.anchored import Position
from localization.records import Window
from rag.records import PassageHit, VideoHit
from rag.relevance import ImageScoreCalibrator
from rag.retrieval.fusion import fuse
from rag.retrieval.localizer import (
    Grid,
    LocalizationQuery,
    locate,
    locate_several,
)
from rag.retrieval.results import RelevantSpan, RetrievedClip, RetrievedPassage
from rag.retrieval.shots import resolved
from rag.retrieval.texts import TextHits, text_hits
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import ClipFrames, SearchFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["video", "passage", "all"]
EVERYWHERE = SearchFilter()
LEAST_POOL = 50
POOL_FACTOR = 8


@dataclass(frozen=True, slots=True)
class _ClipHits:
    """What one search found that speaks for clips: both rankings of spans, spans by clip, pictures."""

    evidence: TextHits
    spans: dict[str, dict[str, RelevantSpan]]
    pictured: dict[str, float]


class Retriever:
    """Over one reader; `tower` is None where the library has no pictures or their encoder is not here."""

    def __init__(
        self, reader: Reader, tower: TextTower | None, text_encoder: TextEncoder, settings: Settings
    ) -> None:
        self.reader = reader
        self.tower = tower
        self.text_encoder = text_encoder
        self.settings = settings
        self._scale = ImageScoreCalibrator(tower) if tower is not None else None
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}
        self._clips: dict[str, list[Clip]] = {}

    # Finding

    def find_clips(
        self, text: str, visual: str, top_k: int, where: SearchFilter = EVERYWHERE
    ) -> list[RetrievedClip]:
        """The `top_k` clips for a question, best first.

        `text` is searched in what the videos say (dense and BM25 over evidence spans), `visual` in
        what they show (clip vectors); the rankings are fused (RRF). A span counts for the clip that
        holds most of it, one longer than a clip for the clip it starts in.
        """
        where = self.resolve(where)
        return self._best_clips(self._clip_hits(text, visual, self._pool(top_k), where), visual, top_k)

    def resolve(self, where: SearchFilter) -> SearchFilter:
        """`where` with its filter on shots turned into stretches of time, once for all that follows.

        Raises `LibraryError` in a library that was not measured yet.
        """
        return resolved(where, self.reader, self._scale, self._frames_of_video)

    def _frames_of_video(self, video_id: str) -> list[ClipFrames]:
        return list(self.frames([clip.clip_id for clip in self._clips_of(video_id)]).values())

    def find_passages(
        self, query: str, top_k: int, where: SearchFilter = EVERYWHERE
    ) -> list[RetrievedPassage]:
        """The `top_k` passages for one query, best first: dense and BM25, fused (RRF)."""
        return self._best_passages(self._passage_hits(query, self._pool(top_k), where), query, top_k)

    def search(
        self, query: str, kind: Kind = "all", top_k: int | None = None, where: SearchFilter = EVERYWHERE
    ) -> list[VideoHit | PassageHit]:
        """Windows and passages for words as they stand, best first, each with score and relevance.

        For `all` the rankings run over clips and passages together, so that their scores compare.
        """
        k = top_k or self.settings.search.top_k
        if where.shots is not None:
            # No passage has a tone or a sound.
            where, kind = self.resolve(where), "video"
        clips, passages = self._found_of_kind(query, kind, k, where)
        hits: list[VideoHit | PassageHit] = [
            self.video_hit(clip, window)
            for clip, window in zip(clips, self.localize(clips, query, "within", where), strict=True)
        ]
        hits += [PassageHit(p.path, p.passage, p.score, p.relevance) for p in passages]
        return sorted(hits, key=lambda hit: (-hit.score, _identity(hit)))[:k]

    # Locating

    def localize(
        self,
        clips: Sequence[RetrievedClip],
        event: str,
        position: Position,
        where: SearchFilter = EVERYWHERE,
        target: str = "",
    ) -> list[Window]:
        """For each clip the window to watch (EgoFact, sections 4.1 and D.2.4), inside `where`'s times.

        `event`: the anchor; `target`: the event asked for, where it is not the anchor itself.
        """
        frames = self.frames([found.clip.clip_id for found in clips])
        spans = self._anchor_spans(clips, event) if position != "within" else {}
        windows = []
        for found in clips:
            clip = found.clip
            near = spans.get(clip.clip_id, ()) if position != "within" else found.spans
            held = [frames[clip.clip_id]] if clip.clip_id in frames else []
            grid = self._grid(held, event) if held else None
            start, end = _bounds(clip, where, grid)
            sought = LocalizationQuery(
                grid=grid,
                target=self._grid(held, target) if held and target else None,
                spans=near,
                position=position,
            )
            windows.append(locate(clip.video_id, start, end, sought, self.settings.localize))
        return windows

    def localize_video(self, video_id: str, text: str, count: int = 1) -> list[VideoHit]:
        """Up to `count` windows of one whole video, best first, sharing no time. Empty where nothing speaks
        for any: no frame vectors, and no words of the video found. Raises KeyError for an unknown video."""
        video = self.reader.video(video_id)
        clips = self._clips_of(video_id)
        if not clips:
            return []
        only = SearchFilter(videos=frozenset([video_id]))
        hits = self._evidence_hits(text, LEAST_POOL, only)
        by_clip = self._spans_by_clip(text, hits)
        spans = [span for found in by_clip.values() for span in found.values()]
        frames = [f for f in self.frames([clip.clip_id for clip in clips]).values() if len(f.times)]
        grid = self._grid(frames, text) if frames else None
        start, end = clips[0].start, clips[-1].end
        windows = locate_several(video_id, start, end, grid, spans, count, self.settings.localize)
        fits = self._fits(text, [f.clip.clip_id for f in frames])
        found = []
        for window in windows:
            clip = _holding_most(clips, window.start, window.end)
            near = [
                s.relevance
                for s in spans
                if _shared(s.evidence.start, s.evidence.end, window.start, window.end) > 0
            ]
            relevance = max([fits.get(clip.clip_id, 0.0), *near])
            found.append(
                VideoHit(
                    path=video.path,
                    video_id=video_id,
                    start=window.start,
                    end=window.end,
                    clip=clip,
                    score=window.score,
                    title=video.title,
                    relevance=relevance,
                    evidence=tuple(self.reader.evidence(video_id, window.start, window.end)),
                )
            )
        return found

    def video_hit(self, found: RetrievedClip, window: Window) -> VideoHit:
        return VideoHit(
            path=found.path,
            video_id=found.clip.video_id,
            start=window.start,
            end=window.end,
            clip=found.clip,
            score=found.score,
            evidence=tuple(self.reader.evidence(window.video_id, window.start, window.end)),
            title=found.title,
            relevance=found.relevance,
        )

    def frames(self, clip_ids: Sequence[str]) -> dict[str, ClipFrames]:
        """Stored frame vectors by clip id; a clip without pictures is left out."""
        if self.tower is None or not clip_ids:
            return {}
        try:
            found = self.reader.frames(clip_ids)
        except KeyError:
            found = [frame for clip_id in clip_ids for frame in self._frames_of(clip_id)]
        return {f.clip.clip_id: f for f in found if len(f.times) and f.modality == "video"}

    # Inside

    def _frames_of(self, clip_id: str) -> list[ClipFrames]:
        try:
            return self.reader.frames([clip_id])
        except KeyError:
            return []

    def _pool(self, top_k: int) -> int:
        return max(LEAST_POOL, POOL_FACTOR * top_k)

    def _text_vector(self, text: str) -> NDArray[np.float32]:
        return self._vector("text", self.text_encoder, text)

    def _picture_vector(self, text: str) -> NDArray[np.float32]:
        assert self.tower is not None
        return self._vector("picture", self.tower, text)

    def _vector(self, space: str, encoder: TextEncoder | TextTower, text: str) -> NDArray[np.float32]:
        """Unit (dim,). One at a time, so that no neighbour changes it; kept, since a road asks again."""
        if len(self._vectors) > 512:
            self._vectors.clear()
        if (space, text) not in self._vectors:
            self._vectors[space, text] = np.asarray(encoder.encode_text([text])[0], np.float32)
        return self._vectors[space, text]

    def _clip_hits(self, text: str, visual: str, pool: int, where: SearchFilter) -> _ClipHits:
        evidence = self._evidence_hits(text, pool, where)
        pictured = self._pictured(visual, pool, where)
        return _ClipHits(evidence, self._spans_by_clip(text, evidence), pictured)

    def _best_clips(self, hits: _ClipHits, visual: str, top_k: int) -> list[RetrievedClip]:
        owner, spans, pictured = _owners(hits.spans), hits.spans, hits.pictured
        rankings = [
            [owner[hit.key] for hit in ranking if hit.key in owner]
            for ranking in (hits.evidence.dense, hits.evidence.matched)
        ]
        if self.tower is not None:
            rankings.append(list(pictured))
        scored = fuse(rankings, self.settings.search.rrf_k)[:top_k]
        fit = self._fits(visual, [item.key for item in scored if item.key in pictured])
        return [
            self._found(item.key, item.score, fit.get(item.key, 0.0), spans.get(item.key, {}).values())
            for item in scored
        ]

    def _evidence_hits(self, text: str, pool: int, where: SearchFilter) -> TextHits:
        reader = self.reader
        vector = self._text_vector(text)
        return text_hits(text, vector, pool, where, reader.search_evidence, reader.match_evidence)

    def _passage_hits(self, text: str, pool: int, where: SearchFilter) -> TextHits:
        reader = self.reader
        vector = self._text_vector(text)
        return text_hits(text, vector, pool, where, reader.search_passages, reader.match_passages)

    def _pictured(self, visual: str, pool: int, where: SearchFilter) -> dict[str, float]:
        """Clip ids to cosine, best first. A filter on kinds of evidence asks for words, not for pictures."""
        if self.tower is None or where.kinds is not None:
            return {}
        hits = self.reader.search_clips(self._picture_vector(visual), pool, where)
        return {hit.key: hit.score for hit in hits}

    def _fits(self, visual: str, clip_ids: Sequence[str]) -> dict[str, float]:
        if self._scale is None or not clip_ids:
            return {}
        query = self._picture_vector(visual)
        frames = self.frames(clip_ids)
        return {
            key: self._scale.relevance(query, frames[key].clip_vector) for key in clip_ids if key in frames
        }

    def _spans_by_clip(self, text: str, hits: TextHits) -> dict[str, dict[str, RelevantSpan]]:
        keys = hits.keys()
        evidence = dict(zip(keys, self.reader.spans(keys), strict=True))
        relevance = hits.relevance(text, {key: span.text for key, span in evidence.items()})
        found: dict[str, dict[str, RelevantSpan]] = {}
        for key in keys:
            clip = self._clip_of(evidence[key])
            if clip is not None:
                found.setdefault(clip.clip_id, {})[key] = RelevantSpan(evidence[key], relevance[key])
        return found

    def _clip_of(self, span: Evidence) -> Clip | None:
        clips = self._clips_of(span.video_id)
        if not clips:
            return None
        longest = max(clip.end - clip.start for clip in clips)
        if span.end - span.start > longest:
            return next((clip for clip in clips if clip.end > span.start), clips[-1])
        return _holding_most(clips, span.start, span.end)

    def _clips_of(self, video_id: str) -> list[Clip]:
        if video_id not in self._clips:
            self._clips[video_id] = self.reader.clips(video_id)
        return self._clips[video_id]

    def _anchor_spans(
        self, clips: Sequence[RetrievedClip], event: str
    ) -> dict[str, tuple[RelevantSpan, ...]]:
        """Text evidence for the anchor event, in the videos of these clips only."""
        where = SearchFilter(videos=frozenset(found.clip.video_id for found in clips))
        hits = self._evidence_hits(event, LEAST_POOL, where)
        return {key: tuple(spans.values()) for key, spans in self._spans_by_clip(event, hits).items()}

    def _grid(self, frames: Sequence[ClipFrames], event: str) -> Grid:
        times = np.concatenate([frame.times for frame in frames])
        vectors = np.concatenate([frame.vectors for frame in frames]).astype(np.float64)
        order = np.unique(times, return_index=True)[1]
        similarity = (vectors[order] * self._picture_vector(event).astype(np.float64)).sum(axis=1)
        return times[order], similarity.round(6)

    def _found(
        self, clip_id: str, score: float, pictured: float, spans: Iterable[RelevantSpan]
    ) -> RetrievedClip:
        clip = self.reader.clip(clip_id)
        video = self.reader.video(clip.video_id)
        ordered = sorted(
            spans, key=lambda s: (s.evidence.start, s.evidence.end, s.evidence.kind, s.evidence.text)
        )
        relevance = max([pictured, *(span.relevance for span in ordered)])
        return RetrievedClip(clip, video.path, video.title, score, relevance, pictured, tuple(ordered))

    def _best_passages(self, hits: TextHits, query: str, top_k: int) -> list[RetrievedPassage]:
        rankings = [[hit.key for hit in hits.dense], [hit.key for hit in hits.matched]]
        scored = {item.key: item.score for item in fuse(rankings, self.settings.search.rrf_k)[:top_k]}
        keys = list(scored)
        passages = self.reader.passages(keys)
        texts = {key: f"{p.title} {p.text}" for key, p in zip(keys, passages, strict=True)}
        kept = TextHits((), (), {key: hits.cosine[key] for key in keys})
        relevance = kept.relevance(query, texts, chunks=True)
        return [
            RetrievedPassage(passage, path, scored[key], relevance[key])
            for key, passage, path in zip(keys, passages, self.reader.passage_paths(keys), strict=True)
        ]

    def _found_of_kind(
        self, query: str, kind: Kind, k: int, where: SearchFilter
    ) -> tuple[list[RetrievedClip], list[RetrievedPassage]]:
        if kind == "video":
            return self.find_clips(query, query, k, where), []
        if kind == "passage":
            return [], self.find_passages(query, k, where)
        pool = self._pool(k)
        shown, texts = self._clip_hits(query, query, pool, where), self._passage_hits(query, pool, where)
        clips, passages = self._best_clips(shown, query, k), self._best_passages(texts, query, k)
        return self._together(clips, passages, shown, texts)

    def _together(
        self, clips: list[RetrievedClip], passages: list[RetrievedPassage], shown: _ClipHits, texts: TextHits
    ) -> tuple[list[RetrievedClip], list[RetrievedPassage]]:
        """Scores of clips and passages anew, from rankings that hold both."""
        owner, evidence = _owners(shown.spans), shown.evidence
        rankings: list[list[tuple[str, str]]] = []
        for spoken, written in ((evidence.dense, texts.dense), (evidence.matched, texts.matched)):
            rows = [(hit.score, ("clip", owner[hit.key])) for hit in spoken if hit.key in owner]
            rows += [(hit.score, ("passage", hit.key)) for hit in written]
            rankings.append([key for _, key in sorted(rows, key=lambda row: (-row[0], row[1]))])
        if self.tower is not None:
            rankings.append([("clip", key) for key in shown.pictured])
        fused = fuse(
            rankings, self.settings.search.rrf_k, lambda key: len(rankings) if key[0] == "clip" else 2
        )
        score = {item.key: item.score for item in fused}
        return (
            [replace(c, score=score.get(("clip", c.clip.clip_id), 0.0)) for c in clips],
            [replace(p, score=score.get(("passage", p.passage.passage_id), 0.0)) for p in passages],
        )


def _owners(spans: dict[str, dict[str, RelevantSpan]]) -> dict[str, str]:
    """Evidence id to the id of the clip that it counts for."""
    return {key: clip_id for clip_id, found in spans.items() for key in found}


def _holding_most(clips: Sequence[Clip], start: float, end: float) -> Clip:
    """The clip that shares most of [start, end), the earlier of two."""
    return max(clips, key=lambda clip: (_shared(clip.start, clip.end, start, end), -clip.start))


def _shared(a_start: float, a_end: float, b_start: float, b_end: float) -> float:
    return max(0.0, min(a_end, b_end) - max(a_start, b_start))


def _bounds(clip: Clip, where: SearchFilter, grid: Grid | None) -> tuple[float, float]:
    """The part of a clip to look in; of several that a filter on shots lets through, the most alike one."""
    start, end = clip.start, clip.end
    low = max(start, where.start) if where.start is not None else start
    high = min(end, where.end) if where.end is not None else end
    low, high = (low, high) if high > low else (start, end)
    if where.spans is None:
        return low, high
    parts = [
        (max(low, since), min(high, until))
        for since, until in where.spans.get(clip.video_id, ())
        if min(high, until) > max(low, since)
    ]
    if not parts:
        return low, high
    return max(parts, key=lambda part: (_likeness(grid, *part), part[1] - part[0], -part[0]))


def _likeness(grid: Grid | None, start: float, end: float) -> float:
    if grid is None:
        return 0.0
    inside = grid[1][(grid[0] >= start) & (grid[0] < end)]
    return float(inside.max()) if len(inside) else -1.0


def _identity(hit: VideoHit | PassageHit) -> str:
    return hit.passage.passage_id if isinstance(hit, PassageHit) else f"{hit.clip.clip_id}"
