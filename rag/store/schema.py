"""The tables: their columns, and how records become rows and back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from corpora.records import Clip, Evidence, Passage, Problem, Video
from rag.store.records import ClipFrames, EncoderRef, FileRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FULL_TEXT = "words"
"""The column of `evidence` and of `passages` that the full-text index is over."""
FULL_TEXT_TABLES = ("evidence", "passages")


def vectors_table(encoder: EncoderRef) -> str:
    """Name of the table of an image encoder's clip vectors."""
    return f"vectors_{encoder.fingerprint[:24]}"


def sounds_table(encoder: EncoderRef) -> str:
    """Vectors of the clips' sound, by an encoder that hears as well as sees."""
    return f"sounds_{encoder.fingerprint[:24]}"


def sounds_beside(vectors: str) -> str:
    """The table of sounds of the encoder whose clip vectors lie in the table `vectors`."""
    return vectors.replace("vectors_", "sounds_", 1)


def is_clip_vectors(table: str) -> bool:
    """Whether a table holds vectors of clips or of their sound."""
    return table.startswith(("vectors_", "sounds_"))


def path_bytes(path: str) -> bytes:
    """A path as bytes, invalid UTF-8 kept."""
    return os.fsencode(path)


def clean(text: str) -> str:
    """Text that is valid UTF-8: a title taken from an odd file name holds surrogate escapes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def plain_schemas() -> dict[str, Any]:
    """Tables without vectors, which exist from the library's first moment."""
    import pyarrow as pa

    return {
        "meta": pa.schema([("key", pa.string()), ("value", pa.string())]),
        "files": pa.schema(
            [
                ("path", pa.binary()),
                ("content_id", pa.string()),
                ("kind", pa.string()),
                ("size", pa.int64()),
                ("mtime_ns", pa.int64()),
                ("ctime_ns", pa.int64()),
                ("stamp", pa.string()),
            ]
        ),
        "videos": pa.schema(
            [
                ("video_id", pa.string()),
                ("status", pa.string()),
                ("path", pa.binary()),
                ("title", pa.string()),
                ("description", pa.string()),
                ("tags", pa.list_(pa.string())),
                ("duration", pa.float64()),
                ("fps", pa.float64()),
                ("width", pa.int32()),
                ("height", pa.int32()),
                ("audio", pa.bool_()),
                ("language", pa.string()),
                ("stream", pa.int32()),
                ("decoder", pa.string()),
                ("damage", pa.string()),
                ("stages", pa.string()),
                ("indexed_at", pa.int64()),
            ]
        ),
        "clips": pa.schema(
            [
                ("clip_id", pa.string()),
                ("video_id", pa.string()),
                ("start", pa.float64()),
                ("end", pa.float64()),
                ("pixels", pa.string()),
            ]
        ),
        "problems": pa.schema(
            [("path", pa.binary()), ("reason", pa.string()), ("action", pa.string()), ("stamp", pa.string())]
        ),
    }


def text_schemas(dim: int) -> dict[str, Any]:
    """Tables with text vectors of `dim` numbers."""
    import pyarrow as pa

    vector = pa.list_(pa.float16(), dim)
    return {
        "evidence": pa.schema(
            [
                ("evidence_id", pa.string()),
                ("video_id", pa.string()),
                ("start", pa.float64()),
                ("end", pa.float64()),
                ("kind", pa.string()),
                (FULL_TEXT, pa.string()),
                ("vector", vector),
            ]
        ),
        "passages": pa.schema(
            [
                ("source_id", pa.string()),
                ("passage_id", pa.string()),
                ("doc_id", pa.string()),
                ("title", pa.string()),
                (FULL_TEXT, pa.string()),
                ("vector", vector),
            ]
        ),
    }


def vectors_schema(dim: int) -> Any:
    """Arrow schema of a table of clip vectors of length `dim`, float16."""
    import pyarrow as pa

    return pa.schema(
        [
            ("clip_id", pa.string()),
            ("video_id", pa.string()),
            ("modality", pa.string()),
            ("vector", pa.list_(pa.float16(), dim)),
            ("frames", pa.list_(pa.list_(pa.float16(), dim))),
            ("times", pa.list_(pa.float64())),
        ]
    )


