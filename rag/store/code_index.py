"""Index files of large tables: 2-bit codes of the vectors, and the columns that filters need.

They are derived from the tables, kept beside them, and made again by maintenance when they are gone. A table
is cut into segments of `SEGMENT_ROWS`, each a file of codes, one of columns and one of vectors;
`<table>.json` names the files and is replaced by a rename, last. A file's name holds the hash of its content.

A row's code depends on the row alone (`rag.store.vector_codes`), so that equal rows give equal files, and
no cell is left out. Partitions would leave out too much: texts are asked and images are stored, and spans of
text fill their space too evenly. Hundreds of rows must be ranked again, of clips thousands, so vectors are
kept in a file of their own, in the order of the codes. The columns of spans have their
texts, for a question reads those of 160 spans, and a table decodes some thousand for them.

A file that is missing or has another size is noticed when it is opened; `verify` compares the hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.platforms import LOOK, read_at
from rag.store.schema import FULL_TEXT, column_matrix
from rag.store.vector_codes import ROTATED_ROWS, VectorCodes
from rag.store.vector_index import Codes, places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 7
SEGMENT_ROWS = 1_000_000
READING_THREADS = 8
"""A disk that gives one reader 300 MB/s gives eight of them 900."""


class IndexDamaged(Exception):
    """Files of an index are missing or not as they were written; the message names one."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file of a segment."""

    name: str
    bytes: int

    @property
    def digest(self) -> str:
        """The hash of its content, which its name holds."""
        return self.name.split(".")[-2]


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """A segment's rows and files."""

    rows: int
    codes: IndexFile
    columns: IndexFile
    vectors: IndexFile
    rising: bool = False
    """Whether the row ids are in their order."""

    @property
    def files(self) -> list[IndexFile]:
        """All of them."""
        return [self.codes, self.columns, self.vectors]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The index of one table."""

    dim: int
    last_row_id: int
    """Rows with a greater id came later."""
    segments: tuple[SegmentFiles, ...]

    @property
    def rows(self) -> int:
        """Rows of all segments."""
        return sum(segment.rows for segment in self.segments)


def manifest_path(folder: Path, table: str) -> Path:
    """The file that names those of a table's index."""
    return folder / f"{table}.json"


def read_manifest(folder: Path, table: str) -> Manifest | None:
    """None where the table has no index. Raises `IndexDamaged`, also for one in another format."""
    path = manifest_path(folder, table)
    try:
        held = json.loads(path.read_bytes())
        if held["format"] != FORMAT:
            raise IndexDamaged(f"{path}: is in the format of another version")
        segments = tuple(
            SegmentFiles(
                each["rows"],
                _file(each["codes"]),
                _file(each["columns"]),
                _file(each["vectors"]),
                each["rising"],
            )
            for each in held["segments"]
        )
        return Manifest(held["dim"], held["last_row_id"], segments)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise IndexDamaged(f"{path}: cannot be read") from error


def _file(held: dict[str, Any]) -> IndexFile:
    file = IndexFile(**held)
    if Path(file.name).name != file.name or "\0" in file.name:
        raise ValueError("no name of a file beside it")
    return file


@dataclass(frozen=True, slots=True)
class ClipTimes:
    """Some clips: `keys` are their ids in UTF-8; start and end of each in seconds."""

    keys: list[memoryview]
    starts: list[float]
    ends: list[float]

    def between(self, first: int, last: int) -> ClipTimes:
        """Those at positions [first, last), in order of time."""
        order = sorted(range(first, last), key=self.starts.__getitem__)
        starts, ends = ([own[at] for at in order] for own in (self.starts, self.ends))
        return ClipTimes([self.keys[at] for at in order], starts, ends)


