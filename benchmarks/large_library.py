"""Questions over a library of 100, 1,000 or 10,000 hours: made, asked, compared with exact search and others.

    python -m benchmarks.large_library make --hours 10000
    python -m benchmarks.large_library ask --hours 10000 [--questions 200]
    python -m benchmarks.large_library recall --hours 10000 [--questions 200]
    python -m benchmarks.large_library compare --hours 1000 [--questions 200]
    python -m benchmarks.large_library commit --hours 10000

The library is that of `benchmarks.synthetic_library`, in the folder `large-HOURS` of --folder.

`ask` is `Library.search` in two fresh processes: in one that finds nothing of the library in the page cache,
so that each question reads rows from the disk, and in one that finds what the first has read. It differs from
`rag search` in two points: the vector of a question in the space of images is random, for no image encoder
made the library, and nothing is printed. `recall` compares the ten best of the product with a scan of the
stored vectors that shares no code with it. `compare` gives one run of the product, of LanceDB's vector index
with its defaults and of FAISS's HNSW, on the same vectors and queries; LanceDB's build is ended after
--build-minutes of processor time. `commit` adds a video of 10 minutes and takes it away again.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import kept_folder, option_parser
from benchmarks.synthetic_library import (
    META,
    ClipSpace,
    Rows,
    build,
    encoded,
    more_video,
    prose,
    questions,
    unit,
)
from eval.metrics.intervals import cluster_interval
from eval.reports.tables import markdown_table
from indexers.protocol import TextTower
from rag.records import SearchFilter
from rag.settings import load_settings
from rag.store import schema
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.vector_index import one_thread
from rag.store.writing import Writer

TOP = 10
SEED = 17
IMAGE_DIM = META.image_encoder.dim if META.image_encoder else 0


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries of one kind over one table."""

    name: str
    table: str
    key: str
    rows: Rows
    """Unit float32 (n, dim)."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What `compare` measures of an index."""

    name: str
    build_cpu: float
    """Seconds, from the stored vectors to an index that answers."""
    size: int
    """Bytes, of the index without the vectors that the table holds anyway."""
    find: Callable[[Rows], Sequence[int]] | None
    """Ten row numbers for one unit float32 (dim,); None where building was ended at its limit."""


# Queries


def clip_queries(folder: Path, count: int) -> list[QuerySet]:
    """Two sets as a text tower gives them, outside the distribution of the clips.

    `queries`: each has a share of one clip; `broad`: of a topic that several videos have.
    """
    rng = np.random.default_rng(SEED)
    space = ClipSpace(_videos(folder), IMAGE_DIM)
    data = vectors_of(folder, "clips")
    chosen = np.sort(rng.choice(data.count_rows(), count, replace=False))
    clips = schema.column_matrix(data.take(chosen, columns=["vector"])["vector"], IMAGE_DIM)
    topics = space.topics[rng.integers(len(space.topics), size=count)]
    near = clips.astype(np.float32)
    return [
        QuerySet("queries", "clips", "clip_id", space.text_like(rng, near, 0.25)),
        QuerySet("broad", "clips", "clip_id", space.text_like(rng, topics, 0.2)),
    ]


def evidence_queries(count: int) -> list[QuerySet]:
    """Vectors of the text encoder: questions on what the spans are about, and prose on other things."""
    rng = np.random.default_rng(SEED)
    return [
        QuerySet("questions", "evidence", "evidence_id", encoded(questions(rng, count))),
        QuerySet("prose", "evidence", "evidence_id", encoded(prose(rng, count))),
    ]


def vectors_of(folder: Path, table: str) -> Any:
    """The Lance dataset that has the vectors of `clips` or `evidence`."""
    import lance

    assert META.image_encoder is not None
    name = schema.vectors_table(META.image_encoder) if table == "clips" else table
    return lance.dataset(str(Layout(folder).table(name)))


def _videos(folder: Path) -> int:
    import lance

    return int(lance.dataset(str(Layout(folder).table("videos"))).count_rows())


# Asking


class GivenTower(TextTower):
    """A text tower of the images' space, whose vectors are given by text; of another text they are random."""

    name, dim, backend, weights = "synthetic", IMAGE_DIM, "", ""
    fingerprint = META.image_encoder.fingerprint if META.image_encoder else ""

    def __init__(self, given: Mapping[str, Rows]) -> None:
        self._given = given

    def _encode(self, texts: Sequence[str]) -> Rows:
        return np.stack([self._given[text] if text in self._given else _random(text) for text in texts])


