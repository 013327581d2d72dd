"""One state of a library, as `head.json` names it: opened once, and searched in memory.

A writer at work makes other versions, which this one does not see.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from corpora.records import Clip, Evidence, EvidenceKind, Passage, Problem, Shot, SoundTrack, Video
from corpora.settings import VideoSettings
from rag.records import SearchFilter, VideoInterval, is_still
from rag.store import schema
from rag.store.error_mapping import TableGone, corrupt, read_errors, require_columns
from rag.store.filters import Codes, RowSpans, is_timed, kinds_sql, owner_sql, path_matches, within
from rag.store.fulltext import match
from rag.store.head import read_head
from rag.store.layout import Layout
from rag.store.records import (
    FileRow,
    Hit,
    Meta,
    NotedProblem,
    Stats,
    best_hits,
    clips_of_video,
    document_paths,
)
from rag.store.schema import quoted
from rag.store.vectors import Indexed, Matrix, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

ATTEMPTS = 5
PART_BYTES = 80 * 2**20
"""At 512 dimensions and 60 frames over 1,200 clips: a fragment so large that compaction leaves it alone."""
EVIDENCE_COLUMNS = [*schema.vector_columns("evidence", 0).columns, schema.FULL_TEXT, "track"]

EVERYTHING = SearchFilter()

Texts = Literal["evidence", "passages"]
Vectors = Literal["clips", Texts]
"""What rows with vectors are of."""


class Snapshot:
    """One version of every table, read once and searched in memory."""

    left_out: tuple[str, ...] = ()
    """As of `JoinedSnapshot`."""
    elsewhere: frozenset[str] = frozenset()
    """Contents that are read from another one of several libraries."""

    def __init__(
        self, layout: Layout, exact_rows: int | None = None, hidden: frozenset[EvidenceKind] = frozenset()
    ) -> None:
        """`exact_rows`, `hidden`: as of `Reader.open`."""
        self.layout = layout
        self._exact_rows = exact_rows
        self._hidden_kinds = hidden
        self._loaded: dict[str, list[Rows]] = {}
        self._loading: dict[str, threading.Lock] = {}
        for attempt in range(ATTEMPTS):
            try:
                self._pin()
                return
            except TableGone:
                # Cleaned away, between the reading of the head and the opening of its versions.
                if attempt == ATTEMPTS - 1:
                    raise

    def _pin(self) -> None:
        head, _ = read_head(self.layout)
        self.meta: Meta | None = head.meta
        self.tables = {name: self._open(name, version) for name, version in head.tables.items()}
        videos = self.scan("videos", schema.column_names("videos"))
        self.video_rows: dict[str, dict[str, Any]] = {row["video_id"]: row for row in videos.to_pylist()}
        files = self.scan("files", schema.column_names("files")).to_pylist()
        self.file_rows = sorted(map(schema.file_of, files), key=lambda row: row.path)
        """Every path of the library, sorted by path."""
        self.sources = {row.content_id for row in self.file_rows}

    def _open(self, name: str, version: int) -> Any:
        with read_errors(self.layout.folder, name):
            dataset = self.layout.dataset(name, version)
            require_columns(self.layout.folder, name, dataset.schema.names)
        return dataset

    def scan(self, name: str, columns: list[str], where: str | None = None, **options: Any) -> Any:
        """Rows of the pinned version of `name`, in no particular order; none where there is no such table.

        `options`: others of Lance's scanner.
        """
        import pyarrow as pa

        if name not in self.tables:
            return pa.table({column: pa.nulls(0, pa.string()) for column in columns})
        options |= {"filter": self._shown_rows(name, where), "disable_scoring_autoprojection": True}
        with read_errors(self.layout.folder, name):
            return self.tables[name].scanner(columns=columns, **options).to_table()

    def count_rows(self, name: str, where: str) -> int:
        """How many rows `scan` finds."""
        with read_errors(self.layout.folder, name):
            return int(self.tables[name].count_rows(filter=self._shown_rows(name, where)))

    def _shown_rows(self, name: str, where: str | None) -> str | None:
        """The SQL condition, without the contents that are read elsewhere."""
        conditions = [f"({where})"] if where else []
        if self.elsewhere and name != "problems":
            conditions.append(f"{schema.owner_column(name)} NOT IN {quoted(sorted(self.elsewhere))}")
        return " AND ".join(conditions) or None

    def stream(self, name: str, where: str) -> Iterator[Any]:
        """The rows that `where` selects, as Arrow tables of about `PART_BYTES` each."""
        import pyarrow as pa

        if name not in self.tables:
            return
        held: list[Any] = []
        with read_errors(self.layout.folder, name):
            kind, size = ("vectors", 64) if schema.is_clip_vectors(name) else (name, 1024)
            shown = self._shown_rows(name, where)
            scanner = self.tables[name].scanner(
                schema.column_names(kind), shown, batch_size=size, batch_readahead=2
            )
            for batch in scanner.to_batches():
                held.append(batch)
                if sum(part.nbytes for part in held) >= PART_BYTES:
                    yield pa.Table.from_batches(held)
                    held = []
            if held:
                yield pa.Table.from_batches(held)

    def match(
        self, name: Texts, text: str, k: int, owners: Collection[str] | None, where: SearchFilter
    ) -> list[Hit]:
        """The k rows of a table that fit the words of `text` best, by BM25. `owners`: None is all of them."""
        conditions = [*self.owners_sql(name, owners), *kinds_sql(where)]
        if name not in self.tables or "false" in conditions:
            return []

        def passing(rows: Any) -> NDArray[np.bool_]:
            return within(where, Codes(rows["video_id"]), (rows["start"].to_numpy(), rows["end"].to_numpy()))

        key, shown = schema.vector_columns(name, 0).key, self._shown_rows(name, " AND ".join(conditions))
        with read_errors(self.layout.folder, name):
            return match(self.tables[name], key, text, k, shown, passing if is_timed(where) else None)

    def owners_sql(self, name: str, owners: Collection[str] | None) -> list[str]:
        """SQL conditions for the rows of a table that are of some owners, videos or sources; None is all."""
        present = self.sources if name == "passages" else self.video_rows.keys()
        return [] if owners is None else owner_sql(schema.owner_column(name), present, owners)

    def row_bytes(self) -> int:
        """Bytes of the files of rows, as its tables name them."""
        fragments = (each for table in self.tables.values() for each in table.get_fragments())
        return sum(file.file_size_bytes or 0 for each in fragments for file in each.metadata.files)

    def stats(self) -> Stats:
        """Counts of what readers see, and bytes on the disk as they are now."""
        passages = self.scan("passages", ["source_id", "doc_id"])
        problems = {problem.path for problem in self.problems()}
        stills = sum(is_still(0.0, video.duration) for video in self._videos)
        return Stats(
            files=len(self.file_rows),
            videos=len(self.video_rows) - stills,
            taken_out=len(self.taken_out()),
            video_hours=sum(video.duration for video in self._videos) / 3600,
            clips=sum(len(self.clips(video_id)) for video_id in self.video_rows),
            evidence=self.scan("evidence", ["kind"]).num_rows,
            passages=passages.num_rows,
            documents=passages.group_by(["source_id", "doc_id"]).aggregate([]).num_rows,
            problems=len(problems),
            bytes=self.layout.size(),
            photographs=stills,
        )

    # Names

    def contents(self) -> str:
        """A digest of what is indexed and by which image encoder, 16 hex digits. It changes when something is
        indexed or measured, again too, removed, or gets another title; not by maintenance, nor with the paths
        of a content."""
        encoder = self.meta.image_encoder.fingerprint if self.meta and self.meta.image_encoder else ""
        rows = sorted(self.video_rows.items())
        videos = ([v, row["indexed_at"], row["title"], self.stages(v)] for v, row in rows)
        held = json.dumps([encoder, *videos, sorted(self.sources - self.taken_out())], sort_keys=True)
        return hashlib.blake2b(held.encode(), digest_size=8).hexdigest()

    @cached_property
    def _files(self) -> dict[str, tuple[FileRow, ...]]:
        held: dict[str, list[FileRow]] = {}
        for row in self.file_rows:
            held.setdefault(row.content_id, []).append(row)
        return {content: tuple(rows) for content, rows in held.items()}

    def files(self) -> frozenset[str]:
        """The paths of all indexed files."""
        return frozenset(row.path for row in self.file_rows)

    def files_of(self, content_id: str) -> tuple[FileRow, ...]:
        """The indexed paths of a video or a passage source, sorted by path; none for an unknown id."""
        return self._files.get(content_id, ())

    def copies(self, paths: Iterable[str]) -> list[tuple[str, list[FileRow]]]:
        """Each of some indexed paths with the files of its content.

        Several libraries may have a path with several contents, of a file that was changed in between.
        """
        wanted = frozenset(paths)
        return [(row.path, [*self.files_of(row.content_id)]) for row in self.file_rows if row.path in wanted]

    @cached_property
    def _paths(self) -> dict[str, tuple[str, ...]]:
        held = {content: tuple(row.path for row in rows) for content, rows in self._files.items()}
        others = self.video_rows.keys() - held.keys()
        return held | {video_id: (os.fsdecode(self.video_rows[video_id]["path"]),) for video_id in others}

    def paths(self, content_id: str) -> tuple[str, ...]:
        """The paths that hold a video or a passage source, sorted. Raises KeyError for an unknown id."""
        return self._paths[content_id]

    def indexed_paths(self) -> list[str]:
        """The path of every file of videos and passages, sorted."""
        return sorted({path for paths in self._paths.values() for path in paths})

    def passage_files(self) -> list[str]:
        """The first path of every file that passages come from, sorted."""
        return sorted(rows[0].path for rows in self._files.values() if rows[0].kind == "passages")

    @cached_property
    def _videos(self) -> list[Video]:
        return sorted(map(self.video, self.video_rows), key=lambda video: (video.path, video.video_id))

    def videos(self) -> list[Video]:
        """The videos, sorted by path, which is the first of the paths that hold it."""
        return list(self._videos)

    def video(self, video_id: str) -> Video:
        """Return a video. Raises KeyError for an unknown one."""
        return replace(schema.video_of(self.video_rows[video_id]), path=self._paths[video_id][0])

    def stages(self, video_id: str) -> dict[str, Any]:
        """What each stage of indexing was made with, as `Writer.put_video` was given it; `off` where it was
        off. Raises KeyError for an unknown video."""
        return schema.stages_of(self.video_rows[video_id])

    def taken_out(self) -> frozenset[str]:
        """The ids of videos and documents that are to be indexed again, for a repair took out what they
        had."""
        return frozenset(self.sources - self.video_rows.keys() - document_paths(self.file_rows).keys())

    def sidecars(self, video_id: str) -> frozenset[str]:
        """The hash over the sidecars that a video was indexed with; none without any."""
        found = self.stages(video_id).get("sidecars", "") if video_id in self.video_rows else ""
        return frozenset({found} - {""})

    def noted_problems(self) -> dict[str, NotedProblem]:
        """What was wrong with files, by path."""
        rows = self.scan("problems", schema.column_names("problems")).to_pylist()
        return {noted.problem.path: noted for noted in map(schema.problem_of, reversed(rows))}

    def problems(self) -> list[Problem]:
        """Files that could not be used, or not wholly, sorted by path."""
        return [noted.problem for _, noted in sorted(self.noted_problems().items())]

    # Clips

    @cached_property
    def _cutting(self) -> tuple[float, float]:
        """Seconds of a clip, and of the last one at least."""
        chosen = VideoSettings()
        held = self.meta.settings if self.meta is not None else {}
        names = ("clip_seconds", "min_last_clip_seconds")
        length, least = (held.get(f"video.{name}", getattr(chosen, name)) for name in names)
        return float(length), float(least)

    def clips(self, video_id: str) -> list[Clip]:
        """Clips of a video, [start, end) seconds each, in time order; empty for an unknown video."""
        row = self.video_rows.get(video_id)
        return [] if row is None else [*clips_of_video(video_id, row["duration"], *self._cutting)]

    def clips_by_id(self, ids: Iterable[str]) -> dict[str, Clip]:
        """The clips of some ids, by id; those of unknown videos are left out."""
        wanted = set(ids)
        videos = {clip_id.rpartition(":")[0] for clip_id in wanted}
        return {c.clip_id: c for video in videos for c in self.clips(video) if c.clip_id in wanted}

    def _clip_times(self, rows: Any) -> RowSpans:
        """Start and end of the clips of rows of an Arrow table."""
        ids = rows["clip_id"].to_pylist()
        held = self.clips_by_id(ids)
        start, end = zip(*((held[key].start, held[key].end) for key in ids), strict=True) if ids else ((), ())
        return np.array(start, np.float64), np.array(end, np.float64)

    # Measurements

    @cached_property
    def _shots(self) -> dict[str, tuple[Shot, ...]]:
        found: dict[str, list[Shot]] = {}
        columns = schema.column_names("shots")
        for row in self.scan("shots", columns).sort_by("shot_id").to_pylist():
            found.setdefault(row["video_id"], []).append(Shot(**row))
        return {video_id: tuple(shots) for video_id, shots in found.items()}

    def shots(self, video_id: str) -> tuple[Shot, ...]:
        """Shots of a video, in time order; none where it was not measured."""
        return self._shots.get(video_id, ())

    def shots_by_video(self) -> Mapping[str, tuple[Shot, ...]]:
        """The shots of all videos that were measured."""
        return self._shots

    @cached_property
    def _sounds(self) -> tuple[Any, Codes]:
        """The table of sound tracks, 18 KB for an hour, and the video of each row."""
        table = self.scan("sound_tracks", schema.column_names("sound_tracks")).combine_chunks()
        return table, Codes(table["video_id"])

    def sound_track(self, video_id: str) -> SoundTrack | None:
        """Sound of a video; None where it is unknown, has none or was not measured."""
        table, videos = self._sounds
        rows = table.take(videos.rows_of(video_id)).to_pylist()
        return schema.sound_track_of(rows[0]) if rows else None

    # Vectors, loaded when first asked for

    def vectors(self, kind: Vectors) -> list[Rows]:
        """The vectors, float16 (n, dim), of clips, of text spans or of passages; none where none can be
        stored.

        Tables are loaded side by side, each once.
        """
        meta, encoder = self.meta, self.meta.image_encoder if self.meta else None
        if meta is None or (encoder is None and kind == "clips"):
            return []
        name, dim = str(kind), meta.text_encoder.dim
        if encoder is not None and kind == "clips":
            name, dim = schema.vectors_table(encoder), encoder.dim
        with self._loading.setdefault(name, threading.Lock()):
            if name not in self._loaded:
                self._loaded[name] = self.vector_parts(schema.vector_columns(name, dim))
            return self._loaded[name]

    def vector_parts(self, table: schema.VectorColumns) -> list[Rows]:
        """The rows of a table: in memory, or those of a large one where they are."""
        if table.name not in self.tables:
            return []
        times = self._clip_times if schema.is_clip_vectors(table.name) else None
        if self._exact_rows is not None and self.tables[table.name].count_rows() > self._exact_rows:
            return [Indexed(self, table, times)]
        return [Matrix(self.scan(table.name, [*table.columns, "vector"]), table, times)]

    def _nearest(
        self,
        kind: Vectors,
        query: NDArray[np.floating[Any]],
        k: int,
        owners: Collection[str] | None,
        where: SearchFilter,
    ) -> list[Hit]:
        parts = self.vectors(kind)
        for part in parts:
            if query.shape != (part.table.dim,):
                raise ValueError(f"the query must be ({part.table.dim},), not {query.shape}")
        hits = (part.nearest(query, k, owners, where) for part in parts)
        return best_hits(chain.from_iterable(hits))[: max(k, 0)]

    # Filters

    def wanted_videos(self, where: SearchFilter) -> set[str] | None:
        """Videos that `where` lets through; None where it does not choose."""
        if where.videos is None and not where.paths and where.spans is None:
            return None
        wanted = set(self.video_rows) if where.videos is None else where.videos & self.video_rows.keys()
        if where.spans is not None:
            wanted &= where.spans.keys()
        return {v for v in wanted if not where.paths or path_matches(self._paths[v], where.paths)}

    def wanted_sources(self, where: SearchFilter) -> set[str] | None:
        """Sources whose paths a filter accepts; None where it accepts all."""
        if not where.paths:
            return None
        return {s for s in self.sources if path_matches(self._paths[s], where.paths)}

    # Texts

    @cached_property
    def _evidence_kinds(self) -> dict[str, frozenset[str]]:
        table = self.scan("evidence", ["video_id", "kind"]).group_by(["video_id", "kind"]).aggregate([])
        held: dict[str, set[str]] = {}
        for row in table.to_pylist():
            held.setdefault(row["video_id"], set()).add(row["kind"])
        shown = {video_id: frozenset(kinds - self._hidden_kinds) for video_id, kinds in held.items()}
        return {video_id: kinds for video_id, kinds in shown.items() if kinds}

    def evidence_kinds(self) -> Mapping[str, frozenset[str]]:
        """The kinds of evidence that each video has any of."""
        return self._evidence_kinds

    def evidence(self, video_id: str, start: float, end: float) -> list[Evidence]:
        """Spans of a video that overlap [start, end) seconds, in time order; none if unknown."""
        return self.evidence_of([(video_id, start, end)])[0]

    def evidence_beside(self, video_id: str, start: float, end: float) -> list[Evidence]:
        """Return `evidence`, with the span of each kind just before and just after."""
        whole = self.evidence(video_id, 0.0, self.video(video_id).duration)
        before = {one.kind: one for one in whole if one.end <= start}
        after = {one.kind: one for one in reversed(whole) if one.start >= end}
        inside = [one for one in whole if one.end > start and one.start < end]
        return [*before.values(), *inside, *after.values()]

    def evidence_of(self, windows: Sequence[VideoInterval]) -> list[list[Evidence]]:
        """Return `evidence` of each of several windows."""
        held: dict[str, list[Evidence]] = {}
        for row in self._rows_inside(windows, EVIDENCE_COLUMNS).sort_by("evidence_id").to_pylist():
            held.setdefault(row["video_id"], []).append(schema.evidence_of(row))
        return [
            [span for span in held.get(video_id, ()) if span.start < end and span.end > start]
            for video_id, start, end in windows
        ]

    def _rows_inside(self, windows: Sequence[VideoInterval], columns: list[str]) -> Any:
        """The rows of `evidence`, of shown kinds, that overlap one of the windows."""
        where = self._shown(SearchFilter(videos=frozenset(video_id for video_id, _, _ in windows)))
        conditions = [f"video_id IN {quoted(sorted(where.videos or ()))}", *kinds_sql(where)]
        rows = self.scan("evidence", columns, " AND ".join(conditions) if windows else "false")
        if not rows.num_rows:
            return rows
        owners, start, end = Codes(rows["video_id"]), rows["start"].to_numpy(), rows["end"].to_numpy()
        keep = np.zeros(rows.num_rows, np.bool_)
        for video_id, since, until in windows:
            own = owners.rows_of(video_id)
            keep[own] |= (start[own] < until) & (end[own] > since)
        return rows.filter(keep)

    def span_vectors(self, windows: Sequence[VideoInterval]) -> dict[str, NDArray[np.float32]]:
        """Unit float32 (dim,) that the spans of `evidence_of` were indexed with, by their text."""
        rows = self._rows_inside(windows, [*EVIDENCE_COLUMNS, "vector"])
        if self.meta is None or not rows.num_rows:
            return {}
        vectors = schema.column_matrix(rows["vector"], self.meta.text_encoder.dim).astype(np.float32)
        # Those of another length are damaged, or of no words.
        unit = np.abs((vectors * vectors).sum(axis=1) - 1) < 0.01
        texts = rows[schema.FULL_TEXT].to_pylist()
        return {texts[at]: vectors[at] for at in np.flatnonzero(unit)}

    def _rows_of(self, name: Texts, key: str, columns: list[str], ids: Sequence[str]) -> list[dict[str, Any]]:
        """The rows with these ids. Raises `LibraryCorrupt` where only the index of ids lacks some."""
        where = "{} IN {}".format
        asked = where(key, quoted(sorted(set(ids)))) if ids else "false"
        rows: list[dict[str, Any]] = self.scan(name, columns, asked).to_pylist()
        left = sorted(set(ids).difference(row[key] for row in rows))
        if left and self.scan(name, [key], where(key, quoted(left)), use_scalar_index=False).num_rows:
            raise corrupt(self.layout.folder, name, "a file of an index is damaged")
        return rows

    def spans(self, ids: Sequence[str]) -> list[Evidence]:
        """Evidence in the order of `ids`, as a search gave them. Raises KeyError for an unknown one."""
        rows = self._rows_of("evidence", "evidence_id", EVIDENCE_COLUMNS, ids)
        found = {row["evidence_id"]: schema.evidence_of(row) for row in rows}
        return [found[key] for key in ids]

    def passages_with_paths(self, ids: Sequence[str]) -> list[tuple[Passage, str]]:
        """Passages in the order of `ids`, each with the first path that holds it. Raises KeyError for an
        unknown one."""
        if not ids:
            return []
        columns = ["passage_id", "source_id", *schema.PASSAGE_TEXTS]
        rows = self._rows_of("passages", "passage_id", columns, ids)
        shown = [(self._paths[row["source_id"]], row) for row in rows if row["source_id"] in self.sources]
        # Of one that several sources hold, that of the first path.
        shown.sort(key=itemgetter(0), reverse=True)
        found = {row["passage_id"]: (schema.passage_of(row), paths[0]) for paths, row in shown}
        return [found[key] for key in ids]

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Passages of `passages_with_paths`."""
        return [passage for passage, _ in self.passages_with_paths(ids)]

    def passage_paths(self, ids: Sequence[str]) -> list[str]:
        """Paths of `passages_with_paths`."""
        return [path for _, path in self.passages_with_paths(ids)]

    def passages_of(self, source_id: str) -> list[Passage]:
        """The passages of one source, in the order of its text; none for an unknown id."""
        columns, where = ["passage_id", *schema.PASSAGE_TEXTS], f"source_id IN {quoted([source_id])}"
        rows = self.scan("passages", columns, where, with_row_id=True).sort_by("_rowid").to_pylist()
        return list(map(schema.passage_of, rows))

    # Search: cosine over unit vectors, best first; ValueError for a vector of another shape

    def search_clips(
        self, vector: NDArray[np.floating[Any]], k: int, where: SearchFilter = EVERYTHING
    ) -> list[Hit]:
        """The k clips nearest to `vector`, unit float (dim,) of the image encoder; keys are clip ids."""
        return self._nearest("clips", vector, k, self.wanted_videos(where), where)

    def count_clips(self, where: SearchFilter = EVERYTHING) -> int:
        """Clips with an image vector that `where` lets through."""
        wanted = self.wanted_videos(where)
        return sum(part.count(wanted, where) for part in self.vectors("clips"))

    def clip_vectors(self) -> tuple[Sequence[str], NDArray[np.float16]]:
        """Ids of the clips with a vector, and these vectors, float16 (n, dim)."""
        held = [part.everything() for part in self.vectors("clips")]
        if not held:
            return (), np.empty((0, 0), np.float16)
        return [key for keys, _ in held for key in keys], np.concatenate([vectors for _, vectors in held])

    def search_evidence(
        self, vector: NDArray[np.floating[Any]], k: int, where: SearchFilter = EVERYTHING
    ) -> list[Hit]:
        """The k spans nearest to `vector`, unit float (dim,) of the text encoder; keys are evidence ids."""
        return self._nearest("evidence", vector, k, self.wanted_videos(where), self._shown(where))

    def search_passages(
        self, vector: NDArray[np.floating[Any]], k: int, where: SearchFilter = EVERYTHING
    ) -> list[Hit]:
        """The k passages nearest to `vector`, unit float (dim,) of the text encoder; keys are passage ids."""
        return self._nearest("passages", vector, k, self.wanted_sources(where), EVERYTHING)

    # Search: full text, BM25. Nothing in a text is syntax

    def match_evidence(self, text: str, k: int, where: SearchFilter = EVERYTHING) -> list[Hit]:
        """The k spans that fit the words of `text` best, any of them."""
        return self.match("evidence", text, k, self.wanted_videos(where), self._shown(where))

    def match_passages(self, text: str, k: int, where: SearchFilter = EVERYTHING) -> list[Hit]:
        """The k passages that fit the words of `text` best, titles included."""
        return self.match("passages", text, k, self.wanted_sources(where), EVERYTHING)

    def _shown(self, where: SearchFilter) -> SearchFilter:
        if not self._hidden_kinds:
            return where
        kinds = where.kinds if where.kinds is not None else frozenset(get_args(EvidenceKind))
        return replace(where, kinds=kinds - self._hidden_kinds)