class Segment:
    """The rows of one segment, in the order of the table.

    `row_ids`: uint64 (n,); `keys`: Arrow strings; `owners`: the video or the source of each row; `spans` and
    `kinds`, where the table has them: as of a `Matrix`. Columns are mapped from their file and touched when
    they are used; vectors are read, for a mapped file keeps what was ever touched, and around it, in memory.
    """

    def __init__(self, codes: VectorCodes, columns: Any, vectors: int, *, rising: bool) -> None:
        """`vectors`: descriptor of their file, which is closed with the segment."""
        weakref.finalize(self, os.close, vectors)
        self._vectors = vectors
        self._rising = rising
        self._columns = columns
        self.codes = codes
        self.row_ids: NDArray[np.uint64] = _mapped(columns["row_id"]).to_numpy()
        self.keys: Any = _mapped(columns["key"])

    def __len__(self) -> int:
        return len(self.row_ids)

    @cached_property
    def owners(self) -> Codes:
        """The video or the source of each row."""
        return Codes(self._columns["owner"])

    @cached_property
    def kinds(self) -> Codes | None:
        """The kind of evidence of each row; None where the table has none."""
        return Codes(self._columns["kind"]) if "kind" in self._columns.column_names else None

    @cached_property
    def spans(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Start and end of each row, float64 (n,) seconds each; None where the table has no times."""
        if "start" not in self._columns.column_names:
            return None
        return self._columns["start"].to_numpy(), self._columns["end"].to_numpy()

    def positions(self, row_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of rows, int64 (m,); -1 for one that is not here."""
        return places_of(self.row_ids, self._by_row_id, row_ids)

    @cached_property
    def _by_row_id(self) -> NDArray[np.int64] | None:
        """Positions in the order of row ids; None where the rows are in it."""
        return None if self._rising else np.argsort(self.row_ids)

    def vectors(self, positions: NDArray[np.int64]) -> NDArray[np.float16]:
        """float16 (m, dim) of rows, int64 (m,).

        Raises `IndexDamaged` where one of them cannot be read.
        """
        try:
            return _read_vectors(self._vectors, self.codes.dim, positions)
        except OSError as error:
            raise IndexDamaged("a vector cannot be read") from error
        except ValueError as error:
            raise IndexDamaged("the file of vectors is too short") from error

    def rows(self, positions: NDArray[np.int64]) -> list[dict[str, Any]] | None:
        """Spans with `key`, `start`, `end`, `kind` and text at positions, int64 (m,); None without texts.

        Raises `IndexDamaged` where one of them cannot be one.
        """
        kinds, spans = self.kinds, self.spans
        if FULL_TEXT not in self._columns.column_names or kinds is None or spans is None:
            return None
        try:
            keys = _strings_at(self.keys, positions)
            texts = _strings_at(self._texts, positions)
            own = [kinds.names[code] for code in kinds.codes[positions].tolist()]
        except (IndexError, ValueError) as error:
            raise IndexDamaged("a text cannot be read") from error
        starts, ends = (each[positions].tolist() for each in spans)
        names = ("key", "start", "end", "kind", FULL_TEXT)
        return [
            dict(zip(names, row, strict=True)) for row in zip(keys, starts, ends, own, texts, strict=True)
        ]

    def clips(self, positions: NDArray[np.int64]) -> ClipTimes | None:
        """Clips at positions, int64 (m,); None without times of clips.

        Raises `IndexDamaged` where one of them cannot be one.
        """
        if self.spans is None or self.kinds is not None:
            return None
        try:
            keys = _bytes_at(self.keys, positions)
        except (IndexError, ValueError) as error:
            raise IndexDamaged("a clip cannot be read") from error
        starts, ends = (each[positions] for each in self.spans)
        return ClipTimes(keys, starts.tolist(), ends.tolist())

    @cached_property
    def _texts(self) -> Any:
        return _mapped(self._columns[FULL_TEXT])


def _mapped(column: Any) -> Any:
    """The one array of a column as it is in the file; `combine_chunks` may copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _strings_at(column: Any, positions: NDArray[np.int64]) -> list[str]:
    """Strings of a mapped Arrow array at positions, int64 (m,). ValueError where they cannot be strings."""
    return [str(held, "utf-8") for held in _bytes_at(column, positions)]


def _bytes_at(column: Any, positions: NDArray[np.int64]) -> list[memoryview]:
    """As `_strings_at`, of positions int64 (m,), without making strings of them.

    Arrow itself believes the offsets that it finds.
    """
    import pyarrow as pa

    _, offsets, held = column.buffers()
    found: Any = np.frombuffer(offsets, np.int64 if pa.types.is_large_string(column.type) else np.int32)
    found = found[column.offset :]
    data = memoryview(held) if held is not None else memoryview(b"")
    starts, ends = found[positions], found[positions + 1]
    if ((starts < 0) | (starts > ends) | (ends > len(data))).any():
        raise ValueError("an offset is outside its column")
    return [data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def _read_vectors(file: int, dim: int, positions: NDArray[np.int64]) -> NDArray[np.float16]:
    """float16 (m, dim) at positions, int64 (m,), of an open file.

    Those in the page cache first: the others are asked for at once, for from a disk each would be waited for.
    Raises OSError where it cannot be read, and ValueError where it ends before a vector.
    """
    found = np.empty((len(positions), dim), "<f2")
    size, held = 2 * dim, found.view(np.uint8).reshape(-1).data
    parts = [
        (held[at * size : at * size + size], start) for at, start in enumerate((positions * size).tolist())
    ]
    if hasattr(os, "RWF_NOWAIT"):
        parts = [(part, start) for part, start in parts if not _read_cached(file, part, start)]
        for _, start in parts:
            os.posix_fadvise(file, start, size, os.POSIX_FADV_WILLNEED)
    if not all(read_at(file, part, start) == size for part, start in parts):
        raise ValueError("the file ends before a vector")
    return found


def _read_cached(file: int, part: memoryview, start: int) -> bool:
    """Whether `part` could be filled without waiting for the disk."""
    try:
        return os.preadv(file, [part], start, os.RWF_NOWAIT) == len(part)
    except OSError:
        return False


def _read(folder: Path, part: SegmentFiles) -> tuple[VectorCodes, Any]:
    """The codes of a segment, and its columns, which are mapped. Raises `IndexDamaged`."""
    import pyarrow as pa

    path = folder / part.codes.name
    try:
        columns = pa.ipc.open_file(pa.memory_map(os.fspath(folder / part.columns.name))).read_all()
        return VectorCodes.read(path), columns
    except (OSError, RuntimeError, MemoryError, ValueError, AttributeError) as error:
        raise IndexDamaged(f"{path}: cannot be read") from error


def _open_segment(folder: Path, part: SegmentFiles) -> Segment:
    """Codes are read whole, for every question scans them; the others are mapped."""
    path = folder / part.codes.name
    codes, table = _read(folder, part)
    try:
        vectors = os.open(folder / part.vectors.name, LOOK)
        segment = Segment(codes, table, vectors, rising=part.rising)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(vectors, 0, 0, os.POSIX_FADV_RANDOM)
    except (OSError, KeyError) as error:
        raise IndexDamaged(f"{path}: cannot be read") from error
    if {len(codes), len(segment)} != {part.rows}:
        raise IndexDamaged(f"{path}: has {len(codes)} rows where {part.columns.name} has {len(segment)}")
    return segment


def open_segments(folder: Path, manifest: Manifest) -> list[Segment]:
    """The segments of an index. Raises `IndexDamaged` for files that are missing or have another size."""
    require_sizes(folder, manifest)
    with ThreadPoolExecutor(READING_THREADS) as pool:
        return list(pool.map(partial(_open_segment, folder), manifest.segments))


def require_sizes(folder: Path, manifest: Manifest) -> None:
    """Raise `IndexDamaged` for a file of an index that is missing or has another size."""
    for file in (file for part in manifest.segments for file in part.files):
        _require_size(folder, file)


def damaged(folder: Path) -> str:
    """What is wrong with the index files of a library, by their sizes; empty for nothing."""
    found = (damaged_table(folder, path.stem) for path in sorted(folder.glob("[!.]*.json")))
    return next(filter(None, found), "")


def damaged_table(folder: Path, table: str) -> str:
    """As `damaged`, of the index files of one table."""
    try:
        if manifest := read_manifest(folder, table):
            require_sizes(folder, manifest)
    except IndexDamaged as error:
        return str(error)
    return ""


def _require_size(folder: Path, file: IndexFile) -> None:
    path = folder / file.name
    try:
        size = path.stat().st_size
    except OSError as error:
        raise IndexDamaged(f"{path}: is missing") from error
    if size != file.bytes:
        raise IndexDamaged(f"{path}: has {size} bytes, not {file.bytes}")


def verify(folder: Path, table: str) -> Manifest | None:
    """Read every file of a table's index and compare it with its hash. Raises `IndexDamaged`.

    None where the table has no index.
    """
    manifest = read_manifest(folder, table)
    for part in manifest.segments if manifest else ():
        _verify_files(folder, part.files)
    return manifest


def drop_damaged(folder: Path, tables: Iterable[str]) -> list[str]:
    """Give up the indexes of which a file does not have its hash, and return a line for each."""
    lines = []
    for table in sorted(tables):
        try:
            verify(folder, table)
        except IndexDamaged as error:
            manifest_path(folder, table).unlink()
            lines.append(f"the index files of table {table} are made again: {error}")
    return lines


def _verify_files(folder: Path, files: Iterable[IndexFile]) -> None:
    for file in files:
        _require_size(folder, file)
        path = folder / file.name
        try:
            found = _digest(path)
        except OSError as error:
            raise IndexDamaged(f"{path}: cannot be read") from error
        if found != file.digest:
            raise IndexDamaged(f"{path}: is not as it was written")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


# Writing


class SegmentWriter:
    """The files of one segment as its rows come; equal rows give equal files in any portions."""

    def __init__(self, dim: int, vectors: Path, begun: tuple[Path, VectorCodes] | None = None) -> None:
        """`vectors`: the file that vectors are written to. `begun`: file of vectors and codes of a segment
        that is not full, to be gone on with."""
        self._vectors = vectors
        vectors.unlink(missing_ok=True)
        if begun is not None:
            shutil.copyfile(begun[0], vectors)
        self._columns: list[Any] = []
        self._waiting = np.zeros((ROTATED_ROWS, dim), np.float32)
        self._codes = VectorCodes.empty(dim) if begun is None else begun[1]
        self._first = self._filled = len(self._codes) % ROTATED_ROWS

    def add(self, vectors: NDArray[np.float16], columns: Any) -> None:
        """Append rows, float16 (n, dim), and their columns, an Arrow table."""
        self._columns.append(columns)
        with self._vectors.open("ab") as file:
            file.write(np.ascontiguousarray(vectors, "<f2").tobytes())
        start = 0
        while start < len(vectors):
            part = vectors[start : start + ROTATED_ROWS - self._filled]
            self._waiting[self._filled : self._filled + len(part)] = part
            self._filled += len(part)
            start += len(part)
            if self._filled == ROTATED_ROWS:
                self._encode()

    def _encode(self) -> None:
        """Each row at its place in a block of one shape: its rotated bits never depend on the others."""
        if self._filled > self._first:
            self._codes.add(self._waiting, slice(self._first, self._filled))
        self._first = self._filled = self._filled % ROTATED_ROWS
        self._waiting[:] = 0

    def write(self, folder: Path, table: str, number: int) -> SegmentFiles:
        """Write the files, each beside its place and then renamed. Raises OSError."""
        import pyarrow as pa

        self._encode()
        rows = pa.concat_tables(self._columns).combine_chunks()
        # A copy, for the last bytes of a slice are filled up with what follows it.
        rows = rows.take(np.arange(rows.num_rows)).combine_chunks()
        for at, name in enumerate(rows.column_names):
            if pa.types.is_string(rows[name].type) and name != "key":
                # Here, and not as rows come: their portions would decide what is in the dictionary.
                rows = rows.set_column(at, name, rows[name].combine_chunks().dictionary_encode())
        stem = folder / f"{table}.{number:03d}"
        codes, columns = stem.with_suffix(f"{stem.suffix}.codes"), stem.with_suffix(f"{stem.suffix}.arrow")
        temporary = codes.with_suffix(".codes.tmp"), columns.with_suffix(".arrow.tmp")
        self._codes.write(temporary[0])
        with pa.OSFile(os.fspath(temporary[1]), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as file:
            file.write_table(rows)
        ids = rows["row_id"].to_numpy()
        return SegmentFiles(
            rows.num_rows,
            _named(temporary[0], codes),
            _named(temporary[1], columns),
            _named(self._vectors, stem.with_suffix(f"{stem.suffix}.vectors")),
            rising=bool((ids[:-1] < ids[1:]).all()),
        )


def _named(temporary: Path, path: Path) -> IndexFile:
    """Give a file its name, which holds its hash."""
    size = temporary.stat().st_size
    final = path.with_name(f"{path.stem}.{_digest(temporary)}{path.suffix}")
    temporary.replace(final)
    return IndexFile(final.name, size)


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
    for path in folder.glob("[!.]*.json"):
        try:
            manifest = read_manifest(folder, path.stem)
        except IndexDamaged:
            continue
        named.add(path.name)
        for part in manifest.segments if manifest else ():
            named |= {file.name for file in part.files}
    for path in folder.glob("*"):
        if path.name not in named:
            path.unlink(missing_ok=True)


def index_rows(
    folder: Path, table: str, dim: int, batches: Iterator[Any], begun: Manifest | None
) -> Manifest:
    """Write the index of a table over Arrow tables of `row_id`, `key`, `owner`, `vector` and others.

    `begun`: an index to be gone on with, to which `batches` are added; its last segment is filled up.
    Raises `IndexDamaged` where that cannot be read, and OSError.
    """
    import pyarrow as pa

    folder.mkdir(exist_ok=True)
    done = list(begun.segments) if begun else []
    last = begun.last_row_id if begun else -1
    # Read from the table, the rows that are ranked again take longer than all else of a question.
    vectors = folder / f"{table}.vectors.tmp"
    writer, room, added = SegmentWriter(dim, vectors), SEGMENT_ROWS, False
    if done and done[-1].rows < SEGMENT_ROWS:
        part = done.pop()
        # What is taken over gets hashes of its own.
        _verify_files(folder, part.files)
        codes, held = _read(folder, part)
        writer = SegmentWriter(dim, vectors, (folder / part.vectors.name, codes))
        room, added = SEGMENT_ROWS - part.rows, True
        for at, field in enumerate(held.schema):
            if pa.types.is_dictionary(field.type):
                held = held.set_column(at, field.name, held[field.name].cast(field.type.value_type))
        writer.add(np.empty((0, dim), np.float16), held)
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            rows = batch.slice(start, room)
            writer.add(column_matrix(rows["vector"], dim), rows.drop_columns(["vector"]))
            last = max(last, int(np.max(rows["row_id"].to_numpy())))
            start, room, added = start + rows.num_rows, room - rows.num_rows, True
            if room == 0:
                done.append(writer.write(folder, table, len(done)))
                writer, room, added = SegmentWriter(dim, vectors), SEGMENT_ROWS, False
    if added:
        done.append(writer.write(folder, table, len(done)))
    manifest = Manifest(dim, last, tuple(done))
    write_manifest(folder, table, manifest)
    return manifest
