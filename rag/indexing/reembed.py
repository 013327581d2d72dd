"""`rag index --reembed`: all image embeddings made again by another encoder; text is kept as it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing

from corpora.errors import reason_of
from corpora.objects import is_url
from corpora.records import Problem, Video
from corpora.scan import FoundFile
from corpora.settings import VideoSettings
from corpora.video.reader import MediaReader
from indexers.protocol import ImageEncoder
from rag.errors import FileProblem, WeightsMissing
from rag.indexing.clips import CLIPS_PER_COMMIT, decode_clips, open_reader
from rag.indexing.copies import LocalGroup, local_groups
from rag.indexing.encoders import (
    STORED_SIDE,
    frame_side,
    open_configured_encoder,
    reference,
    settings_of_library,
    stored_side,
)
from rag.indexing.planning import Group, row_of
from rag.indexing.report import IndexReport, Progress
from rag.indexing.stages import embed_clip
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import ClipFrames, FileRow
from rag.store.sidecars import has_indexed_content
from rag.store.tables import EncoderSwitch
from rag.store.writing import Writer


def reembed_library(writer: Writer, settings: Settings, progress: Progress, report: IndexReport) -> None:
    """Decode and encode every video again; the new vectors replace the old when the last video is done.

    Until then questions are answered from the old ones; killed, it resumes where it was. `report` gets the
    lines to show, the problems of videos whose files are gone or fail, which keep their text and lose their
    image embeddings, and how many of the others there are.
    Raises `WeightsMissing` where the settings find no encoder.
    """
    if writer.meta is None:
        return
    settings = settings_of_library(writer.meta, settings)
    encoder, line = open_configured_encoder(settings)
    if encoder is None:
        raise WeightsMissing(line.removeprefix("image embeddings: off (").removesuffix(")"))
    ref = reference(encoder)
    if writer.meta.image_encoder is not None and writer.meta.image_encoder.fingerprint == ref.fingerprint:
        report.stages.append(f"{line}; the library has these vectors already")
        return
    side = settings.video.short_side or frame_side(stored_side(writer.meta), encoder)
    switch = writer.switch_encoder(ref, {**writer.meta.settings, STORED_SIDE: side})
    decoding = settings.video.model_copy(update={"short_side": side})
    stored = writer.stage_fingerprints()
    problems: list[Problem] = []
    failed: set[str] = set()
    with Reader.open(writer.folder) as reader, open_reader(settings) as media:
        videos = {video.video_id: video for video in reader.videos() if video.stream >= 0}
        progress.start(sum(video.duration for video in videos.values()), len(videos))
        # The file of each is chosen just before it is decoded.
        groups = (_group(reader.files_of(video_id)) for video_id in videos)

        def encode(local: LocalGroup) -> None:
            copy = local.require()
            row, video = row_of(local.group.first, copy.content_id), videos[copy.content_id]
            try:
                _require_content(row)
                progress.file(row.path)
                _encode(row, copy.path, video, encoder, switch, media, decoding, progress)
            finally:
                copy.discard()

        with closing(local_groups(groups, settings.storage)) as there:
            for local in there:
                try:
                    encode(local)
                except FileProblem as problem:
                    failed.add(local.group.content_id)
                    path, reason = local.group.first.path, reason_of(problem, local.read)
                    problems.append(Problem(path, reason, "kept its text, lost its image embeddings"))
                    # Without a stamp: it holds until the content is indexed again.
                    writer.put_problem(problems[-1], "")
                    progress.problem(problems[-1])
    made = {each: {**stages, "frames": ref.fingerprint} for each, stages in stored.items()}
    if made := {each: stages for each, stages in made.items() if each not in failed}:
        writer.put_stages(made, commit=False)
    switch.commit()
    report.stages.append(line)
    report.problems += problems
    report.reembedded = len(videos) - len(problems)


def _has_content(row: FileRow) -> bool:
    """As `has_indexed_content`; an object is compared when it is fetched."""
    return is_url(row.path) or has_indexed_content(row)


def _require_content(row: FileRow) -> None:
    """Raise `FileProblem` where a file no longer has the content that was indexed."""
    if not _has_content(row):
        there = os.path.exists(row.path)
        raise FileProblem("changed since it was indexed" if there else "no longer on disk")


def _group(rows: Sequence[FileRow]) -> Group:
    """The content of these files, read from the first that is as it was indexed, else from the first."""
    row = next(filter(_has_content, rows), rows[0])
    found = FoundFile(row.path, row.kind, row.size, row.mtime_ns, row.ctime_ns, (), row.stamp)
    return Group(row.content_id, (found,), (), ())


def _encode(
    row: FileRow,
    path: str,
    video: Video,
    encoder: ImageEncoder,
    switch: EncoderSwitch,
    media: MediaReader,
    decoding: VideoSettings,
    progress: Progress,
) -> None:
    """Its new vectors, unless it has them already."""
    if set(switch.clips(video.video_id)) <= switch.done():
        progress.advance(video.duration)
        return
    rows: list[ClipFrames] = []
    for cut in decode_clips(media, path, video, decoding):
        rows.append(embed_clip(encoder, cut))
        progress.advance(cut.clip.end - cut.clip.start)
        if len(rows) >= CLIPS_PER_COMMIT:
            _require_content(row)
            switch.add(rows)
            rows = []
    _require_content(row)
    switch.add(rows)
