"""Contents into the library by way of bundles: with workers of Ray, or one in this process.

The second is for libraries on an object store, where the commits of each video on its own take longer than
the video.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from corpora.objects import is_url
from corpora.video.reader import MediaReader
from indexers.asr import asr_line
from indexers.ocr import ocr_line
from rag.errors import FileProblem
from rag.indexing.committing import Committer
from rag.indexing.contents import pinned_settings
from rag.indexing.encoders import select_encoders
from rag.indexing.outcomes import FileOutcomes
from rag.indexing.passages import document_seconds
from rag.indexing.planning import Group, estimated_seconds
from rag.indexing.ray_workers import RayPool
from rag.indexing.report import Progress
from rag.indexing.staging import StagingWorker, open_staging
from rag.settings import ReasonerSettings, Settings
from rag.store.bundles import BundleHead
from rag.store.writing import Writer


def by_bundles(settings: Settings, writer: Writer) -> bool:
    """Whether contents go into the library by way of bundles."""
    return settings.cluster.engine == "ray" or not isinstance(writer.folder, Path)


class BundledRun:
    """One run that indexes by bundles, under the lock that `writer` holds."""

    def __init__(
        self, writer: Writer, settings: Settings, outcomes: FileOutcomes, progress: Progress
    ) -> None:
        self._writer = writer
        self._settings = settings
        self._outcomes = outcomes
        self._progress = progress
        self._lengths: dict[str, float] = {}
        """Seconds of media by the path that is read."""

    def commit(self) -> set[str]:
        """Commit what was staged before, and give back its paths: the plan of this run then knows it."""
        paths: set[str] = set()
        if self._writer.meta is not None:
            self._committer(lambda head: paths.update(found.path for found in head.files)).close()
        return paths

    def index(self, groups: Sequence[Group], *, recommended: str | None) -> None:
        """Index contents. Raises the errors of the library, of the models and of the cluster."""
        if self._settings.cluster.engine == "ray":
            self._by_ray(groups, recommended)
        else:
            self._here(groups, recommended)

    def _here(self, groups: Sequence[Group], recommended: str | None) -> None:
        meta = select_encoders(self._writer, self._settings, recommended=recommended).meta
        settings = self._settings
        committer = self._committer()
        waiting = 0

        def staged() -> None:
            nonlocal waiting
            waiting += 1
            if waiting >= settings.cluster.group:
                committer.commit()
                waiting = 0

        with StagingWorker(
            self._writer.folder, meta, settings, self._progress, recommended=recommended
        ) as worker:
            worker.stage(groups, self._writer.stage_fingerprints(), staged)
            self._outcomes.stats.stages += worker.lines
        committer.commit()

    def _by_ray(self, groups: Sequence[Group], recommended: str | None) -> None:
        groups = self._with_lengths(groups)
        documents = [group.first.path for group in groups if not group.is_media]
        reading = sum(self._lengths[path] for path in documents)
        self._progress.start(sum(self._lengths.values()) - reading, len(groups))
        self._progress.start_documents(len(documents), reading)
        settings = pinned_settings(self._settings).model_copy(update={"reasoner": ReasonerSettings()})
        with RayPool(settings, self._progress) as pool:
            if self._writer.meta is None:
                self._writer.set_meta(pool.choose(recommended))
            encoders = select_encoders(self._writer, self._settings, recommended=recommended)
            speech = asr_line(self._settings.asr, self._settings.encoder)
            for line in (encoders.line, ocr_line(self._settings.ocr), speech):
                self._outcomes.note(line)
            committer = self._committer(self._count)
            finished = self._writer.stage_fingerprints()
            given = self._writer.folder, encoders.meta, recommended
            staged = pool.run(*given, groups, self._lengths, finished)
            for count, (group, problem) in enumerate(staged, 1):
                if problem is not None:
                    self._outcomes.skip_file(group, problem)
                if count % settings.cluster.group == 0:
                    committer.commit()
            self._progress.status("")
        committer.commit()

    def _with_lengths(self, groups: Sequence[Group]) -> list[Group]:
        """Those that can be opened, where that can be seen here; the lengths of all are then known."""
        readable = []
        video = self._settings.video
        with MediaReader(video.decoder, video.stall_seconds, limits=self._settings.reading) as reader:
            for group in groups:
                found = group.first
                length = document_seconds(found.path, found.size)
                if group.is_media:
                    length = estimated_seconds(found)
                if group.is_media and not is_url(found.path):
                    try:
                        length = reader.probe(found.path).duration
                    except FileProblem as problem:
                        self._outcomes.skip_file(group, problem)
                        continue
                self._lengths[found.path] = length
                readable.append(group)
        return readable

    def _count(self, head: BundleHead) -> None:
        for found in head.files[:1]:
            self._progress.file(found.path)
            seconds = self._lengths.get(found.path, 0.0)
            if found.kind == "passages":
                self._progress.advance_documents(1, seconds)
            else:
                self._progress.advance(seconds)

    def _committer(self, committed: Callable[[BundleHead], None] = lambda _: None) -> Committer:
        meta = self._writer.meta
        assert meta is not None
        staging, group = open_staging(self._writer.folder, meta), self._settings.cluster.group
        return Committer(self._writer, staging, self._outcomes, group=group, committed=committed)
