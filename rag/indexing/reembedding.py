"""`rag index --reembed`: the frames of all videos encoded with another image encoder.

Text is kept and read by no model again, and searches find the videos all the while. Shots are measured on the
way where no stage decoded frames before. Where the run is killed, the next one continues.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import closing

from corpora.errors import reason_of
from corpora.fetching import LocalCopy
from corpora.objects import is_url
from corpora.records import Video
from corpora.scan import FoundFile
from indexers.protocol import ImageEncoder
from indexers.shots import FrameFigures, measure_frames
from rag.errors import FileProblem, WeightsMissing
from rag.indexing.clips import decode_clips, open_reader
from rag.indexing.copies import local_groups
from rag.indexing.encoders import (
    STORED_SIDE,
    frame_side,
    open_configured_encoder,
    reference,
    settings_of_library,
    stored_side,
)
from rag.indexing.outcomes import FileOutcomes
from rag.indexing.planning import Group, row_of
from rag.indexing.report import IndexReport, Progress
from rag.indexing.stages import embed_clip, shots_of, stage_fingerprints
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import ClipFrames, FileRow, Meta
from rag.store.sidecars import has_indexed_content
from rag.store.tables import EncoderSwitch
from rag.store.writing import Writer


def reembed_videos(writer: Writer, settings: Settings, outcomes: FileOutcomes, progress: Progress) -> None:
    """Encode all videos of the library with the encoder of the settings, if it has another one.

    Until the last video is encoded questions are answered from the vectors before. A file that is gone or
    fails keeps what it has, but for these. Raises `WeightsMissing` where the settings find no encoder.
    """
    if (meta := writer.meta) is None or (encoder := _other_encoder(meta, settings, outcomes.result)) is None:
        return
    side = settings.video.short_side or frame_side(stored_side(meta), encoder)
    switch = writer.switch_encoder(reference(encoder), {**meta.settings, STORED_SIDE: side})
    decoding = settings.video.model_copy(update={"short_side": side})
    shots = stage_fingerprints(settings, reference(encoder))["shots"]

    def encode(group: Group, copy: LocalCopy, video: Video) -> None:
        row = row_of(group.first, video.video_id)
        _require_content(row)
        progress.file(row.path)
        stages = writer.stage_fingerprints()[video.video_id]
        rows, parts = list[ClipFrames](), list[FrameFigures]()
        for cut in decode_clips(media, copy.path, video, decoding):
            rows.append(embed_clip(encoder, cut))
            if stages.get("shots") == "off":
                parts.append(measure_frames(cut.frames))
            progress.advance(cut.clip.end - cut.clip.start)
        _require_content(row)
        if parts:
            writer.put_shots(video.video_id, shots_of(video, parts))
            writer.put_stages({video.video_id: {**stages, "shots": shots}})
        switch.add(rows)

    writer.flush()  # for the reader: paths of files that have moved
    failed: set[str] = set()
    with Reader.open(writer.folder) as reader, open_reader(settings) as media:
        videos = {video.video_id: video for video in reader.videos() if video.stream >= 0}
        left = {key: video for key, video in videos.items() if key not in switch.done}
        if left:
            progress.start(sum(video.duration for video in left.values()), len(left))
        # The file of each is chosen just before it is decoded.
        groups = (_group(reader.files_of(video_id)) for video_id in left)
        with closing(local_groups(groups, settings.storage)) as there:
            for local in there:
                try:
                    with local.opened() as copy:
                        encode(local.group, copy, left[local.group.content_id])
                except FileProblem as problem:
                    failed.add(local.group.content_id)
                    reason = reason_of(problem, local.group.first.path)
                    outcomes.append_problem(local.group, reason, "kept its text, lost its image embeddings")
    _flip(writer, switch, encoder.fingerprint, failed)
    outcomes.result.reembedded = len(videos) - len(failed)


def _flip(writer: Writer, switch: EncoderSwitch, fingerprint: str, failed: Collection[str]) -> None:
    """Give all videos but those that `failed` their new vectors, in one commit."""
    stages, frames = writer.stage_fingerprints(), {"frames": fingerprint}
    if made := {each: {**own, **frames} for each, own in stages.items() if each not in failed}:
        writer.put_stages(made)
    switch.commit()


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
