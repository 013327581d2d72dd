"""Measurements for videos that the library has already, indexed without them or with another encoder.

Such a video is decoded again; nothing of it is encoded or read again. Searches miss it only while its rows
are written; killed before that, it is as it was, and killed within, the next run indexes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from corpora.records import Video
from corpora.settings import VideoSettings
from corpora.video.reader import MediaReader
from indexers.shots import FrameFigures, measure_frames
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
    groups: Sequence[Group], stages: Mapping[str, Mapping[str, Any]], fingerprints: Mapping[str, str]
) -> list[Group]:
    """Those of `groups`, all ready, that lack a measurement with these fingerprints. What is off is ignored.

    `stages`: fingerprints of each content's stages, as stored.
    """
    wanted = {stage: fingerprints[stage] for stage in MEASURED if fingerprints[stage] != "off"}
    return [
        group
        for group in groups
        if any(stages[group.content_id].get(stage) != value for stage, value in wanted.items())
    ]


def backfill_measurements(
    groups: Sequence[Group],
    writer: Writer,
    reader: MediaReader,
    measuring: Measuring,
    settings: VideoSettings,
    progress: Progress,
    record_problem: Callable[[Group, str, str], None],
) -> int:
    """Measure each of `groups`; returns how many were. A file that cannot be read keeps what it has.

    `record_problem` is called with a group, what is wrong with it, and what was done about it.
    """
    measured = 0
    stored = writer.stage_fingerprints()
    for group in groups:
        progress.file(group.first.path)
        video, stages = writer.video(group.content_id), stored[group.content_id]
        try:
            parts = _frames(group.first.path, video, reader, measuring, settings, progress)
            meter, damage = _sound(group.first.path, video, reader, measuring)
        except FileProblem as problem:
            record_problem(group, reason_of(problem, group.first.path), "not measured")
            continue
        writer.begin_video(video)
        lost = measuring.store(writer, video, parts, meter)
        writer.finish_video(video, {**stages, **measuring.stages_on})
        measured += 1
        if notes := [note for note in (damage, lost) if note]:
            record_problem(group, "; ".join(notes), "measured what is there")
    return measured


def _frames(
    path: str,
    video: Video,
    reader: MediaReader,
    measuring: Measuring,
    settings: VideoSettings,
    progress: Progress,
) -> dict[str, FrameFigures]:
    if video.stream < 0 or not measuring.frames_on:
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
            parts[cut.clip.clip_id] = measure_frames(cut.frames)
            progress.advance(cut.clip.end - cut.clip.start)
    return parts


def _sound(
    path: str, video: Video, reader: MediaReader, measuring: Measuring
) -> tuple[SoundMeter | None, str]:
    """The measured audio, None where there is none, and what went wrong with it."""
    if not video.audio or not measuring.sound_on:
        return None, ""
    meter = SoundMeter()
    return meter, measuring.measure_sound(meter, reader, path)
