"""A bundle: what one content gave, as one Arrow file, made without the library and committed by its writer.

The file has one row for each table: its name, and its rows as they are stored, as an Arrow stream. The head
is JSON in the schema's metadata. A hash of all that ends the file: one that was cut or damaged is never read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from corpora.records import Passage, Problem, Video
from corpora.scan import FoundFile
from rag.errors import LibraryError
from rag.store import schema
from rag.store.records import Meta, NotedProblem
from rag.store.tables import VideoWriter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = "offline-video-rag bundle 1"
DIGEST_BYTES = 16


class BundleInvalid(LibraryError):
    """A file that is no bundle, or not a whole one."""


@dataclass(frozen=True, slots=True)
class BundleHead:
    """What a writer must know of a content beside its rows."""

    content_id: str
    """Empty where there are only problems of files that were not read."""
    files: tuple[FoundFile, ...] = ()
    """The paths that hold the content; the first was read."""
    device: str = ""
    """Kind of processor that made the vectors."""
    replaces: str | None = None
    """Hash of the sidecars of the finished content that this one takes the place of; None: there was none."""
    reason: str = ""
    """What is wrong with the content."""
    action: str = ""
    """What was done about it; empty where nothing of it can be used."""
    deferred: bool = False
    """Whether the files are to be read again, changed or not."""
    unread: bool = False
    """Whether the object could not be fetched, so that what the library has under its paths stays."""
    known: bool = False
    """Whether the content is in another bundle, or in the library, and only its paths are here."""
    problems: tuple[NotedProblem, ...] = ()
    """Problems of files that were not read, with the stamps that the files had."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A head with the rows of one content by table, as they are stored."""

    head: BundleHead
    tables: Mapping[str, Any]

    def video(self) -> tuple[Video, dict[str, Any]] | None:
        """The video's record and its stages; None for another kind of content."""
        if "videos" not in self.tables:
            return None
        (row,) = self.tables["videos"].to_pylist()
        return schema.video_of(row), json.loads(row["stages"])

    def to_bytes(self) -> bytes:
        """The file's content."""
        import pyarrow as pa

        streams = []
        for rows in self.tables.values():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, rows.schema) as stream:
                stream.write_table(rows)
            streams.append(sink.getvalue().to_pybytes())
        head = {"format": FORMAT, **asdict(self.head)}
        columns = pa.schema(
            [("table", pa.string()), ("rows", pa.large_binary())], metadata={"head": json.dumps(head)}
        )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, columns) as file:
            file.write_table(pa.table([list(self.tables), streams], schema=columns))
        content = bytes(sink.getvalue().to_pybytes())
        return content + _digest(content)


def read_bundle(content: bytes) -> Bundle:
    """Raises `BundleInvalid` for anything that `Bundle.to_bytes` did not make."""
    import pyarrow as pa

    content, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    if digest != _digest(content):
        raise BundleInvalid("not a whole bundle: its bytes are not those that were written")
    try:
        held = pa.ipc.open_file(pa.BufferReader(content)).read_all()
        head = _head(json.loads(held.schema.metadata[b"head"]))
        tables = {}
        for row in held.to_pylist():
            rows = pa.ipc.open_stream(pa.BufferReader(row["rows"])).read_all()
            rows.validate(full=True)
            rows = schema.with_missing_columns(row["table"], rows)
            _require_columns(row["table"], rows)
            tables[row["table"]] = rows
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise BundleInvalid(f"not a whole bundle: {' '.join(str(error).split())[:120]}") from error
    return Bundle(head, tables)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def _require_columns(name: str, rows: Any) -> None:
    kind = name.partition("_")[0] if schema.is_clip_vectors(name) else name
    if rows.schema.names != schema.column_names(kind):
        raise ValueError(f"its table {name} has other columns")


def _head(value: dict[str, Any]) -> BundleHead:
    """Raises ValueError, KeyError or TypeError for another format."""
    if value.pop("format") != FORMAT:
        raise ValueError("made by another version of the program")
    files = tuple(FoundFile(**{**file, "sidecars": tuple(file["sidecars"])}) for file in value["files"])
    problems = tuple(NotedProblem(Problem(**problem), stamp) for problem, stamp in value["problems"])
    return BundleHead(**{**value, "files": files, "problems": problems})


class _Rows:
    """The tables of one content in memory, behind what a `VideoWriter` asks of a library's.

    Rows are written once: `update` and `delete` raise ValueError.
    """

    def __init__(self) -> None:
        self.held: dict[str, Any] = {"videos": schema.arrow_schema("videos").empty_table()}

    def names(self) -> list[str]:
        return list(self.held)

    def has(self, name: str) -> bool:
        return name in self.held

    def create(self, name: str, schema: Any) -> None:
        self.held.setdefault(name, schema.empty_table())

    def add(self, name: str, rows: Any) -> None:
        import pyarrow as pa

        self.held[name] = pa.concat_tables([self.held[name], rows]) if name in self.held else rows

    def upsert(self, name: str, key: str, rows: Any) -> None:  # noqa: ARG002 (one row, the content's own)
        self.held[name] = rows

    def update(self, name: str, where: str, values: dict[str, Any]) -> None:
        raise ValueError(f"rows of a bundle are written once: {name}, {where}, {values}")

    def delete(self, name: str, where: str) -> None:
        raise ValueError(f"rows of a bundle are written once: {name}, {where}")

    def rows(self, name: str, columns: Sequence[str], where: str | None = None) -> Any:  # noqa: ARG002 (of one content)
        """All of them: they are of one content, whatever the condition."""
        return self.held[name].select(list(columns))


class BundleWriter(VideoWriter):
    """Collects the rows of one content, in place of a library's writer; `bundle` has them."""

    def __init__(self, meta: Meta) -> None:
        """`meta`: of the library that the rows are for."""
        self._rows = _Rows()
        self._meta = meta
        super().__init__(self._rows)
        if (encoder := meta.image_encoder) is not None:
            self._rows.create(schema.vectors_table(encoder), schema.arrow_schema("vectors", encoder.dim))

    def _require_meta(self) -> Meta:
        return self._meta

    def add_passages(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """As `Writer.add_passages`; `vectors`: unit rows, float (n, text dim), one for each passage."""
        rows = schema.passage_rows(source_id, passages, vectors, self._meta.text_encoder.dim)
        self._rows.add("passages", rows)

    def bundle(self, head: BundleHead) -> Bundle:
        """What was collected. A head whose `action` is empty beside a reason has no rows."""
        if head.reason and not head.action:
            return Bundle(head, {})
        tables = {name: rows for name, rows in self._rows.held.items() if rows.num_rows}
        return Bundle(head, tables)
