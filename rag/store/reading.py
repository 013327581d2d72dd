"""Reading a library: a pinned snapshot that never blocks and is never blocked."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from corpora.records import Clip, Evidence, EvidenceKind, Passage, Problem, Shot, SoundTrack, Video
from rag.records import SearchFilter, VideoInterval
from rag.store import schema
from rag.store.error_mapping import TableGone
from rag.store.filters import owner_sql, shares_enough, span_sql
from rag.store.finding import require_library
from rag.store.layout import Layout, Location, open_layout
from rag.store.records import PULLED, ClipFrames, FileRow, Hit, Meta, Stats
from rag.store.schema import quoted
from rag.store.snapshot import Snapshot
from rag.store.vectors import VectorTable, clips_by_id, clips_holding, fetch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.store.checking import Health

EVERYTHING = SearchFilter()


T = TypeVar("T")


class Reader:
    """Made by `Reader.open`; a context manager, and safe to share between threads.

    It sees the library as the last commit before it was opened or refreshed left it. If a writer has
    meanwhile cleaned those versions away, it takes up the newest commit and goes on.
    """

    def __init__(
        self, layouts: Sequence[Layout], hidden: Collection[EvidenceKind] = (), exact_rows: int | None = None
    ) -> None:
        self._layouts = layouts
        self._hidden = frozenset(hidden)
        self._exact_rows = exact_rows
        self._lock = threading.RLock()
        self.refreshes = 0
        """How often the newest versions were taken up: ids that were found before may be gone."""
        self._marks = [mark for layout in layouts if (mark := layout.reader_mark()) is not None]
        try:
            self.refresh()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(
        cls,
        folder: Location,
        *others: Location,
        hidden: Collection[EvidenceKind] = (),
        exact_rows: int | None = None,
    ) -> Reader:
        """`others`: libraries that are read with it as one, see `JoinedSnapshot`. `hidden`: kinds of evidence
        that are neither given nor searched. `exact_rows`: tables of vectors with more rows are searched by
        their index files; None searches all tables exactly.

        Raises `LibraryNotFound`, `LibraryTooNew` or `LibraryCorrupt`; `LibraryError` where libraries that are
        to be read as one were made in different ways; `StoreError` where an object store fails, of several
        libraries all (`left_out`).
        """
        layouts = [open_layout(each) for each in (folder, *others)] if others else [require_library(folder)]
        return cls(layouts, hidden, exact_rows)

    def refresh(self) -> None:
        """Take up the last commit."""
        with self._lock:
            self._snapshot = _snapshot(self._layouts, self._exact_rows)
            self.refreshes += 1

    def ask(self, question: Callable[[Snapshot], T]) -> T:
        """The answer of one pinned snapshot; of a newer one where files of that are gone.

        Questions of several threads are answered side by side.
        """
        with self._lock:
            snapshot = self._snapshot
        try:
            return question(snapshot)
        except TableGone:
            with self._lock:
                if self._snapshot is snapshot:
                    self.refresh()
                snapshot = self._snapshot
            return question(snapshot)

    @property
    def left_out(self) -> tuple[str, ...]:
        """A line for each of several libraries that is not read, because its object store fails."""
        return self._snapshot.left_out

    @property
    def folder(self) -> Location:
        """Where the library is; the first of several."""
        return self._layouts[0].folder

    @property
    def folders(self) -> list[Location]:
        """Where all its libraries are."""
        return [layout.folder for layout in self._layouts]

    @property
    def meta(self) -> Meta | None:
        """None for a library that was made and never given anything."""
        return self._snapshot.meta

    @property
    def is_pulled(self) -> bool:
        """Whether it was copied from an object store, so that its files may be on other machines."""
        return self.meta is not None and PULLED in self.meta.settings

    # What is there

    def contents(self) -> str:
        """A digest of what is indexed and by which image encoder, 16 hex digits. It changes when something is
        indexed or measured, again too, or removed; not by maintenance, nor with the paths of a content."""
        meta = self.meta
        encoder = meta.image_encoder.fingerprint if meta is not None and meta.image_encoder else ""

        def ask(s: Snapshot) -> list[Any]:
            return [*([*pair, s.stages(pair[0])] for pair in sorted(s.ready.items())), sorted(s.sources)]

        held = json.dumps([encoder, *self.ask(ask)], sort_keys=True)
        return hashlib.blake2b(held.encode(), digest_size=8).hexdigest()

    def videos(self) -> list[Video]:
        """Ready videos, sorted by path."""
        return self.ask(lambda s: list(s.videos.values()))

    def video(self, video_id: str) -> Video:
        """Raises KeyError for a video that is unknown or not ready."""
        return self.ask(lambda s: s.video(video_id))

    def stages(self, video_id: str) -> dict[str, Any]:
        """What each stage of indexing was made with, as `Writer.finish_video` was given it; `off` where it
        was off. Raises KeyError for a video that is unknown or not ready."""
        return self.ask(lambda s: s.stages(video_id))

    def evidence_kinds(self) -> dict[str, frozenset[str]]:
        """The kinds of evidence that each video has any of."""
        kinds = self.ask(lambda s: s.evidence_kinds)
        return {video_id: shown for video_id, held in kinds.items() if (shown := held - self._hidden)}

    def files(self) -> frozenset[str]:
        """The paths of all indexed files."""
        return self.ask(lambda s: frozenset(row.path for row in s.file_rows))

    def file_rows(self) -> list[FileRow]:
        """Every indexed path with what was known of its file, sorted by path."""
        return self.ask(lambda s: list(s.file_rows))

    def copies(self, paths: Iterable[str]) -> list[tuple[str, list[FileRow]]]:
        """Each of some indexed paths with the files of its content.

        Several libraries may have a path with several contents, of a file that was changed in between.
        """
        wanted = frozenset(paths)
        return self.ask(
            lambda s: [
                (row.path, list(s.files_of(row.content_id))) for row in s.file_rows if row.path in wanted
            ]
        )

    def files_of(self, content_id: str) -> tuple[FileRow, ...]:
        """The indexed paths of a video or a passage source, sorted by path; none for an unknown id."""
        return self.ask(lambda s: s.files_of(content_id))

    def paths(self, content_id: str) -> tuple[str, ...]:
        """The paths that hold a video or a passage source, sorted. Raises KeyError for an unknown id."""
        return self.ask(lambda s: s.paths[content_id])

    def indexed_paths(self) -> list[str]:
        """The path of every file of videos and passages, sorted."""
        return self.ask(lambda s: sorted({path for paths in s.paths.values() for path in paths}))

    def clips(self, video_id: str) -> list[Clip]:
        """Clips of a ready video, [start, end) seconds each, in time order; empty for an unknown video."""
        return list(self.clips_of([video_id])[video_id])

    def clips_of(self, video_ids: Iterable[str]) -> dict[str, list[Clip]]:
        """As `clips`, of several videos by id."""
        return self.ask(lambda s: s.clips_of_videos(video_ids))

    def clips_by_id(self, clip_ids: Iterable[str]) -> dict[str, Clip]:
        """Those of some clips whose videos are ready, by id."""
        return self.ask(lambda s: clips_by_id(s, clip_ids))

    def clips_holding(self, spans: Sequence[VideoInterval]) -> list[Clip | None]:
        """As `rag.store.vectors.clips_holding`."""
        return self.ask(lambda s: clips_holding(s, spans))

    def clip(self, clip_id: str) -> Clip:
        """Raises KeyError for a clip that is unknown or whose video is not ready."""
        return self.clips_by_id([clip_id])[clip_id]

    def passages_with_paths(self, ids: Sequence[str]) -> list[tuple[Passage, str]]:
        """Passages in the order of `ids`, each with the first path that holds it. Raises KeyError for an
        unknown one."""

        def ask(s: Snapshot) -> list[tuple[Passage, str]]:
            rows = s.passage_rows(sorted(set(ids)))
            return [(schema.passage_of(rows[key]), s.paths[rows[key]["source_id"]][0]) for key in ids]

        return self.ask(ask) if ids else []

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """As `passages_with_paths`."""
        return [passage for passage, _ in self.passages_with_paths(ids)]

    def passage_paths(self, ids: Sequence[str]) -> list[str]:
        """As `passages_with_paths`."""
        return [path for _, path in self.passages_with_paths(ids)]

    def passage_files(self) -> list[str]:
        """The first path of every file that passages come from, sorted."""

        def ask(s: Snapshot) -> list[str]:
            first = {row.content_id: row for row in reversed(s.file_rows)}
            return sorted(row.path for row in first.values() if row.kind == "passages")

        return self.ask(ask)

    def passages_of(self, source_id: str) -> list[Passage]:
        """The passages of one source, in the order of its text; none for an unknown id."""
        columns, where = ["passage_id", *schema.PASSAGE_TEXTS], f"source_id IN {quoted([source_id])}"
        rows = self.ask(lambda s: s.scan("passages", columns, where, row_ids=True).to_pylist())
        return [schema.passage_of(row) for row in sorted(rows, key=lambda row: row["_rowid"])]

    def evidence(self, video_id: str, start: float, end: float) -> list[Evidence]:
        """Spans of a ready video that overlap [start, end) seconds, in time order; none if unknown."""
        return self.evidence_of([(video_id, start, end)])[0]

    def evidence_beside(self, video_id: str, start: float, end: float) -> list[Evidence]:
        """As `evidence`, with the span of each kind just before and just after."""
        whole = self.evidence(video_id, 0.0, self.video(video_id).duration)
        before = {one.kind: one for one in whole if one.end <= start}
        after = {one.kind: one for one in reversed(whole) if one.start >= end}
        inside = [one for one in whole if one.end > start and one.start < end]
        return [*before.values(), *inside, *after.values()]

    def evidence_of(self, windows: Sequence[VideoInterval]) -> list[list[Evidence]]:
        """As `evidence`, for each of several windows."""
        found = self.ask(lambda s: s.evidence_in(windows))
        return [[span for span in spans if span.kind not in self._hidden] for spans in found]

    def span_vectors(self, windows: Sequence[VideoInterval]) -> dict[str, NDArray[np.float32]]:
        """Unit float32 (dim,) that the spans of `evidence_of` were indexed with, by their text."""

        def ask(s: Snapshot) -> dict[str, NDArray[np.float32]]:
            if (vectors := s.vectors("evidence")) is None:
                return {}
            keys = vectors.keys_inside(windows)
            rows, spans = vectors.vectors(keys), s.spans(keys)
            # Those of another length are damaged, or of no words.
            unit = [key for key, row in rows.items() if abs(float(row @ row) - 1) < 0.01]
            return {spans[key].text: rows[key] for key in unit if key in spans}

        return self.ask(ask)

    def spans(self, ids: Sequence[str]) -> list[Evidence]:
        """Evidence in the order of `ids`, as a search gave them. Raises KeyError for an unknown one."""
        found = self.ask(lambda s: s.spans(sorted(set(ids)))) if ids else {}
        return [found[key] for key in ids]

    def shots(self, video_id: str) -> tuple[Shot, ...]:
        """Shots of a ready video, in time order; none where it was not measured."""
        return self.ask(lambda s: s.shots.get(video_id, ()))

    def shots_by_video(self) -> Mapping[str, tuple[Shot, ...]]:
        """The shots of all ready videos that were measured."""
        return self.ask(lambda s: s.shots)

    def sound_track(self, video_id: str) -> SoundTrack | None:
        """None for a video without sound, or that was not measured."""
        return self.ask(lambda s: s.sound_track(video_id))

    def problems(self) -> list[Problem]:
        """Files that could not be used, or not wholly, sorted by path."""
        rows = self.ask(lambda s: s.scan("problems", ["path", "reason", "action"]).to_pylist())
        found = [Problem(os.fsdecode(row["path"]), row["reason"], row["action"]) for row in rows]
        return sorted(found, key=lambda problem: problem.path)

    def unfinished(self) -> frozenset[str]:
        """The ids of videos that are left out of searches, for a run that indexed them was ended."""
        return self.ask(lambda s: frozenset(s.video_rows.keys() - s.ready.keys()))

    def stats(self) -> Stats:
        """Counts of the snapshot's rows, and bytes on the disk as they are now.

        Raises `LibraryCorrupt` where a table cannot be read.
        """
        return self.ask(lambda s: s.stats())

    # Search: cosine over unit vectors

    def search_clips(
        self, vector: NDArray[np.floating[Any]], k: int, where: SearchFilter = EVERYTHING
    ) -> list[Hit]:
        """The k clips nearest to `vector`, best first; keys are clip ids. Empty without an image encoder.

        `vector`: unit float (dim,) in the space of the image encoder; ValueError for another shape.
        """
        return self.ask(lambda s: _nearest(s.vectors("clips"), vector, k, s.wanted_videos(where), where))

    def count_clips(self, where: SearchFilter = EVERYTHING) -> int:
        """Clips with an image vector that `where` lets through."""

        def ask(s: Snapshot) -> int:
            vectors = s.vectors("clips")
            return vectors.count(s.wanted_videos(where), where) if vectors else 0

        return self.ask(ask)

    def clip_vectors(self) -> tuple[Sequence[str], NDArray[np.float16]]:
        """Ids of the clips with a vector, and these vectors, float16 (n, dim)."""

        def ask(s: Snapshot) -> tuple[Sequence[str], NDArray[np.float16]]:
            vectors = s.vectors("clips")
            return ((), np.empty((0, 0), np.float16)) if vectors is None else vectors.everything()

        return self.ask(ask)

    def search_evidence(
        self, vector: NDArray[np.floating[Any]], k: int, where: SearchFilter = EVERYTHING
    ) -> list[Hit]:
        """The k spans nearest to `vector`, best first; keys are evidence ids, for `spans`.

        `vector`: unit float (dim,) in the space of the text encoder; ValueError for another shape.
        """

        where = self._shown(where)

        return self.ask(lambda s: _nearest(s.vectors("evidence"), vector, k, s.wanted_videos(where), where))

    def search_passages(
        self, vector: NDArray[np.floating[Any]], k: int, where: SearchFilter = EVERYTHING
    ) -> list[Hit]:
        """The k passages nearest to `vector`, best first; keys are passage ids, for `passages`.

        `vector`: unit float (dim,) in the space of the text encoder; ValueError for another shape.
        """
        return self.ask(
            lambda s: _nearest(s.vectors("passages"), vector, k, s.wanted_sources(where), EVERYTHING)
        )

    def check_files(self, *, progress: Callable[[int, int], object] = lambda *_: None) -> list[Health]:
        """What is wrong with the files of each library, as of `rag.store.checking.check_files_of`."""
        from rag.store.checking import check_files_of

        return [check_files_of(layout, progress=progress) for layout in self._layouts]

    # Search: full text, BM25

    def match_evidence(self, text: str, k: int, where: SearchFilter = EVERYTHING) -> list[Hit]:
        """The k spans that fit the words of `text` best, any of them; nothing in `text` is syntax."""
        where = self._shown(where)

        def search(s: Snapshot) -> list[Hit]:
            wanted = s.wanted_videos(where)
            conditions = owner_sql("video_id", s.ready.keys(), wanted) if wanted is not None else []
            conditions += span_sql(where.start, where.end)
            if where.kinds is not None:
                conditions.append(f"kind IN {quoted(sorted(where.kinds))}" if where.kinds else "false")
            if where.spans is None:
                return s.match("evidence", text, k, conditions)
            return self._match_inside(s, text, k, conditions, where.spans)

        return self.ask(search)

    def _shown(self, where: SearchFilter) -> SearchFilter:
        if not self._hidden:
            return where
        kinds = where.kinds if where.kinds is not None else frozenset(get_args(EvidenceKind))
        return replace(where, kinds=kinds - self._hidden)

    def _match_inside(
        self,
        s: Snapshot,
        text: str,
        k: int,
        conditions: list[str],
        spans: Mapping[str, tuple[tuple[float, float], ...]],
    ) -> list[Hit]:
        """Matches within `spans` only: a row's BM25 score does not depend on the rows around it."""
        asked = k
        while True:
            hits = s.match("evidence", text, asked, conditions)
            rows = s.spans([hit.key for hit in hits])
            kept = [
                hit
                for hit in hits
                if shares_enough(rows[hit.key].start, rows[hit.key].end, spans[rows[hit.key].video_id])
            ]
            if len(kept) >= k or len(hits) < asked:
                return kept[:k]
            asked *= 4

    def match_passages(self, text: str, k: int, where: SearchFilter = EVERYTHING) -> list[Hit]:
        """The k passages that fit the words of `text` best, titles included."""

        def search(s: Snapshot) -> list[Hit]:
            wanted = s.wanted_sources(where)
            conditions = owner_sql("source_id", s.sources, wanted) if wanted is not None else []
            return s.match("passages", text, k, conditions)

        return self.ask(search)

    # Frames

    def frames(self, clip_ids: Sequence[str]) -> list[ClipFrames]:
        """Frame times, float64 (m,) seconds, and vectors, unit float32 (m, dim), of clips as in `clip_ids`.

        Those that are unknown or have no vectors are left out.
        """
        return self.ask(lambda s: fetch(s, clip_ids))

    def close(self) -> None:
        """Release the pinned versions, so that compaction may remove them."""
        for mark in self._marks:
            mark.release()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _snapshot(layouts: Sequence[Layout], exact_rows: int | None) -> Snapshot:
    """The snapshot of one library, or of several as one."""
    if len(layouts) == 1:
        return Snapshot(layouts[0], exact_rows)
    from rag.store.joined import JoinedSnapshot

    return JoinedSnapshot(layouts, exact_rows)


def _nearest(
    vectors: VectorTable | None,
    vector: NDArray[np.floating[Any]],
    k: int,
    owners: set[str] | None,
    where: SearchFilter,
) -> list[Hit]:
    return vectors.nearest(vector, k, owners, where) if vectors is not None else []
