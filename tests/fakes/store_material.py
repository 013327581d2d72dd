"""A small library of made-up rows: the same bytes for the same numbers, without any encoder."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from corpora.records import Clip, Evidence, Passage, Video
from rag.store.records import ClipFrames, EncoderRef, FileRow, Meta, document_paths
from rag.store.schema import matrix_column, vector_columns
from rag.store.vectors import Matrix
from rag.store.writing import Writer

IMAGE = EncoderRef("tiny", "f" * 32, 16, "torch-fp32", 8, "w" * 64)
TEXT = EncoderRef("words", "e" * 32, 8)
META = Meta(IMAGE, TEXT, {"video.rate": 2.0})
KINDS = ("subtitle", "asr", "ocr")
WORDS = ("solder", "iron", "lamp", "drill", "mirror", "telescope", "running", "cats", "café", "river")


def unit(seed: int, *shape: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def matrix_of(rows: NDArray[np.floating[Any]], keys: Sequence[str], owners: Sequence[str] = ()) -> Matrix:
    """Vectors in memory, (n, dim), as of clips with these ids."""
    columns = {"clip_id": keys, "video_id": owners or ["v"] * len(keys)}
    table = pa.table({**columns, "vector": pa.chunked_array([matrix_column(rows, rows.shape[1])])})
    return Matrix(table, vector_columns("clips", rows.shape[1]))


def video(n: int, clips: int = 2) -> Video:
    video_id = f"{n:032x}"
    return Video(video_id, video_path(n), f"Video {n}", "", ("tag",), 30.0 * clips, 25.0, 64, 48, True, "en")


def video_path(n: int) -> str:
    return f"/corpus/part{n % 2}/video{n}.mp4"


def clip_frames(n: int, index: int, dim: int = IMAGE.dim) -> ClipFrames:
    video_id, start = f"{n:032x}", 30.0 * index
    frames = 5 + (n + index) % 3
    return ClipFrames(
        Clip(f"{video_id}:{index:05d}", video_id, start, start + 30.0),
        start + np.arange(frames) / 2,
        unit(1000 * n + index, frames, dim),
        unit(1000 * n + index + 500, dim),
    )


def spans(n: int, count: int = 3) -> list[Evidence]:
    return [
        Evidence(
            f"{n:032x}", 10.0 * i, 10.0 * i + 5.0, KINDS[i % 3], f"{WORDS[(n + i) % len(WORDS)]} number {n}"
        )
        for i in range(count)
    ]


def put_video(writer: Writer, n: int, stages: Mapping[str, str], clips: int = 2, **measures: Any) -> Video:
    """Write a video with its clips and texts, and what was measured."""
    made, held = video(n, clips), [clip_frames(n, i) for i in range(clips)]
    writer.put_video(made, stages, held, spans(n), unit(n, 3, TEXT.dim), **measures)
    return made


def add_video(writer: Writer, n: int, clips: int = 2) -> Video:
    """Index one video, and commit it: also where it is there already."""
    made = video(n, clips)
    if made.video_id not in writer.stage_fingerprints():
        put_video(writer, n, {"frames": "1"}, clips)
    writer.put_file(file_row(made.path, made.video_id, "video"))
    writer.flush()
    return made


def file_row(path: str, content_id: str, kind: str) -> FileRow:
    return FileRow(path, content_id, "video" if kind == "video" else "passages", 1, 2, 3, f"stamp {path}")


def passages(n: int, count: int = 4) -> list[Passage]:
    """Those of odd sources are on pages."""
    return [
        Passage(
            f"p{n:03d}-{i}",
            f"d{n}",
            f"How to {WORDS[(n + i) % len(WORDS)]}",
            f"Take the lamp {n} {i}.",
            (i + 1, i + 2)[: 1 + i % 2] if n % 2 else (),
        )
        for i in range(count)
    ]


def add_source(writer: Writer, n: int, count: int = 4) -> str:
    source_id = f"source{n}"
    if source_id not in document_paths(writer.files().values()):
        writer.put_passages(source_id, passages(n, count), unit(5000 + n, count, TEXT.dim))
        writer.put_file(file_row(f"/corpus/texts/{n}.txt", source_id, "passages"))
    return source_id


def write(folder: Path, videos: Sequence[int], sources: Sequence[int]) -> None:
    with Writer.open(folder) as writer:
        writer.set_meta(META)
        for n in videos:
            add_video(writer, n)
        for n in sources:
            add_source(writer, n)
        writer.maintain()


def fill(folder: Path, videos: Sequence[int] = (1, 2, 3), sources: Sequence[int] = (1, 2)) -> None:
    """Write into `folder`; a new library is the copy of one that each process writes once."""
    if folder.exists():
        write(folder, videos, sources)
    else:
        shutil.copytree(_written(tuple(videos), tuple(sources)), folder)


@cache
def _written(videos: tuple[int, ...], sources: tuple[int, ...]) -> Path:
    above = Path(tempfile.mkdtemp(prefix="rag-store-"))
    atexit.register(shutil.rmtree, above)
    write(above / "library", videos, sources)
    return above / "library"
