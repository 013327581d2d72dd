"""The tables: their columns, and how records become rows and back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_args

from corpora.records import AudioClass, Evidence, Passage, Problem, Shot, SoundTrack, SubtitleTrack, Video
from rag.store.records import ClipFrames, EncoderRef, FileRow, NotedProblem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FULL_TEXT = "words"
"""The column of `evidence` and of `passages` that the full-text index is over."""
FULL_TEXT_TABLES = ("evidence", "passages")
MEASURED_TABLES = ("shots", "sound_tracks")
FIRST_TABLES = ("files", "videos", "problems", *MEASURED_TABLES)
"""Those that a library has before its encoders are chosen."""
COLUMNS = {
    "files": "path:binary content_id:string kind:string size:int64 mtime_ns:int64 ctime_ns:int64 "
    "stamp:string",
    "videos": "video_id:string path:binary title:string description:string tags:[string] "
    "duration:float64 fps:float64 width:int32 height:int32 audio:bool language:string stream:int32 "
    "decoder:string damage:string subtitles:string stages:string indexed_at:int64",
    "problems": "path:binary reason:string action:string stamp:string",
    "evidence": "evidence_id:string video_id:string start:float64 end:float64 kind:string words:string "
    "vector:vector track:string",
    "passages": "source_id:string passage_id:string doc_id:string title:string words:string vector:vector "
    "pages:[int32] page_starts:[int32]",
    "vectors": "clip_id:string video_id:string modality:string vector:vector frames:[vector] times:[float64]",
    "shots": "shot_id:string video_id:string start:float64 end:float64 key_time:float64 tone:string "
    "warmth:float64 style:string",
    "sound_tracks": "video_id:string classes:string loudness:[float32]",
}
"""Columns with their Arrow types by table; in brackets a list, `vector` is float16 of fixed length.

Tables of vectors carry the fingerprint of their encoder in their names.
"""
LETTERS: dict[AudioClass, str] = {"speech": "s", "music": "m", "ambient": "a", "silence": "-"}
"""How `sound_tracks` spells a second."""
CLASSES: dict[str, AudioClass] = {letter: name for name, letter in LETTERS.items()}
MISSING = "?"
"""A second that could not be decoded; its loudness is null."""

if set(LETTERS) != set(get_args(AudioClass)):
    raise AssertionError("every class of sound has a letter")


def arrow_schema(table: str, dim: int = 0) -> Any:
    """The Arrow schema of a table of `COLUMNS`; `dim`: length of its vectors."""
    import pyarrow as pa

    def arrow_type(kind: str) -> Any:
        if kind.startswith("["):
            return pa.list_(arrow_type(kind[1:-1]))
        return pa.list_(pa.float16(), dim) if kind == "vector" else pa.type_for_alias(kind)

    columns = (column.split(":") for column in COLUMNS[table].split())
    return pa.schema([(name, arrow_type(kind)) for name, kind in columns])


def column_names(table: str) -> list[str]:
    """Names of a table's columns, in order."""
    return [column.partition(":")[0] for column in COLUMNS[table].split()]


def _table(table: str, rows: Iterable[Mapping[str, Any]]) -> Any:
    """Paths are stored as bytes, and texts as valid UTF-8."""
    import pyarrow as pa

    kinds = dict(column.split(":") for column in COLUMNS[table].split())
    stored = [{name: _stored(value, kinds[name]) for name, value in row.items()} for row in rows]
    return pa.Table.from_pylist(stored, schema=arrow_schema(table))


def _stored(value: Any, kind: str) -> Any:
    if isinstance(value, str):
        return os.fsencode(value) if kind == "binary" else clean(value)
    return [clean(each) for each in value] if kind == "[string]" else value


def clean(text: str) -> str:
    """Text that is valid UTF-8: a title taken from an odd file name holds surrogate escapes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def vectors_table(encoder: EncoderRef) -> str:
    """Name of the table of an image encoder's clip vectors."""
    return f"vectors_{encoder.fingerprint[:24]}"


