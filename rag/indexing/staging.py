"""Contents into staged bundles, without the library's lock: what a worker of any kind does.

`rag index --stage-only` is one such worker in this process, `rag index --commit-staged` the commit.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.errors import reason_of
from corpora.fetching import scratch_folder
from corpora.manifest import recommended_encoder
from corpora.objects import open_store
from corpora.records import Passage, Problem
from corpora.scan import Scan
from indexers.settings import FRAME_MEASURES, SOUND_MEASURES
from rag.errors import EncoderMismatch, FileProblem, LibraryBusy, LibraryError, LibraryNotFound
from rag.indexing.calibrating import calibrate_scores
from rag.indexing.committing import Committer
from rag.indexing.contents import ContentIndexer, pinned_settings, warn_of_specialised
from rag.indexing.decoding import open_readers
from rag.indexing.encoders import device_here, other_devices, select_encoders, stored_encoders, stored_side
from rag.indexing.outcomes import Done, FileOutcomes, IndexingStats, is_unread
from rag.indexing.planning import Group, StoredRows, make_plan
from rag.indexing.report import Progress
from rag.settings import Settings
from rag.store.bundles import BundleHead, BundleWriter
from rag.store.finding import require_library
from rag.store.layout import Layout, Location, open_layout
from rag.store.records import Meta, NotedProblem
from rag.store.snapshot import Snapshot
from rag.store.staging import FolderObjects, Staging
from rag.store.writing import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAKING_SECONDS = 600.0
"""How long a worker waits for another one that makes the library."""


def open_staging(folder: Location, meta: Meta, settings: Settings | None = None) -> Staging:
    """The bundles of the library in `folder`; `settings`, pinned, are those of a worker."""
    made_with = row_settings(settings, meta) if settings is not None else None
    if isinstance(folder, Path):
        return Staging(FolderObjects(Layout(folder.absolute()).staging), meta, made_with)
    return Staging(open_store(f"{folder.url}/staging", folder.settings), meta, made_with)


def row_settings(settings: Settings, meta: Meta) -> dict[str, Any]:
    """The settings that decide the rows of a content, as JSON values: under others it is not staged yet."""
    video = settings.video.model_dump(mode="json", exclude={"decoders", "stall_seconds", "short_side"})
    return {
        "video": {**video, "short_side": stored_side(meta)},
        "ocr": settings.ocr.model_dump(mode="json"),
        "asr": settings.asr.model_dump(mode="json"),
        "reuse_still_frames": settings.encoder.reuse_still_frames,
        "measures": [FRAME_MEASURES, SOUND_MEASURES],
    }


class Stager:
    """A `ContentSink` that stages each content."""

    def __init__(
        self,
        staging: Staging,
        meta: Meta,
        device: str,
        finished: Mapping[str, Mapping[str, Any]],
        staged: Callable[[], None] = lambda: None,
    ) -> None:
        """`finished`: the stages of contents that the library has; `staged` is called after each bundle."""
        self.count = 0
        """Contents that are staged now."""
        self.problems: list[Problem] = []
        self._staging = staging
        self._meta = meta
        self._device = device
        self._finished = finished
        self._staged = staged
        self._writers: dict[str, BundleWriter] = {}

    def begin_video(self, group: Group) -> BundleWriter:
        """What collects the rows of a video."""
        writer = self._writers[group.content_id] = BundleWriter(self._meta)
        return writer

    def begin_passages(self, group: Group) -> None:
        """As `begin_video`, of a document."""
        self.begin_video(group)

    def add_passages(
        self, group: Group, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """As `ContentSink.add_passages`; `vectors`: unit rows, float (n, text dim)."""
        self._writers[group.content_id].add_passages(group.content_id, passages, vectors)

    def keep_problem(self, group: Group, done: Done) -> None:
        """Nothing: it is staged with the content."""

    def finish(self, group: Group, done: Done) -> None:
        """Stage a content."""
        self._put(group, done.reason, done.action)

    def skip_file(self, group: Group, problem: FileProblem) -> None:
        """Stage what is wrong with a content."""
        self._writers[group.content_id] = BundleWriter(self._meta)
        reason, unread = reason_of(problem, group.first.path), is_unread(group, problem)
        self._put(group, reason, "", deferred=not problem.lasting, unread=unread)

    def _put(
        self, group: Group, reason: str, action: str, *, deferred: bool = False, unread: bool = False
    ) -> None:
        head = BundleHead(
            group.content_id,
            group.files,
            device=self._device,
            replaces=self._finished.get(group.content_id, {}).get("sidecars"),
            reason=reason,
            action=action,
            deferred=deferred,
            unread=unread,
        )
        self.count += 1
        self._staging.put(self._writers.pop(group.content_id).bundle(head))
        if reason:
            self.problems += [Problem(f.path, reason, *([action] if action else [])) for f in group.files]
        self._staged()


class StagingWorker:
    """The encoders and readers of one worker. A context manager."""

    def __init__(
        self,
        folder: Location,
        meta: Meta,
        settings: Settings,
        progress: Progress,
        *,
        recommended: str | None = None,
    ) -> None:
        """Raises `EncoderMismatch` and the errors of models where this machine's encoders or its kind of
        processor are not those of the library."""
        self._meta = meta
        self._stack = contextlib.ExitStack()
        self.staging = open_staging(folder, meta, pinned_settings(settings))
        encoders = stored_encoders(meta, settings, recommended=recommended)
        image = meta.image_encoder
        warn_of_specialised(image, recommended, progress)
        self.device = device_here(meta)
        if (line := other_devices(meta, self.device)) and not settings.cluster.mixed_devices:
            raise EncoderMismatch(f"{line}; use one kind, or allow this with cluster.mixed_devices")
        backend = image.backend if image else ""
        readers = self._stack.enter_context(open_readers(settings.video, backend, settings.reading))
        logs = self._stack.enter_context(scratch_folder(settings.storage))
        self._contents = ContentIndexer(settings, encoders, readers, logs, progress)
        self._line = encoders.line

    def stage(
        self,
        groups: Iterable[Group],
        finished: Mapping[str, Mapping[str, Any]],
        staged: Callable[[], None] = lambda: None,
    ) -> Stager:
        """Index contents into bundles; `finished` and `staged` as of `Stager`."""
        stager = Stager(self.staging, self._meta, self.device, finished, staged)
        self._contents.index(groups, stager)
        return stager

    def load(self) -> None:
        """Load the models of videos now. Raises as they do where they are not the library's."""
        _ = self._contents.stages

    @property
    def lines(self) -> list[str]:
        """One line for each stage that was opened."""
        return [self._line, *self._contents.lines]

    def __enter__(self) -> StagingWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def run_staging(
    folder: Location,
    scan: Scan,
    roots: Sequence[str],
    settings: Settings,
    *,
    progress: Progress,
    limit: int | None,
) -> IndexingStats:
    """Stage what is neither in the library nor staged. A library is made where there is none."""
    if not scan.files and not open_layout(folder).exists():
        return IndexingStats(problems=list(scan.problems))
    meta = _made_library(folder, settings, roots)
    rows = StoredRows(folder)
    plan = make_plan(scan, roots, rows, settings)
    stats = IndexingStats(unchanged=len(plan.unchanged), problems=list(plan.problems))
    recommended = recommended_encoder({*roots, *(os.path.dirname(path) for path in rows.files())})
    with StagingWorker(folder, meta, settings, progress, recommended=recommended) as worker:
        staging, stored = worker.staging, rows.problems()
        stamps = {f.path: f.stamp for f in scan.files} | plan.over_limit
        noted = (NotedProblem(problem, stamps.get(problem.path, "")) for problem in plan.problems)
        staging.put_problems(each for each in noted if stored.get(each.problem.path) != each)
        groups = staging.missing(plan.groups)
        for group in plan.known:
            staging.put_paths(group)
        stats.staged = len(plan.groups) - len(groups)
        if limit is not None:
            del groups[limit:]
        if groups:
            stager = worker.stage(groups, rows.stage_fingerprints())
            stats.stages += worker.lines
            stats.staged += stager.count
            stats.problems += stager.problems
    for problem in stats.problems:
        progress.problem(problem)
    return stats


