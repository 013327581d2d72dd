"""Index files of large tables: 2-bit codes of the vectors, and the columns that filters need.

They are derived from the tables, kept beside them, and made again by maintenance when they are gone. A table
is cut into segments of `SEGMENT_ROWS`, each one file of codes and one of columns; `<table>.json` names the
files and is replaced by a rename, last. A file's name holds the hash of its content.

The codes are FAISS's RaBitQ (Gao et al., SIGMOD 2025) in blocks for SIMD, behind a rotation of fixed seed and
about a centre at zero, so that a row's code depends on the row alone: nothing is trained, no cell is left
out, and equal rows give equal files. Partitions would leave out too much: texts are asked and images are
stored, and spans of text fill their space too evenly.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.store.schema import column_matrix
from rag.store.vector_index import Codes, faiss_module, one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 2
BITS = 2
SEED = 1234
SEGMENT_ROWS = 1_000_000
OPENING_THREADS = 4
ENDS_BYTES = (2**22 + 2**12, 2**16)
"""Of the beginning and the end of a file, which are compared with a hash whenever it is opened: all that says
how the rest is read. A damaged code in between only proposes another row."""
BLOCK_ROWS = 4096
"""Rows are rotated in blocks of this one shape: BLAS gives other last bits for another."""


class IndexDamaged(Exception):
    """Files of an index are missing or not as they were written; the message names one."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file of a segment."""

    name: str
    bytes: int
    digest: str
    ends: str
    """Hash of its beginning and its end."""


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """A segment's rows and files."""

    rows: int
    codes: IndexFile
    columns: IndexFile


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
    """None where the table has no index. Raises `IndexDamaged`."""
    path = manifest_path(folder, table)
    try:
        held = json.loads(path.read_bytes())
        if held["format"] != FORMAT:
            return None
        segments = tuple(
            SegmentFiles(each["rows"], IndexFile(**each["codes"]), IndexFile(**each["columns"]))
            for each in held["segments"]
        )
        return Manifest(held["dim"], held["last_row_id"], segments)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexDamaged(f"{path}: cannot be read") from error


