"""Index files of large tables: 2-bit codes of the vectors, and the columns that filters need.

They are derived from the tables, kept beside them, and made again by maintenance when they are gone. A table
is cut into segments of `SEGMENT_ROWS`, each a file of codes, one of columns and one of vectors;
`<table>.json` names the files and is replaced by a rename, last. Names are never given twice.

A row's code depends on the row alone (`rag.store.vector_codes`), and no cell is left out. Partitions would
leave out too much: texts are asked and images are stored, and spans of text fill their space too evenly.
Hundreds of rows must be ranked again, of clips thousands, so vectors are kept in a file of their own, in the
order of the codes. The columns of spans have their texts, for a question reads those of 160 spans, and a
table decodes some thousand for them.

Full segments are never written again while most of their rows are there; what comes after them is one last
segment, made afresh. A file that is missing or has another size is noticed when it is opened.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter

from corpora.platforms import LOOK, read_at
from rag.errors import LibraryCorrupt
from rag.store.error_mapping import REMAKE
from rag.store.filters import RowSpans
from rag.store.schema import FULL_TEXT_TABLES, VectorColumns, column_matrix
from rag.store.vector_codes import VectorCodes
from rag.store.vector_index import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.store.snapshot import Snapshot

FORMAT = 8
SEGMENT_ROWS = 1_000_000
READING_THREADS = 8
"""A disk that gives one reader 300 MB/s gives eight of them 900."""
PROPOSED = 2000
PROPOSED_TEXTS = 750
"""Rows of a table that are ranked again by their vectors for a question, at least: more where texts ask for
images, for the best are then hardly nearer than others (docs/reports/scale.md, "Recall")."""

REMEDY = f"remove it, and {REMAKE}"

log = logging.getLogger(__name__)


class IndexDamaged(LibraryCorrupt):
    """Files of an index are missing or not as they were written; the message names one."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file of a segment."""

    name: str
    bytes: int

    def __post_init__(self) -> None:
        if Path(self.name).name != self.name or "\0" in self.name:
            raise ValueError("no name of a file beside it")

    def check(self, folder: Path) -> None:
        """Raise `IndexDamaged` where it is missing or has another size."""
        path = folder / self.name
        try:
            if (size := path.stat().st_size) != self.bytes:
                raise IndexDamaged(f"{path}: has {size} bytes, not {self.bytes}")
        except FileNotFoundError as error:
            raise IndexDamaged(f"{path}: is missing") from error
        except OSError as error:
            raise IndexDamaged(f"{path}: cannot be read") from error


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """A segment's rows and files."""

    rows: int
    last_row_id: int
    """The greatest of its row ids."""
    codes: IndexFile
    columns: IndexFile
    vectors: IndexFile

    @property
    def files(self) -> list[IndexFile]:
        """All of them."""
        return [self.codes, self.columns, self.vectors]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The index of one table."""

    segments: tuple[SegmentFiles, ...]

    @property
    def last_row_id(self) -> int:
        """Rows with a greater id came later; -1 without any segment."""
        return max((segment.last_row_id for segment in self.segments), default=-1)

    @property
    def full(self) -> list[SegmentFiles]:
        """The segments to which no row can be added."""
        return [segment for segment in self.segments if segment.rows == SEGMENT_ROWS]

    @property
    def rows(self) -> int:
        """Rows of all segments."""
        return sum(segment.rows for segment in self.segments)


def manifest_path(folder: Path, table: str) -> Path:
    """The file that names those of a table's index."""
    return folder / f"{table}.json"


def read_manifest(folder: Path, table: str) -> Manifest | None:
    """None where the table has no index.

    Raises `IndexDamaged` for one in another format, and where a file is missing or has another size.
    """
    path = manifest_path(folder, table)
    try:
        held = json.loads(path.read_bytes())
        if held["format"] != FORMAT:
            raise IndexDamaged(f"{path}: is in the format of another version")
        manifest = TypeAdapter(Manifest).validate_python(held)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise IndexDamaged(f"{path}: cannot be read") from error
    for file in (file for part in manifest.segments for file in part.files):
        file.check(folder)
    return manifest


def indexed_tables(folder: Path) -> list[str]:
    """Names of the tables that have index files in a folder, which may not be there."""
    return [path.stem for path in sorted(folder.glob("[!.]*.json"))]


def index_faults_of(folder: Path) -> dict[str, str]:
    """Why the index files of each table in a folder cannot be used; empty where they can."""
    found = {}
    for table in indexed_tables(folder):
        try:
            read_manifest(folder, table)
            found[table] = ""
        except IndexDamaged as error:
            found[table] = str(error)
    return found