def is_clip_vectors(table: str) -> bool:
    """Whether a table holds vectors of clips."""
    return table.startswith("vectors_")


PASSAGE_TEXTS = ("doc_id", "title", FULL_TEXT, "pages", "page_starts")
"""What a passage is made of, beside its id."""


@dataclass(frozen=True, slots=True)
class VectorColumns:
    """A table of vectors and its columns."""

    name: str
    key: str
    owner: str
    dim: int
    others: tuple[str, ...] = ()
    """Other columns that filters need."""

    @property
    def columns(self) -> list[str]:
        """All that filters need."""
        return [self.key, self.owner, *self.others]


def owner_column(table: str) -> str:
    """The column of the content that a row belongs to."""
    return {"passages": "source_id", "files": "content_id"}.get(table, "video_id")


def vector_columns(table: str, dim: int) -> VectorColumns:
    """Columns of a table of vectors; `dim`: their length."""
    owner = owner_column(table)
    if table == "evidence":
        return VectorColumns(table, "evidence_id", owner, dim, ("start", "end", "kind"))
    return VectorColumns(table, "passage_id" if table == "passages" else "clip_id", owner, dim)


def quoted(values: Iterable[str]) -> str:
    """A SQL list of strings."""
    return "(" + ",".join("'" + value.replace("'", "''") + "'" for value in values) + ")"


def quoted_bytes(values: Iterable[bytes]) -> str:
    """A SQL list of byte strings."""
    return "(" + ",".join(f"X'{value.hex()}'" for value in values) + ")"


def file_rows(rows: Iterable[FileRow]) -> Any:
    """Files as an Arrow table."""
    return _table("files", map(asdict, rows))


def file_of(row: Mapping[str, Any]) -> FileRow:
    """A file from its row."""
    return FileRow(**{**row, "path": os.fsdecode(row["path"])})


def problem_of(row: Mapping[str, Any]) -> NotedProblem:
    """A problem from its row."""
    return NotedProblem(Problem(os.fsdecode(row["path"]), row["reason"], row["action"]), row["stamp"])


def problem_rows(problems: Iterable[NotedProblem]) -> Any:
    """Problems as an Arrow table."""
    return _table("problems", ({**asdict(noted.problem), "stamp": noted.stamp} for noted in problems))


def video_rows(videos: Mapping[Video, Mapping[str, Any]], indexed_at: Mapping[str, int]) -> Any:
    """Videos with their stages as an Arrow table. `indexed_at`: by their ids, in ns since 1970."""
    rows = []
    for video, stages in videos.items():
        made = {
            "subtitles": _tracks_text(video.subtitles),
            "stages": json.dumps(stages, sort_keys=True),
            "indexed_at": indexed_at[video.video_id],
        }
        rows.append({**asdict(video), **made})
    return _table("videos", rows)


def video_of(row: Mapping[str, Any]) -> Video:
    """A video from its row."""
    fields = {k: v for k, v in row.items() if k not in {"stages", "indexed_at"}}
    made = {
        "path": os.fsdecode(row["path"]),
        "tags": tuple(row["tags"]),
        "subtitles": _tracks_of(row["subtitles"]),
    }
    return Video(**fields | made)


def _tracks_text(tracks: Iterable[SubtitleTrack]) -> str:
    return json.dumps([asdict(track) for track in tracks])


@lru_cache
def _tracks_of(text: str) -> tuple[SubtitleTrack, ...]:
    try:
        return tuple(SubtitleTrack(**fields) for fields in json.loads(text))
    except (ValueError, TypeError):
        return ()  # damage