class Segment:
    """The rows of one segment, in the order of the table.

    `row_ids`: uint64 (n,); `owners`: the video or the source of each row; `spans` and `kinds`, where the
    table has them: as of a `Matrix`. Columns are mapped from their file and touched when they are used.
    """

    def __init__(self, codes: Any, columns: Any) -> None:
        faiss = faiss_module()
        self._columns = columns
        self._owner: Any = codes
        self._rotation = faiss.downcast_VectorTransform(codes.chain.at(0))
        self._codes = faiss.downcast_index(codes.index)
        self.row_ids: NDArray[np.uint64] = columns["row_id"].to_numpy()

    def __len__(self) -> int:
        return len(self.row_ids)

    def is_whole(self) -> bool:
        """Whether every row is where it is said to be: one that is not could not be read."""
        lists = self._codes.invlists
        if lists.list_size(0) != len(self):
            return False
        places = faiss_module().rev_swig_ptr(lists.get_ids(0), len(self))
        return bool(np.array_equal(places, np.arange(len(self))))

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

    def propose(
        self, query: NDArray[np.float32], count: int, keep: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Estimated cosine and position of about the `count` rows nearest to `query`, unit float32 (d,).

        `keep`: bool (n,), the rows that may be proposed; None is all of them.
        """
        faiss = faiss_module()
        params = faiss.IVFRaBitQSearchParameters()
        params.nprobe = 1
        if keep is not None:
            # Held by name: the parameters do not keep it alive.
            selector = faiss.IDSelectorBitmap(np.packbits(keep, bitorder="little"))
            params.sel = selector
        with one_thread(faiss):
            rotated = self._rotation.apply(query.reshape(1, -1))
            scores, found = self._codes.search(rotated, min(count, len(self)), params=params)
        return scores[0][found[0] >= 0], found[0][found[0] >= 0]


def open_segment(codes: Path, columns: Path) -> Segment:
    """Open the two files of a segment. Raises `IndexDamaged`.

    Codes are read whole, for every question scans them; columns are mapped.
    """
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.memory_map(os.fspath(columns))).read_all()
        index = faiss_module().read_index(os.fspath(codes))
        segment = Segment(index, table)
    except (OSError, RuntimeError, MemoryError, ValueError, KeyError, AttributeError) as error:
        raise IndexDamaged(f"{codes}: cannot be read") from error
    if index.ntotal != len(segment):
        raise IndexDamaged(f"{codes}: has {index.ntotal} rows where {columns.name} has {len(segment)}")
    if not segment.is_whole():
        raise IndexDamaged(f"{codes}: is not as it was written")
    return segment


def open_segments(folder: Path, manifest: Manifest) -> list[Segment]:
    """The segments of an index. Raises `IndexDamaged`, as for a file that is shorter than it was written."""
    for part in manifest.segments:
        for file in (part.codes, part.columns):
            _require_ends(folder, file)
    names = [(folder / part.codes.name, folder / part.columns.name) for part in manifest.segments]
    with ThreadPoolExecutor(OPENING_THREADS) as pool:
        return list(pool.map(lambda pair: open_segment(*pair), names))


def _require_size(folder: Path, file: IndexFile) -> None:
    path = folder / file.name
    try:
        size = path.stat().st_size
    except OSError as error:
        raise IndexDamaged(f"{path}: is missing") from error
    if size != file.bytes:
        raise IndexDamaged(f"{path}: has {size} bytes, not {file.bytes}")


def _require_ends(folder: Path, file: IndexFile) -> None:
    _require_size(folder, file)
    try:
        ends = _ends(folder / file.name)
    except OSError as error:
        raise IndexDamaged(f"{folder / file.name}: cannot be read") from error
    if ends != file.ends:
        raise IndexDamaged(f"{folder / file.name}: is not as it was written")


def damaged(folder: Path) -> str:
    """What is wrong with the index files of a library, by their sizes and ends; empty for nothing."""
    for path in sorted(folder.glob("*.json")):
        try:
            manifest = read_manifest(folder, path.stem)
            for part in manifest.segments if manifest else ():
                for file in (part.codes, part.columns):
                    _require_ends(folder, file)
        except IndexDamaged as error:
            return str(error)
    return ""


def verify(folder: Path, table: str) -> Manifest | None:
    """Read every file of a table's index and compare it with its hash. Raises `IndexDamaged`.

    None where the table has no index.
    """
    manifest = read_manifest(folder, table)
    for part in manifest.segments if manifest else ():
        for file in (part.codes, part.columns):
            _require_size(folder, file)
            if _digest(folder / file.name) != file.digest:
                raise IndexDamaged(f"{folder / file.name}: is not as it was written")
    return manifest


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _ends(path: Path) -> str:
    first, last = ENDS_BYTES
    with path.open("rb") as file:
        digest = hashlib.blake2b(file.read(first), digest_size=16)
        file.seek(max(first, path.stat().st_size - last))
        digest.update(file.read())
    return digest.hexdigest()


# Writing


class SegmentWriter:
    """The codes and columns of one segment as its rows come; equal rows give equal files in any portions."""

    def __init__(self, dim: int, begun: Path | None = None) -> None:
        """`begun`: the codes of a segment that is not full, to be gone on with."""
        faiss = faiss_module()
        self._dim = dim
        self._columns: list[Any] = []
        self._waiting = np.zeros((BLOCK_ROWS, dim), np.float32)
        if begun is not None:
            self._index: Any = faiss.read_index(os.fspath(begun))
        else:
            centre = faiss.IndexFlatIP(dim)
            centre.add(np.zeros((1, dim), np.float32))
            codes = faiss.IndexIVFRaBitQFastScan(centre, dim, 1, faiss.METRIC_INNER_PRODUCT, 32, True, BITS)
            codes.own_fields = True
            centre.this.disown()
            rotation = faiss.RandomRotationMatrix(dim, dim)
            with one_thread(faiss):
                rotation.init(SEED)
                codes.train(np.zeros((1, dim), np.float32))
            self._index = faiss.IndexPreTransform(rotation, codes)
        self._rotation = faiss.downcast_VectorTransform(self._index.chain.at(0))
        self._codes = faiss.downcast_index(self._index.index)
        self._first = self._filled = self._codes.ntotal % BLOCK_ROWS

    def add(self, vectors: NDArray[np.float16], columns: Any) -> None:
        """Append rows, float16 (n, dim), and their columns, an Arrow table."""
        self._columns.append(columns)
        start = 0
        while start < len(vectors):
            part = vectors[start : start + BLOCK_ROWS - self._filled]
            self._waiting[self._filled : self._filled + len(part)] = part
            self._filled += len(part)
            start += len(part)
            if self._filled == BLOCK_ROWS:
                self._encode()

    def _encode(self) -> None:
        """Each row at its place in a block of one shape: its rotated bits never depend on the others."""
        if self._filled > self._first:
            with one_thread(faiss_module()):
                rotated = self._rotation.apply(self._waiting)
                self._codes.add(rotated[self._first : self._filled])
        self._first = self._filled = self._filled % BLOCK_ROWS
        self._waiting[:] = 0

    def write(self, folder: Path, table: str, number: int) -> SegmentFiles:
        """Write both files, each beside its place and then renamed. Raises OSError."""
        import pyarrow as pa

        self._encode()
        self._index.ntotal = self._codes.ntotal
        rows = pa.concat_tables(self._columns).combine_chunks()
        for at, name in enumerate(rows.column_names):
            if pa.types.is_string(rows[name].type):
                # Here, and not as rows come: their portions would decide what is in the dictionary.
                rows = rows.set_column(at, name, rows[name].combine_chunks().dictionary_encode())
        stem = folder / f"{table}.{number:03d}"
        codes, columns = stem.with_suffix(f"{stem.suffix}.codes"), stem.with_suffix(f"{stem.suffix}.arrow")
        temporary = codes.with_suffix(".codes.tmp"), columns.with_suffix(".arrow.tmp")
        try:
            faiss_module().write_index(self._index, os.fspath(temporary[0]))
        except RuntimeError as error:
            raise OSError(f"{codes}: cannot be written: {error}") from error
        with pa.OSFile(os.fspath(temporary[1]), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as file:
            file.write_table(rows)
        return SegmentFiles(rows.num_rows, _named(temporary[0], codes), _named(temporary[1], columns))


def _named(temporary: Path, path: Path) -> IndexFile:
    """Give a file its name, which holds its hash."""
    digest, ends = _digest(temporary), _ends(temporary)
    size = temporary.stat().st_size
    final = path.with_name(f"{path.stem}.{digest}{path.suffix}")
    temporary.replace(final)
    return IndexFile(final.name, size, digest, ends)


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
    for path in folder.glob("*.json"):
        try:
            manifest = read_manifest(folder, path.stem)
        except IndexDamaged:
            continue
        named.add(path.name)
        for part in manifest.segments if manifest else ():
            named |= {part.codes.name, part.columns.name}
    for path in folder.glob("*"):
        if path.name not in named:
            path.unlink(missing_ok=True)


def index_rows(
    folder: Path, table: str, dim: int, batches: Iterator[Any], begun: Manifest | None
) -> Manifest:
    """Write the index of a table over Arrow tables of `row_id`, `owner`, `vector` and what else filters.

    `begun`: an index to be gone on with, to which `batches` are added; its last segment is filled up.
    Raises `IndexDamaged` where that cannot be read, and OSError.
    """
    import pyarrow as pa

    folder.mkdir(exist_ok=True)
    done = list(begun.segments) if begun else []
    last = begun.last_row_id if begun else -1
    writer, room, added = SegmentWriter(dim), SEGMENT_ROWS, False
    if done and done[-1].rows < SEGMENT_ROWS:
        part = done.pop()
        open_segments(folder, Manifest(dim, last, (part,)))
        writer = SegmentWriter(dim, folder / part.codes.name)
        room, added = SEGMENT_ROWS - part.rows, True
        held = pa.ipc.open_file(pa.memory_map(os.fspath(folder / part.columns.name))).read_all()
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
                writer, room, added = SegmentWriter(dim), SEGMENT_ROWS, False
    if added:
        done.append(writer.write(folder, table, len(done)))
    manifest = Manifest(dim, last, tuple(done))
    write_manifest(folder, table, manifest)
    return manifest
