"""A `ShotFilter` resolved to intervals of time that a search may find, before anything is ranked.

Tone and style select shots, height selects videos, a class of sound selects intervals of seconds. What
comes before or after is searched in the stored frame vectors of the same video: a moment may be found
where it is seen at most `CONTEXT_SECONDS` earlier or later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.records import AudioClass, Clip, Evidence, Shot, SoundTrack, Video, vertical_resolution
from indexers.models.lookup import image_encoder_advice
from localization.localizer import LocalizationQuery
from rag.errors import LibraryError, UsageError
from rag.records import SearchFilter, ShotFilter, UnmeasuredVideos, VideoHit
from rag.relevance import ImageScoreCalibrator, image_relevance
from rag.retrieval.frames import joined_frames
from rag.retrieval.ranking import clip_with_most
from rag.store.filters import path_matches
from rag.store.reading import Reader
from rag.store.records import ClipFrames

CONTEXT_SECONDS = 60.0
"""Greatest distance of a moment from what is seen before or after it."""
SEEN_SECONDS = 2.5
"""Frame scores are averaged over this long."""
SEEN_FROM = 0.5
"""Relevance from which on it counts as seen; see `rag.relevance.ImageScoreCalibrator`."""
JOINED_SECONDS = 2
"""Intervals of one sound class that are no further apart are joined."""

Span = tuple[float, float]
FramesOf = Callable[[str], Sequence[ClipFrames]]
"""The frame vectors stored of a video."""


def check_filter(where: SearchFilter, kind: str = "video") -> None:
    """Raise `UsageError` for a filter that nothing can meet: on passages, or by a text without a word."""
    if where.of_videos and kind == "passage":
        raise UsageError(
            "a filter on ids of videos, times, tone, style, audio, height, or what comes before or after "
            "applies to videos, not to passages: leave one of the two out"
        )
    wanted = where.shots or ShotFilter()
    for name, text in (("after", wanted.after), ("before", wanted.before)):
        if text is not None and not any(character.isalnum() for character in text):
            raise UsageError(f"{name}: describe what is seen there")


def resolved(
    where: SearchFilter, reader: Reader, calibrator: ImageScoreCalibrator | None, frames_of: FramesOf
) -> SearchFilter:
    """`where` with its `shots` turned into `spans`; as it is where it asks for none.

    Raises `LibraryError` where nothing in the library was measured, or it has no image embeddings.
    Videos that were not measured are left out; `unmeasured` counts them.
    """
    wanted = where.shots
    if wanted is None or wanted == ShotFilter():
        return where
    check_filter(where)
    videos = {video.video_id: video for video in _candidates(where, reader)}
    if (wanted.after or wanted.before) and calibrator is None:
        raise no_image_embeddings(reader, "what comes before or after")
    measured = reader.shots_by_video()
    if (wanted.tone or wanted.style) and any(v.height > 0 for v in videos.values()) and not measured:
        raise _unmeasured(reader, wanted)
    spans: dict[str, tuple[Span, ...]] = {}
    for video_id in videos:
        found = allowed_spans(reader, video_id, wanted, calibrator, frames_of)
        if found:
            spans[video_id] = tuple(found)
    audible = [video for video in videos.values() if video.audio]
    if wanted.audio and audible and not spans and not any(reader.sound_track(v.video_id) for v in audible):
        raise _unmeasured(reader, wanted)
    return replace(where, shots=None, spans=spans)


def unmeasured(where: SearchFilter, reader: Reader) -> UnmeasuredVideos | None:
    """The videos without the measurements that `where` needs, or with only a part of them; None without a
    filter on shots."""
    wanted = where.shots
    if wanted is None or wanted == ShotFilter():
        return None
    videos = _candidates(where, reader)
    count = sum(_lacks(video, wanted, reader) for video in videos)
    remedy = f"not measured, or not completely; {_remedy(reader, wanted)}"
    return UnmeasuredVideos(count, len(videos), (remedy,) if count else ())


def _lacks(video: Video, wanted: ShotFilter, reader: Reader) -> bool:
    """Whether the filter cannot decide about a video, or not completely."""
    if (wanted.tone or wanted.style) and video.height > 0 and not reader.shots(video.video_id):
        return True
    if wanted.audio is None or not video.audio:
        return False
    track = reader.sound_track(video.video_id)
    return track is None or None in track.classes


def browse(where: SearchFilter, reader: Reader) -> list[VideoHit]:
    """Every interval of a resolved `where`, by path and time, unranked.

    An interval ends where its shot does; its score is 1.
    """
    hits = []
    for video in reader.videos():
        clips = reader.clips(video.video_id)
        for start, end in allowed(video.video_id, where):
            if end > start and clips:
                clip = clip_with_most(clips, start, end)
                hits.append(VideoHit(video.path, video.video_id, start, end, clip, 1.0, title=video.title))
    return hits


def _candidates(where: SearchFilter, reader: Reader) -> list[Video]:
    """The videos that meet the conditions on ids, paths and height."""
    least = where.shots.min_height if where.shots is not None else None
    return [
        video
        for video in reader.videos()
        if (where.videos is None or video.video_id in where.videos)
        and (not where.paths or path_matches(reader.paths(video.video_id), where.paths))
        and (least is None or vertical_resolution(video.width, video.height) >= least)
    ]


def allowed_spans(
    reader: Reader,
    video_id: str,
    wanted: ShotFilter,
    calibrator: ImageScoreCalibrator | None,
    frames_of: FramesOf,
) -> list[Span]:
    """Intervals of one video where the conditions hold, in time order; a cut always ends one."""
    shots = reader.shots(video_id)
    spans: list[Span] = [(shot.start, shot.end) for shot in shots if _fits(shot, wanted)]
    video = reader.video(video_id)
    if not shots and not (wanted.tone or wanted.style):
        spans = [(0.0, video.duration)]
    # A video without any sound is silent all through.
    if wanted.audio and spans and (video.audio or wanted.audio != "silence"):
        track = reader.sound_track(video_id)
        classes = track.classes if track is not None else ()
        spans = _both(spans, sounding_spans(classes, wanted.audio, video.duration))
    if calibrator is None or not spans or not (wanted.after or wanted.before):
        return spans
    frames = frames_of(video_id)
    if wanted.after:
        seen = seen_spans(frames, wanted.after, calibrator)
        spans = _both(spans, _merged([(until, until + CONTEXT_SECONDS) for _, until in seen]))
    if wanted.before:
        seen = seen_spans(frames, wanted.before, calibrator)
        spans = _both(spans, _merged([(max(0.0, since - CONTEXT_SECONDS), since) for since, _ in seen]))
    return spans


def sounding_spans(
    classes: Sequence[AudioClass | None], wanted: AudioClass, duration: float = math.inf
) -> list[Span]:
    """Intervals with sound of that class, in whole seconds but for the end of the video.

    Gaps of up to `JOINED_SECONDS` are bridged, unless a second in them could not be decoded.
    """
    spans: list[Span] = []
    for second, name in enumerate(classes):
        if name != wanted or second >= duration:
            continue
        end = min(float(second + 1), duration)
        last = int(spans[-1][1]) if spans else 0
        if spans and second - last <= JOINED_SECONDS and None not in classes[last:second]:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((float(second), end))
    return spans


def seen_spans(frames: Sequence[ClipFrames], text: str, calibrator: ImageScoreCalibrator) -> list[Span]:
    """Intervals where `text` is seen: where the mean over `SEEN_SECONDS` is relevant, else the best one.

    The best one must reach half of `SEEN_FROM`; empty where it does not.
    """
    held = [clip for clip in frames if len(clip.times)]
    if not held:
        return []
    times, rows = joined_frames(held)
    z = calibrator.level_z(calibrator.encode([text]), rows)[0]
    half = SEEN_SECONDS / 2
    means = _means_around(times, z, half)
    relevance = np.array([image_relevance(mean) for mean in means.tolist()])
    places = np.flatnonzero(relevance >= SEEN_FROM)
    if not len(places):
        best = int(relevance.argmax())
        places = np.array([best] if relevance[best] >= SEEN_FROM / 2 else [], int)
    return _merged([(max(0.0, float(times[k]) - half), float(times[k]) + half) for k in places])


def _means_around(
    times: NDArray[np.float64], values: NDArray[np.float64], half: float
) -> NDArray[np.float64]:
    """float64 (n,): means of `values` (n,) within `half` seconds of each of `times` (n,), which rise."""
    sums = np.concatenate([np.zeros(1), np.cumsum(values)])
    first = np.searchsorted(times, times - half, side="left")
    last = np.searchsorted(times, times + half, side="right")
    return np.asarray((sums[last] - sums[first]) / (last - first), np.float64)


def _fits(shot: Shot, wanted: ShotFilter) -> bool:
    return wanted.tone in (None, shot.tone) and wanted.style in (None, shot.style)


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _both(one: Sequence[Span], other: Sequence[Span]) -> list[Span]:
    """The intersections of the spans of each; spans of `one` are not merged."""
    return [(max(a, c), min(b, d)) for a, b in one for c, d in other if min(b, d) > max(a, c)]


def no_image_embeddings(reader: Reader, searched: str) -> LibraryError:
    """The error for a search by images in a library without an image encoder."""
    return LibraryError(
        f"{reader.folder}: {searched} is searched in image embeddings, and this library has none; "
        f"{image_encoder_advice()}"
    )


def _unmeasured(reader: Reader, wanted: ShotFilter) -> LibraryError:
    return LibraryError(
        f"{reader.folder}: this library has no measurements of shots and sound; {_remedy(reader, wanted)}"
    )


def _remedy(reader: Reader, wanted: ShotFilter) -> str:
    """What measures what `wanted` needs: a run that decodes frames."""
    if (wanted.tone or wanted.style) and (reader.meta is None or reader.meta.image_encoder is None):
        return image_encoder_advice()
    return "remove and index them again: rag remove, rag index"


def searched_part(clip: Clip, where: SearchFilter, query: LocalizationQuery) -> tuple[float, float]:
    """The seconds [start, end) of a clip to localize in.

    Of several intervals that a filter on shots allows, that with the frame most similar to the query.
    """
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
    return max(parts, key=lambda part: (_peak_similarity(query, *part), part[1] - part[0], -part[0]))


def allowed(video_id: str, where: SearchFilter) -> list[tuple[float, float]]:
    """[start, end) seconds of a video that a resolved filter lets through."""
    low, high = where.start or 0.0, math.inf if where.end is None else where.end
    spans = [(low, high)] if where.spans is None else where.spans.get(video_id, ())
    return [(max(since, low), min(until, high)) for since, until in spans]


def passes(evidence: Evidence, where: SearchFilter) -> bool:
    """Whether a resolved filter lets a text of a clip that was found through, by its kind and its times."""
    if where.kinds is not None and evidence.kind not in where.kinds:
        return False
    spans = allowed(evidence.video_id, where)
    return any(evidence.start < until and evidence.end > since for since, until in spans)


def part_within(evidence: Evidence, where: SearchFilter) -> tuple[float, float]:
    """The longest part of a text's times that a resolved filter lets through, the earliest of several.

    A tag lasts as long as its video, and a sentence may end in the next clip: the clip that has most of all
    its times may have none of those asked for.
    """
    parts = _both([(evidence.start, evidence.end)], allowed(evidence.video_id, where))
    return max(parts, key=lambda part: part[1] - part[0], default=(evidence.start, evidence.end))


def _peak_similarity(query: LocalizationQuery, start: float, end: float) -> float:
    if not len(query.times):
        return 0.0
    inside = query.similarity[(query.times >= start) & (query.times < end)]
    return float(inside.max()) if len(inside) else -1.0


def sound_runs(track: SoundTrack | None, duration: float = math.inf) -> list[dict[str, Any]] | None:
    """Intervals of one class: start, end, class, and mean loudness in LUFS; None without a track.

    The last ends with the video, after `duration` seconds. Class and loudness are None where nothing was
    decoded.
    """
    if track is None:
        return None
    runs: list[dict[str, Any]] = []
    for second, (name, level) in enumerate(zip(track.classes, track.loudness.tolist(), strict=True)):
        if second >= duration:
            break
        if not runs or runs[-1]["class"] != name:
            runs.append({"start": float(second), "end": 0.0, "class": name, "loudness": 0.0})
        run = runs[-1]
        run["loudness"] += (level - run["loudness"]) / (second + 1 - run["start"])
        run["end"] = min(float(second + 1), duration)
    for run in runs:
        run["loudness"] = None if run["class"] is None else round(run["loudness"], 1)
    return runs