def _made_library(folder: Location, settings: Settings, roots: Sequence[str]) -> Meta:
    """What the library is made with. The first of several workers makes it, the others wait for that."""
    deadline = time.monotonic() + MAKING_SECONDS
    while True:
        with contextlib.suppress(LibraryError):  # it may be half made
            if open_layout(folder).exists() and (meta := Snapshot(require_library(folder)).meta):
                return meta
        try:
            with Writer.open(folder) as writer:
                return select_encoders(writer, settings, recommended=recommended_encoder(roots)).meta
        except (LibraryBusy, LibraryNotFound) as error:
            made = isinstance(error, LibraryBusy) or open_layout(folder).has_marker()
            if not made or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.2, 1.0))


def commit_staged(folder: Location, settings: Settings, *, progress: Progress) -> IndexingStats:
    """Commit all that is staged for the library in `folder`. Raises `LibraryNotFound` where there is none."""
    with Writer.open(folder, create=False) as writer:
        outcomes = FileOutcomes(writer, progress, settings.storage)
        stats = outcomes.stats
        meta = writer.meta
        if meta is None:
            raise LibraryNotFound(f"{folder}: nothing is staged here; run: rag index FOLDER --stage-only")
        paths: set[str] = set()

        def committed(head: BundleHead) -> None:
            for found in head.files:
                progress.file(found.path)
                paths.add(found.path)

        staging = open_staging(folder, meta)
        progress.start(0.0, len(staging.waiting()))
        Committer(writer, staging, outcomes, group=settings.cluster.group, committed=committed).close()
        stats.forgotten = sorted(paths)
        writer.drop_unfinished()
        if paths:
            for line in writer.maintain(settings.search.exact_rows):
                outcomes.note(line)
        if line := calibrate_scores(writer, settings):
            stats.stages.append(line)
        stats.library_id = meta.library_id
    return stats
