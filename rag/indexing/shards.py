"""A run in shards, by the workers of a cluster, which have no writer in common: each shard indexes some of
the files into a library of its own, which is then merged. What a killed run leaves in its shards is merged by
the next run.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpora.objects import StoreAddress, open_store
from corpora.scan import FoundFile
from indexers.asr import asr_line
from indexers.ocr import ocr_line
from rag.errors import EncoderMismatch, LibraryError, WorkerLost
from rag.indexing.encoders import SelectedEncoders, select_encoders
from rag.indexing.merging import copy_library
from rag.indexing.outcomes import FileOutcomes
from rag.indexing.passages import document_seconds
from rag.indexing.planning import Group, estimated_seconds, work_seconds
from rag.indexing.ray_workers import RayPool
from rag.indexing.report import Progress
from rag.indexing.stages import pinned_settings
from rag.settings import ReasonerSettings, Settings
from rag.store.layout import SHARDS, Location, open_layout
from rag.store.reading import Reader
from rag.store.records import Meta
from rag.store.writing import Writer

SHARDS_A_WORKER = 4
"""Shards for each worker, so that all end at about the same time."""
CONTENTS_A_SHARD = 100
"""Contents in a shard, about and at most."""
LEAST_SECONDS = 600.0
"""Least seconds of media in a shard, where there are more shards than workers: each loads the models."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Some contents that are indexed into a library of their own."""

    library: Location
    groups: tuple[Group, ...]

    @property
    def files(self) -> tuple[FoundFile, ...]:
        """The files of all contents. The first of each has all sidecars of its content."""
        return tuple(
            replace(found, sidecars=group.sidecars) if found is group.first else found
            for group in self.groups
            for found in group.files
        )


IndexShard = Callable[[Shard, Meta, Settings, Progress], list[str]]
"""`rag.indexing.pipeline.index_shard`."""


def split(groups: Iterable[Group], count: int) -> list[list[Group]]:
    """`count` parts of about the same length, or fewer: the longest contents are dealt out first, to and
    fro."""
    dealt, turn = sorted(groups, key=_seconds, reverse=True), 2 * count
    parts = ([*dealt[at::turn], *dealt[turn - 1 - at :: turn]] for at in range(count))
    return [part for part in parts if part]


def _seconds(group: Group) -> float:
    """Seconds of media, or of as much media as takes as long as a document."""
    found = group.first
    return work_seconds(estimated_seconds(found)) if group.is_media else document_seconds(found)


class ShardedRun:
    """The shards of one run, under the lock that `writer` holds."""

    def __init__(
        self,
        writer: Writer,
        settings: Settings,
        outcomes: FileOutcomes,
        progress: Progress,
        index_shard: IndexShard,
    ) -> None:
        """`index_shard`: as of `rag.indexing.pipeline`."""
        self._index_shard = index_shard
        self._writer = writer
        self._layout = open_layout(writer.folder)
        self._settings = settings
        self._outcomes = outcomes
        self._progress = progress

    @property
    def wanted(self) -> bool:
        """Whether this run indexes in shards."""
        return self._settings.cluster.engine == "ray"

    def take_up(self) -> set[str]:
        """Merge what a killed run left, and give back its paths: the plan of this run then knows them."""
        paths: set[str] = set()
        for library in self._layout.shards():
            try:
                paths |= self._merge(library)
            except (LibraryError, EncoderMismatch) as error:
                self._outcomes.note(f"what a killed run left cannot be used, and is indexed again: {error}")
            _discard(library)
        return paths

    def index(self, groups: Sequence[Group]) -> None:
        """Index contents. Raises the errors of the library, of the models and of the cluster."""
        self._progress.start(sum(map(_seconds, groups)), len(groups))
        settings = pinned_settings(self._settings).model_copy(update={"reasoner": ReasonerSettings()})
        with RayPool(settings, self._progress) as pool:
            if self._writer.meta is None:
                self._writer.set_meta(pool.choose())
            encoders = select_encoders(self._writer, self._settings)
            self._note_stages(encoders)
            parts = split(groups, self._shards(groups, pool.workers))
            while parts:
                shards = [Shard(self._new_library(), tuple(part)) for part in parts]
                left: list[Group] = []
                given = [(shard, encoders.meta, settings, Progress()) for shard in shards]
                for at, lines in pool.run(self._index_shard, given):
                    self._note(lines or [])
                    done = self._merge(shards[at].library)
                    _discard(shards[at].library)
                    self._count(group for group in shards[at].groups if group.first.path in done)
                    left += [group for group in shards[at].groups if group.first.path not in done]
                # One of a shard's files may be what its workers died of: each is tried on its own.
                parts = [[group] for group in left] if max(map(len, parts)) > 1 else []
            for group in left:
                self._count([group])
                reason = "its worker died in each attempt"
                self._outcomes.skip_file(group, WorkerLost(f"{group.first.path}: {reason}"))

    def _shards(self, groups: Sequence[Group], workers: int) -> int:
        """How many shards: some for each worker, unless they would be short or have too many contents."""
        long_enough = int(sum(map(_seconds, groups)) / LEAST_SECONDS)
        count = max(workers, min(SHARDS_A_WORKER * workers, long_enough), len(groups) // CONTENTS_A_SHARD)
        return min(count, len(groups))

    def _new_library(self) -> Location:
        folder, name = self._writer.folder, secrets.token_hex(8)
        if isinstance(folder, Path):
            return folder.absolute() / SHARDS / name
        return StoreAddress(f"{folder.url}/{SHARDS}/{name}", folder.settings)

    def _count(self, groups: Iterable[Group]) -> None:
        self._progress.advance(sum(map(_seconds, groups)))

    def _note_stages(self, encoders: SelectedEncoders) -> None:
        speech = asr_line(self._settings.asr, self._settings.encoder)
        self._note([encoders.line, ocr_line(self._settings.ocr), speech])

    def _note(self, lines: Iterable[str]) -> None:
        for line in lines:
            if line not in self._outcomes.result.stages:
                self._outcomes.note(line)

    def _merge(self, library: Location) -> set[str]:
        """Copy what a shard has finished, and count it. Returns its paths, and those of its problems."""
        if not open_layout(library).exists():
            return set()
        with Reader.open(library) as reader:
            if reader.meta is None:
                return set()
            plan = copy_library(reader, self._writer, newer=True)
            ready = {video.video_id for video in reader.videos()}
            done = {r.path for r in reader.file_rows() if r.kind == "passages" or r.content_id in ready}
        result = self._outcomes.result
        result.indexed += len(plan.copied)
        result.copies += sum(len(plan.paths.get(content, ())) - 1 for content in plan.copied)
        result.clips += plan.clips
        result.passages += plan.passages
        result.video_seconds += sum(video.duration for video in plan.videos)
        self._outcomes.report(noted.problem for noted in plan.problems)
        return done.union(noted.problem.path for noted in plan.problems)


def _discard(library: Location) -> None:
    """Delete a shard's library."""
    if isinstance(library, Path):
        shutil.rmtree(library, ignore_errors=True)
        with contextlib.suppress(OSError):
            library.parent.rmdir()
    else:
        store = open_store(library.url, library.settings)
        store.delete([found.key for found in store.list()])
