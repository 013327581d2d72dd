"""Measurements for videos that the library has already: made before there were any, or with another encoder.

Such a video is decoded once more and nothing of it is encoded or read again. It is out of sight only
while its rows are written; killed before that, it is as it was, and killed within, the next run takes
it in again as a video left half done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from corpora.records import Video
from corpora.settings import VideoSettings
from corpora.video.reader import MediaReader
from indexers.shots import FrameFigures
from indexers.soundtrack import SoundMeter
from rag.errors import FileProblem
from rag.indexing.clips import cut_clips
from rag.indexing.measuring import MEASURED, Measuring
from rag.indexing.planning import Group
from rag.indexing.prefetch import Prefetcher
from rag.indexing.report import Progress, reason_of
from rag.store.writing import Writer

BATCHES_AHEAD = 6


def unmeasured(
    groups: Sequence[Group], ready: Mapping[str, Mapping[str, Any]], prints: Mapping[str, str]
) -> list[Group]:
    """Those of `groups`, all ready, that lack a measurement of these prints. What is switched off stays."""
    wanted = {stage: prints[stage] for stage in MEASURED if prints[stage] != "off"}
    return [
        group
        for group in groups
        if any(ready[group.content_id].get(stage) != made for stage, made in wanted.items())
    ]


def backfill_measurements(
    groups: Sequence[Group],
    writer: Writer,
    reader: MediaReader,
    measuring: Measuring,
    settings: VideoSettings,
    progress: Progress,
    odd: Callable[[Group, str, str], None],
) -> int:
    """Measure each of `groups`; how many were. A file that cannot be read keeps what it has.

    `odd` is told of each one that has something wrong: what, and what was done about it.
    """
    filled = 0
    ready = writer.ready()
    for group in groups:
        progress.file(group.first.path)
        video, stages = writer.video(group.content_id), ready[group.content_id]
        try:
            parts = _frames(group.first.path, video, reader, measuring, settings, progress)
            meter, damage = _sound(group.first.path, video, reader, measuring)
        except FileProblem as problem:
            odd(group, reason_of(problem, group.first.path), "not measured")
            continue
        writer.begin_video(video)
        lost = measuring.put(writer, video, parts, meter)
        writer.finish_video(video, {**stages, **measuring.on})
        filled += 1
        if notes := [note for note in (damage, lost) if note]:
            odd(group, "; ".join(notes), "measured what is there")
    return filled


def _frames(
    path: str,
    video: Video,
    reader: MediaReader,
    measuring: Measuring,
    settings: VideoSettings,
    progress: Progress,
) -> dict[str, FrameFigures]:
    if video.stream < 0 or not measuring.sees:
        progress.advance(video.duration)
        return {}
    parts: dict[str, FrameFigures] = {}
    reader.probe(path)
    stream = reader.frames(path, rate=settings.rate, short_side=settings.short_side)
    with Prefetcher(iter(stream), BATCHES_AHEAD) as batches:
        for cut in cut_clips(
            iter(batches),
            video.video_id,
            settings.clip_seconds,
            settings.min_last_clip_seconds,
            lambda: video.duration,
        ):
            parts[cut.clip.clip_id] = measuring.frames(cut.frames)
            progress.advance(cut.clip.end - cut.clip.start)
    return parts


def _sound(
    path: str, video: Video, reader: MediaReader, measuring: Measuring
) -> tuple[SoundMeter | None, str]:
    """What was heard, and what went wrong with it."""
    if not video.audio or not measuring.hears:
        return None, ""
    meter = SoundMeter()
    return meter, measuring.listen(meter, reader, path)