def file_rows(rows: Iterable[FileRow]) -> Any:
    """Files as an Arrow table."""
    import pyarrow as pa

    values = [{**asdict(row), "path": path_bytes(row.path)} for row in rows]
    return pa.Table.from_pylist(values, schema=plain_schemas()["files"])


def file_of(row: Mapping[str, Any]) -> FileRow:
    """A file from its row."""
    return FileRow(**{**row, "path": os.fsdecode(row["path"])})


def problem_of(row: Mapping[str, Any]) -> tuple[Problem, str]:
    """A problem and the stamp of its file, from a row."""
    return Problem(os.fsdecode(row["path"]), row["reason"], row["action"]), row["stamp"]


def problem_rows(problems: Iterable[tuple[Problem, str]]) -> Any:
    """Problems with stamps as an Arrow table."""
    import pyarrow as pa

    values = [
        {"path": path_bytes(p.path), "reason": clean(p.reason), "action": clean(p.action), "stamp": stamp}
        for p, stamp in problems
    ]
    return pa.Table.from_pylist(values, schema=plain_schemas()["problems"])


def video_rows(video: Video, status: str, stages: Mapping[str, Any], indexed_at: int) -> Any:
    """A video as an Arrow table of one row."""
    import pyarrow as pa

    value = {
        **asdict(video),
        "path": path_bytes(video.path),
        "title": clean(video.title),
        "description": clean(video.description),
        "tags": [clean(tag) for tag in video.tags],
        "language": clean(video.language),
        "damage": clean(video.damage),
        "status": status,
        "stages": json.dumps(stages, sort_keys=True),
        "indexed_at": indexed_at,
    }
    return pa.Table.from_pylist([value], schema=plain_schemas()["videos"])


def video_of(row: Mapping[str, Any]) -> Video:
    """A video from its row."""
    fields = {k: v for k, v in row.items() if k not in {"status", "stages", "indexed_at"}}
    return Video(**{**fields, "path": os.fsdecode(row["path"]), "tags": tuple(row["tags"])})


def clip_rows(clips: Sequence[ClipFrames]) -> Any:
    """Clips as an Arrow table."""
    import pyarrow as pa

    values = [{**asdict(c.clip), "pixels": c.pixels} for c in clips]
    return pa.Table.from_pylist(values, schema=plain_schemas()["clips"])


def clip_of(row: Mapping[str, Any]) -> Clip:
    """A clip from its row."""
    return Clip(row["clip_id"], row["video_id"], row["start"], row["end"])


def vector_rows(clips: Sequence[ClipFrames], dim: int) -> Any:
    """Clip vectors, float32 (dim,), and frame vectors, float32 (frames, dim), as an Arrow table of float16.

    Raises ValueError for shapes that do not fit `dim` or the number of times.
    """
    import numpy as np
    import pyarrow as pa

    for c in clips:
        if c.vectors.shape != (len(c.times), dim) or c.clip_vector.shape != (dim,):
            raise ValueError(
                f"{c.clip.clip_id}: frames {c.vectors.shape}, clip vector {c.clip_vector.shape} and "
                f"{len(c.times)} times do not fit dimension {dim}"
            )
    counts = np.cumsum([0, *(len(c.times) for c in clips)]).astype(np.int32)
    flat = np.concatenate([c.vectors for c in clips])
    offsets = pa.array(counts, pa.int32())
    columns = [
        pa.array([c.clip.clip_id for c in clips], pa.string()),
        pa.array([c.clip.video_id for c in clips], pa.string()),
        pa.array([c.modality for c in clips], pa.string()),
        matrix_column(np.stack([c.clip_vector for c in clips]), dim),
        pa.ListArray.from_arrays(offsets, matrix_column(flat, dim)),
        pa.ListArray.from_arrays(offsets, pa.array(np.concatenate([c.times for c in clips]), pa.float64())),
    ]
    return pa.Table.from_arrays(columns, schema=vectors_schema(dim))


