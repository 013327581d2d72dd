"""Retrieval for one question: clips by images and text, passages by text, and the window inside a clip.

Nothing is decoded here, and nothing is encoded but the question's own text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from corpora.records import Clip, Evidence, Video
from indexers.protocol import TextEncoder, TextTower
from localization.interaction import late_interaction
from localization.localizer import LocalizationQuery, localize_clip, localize_video, relevance_curve
from localization.methods import Position
from localization.windows import Window, standardised
from rag.clauses import clauses
from rag.null_scores import library_scores
from rag.records import PassageHit, ScoreCurve, SearchFilter, VideoHit
from rag.relevance import IMAGE_MIDDLE, ImageScoreCalibrator, text_relevance
from rag.retrieval.frames import (
    LEAST_MATCH,
    FrameCache,
    joined_frames,
    matches_of,
    mean_within,
    seen_within,
    similarity_to,
    unit_sum,
)
from rag.retrieval.ranking import (
    ClipHits,
    RelevantSpan,
    RetrievedClip,
    RetrievedPassage,
    TextHits,
    best_passages,
    by_time,
    clip_with_most,
    hit_id,
    overlap,
    search_words,
    text_hits,
)
from rag.retrieval.shots import part_within, passes, resolved, searched_part
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import ClipFrames
from rag.words import content_words, lexical_overlap, word_set

Kind = Literal["video", "passage", "all"]
EVERYWHERE = SearchFilter()
LEAST_POOL = 50
POOL_FACTOR = 8
SCORED_CLIPS = 64
"""Clips whose frames are compared at a time: 16 MB for 30 s of 512 dimensions in double precision."""
JUDGED_CLIPS = 5
"""Clips, the best by their frames, of which the most relevant says how far matches count."""


class Retriever:
    """Retrieval for one question over one reader: each frame matrix is read once.

    Both encoders keep their rows, as those of `rag.engine` do: each text is encoded once. `tower` is None
    where the library has no image embeddings, or their encoder is not installed.
    """

    def __init__(
        self, reader: Reader, tower: TextTower | None, text_encoder: TextEncoder, settings: Settings
    ) -> None:
        self.reader = reader
        self.tower = tower
        self.text_encoder = text_encoder
        self.settings = settings
        self._calibrator = ImageScoreCalibrator(tower) if tower is not None else None
        meta = reader.meta
        middle = tower.half_relevant if tower is not None else IMAGE_MIDDLE
        self._scores = library_scores(meta.calibration, middle) if meta is not None else None
        self._frames = FrameCache(reader.frames)
        self._localize = settings.localize.averaged_over(tower.steady_seconds if tower is not None else 0.0)

    # Retrieval

    def find_clips(
        self, text: str, visual: str, top_k: int, where: SearchFilter = EVERYWHERE, events: Sequence[str] = ()
    ) -> list[RetrievedClip]:
        """The `top_k` clips for a question, best first.

        `text` is searched in the text evidence (dense and BM25 over spans), `visual`, unless it is empty, in
        the clips' image embeddings; what both say of a clip is averaged (`pooled`). A span counts for the
        clip that holds most of it, one longer than a clip for the clip it starts in. By image, clips are
        found for `visual`, its clauses and `events` in one search, and the first `search.interaction_clips`
        ranked by how well their frames fit each clause and event.
        """
        where = self.resolve(where)
        return self._best_clips(
            self._clip_hits(text, visual, self._pool(top_k), where, events), visual, top_k
        )

    def with_claims(
        self, clips: Sequence[RetrievedClip], claims: Sequence[str], where: SearchFilter = EVERYWHERE
    ) -> list[RetrievedClip]:
        """The clips, with the text of each that is nearest to each claim among its spans; relevance stays.

        What an option claims is often on screen or said where the question's own words are not. `where`,
        which is resolved, holds for the text too.
        """
        times = [(found.clip.video_id, found.clip.start, found.clip.end) for found in clips]
        texts = [[e for e in held if passes(e, where)] for held in self.reader.evidence_of(times)]
        if not claims or not any(texts):
            return list(clips)
        vectors = self.reader.span_vectors(times)
        rows = self.text_encoder.encode_text(claims)
        wanted = [(row, content_words(claim)) for row, claim in zip(rows, claims, strict=True)]
        added = []
        for found, held in zip(clips, texts, strict=True):
            spans = {span.evidence: span.relevance for span in found.spans}
            known = [(e, vectors[e.text], word_set(e.text)) for e in held if e.text in vectors]
            for vector, words in wanted if known else ():
                relevance, _, nearest = max(
                    (text_relevance(float(row @ vector), lexical_overlap(words, stems)), -at, evidence)
                    for at, (evidence, row, stems) in enumerate(known)
                )
                spans[nearest] = max(relevance, spans.get(nearest, 0.0))
            added.append(replace(found, spans=by_time(map(RelevantSpan, spans, spans.values()))))
        return added

    def resolve(self, where: SearchFilter) -> SearchFilter:
        """`where` with its filter on shots turned into intervals of time.

        Raises `LibraryError` in a library that was not measured yet.
        """
        return resolved(where, self.reader, self._calibrator, self._frames_of_video)

    def find_passages(
        self, query: str, top_k: int, where: SearchFilter = EVERYWHERE
    ) -> list[RetrievedPassage]:
        """The `top_k` passages for one query, best first: dense and BM25, fused (RRF).

        None under a filter on `videos`.
        """
        return self.find_passages_each([query], top_k, where)[0]

    def find_passages_each(
        self, queries: Sequence[str], top_k: int, where: SearchFilter = EVERYWHERE
    ) -> list[list[RetrievedPassage]]:
        """Find passages for each of several queries, which are encoded and read together."""
        if where.videos is not None:
            return [[] for _ in queries]
        pool = self._pool(top_k)
        self.text_encoder.encode_text(queries)  # together, and kept
        hits = {query: self._passage_hits(query, pool, where) for query in dict.fromkeys(queries)}
        return best_passages(self.reader, [hits[query] for query in queries], queries, top_k)

    def search(
        self, query: str, kind: Kind = "all", top_k: int | None = None, where: SearchFilter = EVERYWHERE
    ) -> list[VideoHit | PassageHit]:
        """Windows and passages for a query as given, best first, each with score and relevance.

        For `all` clips and passages are scored together (`ClipHits.ranked_with`).
        """
        k = top_k or self.settings.search.top_k
        if where.of_videos:
            where, kind = self.resolve(where), "video"
        clips, passages = self._find(query, kind, k, where)
        windows = self.localize(clips, query, "within", where)
        evidence = self._evidence_of([(w.video_id, w.start, w.end) for w in windows])
        hits: list[VideoHit | PassageHit] = [
            video_hit(clip, window, clip.clip, clip.score, clip.relevance, spans)
            for clip, window, spans in zip(clips, windows, evidence, strict=True)
        ]
        hits += [PassageHit(p.path, p.passage, p.score, p.relevance) for p in passages]
        return sorted(hits, key=lambda hit: (-hit.score, hit_id(hit)))[:k]

    # Localization

    def localize(
        self,
        clips: Sequence[RetrievedClip],
        event: str,
        position: Position,
        where: SearchFilter = EVERYWHERE,
        target: str = "",
    ) -> list[Window]:
        """Choose the window of each clip to watch (EgoFact, 4.1 and D.2.4), inside the times of `where`.

        `event`: the anchor; `target`: the event asked for, where it is not the anchor itself.
        """
        frames = self.frames([found.clip.clip_id for found in clips])
        anchor_spans = self._anchor_spans(clips, event) if position != "within" else {}
        windows = []
        for found in clips:
            clip = found.clip
            spans = found.spans if position == "within" else anchor_spans.get(clip.clip_id, ())
            held = [frames[clip.clip_id]] if clip.clip_id in frames else []
            query = self._query(held, spans, event, position, target)
            start, end = searched_part(clip, where, query)
            windows.append(localize_clip(clip.video_id, query, self._localize, start=start, end=end))
        return windows

    def localize_video(self, video_id: str, text: str, count: int = 1) -> list[VideoHit]:
        """Up to `count` windows of one whole video, best first, no two of an IoU above `localize.overlap`.

        Empty where the video has neither stored frames nor text that the query finds; title and tags do not
        count, since they hold for all of it. Raises KeyError for an unknown video.
        """
        video = self.reader.video(video_id)
        clips = self.reader.clips(video_id)
        if not clips:
            return []
        spans = self._spans_of_video(video_id, text)
        frames = self.frames([clip.clip_id for clip in clips])
        query = self._query(list(frames.values()), spans, text)
        start, end = clips[0].start, clips[-1].end
        windows = localize_video(video_id, query, self._localize, start=start, end=end, count=count)
        image_relevance = self._image_relevance(text, list(frames), len(clips))
        found = []
        texts = self._evidence_of([(video_id, window.start, window.end) for window in windows])
        for window, evidence in zip(windows, texts, strict=True):
            clip = clip_with_most(clips, window.start, window.end)
            in_text = [
                span.relevance
                for span in spans
                if overlap(span.evidence.start, span.evidence.end, window.start, window.end) > 0
            ]
            relevance = max([image_relevance.get(clip.clip_id, 0.0), *in_text])
            found.append(video_hit(video, window, clip, window.score, relevance, evidence))
        return found

    def video_query(self, video_id: str, text: str) -> LocalizationQuery:
        """What `localize_video` goes by: similarity of the stored frames, and relevant text.

        Raises KeyError for an unknown video.
        """
        self.reader.video(video_id)
        frames = self._frames_of_video(video_id)
        return self._query(frames, self._spans_of_video(video_id, text), text)

    def score_curve(self, video_id: str, text: str) -> ScoreCurve:
        """The score by which `localize_video` finds its windows, over the whole video.

        Raises KeyError for an unknown video.
        """
        query = self.video_query(video_id, text)
        clips = self.reader.clips(video_id)
        of: Literal["frames", "text"] = "frames" if len(query.times) else "text"
        if not clips or not (len(query.times) or len(query.spans)):
            return ScoreCurve(of, np.zeros(0), np.zeros(0))
        return ScoreCurve(of, *relevance_curve(query, start=clips[0].start, end=clips[-1].end))

    def frame_scores(
        self, video_id: str, events: Sequence[str]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times of the stored frames of a whole video, and how well each shows each of e events.

        float64 (n,) seconds, rising, and standard scores float64 (e, n) as `ImageScoreCalibrator.level_z`; n
        may be 0. Each frame is read once, and few clips are held at a time.
        """
        clips = [clip.clip_id for clip in self.reader.clips(video_id)]
        times, scores = [np.zeros(0)], [np.zeros((len(events), 0))]
        for part in np.array_split(clips, -(-len(clips) // SCORED_CLIPS)) if clips else ():
            frames = list(self.frames(part.tolist()).values())
            if frames and self._calibrator is not None:
                of_part, vectors = joined_frames(frames)
                times.append(of_part)
                scores.append(self._calibrator.level_z(self._calibrator.encode(events), vectors))
        whole, places = np.unique(np.concatenate(times), return_index=True)
        return whole, np.concatenate(scores, axis=1)[:, places].round(6)

    def find_like(
        self, video_id: str, start: float, end: float, top_k: int, where: SearchFilter = EVERYWHERE
    ) -> list[VideoHit]:
        """Find windows near the mean of the frames of [start, end) seconds of a video, which is left out.

        Empty where nothing is stored of that window. Raises KeyError for an unknown video.
        """
        self.reader.video(video_id)
        inside = [clip for clip in self.reader.clips(video_id) if clip.start < end and clip.end >= start]
        held = self._frames.get([clip.clip_id for clip in inside])
        if not held:
            return []
        found = self.find_near(mean_within(list(held.values()), start, end), top_k + len(inside), where)
        others = [hit for hit in found if hit.video_id != video_id or hit.start > end or hit.end <= start]
        return others[:top_k]

    def find_near(
        self, vector: NDArray[np.float32], top_k: int, where: SearchFilter = EVERYWHERE
    ) -> list[VideoHit]:
        """The windows whose stored frames are most like a unit vector, float32 (dim,) of the image encoder.

        Best first; no text is searched. Score and relevance are the cosine of the most similar frame.
        """
        where = self.resolve(where)
        keys = [hit.key for hit in self.reader.search_clips(vector, top_k, where)]
        found: list[tuple[ClipFrames, Window, float]] = []
        for held in self._frames.get(keys).values():
            similarity = similarity_to(held.vectors, vector)
            query = LocalizationQuery(times=held.times, similarity=similarity)
            low, high = searched_part(held.clip, where, query)
            window = localize_clip(held.clip.video_id, query, self._localize, start=low, end=high)
            found.append((held, window, round(min(1.0, max(0.0, float(similarity.max()))), 6)))
        texts = self._evidence_of(
            [(held.clip.video_id, window.start, window.end) for held, window, _ in found]
        )
        hits = [
            video_hit(self.reader.video(held.clip.video_id), window, held.clip, best, best, evidence)
            for (held, window, best), evidence in zip(found, texts, strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.clip.clip_id))

    def frames(self, clip_ids: Sequence[str]) -> dict[str, ClipFrames]:
        """Stored frames by clip id, each read once; a clip without frames is left out."""
        return self._frames.get(list(dict.fromkeys(clip_ids))) if self.tower is not None else {}

    def seen(self, video_id: str, start: float, end: float) -> tuple[Evidence, ...]:
        """What the stored frames of [start, end) seconds look like, as one line of the kind `image`.

        None where nothing is distinct, or the library's image encoder names nothing.
        """
        inside = [
            clip.clip_id for clip in self.reader.clips(video_id) if clip.start < end and clip.end > start
        ]
        names = seen_within(self.tower, list(self.frames(inside).values()), start, end)
        return (Evidence(video_id, start, end, "image", f"looks like: {', '.join(names)}"),) if names else ()

    # Inside

    def _evidence_of(self, windows: Sequence[tuple[str, float, float]]) -> list[tuple[Evidence, ...]]:
        """The text of each window, then what its frames look like."""
        texts = self.reader.evidence_of(windows)
        return [(*held, *self.seen(*window)) for held, window in zip(texts, windows, strict=True)]

    def _frames_of_video(self, video_id: str) -> list[ClipFrames]:
        return list(self.frames([clip.clip_id for clip in self.reader.clips(video_id)]).values())

    def _spans_of_video(self, video_id: str, text: str) -> list[RelevantSpan]:
        """Text of one video that the query finds, without title and tags."""
        where = SearchFilter(videos=frozenset([video_id]))
        hits = self._evidence_hits(text, LEAST_POOL, where)
        return [
            span
            for found in self._spans_by_clip(text, hits).values()
            for span in found.values()
            if span.evidence.kind != "tag"
        ]

    def _query(
        self,
        frames: Sequence[ClipFrames],
        spans: Sequence[RelevantSpan],
        event: str,
        position: Position = "within",
        target: str = "",
    ) -> LocalizationQuery:
        query = LocalizationQuery(
            spans=np.array([(s.evidence.start, s.evidence.end) for s in spans], np.float64).reshape(-1, 2),
            relevance=np.array([s.relevance for s in spans], np.float64),
            position=position,
        )
        if not frames:
            return query
        times, vectors = joined_frames(frames)
        return replace(
            query,
            times=times,
            similarity=similarity_to(vectors, self._image_space_vectors([event])[0]),
            target=similarity_to(vectors, self._image_space_vectors([target])[0]) if target else None,
        )

    def _pool(self, top_k: int) -> int:
        return max(LEAST_POOL, POOL_FACTOR * top_k)

    def _text_vector(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self.text_encoder.encode_text([text])[0])

    def _image_space_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit float32 (n, dim), each text once."""
        assert self.tower is not None
        return self.tower.encode_text(list(dict.fromkeys(texts)))

    def _clip_hits(
        self, text: str, visual: str, pool: int, where: SearchFilter, events: Sequence[str] = ()
    ) -> ClipHits:
        """A filter on kinds of evidence asks for text, not for images."""
        evidence = self._evidence_hits(text, pool, where)
        spans = self._spans_by_clip(text, evidence, where)
        if not visual or self.tower is None or where.kinds is not None:
            return ClipHits(evidence, spans)
        images, compared = self._by_images(visual, events, pool, where)
        searched = self.reader.count_clips(where)
        # Of clips that all look alike, or of which none is right, some match is the greatest too.
        relevance = self._image_relevance(visual, list(images)[:JUDGED_CLIPS], searched)
        return ClipHits(evidence, spans, images, compared, relevance, searched)

    def _by_images(
        self, visual: str, events: Sequence[str], pool: int, where: SearchFilter
    ) -> tuple[dict[str, float], bool]:
        """Clips near a visual query, its clauses and `events` with their match, best first, by late
        interaction of their frames with these.

        Clips that were not compared follow, in the order of the search. Where none was, matches are by the
        cosines of whole clips, and the second is False.
        """
        compared, parts = self.settings.search.interaction_clips, clauses(visual)
        # A query that is one clause is encoded once.
        texts = [*(parts if len(parts) > 1 else [visual]), *events] if compared else []
        vector = unit_sum(self._image_space_vectors([visual, *texts]))
        hits = self.reader.search_clips(vector, max(pool, compared), where)
        near = self._frames.get([hit.key for hit in hits[:compared]])
        scores = late_interaction(
            ((key, held.vectors) for key, held in near.items()), self._image_space_vectors(texts)
        )
        if not scores and hits:
            cosines = standardised([hit.score for hit in hits]).tolist()
            return matches_of({hit.key: z for hit, z in zip(hits, cosines, strict=True)}), False
        matches = matches_of(scores)
        return {**matches, **{hit.key: LEAST_MATCH for hit in hits if hit.key not in matches}}, True

    def _best_clips(self, hits: ClipHits, visual: str, top_k: int) -> list[RetrievedClip]:
        fused = hits.ranked()[:top_k]
        seen, chances = [item.key for item in fused if item.key in hits.images], hits.image_chances()
        others = [key for key in seen if key not in hits.relevance]
        judged = {**hits.relevance, **self._image_relevance(visual, others, hits.searched)}
        # That some of the best is relevant by its images, and that it is this one, makes this one relevant.
        relevance = {key: max(judged.get(key, 0.0), round(chances.get(key, 0.0), 6)) for key in seen}
        clips = self.reader.clips_by_id([item.key for item in fused])
        return [
            self._retrieved(
                clips[item.key],
                item.score,
                relevance.get(item.key, 0.0),
                hits.spans.get(item.key, {}).values(),
                hits.images.get(item.key, LEAST_MATCH) if hits.compared else None,
            )
            for item in fused
        ]

    def _evidence_hits(self, text: str, pool: int, where: SearchFilter) -> TextHits:
        near = self.reader.search_evidence(self._text_vector(text), pool, where)
        return text_hits(near, self.reader.match_evidence(search_words(text), pool, where), pool)

    def _passage_hits(self, text: str, pool: int, where: SearchFilter) -> TextHits:
        near = self.reader.search_passages(self._text_vector(text), pool, where)
        return text_hits(near, self.reader.match_passages(search_words(text), pool, where), pool)

    def _image_relevance(self, visual: str, clip_ids: Sequence[str], searched: int) -> dict[str, float]:
        if self._calibrator is None or not clip_ids:
            return {}
        held = self._frames.get(list(dict.fromkeys(clip_ids)))
        if self._scores is None:
            calibrator, query = self._calibrator, self._image_space_vectors([visual])[0]
            return {key: calibrator.relevance(query, clip.clip_vector) for key, clip in held.items()}
        assert self.tower is not None
        query = self.tower.encode_named([visual])[0]
        return {
            key: self._scores.relevance(query, searched, held[key].vectors if key in held else None)
            for key in clip_ids
        }

    def _spans_by_clip(
        self, text: str, hits: TextHits, where: SearchFilter = EVERYWHERE
    ) -> dict[str, dict[str, RelevantSpan]]:
        keys = hits.keys()
        evidence = dict(zip(keys, self.reader.spans(keys), strict=True))
        relevance = hits.relevance(text, {key: span.text for key, span in evidence.items()})
        found: dict[str, dict[str, RelevantSpan]] = {}
        wanted = content_words(text)
        for key, span in evidence.items():
            if clips := self.reader.clips(span.video_id):
                clip = clip_with_most(clips, *part_within(span, where))
                covered = lexical_overlap(wanted, word_set(span.text))
                found.setdefault(clip.clip_id, {})[key] = RelevantSpan(span, relevance[key], covered)
        return found

    def _anchor_spans(
        self, clips: Sequence[RetrievedClip], event: str
    ) -> dict[str, tuple[RelevantSpan, ...]]:
        """Text evidence for the anchor event, in the videos of these clips only."""
        where = SearchFilter(videos=frozenset(found.clip.video_id for found in clips))
        hits = self._evidence_hits(event, LEAST_POOL, where)
        return {key: tuple(spans.values()) for key, spans in self._spans_by_clip(event, hits).items()}

    def _retrieved(
        self,
        clip: Clip,
        score: float,
        image_relevance: float,
        spans: Iterable[RelevantSpan],
        match: float | None,
    ) -> RetrievedClip:
        video = self.reader.video(clip.video_id)
        order = by_time(spans)
        relevance = max([image_relevance, *(span.relevance for span in order)])
        found = score, relevance, image_relevance, order, match
        return RetrievedClip(clip, video.path, video.title, *found)

    def _find(
        self, query: str, kind: Kind, k: int, where: SearchFilter
    ) -> tuple[list[RetrievedClip], list[RetrievedPassage]]:
        if kind == "video":
            return self.find_clips(query, query, k, where), []
        if kind == "passage":
            return [], self.find_passages(query, k, where)
        pool = self._pool(k)
        passage_hits = self._passage_hits(query, pool, where)
        passages = best_passages(self.reader, [passage_hits], [query], k)[0]
        clip_hits = self._clip_hits(query, query, pool, where)
        clips = self._best_clips(clip_hits, query, k)
        score = {item.key: item.score for item in clip_hits.ranked_with(clips, passages, passage_hits)}
        return (
            [replace(c, score=score.get(f"clip {c.clip.clip_id}", 0.0)) for c in clips],
            [replace(p, score=score.get(f"passage {p.passage.passage_id}", 0.0)) for p in passages],
        )


def video_hit(
    source: Video | RetrievedClip,
    window: Window,
    clip: Clip,
    score: float,
    relevance: float,
    evidence: Iterable[Evidence],
) -> VideoHit:
    """`source`: gives path and title."""
    return VideoHit(
        path=source.path,
        video_id=window.video_id,
        start=window.start,
        end=window.end,
        clip=clip,
        score=score,
        evidence=tuple(evidence),
        title=source.title,
        relevance=relevance,
    )
