"""What a run would do, without doing it: files, hours, estimated time and size."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from corpora.errors import reason_of
from corpora.formats import text_bytes
from corpora.identity import content_hash
from corpora.objects import is_url
from corpora.records import Problem
from corpora.scan import FoundFile, Scan
from corpora.video.reader import MediaReader
from indexers.asr import asr_line
from indexers.ocr import ocr_line, reads_text
from indexers.registry import resolve_image_encoder
from rag.errors import FileProblem
from rag.indexing.missing import prune_refusal
from rag.indexing.planning import (
    MEDIA_BYTES_A_SECOND,
    StoredRows,
    estimated_seconds,
    make_plan,
    shares_its_size,
    work_seconds,
)
from rag.indexing.report import Forecast, IndexReport, Prune, scan_report
from rag.settings import Settings
from rag.store.layout import Location

SECONDS_PER_DECODED_SECOND = 0.05
"""Wall seconds to decode a second of 720p30 on two cores (FFmpeg, 2 samples a second), measured at 0.045."""
SECONDS_PER_FRAME = 0.015
"""Wall seconds to encode a frame with a ViT-B/32 in bf16 on two cores, measured at 0.009 to 0.012."""
SECONDS_PER_READ_SECOND = 0.2
"""Wall seconds to read the text on the screen in a second of video on two cores, measured at 0.15 to 0.3."""
ESTIMATED = f"estimated from their sizes, at {MEDIA_BYTES_A_SECOND:,} bytes a second"
STARTUP_SECONDS = 6.0
"""To open the library and the models, for a run that has anything to do."""
SECONDS_PER_FILE = 0.3
"""To open and commit a file, whatever is in it. 13 tiny ones took 21 CPU-seconds with all senses, startup
included."""
SECONDS_PER_PASSAGE_KIB = 0.03
BYTES_PER_FILE = 5_000
"""Rows and their tables' own bookkeeping in a small library, measured at 99 kB for 16 files."""
BYTES_PER_FRAME = 2_000
"""With the default image encoder, measured at 1,920 for 206 frames, their texts and measurements included."""
BYTES_PER_PASSAGE_BYTE = 2.0


def forecast(
    folder: Location,
    found: Scan,
    roots: Sequence[str],
    settings: Settings,
    *,
    prune: Prune = False,
    limit: int | None,
    started: float,
) -> IndexReport:
    """Count what a run would find new, moved and missing, and read headers; nothing is written.

    Of new files only those are read whole that may be known or copies: their size is that of another file.
    Objects of a store are not read at all: those of one size and ETag count as copies, and how long they
    last is estimated from their size.

    Times are for two cores at 720p and a ViT-B/32: an order of magnitude, no promise.
    """
    held = StoredRows.read(folder)
    may_be_known = shares_its_size(found, held.files)

    def identify(file: FoundFile) -> str:
        # A path is an id that no content has: ids are hex digits.
        if is_url(file.path):
            return f"{file.size}:{file.etag}" if file.etag else file.path
        return content_hash(file.path) if may_be_known(file) else file.path

    plan = make_plan(found, roots, held, settings, identify)
    refusal = prune_refusal(held.files, plan.missing, plan.moved, roots) if prune is True else ""
    groups = plan.groups[:limit]
    files = [group.first for group in groups]
    remote = [file for file in files if file.kind != "passages" and is_url(file.path)]
    local = [file for file in files if file.kind != "passages" and not is_url(file.path)]
    probed, unreadable = _probe(local, settings)
    bad = {problem.path for problem in unreadable}
    files = [file for file in files if file.path not in bad]
    durations = [*map(estimated_seconds, remote), *probed]
    resolved = resolve_image_encoder(settings.encoder)
    ahead = _estimated(files, durations, settings, embeds=resolved.name is not None)
    return replace(
        scan_report(folder, found),
        unchanged=len(plan.unchanged),
        moved=plan.arrived,
        copies=sum(len(group.files) - 1 for group in groups),
        missing=len(plan.missing) - len(plan.moved),
        problems=[*plan.problems, *unreadable],
        seconds=time.monotonic() - started,
        stages=[
            f"image embeddings: {resolved.reason if resolved.name else f'off ({resolved.reason})'}",
            ocr_line(settings.ocr),
            asr_line(settings.asr, settings.encoder),
            *([f"durations of objects ({len(remote)}): {ESTIMATED}"] if remote else []),
            *([f"--prune would be refused: {refusal}"] if refusal else []),
        ],
        forecast=ahead,
    )


def _estimated(
    files: Sequence[FoundFile], durations: Sequence[float], settings: Settings, *, embeds: bool
) -> Forecast:
    """What new files take. `durations`: those of media, in seconds. `embeds`: whether there is an image
    encoder."""
    seconds = sum(map(work_seconds, durations))
    read_seconds = seconds if reads_text(settings.ocr) else 0.0
    frames = seconds * settings.video.rate if embeds else 0.0
    kib = sum(text_bytes(f.path, f.size) for f in files if f.kind == "passages") / 1024
    cost = (
        (STARTUP_SECONDS if files else 0.0)
        + len(files) * SECONDS_PER_FILE
        + seconds * SECONDS_PER_DECODED_SECOND
        + read_seconds * SECONDS_PER_READ_SECOND
        + frames * SECONDS_PER_FRAME
        + kib * SECONDS_PER_PASSAGE_KIB
    )
    size = int(len(files) * BYTES_PER_FILE + frames * BYTES_PER_FRAME + kib * 1024 * BYTES_PER_PASSAGE_BYTE)
    return Forecast(len(files), sum(durations), cost, size)


def _probe(files: Iterable[FoundFile], settings: Settings) -> tuple[list[float], list[Problem]]:
    """Seconds of media of those that can be read, and the problems of the others."""
    durations, problems = [], []
    with MediaReader(settings.video.decoder, settings.video.stall_seconds, limits=settings.reading) as reader:
        for file in files:
            try:
                durations.append(reader.probe(file.path).duration)
            except FileProblem as problem:
                problems.append(Problem(file.path, reason_of(problem, file.path)))
    return durations, problems