def stages_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """What each stage of a video was made with; none where that is damaged, so that `rag index` makes all
    again."""
    try:
        found = json.loads(row["stages"])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def vector_rows(clips: Sequence[ClipFrames], dim: int) -> Any:
    """Clip vectors, float (dim,), and frame vectors, float (frames, dim), as an Arrow table of float16.

    Raises ValueError for shapes that do not fit `dim` or the number of times.
    """
    import numpy as np
    import pyarrow as pa

    for c in clips:
        if c.rows.shape != (len(c.times), dim) or c.clip_vector.shape != (dim,):
            raise ValueError(
                f"{c.clip.clip_id}: frames {c.rows.shape}, clip vector {c.clip_vector.shape} and "
                f"{len(c.times)} times do not fit dimension {dim}"
            )
    offsets = pa.array(np.cumsum([0, *(len(c.times) for c in clips)]).astype(np.int32), pa.int32())
    flat = np.concatenate([c.rows for c in clips])
    columns = {
        "clip_id": [c.clip.clip_id for c in clips],
        "video_id": [c.clip.video_id for c in clips],
        "modality": ["video"] * len(clips),
        "vector": matrix_column(np.stack([c.clip_vector for c in clips]), dim),
        "frames": pa.ListArray.from_arrays(offsets, matrix_column(flat, dim)),
        "times": pa.ListArray.from_arrays(offsets, pa.array(np.concatenate([c.times for c in clips]))),
    }
    return pa.table(columns, schema=arrow_schema("vectors", dim))


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
    columns = {
        "evidence_id": [f"{video_id}:e{n:06d}" for n in range(len(chosen))],
        "video_id": [video_id] * len(chosen),
        "start": [s.start for s in chosen],
        "end": [s.end for s in chosen],
        "kind": [s.kind for s in chosen],
        FULL_TEXT: [clean(s.text) for s in chosen],
        "vector": matrix_column(np.asarray(vectors)[order], dim),
        "track": [_tracks_text([s.track] if s.track else ()) for s in chosen],
    }
    return pa.table(columns, schema=arrow_schema("evidence", dim))


def evidence_of(row: Mapping[str, Any]) -> Evidence:
    """A text span from its row."""
    track = next(iter(_tracks_of(row["track"])), None)
    return Evidence(row["video_id"], row["start"], row["end"], row["kind"], row[FULL_TEXT], track)


def passage_rows(
    source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]], dim: int
) -> Any:
    """Passages of a source with their vectors, float (n, dim), as an Arrow table of float16 vectors."""
    import numpy as np
    import pyarrow as pa

    columns = {
        "source_id": [source_id] * len(passages),
        "passage_id": [p.passage_id for p in passages],
        "doc_id": [p.doc_id for p in passages],
        "title": [clean(p.title) for p in passages],
        # Title and text in one column, so that one full-text index ranks both.
        FULL_TEXT: [clean(f"{p.title}\n{p.text}") for p in passages],
        "vector": matrix_column(np.asarray(vectors), dim),
        "pages": [list(p.pages) or None for p in passages],
        "page_starts": [list(p.page_starts) or None for p in passages],
    }
    return pa.table(columns, schema=arrow_schema("passages", dim))


def passage_of(row: Mapping[str, Any]) -> Passage:
    """A passage from its row."""
    text = row[FULL_TEXT][len(row["title"]) + 1 :]
    pages, starts = (tuple(row[name] or ()) for name in ("pages", "page_starts"))
    return Passage(row["passage_id"], row["doc_id"], row["title"], text, pages, starts)


def shot_rows(shots: Sequence[Shot]) -> Any:
    """Shots as an Arrow table."""
    return _table("shots", map(asdict, shots))


def sound_track_rows(track: SoundTrack) -> Any:
    """A sound track as an Arrow table of one row."""
    value = {
        "video_id": track.video_id,
        "classes": "".join(MISSING if name is None else LETTERS[name] for name in track.classes),
        "loudness": [None if level != level else level for level in track.loudness.tolist()],
    }
    return _table("sound_tracks", [value])


def sound_track_of(row: Mapping[str, Any]) -> SoundTrack:
    """A sound track from its row; loudness (seconds,) float32."""
    import numpy as np

    classes = tuple(None if letter == MISSING else CLASSES[letter] for letter in row["classes"])
    return SoundTrack(row["video_id"], classes, np.asarray(row["loudness"], np.float32))