class Segment(Rows):
    """The rows of one segment, in the order of the table.

    Columns are mapped from their file and touched when they are used; vectors are read, for a mapped file
    keeps what was ever touched, and around it, in memory.
    """

    margin = 1e-4
    """More than twice the error of a cosine in single precision."""
    most = 6 * PROPOSED

    def __init__(
        self,
        folder: Path,
        part: SegmentFiles,
        table: VectorColumns,
        spans: Callable[[Any], RowSpans] | None,
        proposed: int,
    ) -> None:
        """`spans`: as of `Rows`. `proposed`: rows that are ranked by their vectors for a question, at least.

        Raises `IndexDamaged` for files that cannot be those of a segment.
        """
        import pyarrow as pa

        path, self._path, self._proposed = folder / part.codes.name, folder / part.vectors.name, proposed
        try:
            # Codes are read whole, for every question scans them.
            self.codes = VectorCodes.read(path)
            columns = pa.memory_map(os.fspath(folder / part.columns.name))
            super().__init__(pa.ipc.open_file(columns).read_all(), table, spans)
            self._vectors = os.open(self._path, LOOK)
        except (OSError, RuntimeError, MemoryError, ValueError, AttributeError, KeyError) as error:
            raise IndexDamaged(f"{path}: cannot be read") from error
        weakref.finalize(self, os.close, self._vectors)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._vectors, 0, 0, os.POSIX_FADV_RANDOM)
        if {len(self.codes), len(self)} != {part.rows}:
            raise IndexDamaged(
                f"{path}: has {len(self.codes)} rows where {part.columns.name} has {len(self)}"
            )

    def show(self, owners: Collection[str], live: NDArray[np.uint64] | None) -> None:
        """Hide rows of other `owners`, and those that are not among `live`, rising ids of rows, uint64 (m,);
        None where the table has all of the segment's."""
        masks = []
        if not all(map(owners.__contains__, self.owners.names)):
            masks.append(self.owners.among(owners))
        if live is not None:
            masks.append(np.isin(self.row_ids, live))
        self.visible = np.logical_and.reduce(masks) if masks else None

    def first_count(self, k: int) -> int:
        """As many rows as are ranked by their vectors."""
        return max(self._proposed, 4 * k)

    def candidates(
        self, query: NDArray[np.float32], count: int, keep: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Positions, int64 (m,), by the codes. `query`: float32 (dim,)."""
        return self.codes.nearest(query, count, keep)

    def vectors(self, positions: NDArray[np.int64]) -> NDArray[np.float16]:
        """float16 (m, dim) of rows, int64 (m,). Raises `IndexDamaged` where one of them cannot be read."""
        found = np.empty((len(positions), self.codes.dim), "<f2")
        size, held = 2 * self.codes.dim, found.view(np.uint8).reshape(-1).data
        starts = (positions * size).tolist()
        if hasattr(os, "posix_fadvise"):
            # All at once: from a disk, each would be waited for.
            for start in starts:
                os.posix_fadvise(self._vectors, start, size, os.POSIX_FADV_WILLNEED)
        try:
            read = [
                read_at(self._vectors, held[at * size : at * size + size], start)
                for at, start in enumerate(starts)
            ]
        except OSError as error:
            raise IndexDamaged(f"{self._path}: cannot be read; {REMEDY}") from error
        if any(count != size for count in read):
            raise IndexDamaged(f"{self._path}: is too short; {REMEDY}")
        return found


def open_index(
    s: Snapshot, table: VectorColumns, spans: Callable[[Any], RowSpans] | None, shown: Collection[str]
) -> tuple[list[Segment], str | None]:
    """The segments of a table as a snapshot shows them, and an SQL condition for the rows that they lack.

    `spans`: as of `Rows`. `shown`: owners whose rows are there. All rows are lacking without an index or with
    a damaged one, with a warning: the condition is None.
    """
    name, folder = table.name, s.layout.indexes
    if folder is None:
        log.warning(
            "%s: table %s is searched exactly, slowly and in memory: a store keeps no index; ask a copy: "
            "rag library pull",
            s.layout.folder,
            name,
        )
        return [], None
    reason, made_by = "it has no index yet", "rag index that adds or removes files"
    for _ in range(2):
        # A writer may replace the files between the reading of their names and their opening.
        try:
            manifest = read_manifest(folder, name)
            if manifest is None:
                break
            segments = _open_segments(folder, manifest, table, spans)
        except IndexDamaged as error:
            reason, made_by = str(error), "rag index"
            continue
        live, later = _rows_beside(s, name, manifest, segments)
        for segment in segments:
            segment.show(shown, live)
        return segments, later
    log.warning(
        "%s: table %s is searched exactly, slowly and in memory: %s; its index is made by the next %s",
        s.layout.folder,
        name,
        reason,
        made_by,
    )
    return [], None


def _open_segments(
    folder: Path, manifest: Manifest, table: VectorColumns, spans: Callable[[Any], RowSpans] | None
) -> list[Segment]:
    """Raises `IndexDamaged`."""
    proposed = PROPOSED_TEXTS if table.name in FULL_TEXT_TABLES else PROPOSED

    def opened(part: SegmentFiles) -> Segment:
        # Twice its share, for the best may be in one segment.
        share = 2 * proposed * part.rows // manifest.rows
        return Segment(folder, part, table, spans, min(proposed, share))

    with ThreadPoolExecutor(READING_THREADS) as pool:
        return list(pool.map(opened, manifest.segments))


def _rows_beside(
    s: Snapshot, name: str, manifest: Manifest, segments: Sequence[Segment]
) -> tuple[NDArray[np.uint64] | None, str]:
    """Rising ids of the rows that the table has, None where it has all that segments have; and an SQL
    condition that selects those that no segment has."""
    last = manifest.last_row_id
    later = f"_rowid > {last}"
    held = s.scan(name, [], f"_rowid >= {last}", row_ids=True)["_rowid"].to_numpy()
    newer = int(np.count_nonzero(held > last))
    if len(held) > newer and s.tables[name].count_rows() - newer == manifest.rows:
        return None, later
    live = np.sort(s.scan(name, [], row_ids=True)["_rowid"].to_numpy())
    # An index of a later version lacks what was removed since this one.
    known = np.concatenate([segment.row_ids for segment in segments])
    lacking = np.setdiff1d(live[live <= last], known)
    if len(lacking):
        later += f" OR _rowid IN ({','.join(map(str, lacking.tolist()))})"
    return live, later


# Writing


class SegmentWriter:
    """The files of one segment as its rows come."""

    def __init__(self, folder: Path, table: VectorColumns, number: int) -> None:
        self._stem = f"{table.name}.{number:03d}.{secrets.token_hex(8)}"
        self._folder = folder
        self._table = table
        self._columns: list[Any] = []
        self._codes = VectorCodes.empty(table.dim)

    def add(self, rows: Any) -> None:
        """Append an Arrow table of rows with their vectors. Raises OSError."""
        vectors = np.ascontiguousarray(column_matrix(rows["vector"], self._table.dim), "<f2")
        # Read from the table, the rows that are ranked again take longer than all else of a question.
        with self._path("vectors").open("ab") as file:
            file.write(vectors.tobytes())
        self._codes.add(vectors.astype(np.float32))
        self._columns.append(rows.drop_columns(["vector"]))

    def write(self) -> SegmentFiles:
        """Write all else. Raises OSError."""
        import pyarrow as pa

        rows = pa.concat_tables(self._columns).combine_chunks()
        for at, name in enumerate(rows.column_names):
            if pa.types.is_string(rows[name].type) and name != self._table.key:
                rows = rows.set_column(at, name, rows[name].combine_chunks().dictionary_encode())
        codes, columns = self._path("codes"), self._path("arrow")
        self._codes.write(codes)
        with pa.OSFile(os.fspath(columns), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as file:
            file.write_table(rows)
        files = (
            IndexFile(path.name, path.stat().st_size) for path in (codes, columns, self._path("vectors"))
        )
        return SegmentFiles(rows.num_rows, int(np.max(rows["_rowid"].to_numpy())), *files)

    def _path(self, kind: str) -> Path:
        return self._folder / f"{self._stem}.{kind}"


def write_manifest(folder: Path, table: str, manifest: Manifest) -> None:
    """From here on readers take these files. Raises OSError."""
    path = manifest_path(folder, table)
    temporary = path.with_suffix(".json.tmp")
    temporary.write_text(json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1), encoding="ascii")
    temporary.replace(path)


def remove_unnamed(folder: Path) -> None:
    """Remove the files of `indexes` that no manifest names: replaced ones, and those of a killed writer.

    A reader has read or mapped its files, or finds one missing and reads the manifest again.
    """
    named: set[str] = set()
    for table in indexed_tables(folder):
        with contextlib.suppress(IndexDamaged):
            if manifest := read_manifest(folder, table):
                named.add(manifest_path(folder, table).name)
                named |= {file.name for part in manifest.segments for file in part.files}
    for path in folder.glob("*"):
        if path.name not in named:
            path.unlink(missing_ok=True)


def index_rows(
    folder: Path, table: VectorColumns, batches: Iterator[Any], kept: Sequence[SegmentFiles]
) -> None:
    """Write the index of a table over Arrow tables of its rows, with their ids.

    `kept`: full segments with the rows before these. Raises OSError.
    """
    folder.mkdir(exist_ok=True)
    done, room = list(kept), SEGMENT_ROWS
    writer = SegmentWriter(folder, table, len(done))
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            rows = batch.slice(start, room)
            writer.add(rows)
            start, room = start + rows.num_rows, room - rows.num_rows
            if room == 0:
                done.append(writer.write())
                writer, room = SegmentWriter(folder, table, len(done)), SEGMENT_ROWS
    if room < SEGMENT_ROWS:
        done.append(writer.write())
    write_manifest(folder, table.name, Manifest(tuple(done)))
