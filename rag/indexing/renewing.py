"""What a video that is indexed lacks: vectors of another image encoder (`rag index --reembed`), and
measurements of shots and sound.

Both are made of one decode. Text is kept and read by no model again, and searches find the video all the
while. Where the run is killed, the next one goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import closing

from corpora.errors import reason_of
from corpora.objects import is_url
from corpora.records import Video
from corpora.scan import FoundFile
from corpora.video.reader import MediaReader
from indexers.protocol import ImageEncoder
from indexers.shots import FrameFigures, measure_frames
from indexers.soundtrack import SoundMeter
from rag.errors import FileProblem, WeightsMissing
from rag.indexing.clips import CLIPS_PER_COMMIT, CutClip, decode_clips, open_reader
from rag.indexing.copies import LocalGroup, local_groups
from rag.indexing.encoders import (
    STORED_SIDE,
    frame_side,
    open_configured_encoder,
    reference,
    settings_of_library,
    stored_side,
)
from rag.indexing.measuring import measure_sound, stage_fingerprints, store_measures, unmeasured
from rag.indexing.outcomes import FileOutcomes
from rag.indexing.planning import Group, row_of
from rag.indexing.report import IndexReport, Progress
from rag.indexing.stages import embed_clip
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import ClipFrames, FileRow, Meta
from rag.store.sidecars import has_indexed_content
from rag.store.tables import EncoderSwitch
from rag.store.writing import Writer


def renew_videos(
    writer: Writer,
    ready: Collection[str],
    settings: Settings,
    outcomes: FileOutcomes,
    progress: Progress,
    *,
    reembed: bool,
) -> bool:
    """Measure those of `ready`, ids of videos, whose measurements are outdated; with `reembed` encode all
    videos of the library with the encoder of the settings. Returns whether there was anything to do.

    Until the last video is encoded questions are answered from the vectors before. A file that is gone or
    fails keeps what it has, but for the vectors of the encoder before. Raises `WeightsMissing` where the
    settings find no encoder.
    """
    if (meta := writer.meta) is None:
        return False
    encoder = _other_encoder(meta, settings, outcomes.result) if reembed else None
    switch, side = None, stored_side(meta)
    if encoder is not None:
        side = settings.video.short_side or frame_side(side, encoder)
        switch = writer.switch_encoder(reference(encoder), {**meta.settings, STORED_SIDE: side})
    measures = stage_fingerprints(settings, reference(encoder) if encoder else meta.image_encoder)
    outdated = unmeasured(ready, writer.stage_fingerprints(), measures)
    if switch is None and not outdated:
        return False
    made = {stage: value for stage, value in measures.items() if value != "off"}
    decoding = settings.video.model_copy(update={"short_side": side})

    def renew(local: LocalGroup, video: Video) -> None:
        copy, row = local.require(), row_of(local.group.first, video.video_id)
        _require_content(row)
        progress.file(row.path)
        encodes = switch is not None and video.stream >= 0 and switch.lacks(video.video_id)
        parts: dict[str, FrameFigures] | None = {} if video.video_id in outdated and "shots" in made else None

        def commit(rows: list[ClipFrames]) -> None:
            _require_content(row)
            if switch is not None:
                switch.add(rows)

        if video.stream >= 0 and (encodes or parts is not None):
            cuts = decode_clips(media, copy.path, video, decoding)
            _make(cuts, encoder if encodes else None, commit, parts, progress)
        else:
            progress.advance(video.duration)
        if video.video_id in outdated:
            if notes := _store(writer, media, copy.path, video, parts):
                outcomes.append_problem(local.group, notes, "measured what is there")
            writer.put_stages({video.video_id: {**writer.stage_fingerprints()[video.video_id], **made}})

    writer.flush()  # for the reader: paths of files that have moved
    failed: set[str] = set()
    action = "not measured" if switch is None else "kept its text, lost its image embeddings"
    with Reader.open(writer.folder) as reader, open_reader(settings) as media:
        videos = {
            video.video_id: video
            for video in reader.videos()
            if video.video_id in outdated or (switch is not None and video.stream >= 0)
        }
        if videos:
            progress.start(sum(video.duration for video in videos.values()), len(videos))
        if outdated:
            outcomes.note(f"measuring shots and sound of videos indexed before: {len(outdated)}")
        # The file of each is chosen just before it is decoded.
        groups = (_group(reader.files_of(video_id)) for video_id in videos)
        with closing(local_groups(groups, settings.storage)) as there:
            for local in there:
                try:
                    renew(local, videos[local.group.content_id])
                except FileProblem as problem:
                    failed.add(local.group.content_id)
                    outcomes.append_problem(local.group, reason_of(problem, local.read), action)
                finally:
                    local.discard()
    if switch is not None and encoder is not None:
        _flip(writer, switch, encoder.fingerprint, failed)
        outcomes.result.reembedded = sum(one.stream >= 0 for key, one in videos.items() if key not in failed)
    return True


def _make(
    cuts: Iterable[CutClip],
    encoder: ImageEncoder | None,
    commit: Callable[[list[ClipFrames]], None],
    parts: dict[str, FrameFigures] | None,
    progress: Progress,
) -> None:
    """Encode clips, where there is an encoder, and commit them in groups; measure them, where there are
    `parts` to put the figures in."""
    rows: list[ClipFrames] = []
    for cut in cuts:
        if encoder is not None:
            rows.append(embed_clip(encoder, cut))
        if parts is not None:
            parts[cut.clip.clip_id] = measure_frames(cut.frames)
        progress.advance(cut.clip.end - cut.clip.start)
        if len(rows) >= CLIPS_PER_COMMIT:
            commit(rows)
            rows = []
    if rows:
        commit(rows)


def _flip(writer: Writer, switch: EncoderSwitch, fingerprint: str, failed: Collection[str]) -> None:
    """Give all videos but those that `failed` their new vectors, in one commit."""
    stages, frames = writer.stage_fingerprints(), {"frames": fingerprint}
    if made := {each: {**own, **frames} for each, own in stages.items() if each not in failed}:
        writer.put_stages(made, commit=False)
    switch.commit()


def _store(
    writer: Writer, media: MediaReader, path: str, video: Video, parts: dict[str, FrameFigures] | None
) -> str:
    """Measure the sound of a video, and store it with its shots. Returns what is wrong with the sound."""
    damage, meter = "", SoundMeter() if video.audio else None
    if meter is not None:
        damage = measure_sound(meter, media, path)
    lost = store_measures(writer, video, parts, meter)
    return "; ".join(note for note in (damage, lost) if note)


def _other_encoder(meta: Meta, settings: Settings, report: IndexReport) -> ImageEncoder | None:
    """The encoder of the settings; None where the library's vectors are those of it."""
    encoder, line = open_configured_encoder(settings_of_library(meta, settings))
    if encoder is None:
        raise WeightsMissing(line.removeprefix("image embeddings: off (").removesuffix(")"))
    known = meta.image_encoder is not None and meta.image_encoder.fingerprint == encoder.fingerprint
    report.stages.append(f"{line}; the library has these vectors already" if known else line)
    return None if known else encoder


def _has_content(row: FileRow) -> bool:
    """As `has_indexed_content`; an object is compared when it is fetched."""
    return is_url(row.path) or has_indexed_content(row)


def _require_content(row: FileRow) -> None:
    """Raise `FileProblem` where a file no longer has the content that was indexed."""
    if not _has_content(row):
        there = os.path.exists(row.path)
        raise FileProblem("changed since it was indexed" if there else "no longer on disk")


def _group(rows: tuple[FileRow, ...]) -> Group:
    """The content of these files, read from the first that is as it was indexed, else from the first."""
    ordered = sorted(rows, key=lambda row: not _has_content(row))
    found = (FoundFile(r.path, r.kind, r.size, r.mtime_ns, r.ctime_ns, (), r.stamp) for r in ordered)
    return Group(rows[0].content_id, tuple(found), (), ())