@cache
def _random(text: str) -> Rows:
    return unit(np.random.default_rng(list(text.encode())).standard_normal(IMAGE_DIM))


def drop_page_cache(folder: Path) -> int:
    """Drop what the kernel holds of the files below `folder`; their bytes."""
    total = 0
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
            total += path.stat().st_size
    return total


def ask(folder: Path, count: int) -> dict[str, Any]:
    """Latencies and memory of two fresh processes, of which the first meets no cached page of the library."""
    rng = np.random.default_rng(SEED + 1)
    texts = list(dict.fromkeys(questions(rng, 2 * count)))[: count + 1]
    vectors = clip_queries(folder, count + 1)[0].rows
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "questions.npz"
        np.savez(file, texts=np.array(texts), vectors=vectors)
        size = drop_page_cache(folder)
        command = [sys.executable, "-m", "benchmarks.large_library", "answer", "--folder", str(folder)]
        command += ["--file", str(file)]
        environment = {"OPENBLAS_THREAD_TIMEOUT": "4", **os.environ}  # as `rag` does
        done = [
            subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            for _ in range(2)
        ]
    first, again = (json.loads(each.stdout) for each in done)
    return {"library_bytes": size, "nothing_cached": first, "again": again}


def answer(folder: Path, file: Path) -> dict[str, Any]:
    """The part of `ask` that is measured."""
    gc.set_threshold(10_000)  # as `rag` does
    begun = time.perf_counter()
    from rag.library import Library

    held = np.load(file)
    texts, vectors = held["texts"].tolist(), held["vectors"]
    tower = GivenTower(dict(zip(texts, vectors, strict=True)))
    imported = time.perf_counter()
    with Library.open(folder) as library:
        vars(library._engine)["tower"] = tower
        opened = time.perf_counter()
        library._engine.text_encoder.encode_text(["warm"])
        encoder, encoder_cpu = time.perf_counter(), time.process_time()
        library.search(texts[0], top_k=TOP)
        first, first_cpu = time.perf_counter(), time.process_time()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        walls, cpus = [], []
        for text in texts[1:]:
            wall, cpu = time.perf_counter(), time.process_time()
            library.search(text, top_k=TOP)
            walls.append(1000 * (time.perf_counter() - wall))
            cpus.append(1000 * (time.process_time() - cpu))
        parts = _parts(library._engine.reader, texts, vectors, library._engine.text_encoder)
    p50, p95 = np.percentile(walls, [50, 95])
    return {
        "import_s": round(imported - begun, 3),
        "open_s": round(opened - imported, 3),
        "text_encoder_s": round(encoder - opened, 3),
        "first_question_s": round(first - encoder, 3),
        "first_question_cpu_s": round(first_cpu - encoder_cpu, 3),
        "to_first_answer_s": round(first - begun, 3),
        "to_first_answer_cpu_s": round(first_cpu, 3),
        "n": len(walls),
        "p50_ms": round(float(p50), 1),
        "p95_ms": round(float(p95), 1),
        "cpu_p50_ms": round(float(np.median(cpus)), 1),
        "parts_p50_ms": parts,
        "rss_after_first_mb": round(memory / 1024),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _parts(reader: Reader, texts: Sequence[str], vectors: Rows, encoder: Any) -> dict[str, float]:
    """Median milliseconds of each search of a question, by itself."""
    sentences = [encoder.encode_text([text])[0] for text in texts[:60]]
    calls: dict[str, Callable[[int], Any]] = {
        "clips": lambda i: reader.search_clips(vectors[i], 80),
        "evidence": lambda i: reader.search_evidence(sentences[i], 80),
        "full text of evidence": lambda i: reader.match_evidence(texts[i], 80),
        "passages": lambda i: reader.search_passages(sentences[i], 80),
        "full text of passages": lambda i: reader.match_passages(texts[i], 80),
    }
    return {name: round(float(np.median(_timed(call, len(sentences)))), 2) for name, call in calls.items()}


def _timed(call: Callable[[int], Any], count: int) -> list[float]:
    """Wall milliseconds of each call."""
    walls = []
    for number in range(count):
        begun = time.perf_counter()
        call(number)
        walls.append(1000 * (time.perf_counter() - begun))
    return walls


# Recall


def exact(
    data: Any, key: str, queries: Rows, masks: Mapping[str, Callable[[Any], NDArray[np.bool_]]]
) -> dict[str, list[list[str]]]:
    """The keys of the ten rows of greatest inner product, for each mask and query; in one scan of the table.

    `masks`: bool (rows of a batch,) of a batch with key and video_id. Inner products of the float16 rows
    are summed in float32, and the best 20 again in float64; ties by key.
    """
    keep = 2 * TOP
    best = {name: np.full((len(queries), keep), -np.inf) for name in masks}
    keys = {name: np.full((len(queries), keep), "", object) for name in masks}
    exactly = queries.astype(np.float64)
    for batch in data.scanner(columns=[key, "video_id", "vector"], batch_size=16384).to_batches():
        rows = batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(-1, queries.shape[1])
        scores = rows.astype(np.float32) @ queries.T
        for name, mask in masks.items():
            shown = mask(batch)
            within = np.where(shown[:, None], scores, -np.inf) > best[name].min(axis=1) - 1e-5
            for place in np.flatnonzero(within.any(axis=0)):
                found = np.flatnonzero(within[:, place])
                if len(found) > keep:
                    found = found[np.argpartition(-scores[found, place], keep)[:keep]]
                values = rows[found].astype(np.float64) @ exactly[place]
                names = batch[key].take(found).to_pylist()
                both = np.concatenate([best[name][place], values])
                all_keys = np.concatenate([keys[name][place], np.array(names, object)])
                order = np.lexsort((all_keys, -both.round(6)))[:keep]
                best[name][place], keys[name][place] = both[order], all_keys[order]
    return {name: [row[:TOP].tolist() for row in held] for name, held in keys.items()}


def recall(folder: Path, count: int) -> str:
    """recall@10 of the product, by query set and filter, as a Markdown table."""
    import pyarrow as pa

    rng = np.random.default_rng(SEED + 2)
    body = []
    with Reader.open(folder, exact_rows=load_settings().search.exact_rows) as reader:
        videos = [video.video_id for video in reader.videos()]
        filters = {
            "none": None,
            "a third of the videos": frozenset(rng.choice(videos, max(1, len(videos) // 3), replace=False)),
            "2 % of the videos": frozenset(rng.choice(videos, max(1, len(videos) // 50), replace=False)),
        }
        masks: dict[str, Callable[[Any], NDArray[np.bool_]]] = {}
        for name, wanted in filters.items():
            held = pa.array(sorted(wanted or videos))
            masks[name] = partial(_of_videos, held)
        for sets, search in (
            (clip_queries(folder, count), reader.search_clips),
            (evidence_queries(count), reader.search_evidence),
        ):
            stacked = np.concatenate([one.rows for one in sets])
            right = exact(vectors_of(folder, sets[0].table), sets[0].key, stacked, masks)
            for at, one in enumerate(sets):
                for name, wanted in filters.items():
                    where = SearchFilter(videos=wanted)
                    walls, shares = [], []
                    for number, row in enumerate(one.rows):
                        begun = time.perf_counter()
                        hits = search(row, TOP, where)
                        walls.append(1000 * (time.perf_counter() - begun))
                        gold = right[name][at * count + number]
                        shares.append(len({hit.key for hit in hits} & set(gold)) / len(gold))
                    body.append([one.table, one.name, name, *_share(shares), f"{np.median(walls):.1f}"])
    return markdown_table(["table", "queries", "filter", "recall@10", "95 % interval", "n", "p50, ms"], body)


def _share(values: Sequence[float]) -> tuple[str, str, str]:
    """Mean, interval and n, as a table has them."""
    found = cluster_interval(values, [str(number) for number in range(len(values))])
    assert found is not None
    return f"{found.value:.4f}", f"{found.low:.4f} to {found.high:.4f}", str(found.n)


# Beside other indexes

COMPARED = [
    "table, rows",
    "index",
    "build, CPU s",
    "ratio",
    "size, MB",
    "p50, ms",
    "ratio",
    "recall@10, set 1",
    "recall@10, set 2",
]


def lancedb_default(rows: NDArray[np.float16], folder: Path, limit: int) -> Engine:
    """LanceDB's `create_index` and `search`, each with nothing chosen but cosine.

    `limit`: seconds of processor time, after which building is ended.
    """
    import lancedb
    import pyarrow as pa

    held = pa.table({"number": np.arange(len(rows)), "vector": schema.matrix_column(rows, rows.shape[1])})
    lancedb.connect(folder).create_table("rows", held)
    # In a process of its own, which alone can be ended.
    command = [sys.executable, "-c", BUILD_LANCEDB, str(folder), str(limit)]
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode == -signal.SIGXCPU:
        return Engine("LanceDB, default", float(limit), 0, None)
    built.check_returncode()
    table = lancedb.connect(folder).open_table("rows")
    size = sum(path.stat().st_size for path in (folder / "rows.lance/_indices").rglob("*") if path.is_file())

    def find(query: Rows) -> list[int]:
        found = (
            table.search(query).distance_type("cosine").select(["number", "_distance"]).limit(TOP).to_arrow()
        )
        numbers: list[int] = found["number"].to_pylist()
        return numbers

    return Engine("LanceDB, default", float(built.stdout), size, find)


BUILD_LANCEDB = """
import resource, sys, time
import lancedb
table = lancedb.connect(sys.argv[1]).open_table("rows")
begun = time.process_time()
limit = int(begun) + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 60))
table.create_index(metric="cosine", vector_column_name="vector")
print(time.process_time() - begun)
"""


def faiss_hnsw(rows: NDArray[np.float16]) -> Engine:
    """FAISS's `IndexHNSWFlat`: 32 neighbours, `efSearch` 128 where its default is 16; one thread."""
    import faiss

    index = faiss.IndexHNSWFlat(rows.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efSearch = 128
    begun = time.process_time()
    with one_thread(faiss):
        index.add(rows.astype(np.float32))
    cpu = time.process_time() - begun
    size = faiss.serialize_index(index).nbytes - rows.size * 4

    def find(query: Rows) -> list[int]:
        with one_thread(faiss):
            numbers: list[int] = index.search(query[None], TOP)[1][0].tolist()
        return numbers

    return Engine("FAISS HNSW", cpu, size, find)


def product(folder: Path, table: str, keys: Sequence[str], temporary: Path) -> Engine:
    """The library's own search: its maintenance without index files, and the first question."""
    copy = hard_links(folder, temporary / "library")
    shutil.rmtree(copy / "indexes", ignore_errors=True)
    place = {key: number for number, key in enumerate(keys)}
    begun = time.process_time()
    with Writer.open(copy) as writer:
        writer.maintain()
    reader = Reader.open(copy, exact_rows=load_settings().search.exact_rows)
    search = reader.search_clips if table == "clips" else reader.search_evidence
    dim = IMAGE_DIM if table == "clips" else META.text_encoder.dim
    search(np.eye(1, dim, dtype=np.float32)[0], TOP)
    cpu = time.process_time() - begun
    name = schema.vectors_table(META.image_encoder) if table == "clips" and META.image_encoder else table
    files = (copy / "indexes").glob(f"{name}*")
    size = sum(path.stat().st_size for path in files if path.suffix != ".vectors")
    return Engine("this library", cpu, size, lambda row: [place[hit.key] for hit in search(row, TOP)])


def hard_links(folder: Path, copy: Path) -> Path:
    """A copy of a library that takes no room: what is written there leaves the original as it is."""
    shutil.copytree(folder, copy, copy_function=os.link, ignore=shutil.ignore_patterns("*.lock"))
    return copy


def _of_videos(videos: Any, batch: Any) -> NDArray[np.bool_]:
    """bool (n,): the rows of a batch whose video is among an Arrow array of ids."""
    import pyarrow.compute as pc

    found: NDArray[np.bool_] = pc.is_in(batch["video_id"], videos).to_numpy(zero_copy_only=False)
    return found


def compare(folder: Path, count: int, tables: Sequence[str], limit: int) -> str:
    """Build, size, latency and recall of each index, as a Markdown table; ratios are to the first."""
    body: list[list[str]] = []
    for table in tables:
        sets = clip_queries(folder, count) if table == "clips" else evidence_queries(count)
        body += _compare(folder, table, sets, limit)
    return markdown_table(COMPARED, body)


def _compare(folder: Path, table: str, sets: Sequence[QuerySet], limit: int) -> Iterator[list[str]]:
    held = vectors_of(folder, table).to_table(columns=[sets[0].key, "vector"])
    keys = held[sets[0].key].to_pylist()
    rows = schema.column_matrix(held["vector"], sets[0].rows.shape[1])
    right = [_nearest(rows, one.rows) for one in sets]
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        makers: list[Callable[[], Engine]] = [
            lambda: product(folder, table, keys, Path(temporary)),
            lambda: lancedb_default(rows, Path(temporary), limit),
            lambda: faiss_hnsw(rows),
        ]
        first: tuple[float, float] | None = None
        for make in makers:
            engine = make()
            name = f"{table}, {len(rows):,}"
            if engine.find is None:
                ended = f"not built after {engine.build_cpu:.0f}"
                yield [name, engine.name, ended, *["-"] * (len(COMPARED) - 3)]
                continue
            walls, shares = _searched(engine.find, sets, right)
            p50 = float(np.median(walls))
            first = first or (engine.build_cpu, p50)
            print(engine.name, f"{engine.build_cpu:.1f}", f"{p50:.2f}", file=sys.stderr)
            yield [
                name,
                engine.name,
                f"{engine.build_cpu:.1f}",
                f"{engine.build_cpu / first[0]:.1f}",
                f"{engine.size / 1e6:.0f}",
                f"{p50:.2f}",
                f"{p50 / first[1]:.2f}",
                *[_share(each)[0] for each in shares],
            ]


def _searched(
    find: Callable[[Rows], Sequence[int]], sets: Sequence[QuerySet], right: Sequence[Sequence[set[int]]]
) -> tuple[list[float], list[list[float]]]:
    """Milliseconds of all queries, and the shares of the ten nearest rows that were found, by set."""
    find(sets[0].rows[0])
    walls: list[float] = []
    shares: list[list[float]] = []
    for one, gold in zip(sets, right, strict=True):
        found: list[Sequence[int]] = []
        for row in one.rows:
            begun = time.perf_counter()
            found.append(find(row))
            walls.append(1000 * (time.perf_counter() - begun))
        shares.append([len(set(got) & wanted) / TOP for got, wanted in zip(found, gold, strict=True)])
    return walls, shares


def _nearest(rows: NDArray[np.float16], queries: Rows) -> list[set[int]]:
    """Numbers of the ten rows nearest to each query."""
    scores = np.concatenate(
        [rows[at : at + 65536].astype(np.float32) @ queries.T for at in range(0, len(rows), 65536)]
    )
    return [set(np.argpartition(-column, TOP)[:TOP].tolist()) for column in scores.T]


# Writing


def commit(folder: Path) -> dict[str, Any]:
    """Seconds and bytes read of one more video, and of maintenance, on a copy of hard links."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        copy = hard_links(folder, Path(temporary) / "library")
        figures: dict[str, Any] = {}
        with _measured(figures, "open the writer"):
            writer = Writer.open(copy)
        with writer:
            for number in (1, 2):
                with _measured(figures, f"video {number} of 20 clips and 120 spans"):
                    more_video(writer, number)
            with _measured(figures, "maintain"):
                writer.maintain()
            with _measured(figures, "maintain, nothing to do"):
                writer.maintain()
            with _measured(figures, "remove a video"):
                writer.remove_paths(["/more/1.mp4"])
    return figures


@contextmanager
def _measured(figures: dict[str, Any], name: str) -> Iterator[None]:
    wall, cpu, read = time.perf_counter(), time.process_time(), _bytes_read()
    yield
    figures[name] = {
        "wall_s": round(time.perf_counter() - wall, 3),
        "cpu_s": round(time.process_time() - cpu, 3),
        "read_mb": round((_bytes_read() - read) / 1e6, 1),
    }


def _bytes_read() -> int:
    """Bytes that this process asked the system for, cached or not."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["rchar"])


def main() -> None:
    """Print what was asked for."""
    parser = option_parser(__doc__)
    parser.add_argument("what", choices=["make", "ask", "answer", "recall", "compare", "commit"])
    parser.add_argument("--hours", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=kept_folder())
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--tables", nargs="+", default=["clips", "evidence"])
    parser.add_argument("--build-minutes", type=int, default=25, help="of processor time for LanceDB's index")
    parser.add_argument("--file", type=Path, help="of `answer`, which `ask` starts")
    chosen = parser.parse_args()
    folder = chosen.folder / f"large-{chosen.hours}"
    begun, cpu = time.perf_counter(), time.process_time()
    if chosen.what == "make":
        build(folder, chosen.hours)
        wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(json.dumps({"wall_s": round(wall), "cpu_s": round(cpu), "bytes": size}))
    elif chosen.what == "answer":
        print(json.dumps(answer(chosen.folder, chosen.file)))
    elif chosen.what == "recall":
        print(recall(folder, chosen.questions))
    elif chosen.what == "compare":
        print(compare(folder, chosen.questions, chosen.tables, 60 * chosen.build_minutes))
    else:
        figures = ask(folder, chosen.questions) if chosen.what == "ask" else commit(folder)
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