def sounds_schema(dim: int) -> Any:
    """Arrow schema of a table of sound vectors of length `dim`, float16."""
    import pyarrow as pa

    return pa.schema(
        [("clip_id", pa.string()), ("video_id", pa.string()), ("vector", pa.list_(pa.float16(), dim))]
    )


def sound_rows(clips: Sequence[Clip], vectors: Sequence[NDArray[np.floating[Any]]], dim: int) -> Any:
    """Sound vectors of clips, float (dim,) each, as an Arrow table of float16."""
    import numpy as np
    import pyarrow as pa

    columns = [
        pa.array([clip.clip_id for clip in clips], pa.string()),
        pa.array([clip.video_id for clip in clips], pa.string()),
        matrix_column(np.stack(vectors), dim),
    ]
    return pa.Table.from_arrays(columns, schema=sounds_schema(dim))


def matrix_column(rows: NDArray[np.floating[Any]], dim: int) -> Any:
    """Float (n, dim) as a column of float16 vectors. Raises ValueError for another shape or for no number."""
    import numpy as np
    import pyarrow as pa

    if rows.ndim != 2 or rows.shape[1] != dim:
        raise ValueError(f"vectors must be (n, {dim}), not {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("vectors must be finite numbers")
    half = np.ascontiguousarray(rows, dtype=np.float16)
    return pa.FixedSizeListArray.from_arrays(pa.array(half.reshape(-1)), dim)


def column_matrix(column: Any, dim: int) -> NDArray[np.float16]:
    """A column of vectors as float16 (n, dim)."""
    import numpy as np

    if len(column) == 0:
        return np.empty((0, dim), np.float16)
    chunks = [chunk.flatten().to_numpy(zero_copy_only=False).reshape(-1, dim) for chunk in column.chunks]
    return np.concatenate(chunks) if len(chunks) > 1 else chunks[0]


def evidence_rows(
    video_id: str, spans: Sequence[Evidence], vectors: NDArray[np.floating[Any]], dim: int
) -> Any:
    """Rows of `evidence`; `vectors`: float (n, dim), one for each span.

    Ids follow the order of (start, end, kind, text), so they do not depend on who wrote first.
    """
    import numpy as np
    import pyarrow as pa

    order = sorted(
        range(len(spans)), key=lambda i: (spans[i].start, spans[i].end, spans[i].kind, spans[i].text)
    )
    chosen = [spans[i] for i in order]
    columns = [
        pa.array([f"{video_id}:e{n:06d}" for n in range(len(chosen))], pa.string()),
        pa.array([video_id] * len(chosen), pa.string()),
        pa.array([s.start for s in chosen], pa.float64()),
        pa.array([s.end for s in chosen], pa.float64()),
        pa.array([s.kind for s in chosen], pa.string()),
        pa.array([clean(s.text) for s in chosen], pa.string()),
        matrix_column(np.asarray(vectors)[order], dim),
    ]
    return pa.Table.from_arrays(columns, schema=text_schemas(dim)["evidence"])


def evidence_of(row: Mapping[str, Any]) -> Evidence:
    """A text span from its row."""
    return Evidence(row["video_id"], row["start"], row["end"], row["kind"], row[FULL_TEXT])


def passage_rows(
    source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]], dim: int
) -> Any:
    """Passages of a source with their vectors, float (n, dim), as an Arrow table of float16 vectors."""
    import numpy as np
    import pyarrow as pa

    columns = [
        pa.array([source_id] * len(passages), pa.string()),
        pa.array([p.passage_id for p in passages], pa.string()),
        pa.array([p.doc_id for p in passages], pa.string()),
        pa.array([clean(p.title) for p in passages], pa.string()),
        # Title and text in one column, so that one full-text index ranks both.
        pa.array([clean(f"{p.title}\n{p.text}") for p in passages], pa.string()),
        matrix_column(np.asarray(vectors), dim),
    ]
    return pa.Table.from_arrays(columns, schema=text_schemas(dim)["passages"])


def passage_of(row: Mapping[str, Any]) -> Passage:
    """A passage from its row."""
    text = row[FULL_TEXT][len(row["title"]) + 1 :]
    return Passage(row["passage_id"], row["doc_id"], row["title"], text)
