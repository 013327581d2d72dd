"""How quick the library is at 100 hours: 12,000 clips, 72,000 evidence spans, 10,000 passages.

    python -m benchmarks.store_scale [--folder FOLDER] [--clips 12000] [--spans 72000] [--passages 10000]

Builds a made-up library once (740 MB; kept where --folder says so) and prints
figures: CPU seconds of a cold process, median milliseconds of each call.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.material import median_ms
from corpora.records import Clip, Evidence, Passage, Video
from rag.records import SearchFilter
from rag.store import schema
from rag.store.database import Database
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.records import ClipFrames, EncoderRef, FileRow, Meta
from rag.store.writing import Writer

IMAGE = EncoderRef("made-up", "a" * 32, 512)
TEXT = EncoderRef("made-up", "b" * 32, 384)
CLIPS_PER_VIDEO = 60
FRAMES = 60

COLD = """
import sys, time
from pathlib import Path
import numpy as np
start = time.process_time()
from rag.store.reading import Reader
reader = Reader.open(Path(sys.argv[1]))
opened = time.process_time()
reader.search_clips(np.eye(1, 512, dtype=np.float32)[0], 5)
dense = time.process_time()
reader.match_evidence("word7 word99", 20)
end = time.process_time()
print(round(opened - start, 3), round(dense - opened, 3), round(end - dense, 3), round(end - start, 3))
"""


def unit(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Random unit rows, float32 of the shape."""
    rows = rng.standard_normal(shape, dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows


def words(rng: np.random.Generator, count: int) -> str:
    """Random words with a Zipf distribution."""
    return " ".join(f"word{i}" for i in rng.zipf(1.3, count) % 5000)


def build(folder: Path, clips: int, spans: int, passages: int, meta: Meta | None = None) -> None:
    """Written in bulk, past the writer's checks, video by video, and then maintained as after indexing.

    `meta`: of the library that is there already, with an image encoder.
    """
    rng = np.random.default_rng(0)
    meta = meta or Meta(IMAGE, TEXT)
    image, text = meta.image_encoder, meta.text_encoder
    assert image is not None
    videos = -(-clips // CLIPS_PER_VIDEO)
    with Writer.open(folder) as writer:
        writer.set_meta(meta)
        db = Database(Layout(folder))
        for n in range(videos):
            video_id = f"{n:032x}"
            count = min(CLIPS_PER_VIDEO, clips - n * CLIPS_PER_VIDEO)
            video = Video(
                video_id, f"/v/{n}.mp4", f"Video {n}", "", (), 30.0 * count, 30, 1280, 720, True, "en"
            )
            db.add("videos", schema.video_rows(video, "ready", {}, n))
            rows = [
                ClipFrames(
                    Clip(f"{video_id}:{i:05d}", video_id, 30.0 * i, 30.0 * i + 30),
                    30.0 * i + np.arange(FRAMES) / 2,
                    unit(rng, FRAMES, image.dim),
                    unit(rng, image.dim),
                )
                for i in range(count)
            ]
            db.add(schema.vectors_table(image), schema.vector_rows(rows, image.dim))
            db.add("clips", schema.clip_rows(rows))
            m = spans // videos
            texts = [Evidence(video_id, 5.0 * i, 5.0 * i + 5, "asr", words(rng, 12)) for i in range(m)]
            db.add("evidence", schema.evidence_rows(video_id, texts, unit(rng, m, text.dim), text.dim))
            writer.put_file(FileRow(video.path, video_id, "video", 1, 1, 1, ""))
        made = [Passage(f"p{i:06d}", f"d{i // 4}", words(rng, 4), words(rng, 120)) for i in range(passages)]
        writer.put_passages("source", made, unit(rng, passages, text.dim))
        writer.put_file(FileRow("/p.jsonl", "source", "passages", 1, 1, 1, ""))
        writer.maintain()


def report(folder: Path) -> None:
    """Print size, memory and latency of the library in `folder`."""
    cold = subprocess.run(
        [sys.executable, "-c", COLD, str(folder)], capture_output=True, text=True, check=True
    )
    print(
        "cold process, CPU s beyond python + numpy: open, first clip search, first text match, sum:",
        cold.stdout.strip(),
    )
    rng = np.random.default_rng(1)
    images, sentences = unit(rng, 64, IMAGE.dim), unit(rng, 64, TEXT.dim)
    queries = [words(rng, 6) for _ in range(64)]
    with Reader.open(folder) as reader:
        found = [[hit.key for hit in reader.search_clips(images[i], 5)] for i in range(64)]
        part = SearchFilter(videos=frozenset(video.video_id for video in reader.videos()[::3]))
        calls: dict[str, Callable[[int], Any]] = {
            "search_clips k=5": lambda i: reader.search_clips(images[i], 5),
            "search_clips k=5, a third of the videos": lambda i: reader.search_clips(images[i], 5, part),
            "frames of 5 clips": lambda i: reader.frames(found[i]),
            "search_clips k=5 + frames": lambda i: reader.frames(
                [hit.key for hit in reader.search_clips(images[i], 5)]
            ),
            "search_evidence k=50": lambda i: reader.search_evidence(sentences[i], 50),
            "search_evidence k=50, a third of the videos": lambda i: reader.search_evidence(
                sentences[i], 50, part
            ),
            "search_passages k=50": lambda i: reader.search_passages(sentences[i], 50),
            "match_evidence k=50": lambda i: reader.match_evidence(queries[i], 50),
            "match_evidence k=50, a third of the videos": lambda i: reader.match_evidence(
                queries[i], 50, part
            ),
            "match_passages k=50": lambda i: reader.match_passages(queries[i], 50),
            "evidence of a window, new video": lambda i: reader.evidence(f"{i:032x}", 30.0, 35.0),
            "evidence of a window, same video": lambda i: reader.evidence(f"{0:032x}", 5.0 * i, 5.0 * i + 5),
            "spans of 20 hits": lambda i: reader.spans([f"{i:032x}:e{j:06d}" for j in range(20)]),
            "passages of 6 hits": lambda i: reader.passages([f"p{i * 6 + j:06d}" for j in range(6)]),
        }
        for name, call in calls.items():
            took = median_ms(call, 31)
            print(f"{name}: {took['wall_ms']} ms wall, {took['cpu_ms']} ms CPU")
        start = time.perf_counter()
        stats = reader.stats()
        print(f"stats: {round(1000 * (time.perf_counter() - start))} ms; {stats.bytes / 1e6:.0f} MB on disk")


def main() -> None:
    """Build a library of the given size, or report on one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--clips", type=int, default=12_000)
    parser.add_argument("--spans", type=int, default=72_000)
    parser.add_argument("--passages", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "library"
        if not Layout(folder).exists():
            start = time.process_time()
            build(folder, options.clips, options.spans, options.passages)
            print(f"built in {time.process_time() - start:.0f} CPU s")
        report(folder)


if __name__ == "__main__":
    main()
