"""Questions over a library of 100, 1,000 or 10,000 hours: made, asked, compared with exact search.

    python -m benchmarks.large_library make --hours 10000
    python -m benchmarks.large_library ask --hours 10000 [--questions 200]
    python -m benchmarks.large_library recall --hours 10000 [--questions 200]

The library is that of `benchmarks.synthetic_library`, in the folder `large-HOURS` of --folder.

`ask` is `Library.search`, with what the page cache has of the library: drop it before (`vmtouch -e`) to
measure reading from the disk. It differs from `rag search` in two points: the vector of a question in the
space of images is given, for no image encoder made the library, and nothing is printed. `recall` compares the
ten best of the product with a scan of the stored vectors that shares no code with it.
"""

from __future__ import annotations

import gc
import json
import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option_parser
from benchmarks.synthetic_library import IMAGE, ClipSpace, Rows, build, encoded, prose, questions, unit
from eval.metrics.intervals import cluster_interval
from eval.reports.tables import markdown_table
from indexers.protocol import TextTower
from rag.records import SearchFilter
from rag.settings import load_settings
from rag.store import schema
from rag.store.layout import Layout
from rag.store.reading import Reader

TOP = 10
SEED = 17


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries of one kind over one table."""

    name: str
    table: str
    key: str
    rows: Rows
    """Unit float32 (n, dim)."""


# Queries


def clip_queries(folder: Path, count: int) -> list[QuerySet]:
    """Two sets as a text tower gives them, outside the distribution of the clips.

    `queries`: each has a share of one clip; `broad`: of a topic that several videos have.
    """
    rng = np.random.default_rng(SEED)
    space = ClipSpace(_videos(folder), IMAGE.dim)
    data = vectors_of(folder, "clips")
    chosen = np.sort(rng.choice(data.count_rows(), count, replace=False))
    clips = schema.column_matrix(data.take(chosen, columns=["vector"])["vector"], IMAGE.dim)
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

    name = schema.vectors_table(IMAGE) if table == "clips" else table
    return lance.dataset(str(Layout(folder).table(name)))


def _videos(folder: Path) -> int:
    import lance

    return int(lance.dataset(str(Layout(folder).table("videos"))).count_rows())


# Asking


class GivenTower(TextTower):
    """A text tower of the images' space, whose vectors are given by text; of another text they are random."""

    name, dim, backend, weights = "synthetic", IMAGE.dim, "", ""
    fingerprint = IMAGE.fingerprint

    def __init__(self, given: Mapping[str, Rows]) -> None:
        self._given = given

    def _encode(self, texts: Sequence[str]) -> Rows:
        return np.stack([self._given[text] if text in self._given else _random(text) for text in texts])


@cache
def _random(text: str) -> Rows:
    return unit(np.random.default_rng(list(text.encode())).standard_normal(IMAGE.dim))


def ask(folder: Path, count: int) -> dict[str, Any]:
    """Latencies and memory of this process."""
    texts = list(dict.fromkeys(questions(np.random.default_rng(SEED + 1), 2 * count)))[: count + 1]
    tower = GivenTower(dict(zip(texts, clip_queries(folder, count + 1)[0].rows, strict=True)))
    gc.set_threshold(10_000)  # as `rag` does
    begun, begun_cpu = time.perf_counter(), time.process_time()
    from rag.library import Library

    with Library.open(folder) as library:
        vars(library._engine)["tower"] = tower
        library.search(texts[0], top_k=TOP)
        first = {
            "to_first_answer_s": round(time.perf_counter() - begun, 3),
            "to_first_answer_cpu_s": round(time.process_time() - begun_cpu, 3),
        }
        later = timed(texts[1:], lambda text: library.search(text, top_k=TOP))
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return {**first, **later, "peak_rss_mb": peak}


def timed(texts: Sequence[str], call: Callable[[str], object]) -> dict[str, float]:
    """How long `call` takes for each text: wall time by percentiles, and the median of CPU time."""
    walls, cpus = [], []
    for text in texts:
        wall, cpu = time.perf_counter(), time.process_time()
        call(text)
        walls.append(1000 * (time.perf_counter() - wall))
        cpus.append(1000 * (time.process_time() - cpu))
    p50, p95, cpu_p50 = (*np.percentile(walls, [50, 95]), np.median(cpus))
    rounded = {"p50_ms": p50, "p95_ms": p95, "cpu_p50_ms": cpu_p50}
    return {"n": len(texts), **{name: round(float(value), 1) for name, value in rounded.items()}}


# Recall


def exact(
    data: Any, key: str, queries: Rows, masks: Mapping[str, Callable[[Any], NDArray[np.bool_]]]
) -> dict[str, list[list[str]]]:
    """The keys of the ten rows of greatest inner product, for each mask and query; in one scan of the table.

    `masks`: bool (rows of a batch,) of a batch with key and video_id. Inner products of the float16 rows
    are summed in float32, and the best 20 again in float64; ties by key.
    """
    keep = 2 * TOP
    best: dict[str, list[list[tuple[float, str]]]] = {name: [[] for _ in queries] for name in masks}
    exactly = queries.astype(np.float64)
    for batch in data.scanner(columns=[key, "video_id", "vector"], batch_size=16384).to_batches():
        rows = batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(-1, queries.shape[1])
        scores = rows.astype(np.float32) @ queries.T
        for name, mask in masks.items():
            shown = mask(batch)
            away = np.where(shown[:, None], -scores, np.inf)
            for place, picks in enumerate(np.argpartition(away, min(keep, len(rows)) - 1, axis=0)[:keep].T):
                picks = picks[shown[picks]]
                values = -(rows[picks].astype(np.float64) @ exactly[place]).round(6)
                found = zip(values.tolist(), batch[key].take(picks).to_pylist(), strict=True)
                best[name][place] = sorted([*best[name][place], *found])[:keep]
    return {name: [[key for _, key in row[:TOP]] for row in held] for name, held in best.items()}


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


def _of_videos(videos: Any, batch: Any) -> NDArray[np.bool_]:
    """bool (n,): the rows of a batch whose video is among an Arrow array of ids."""
    import pyarrow.compute as pc

    found: NDArray[np.bool_] = pc.is_in(batch["video_id"], videos).to_numpy(zero_copy_only=False)
    return found


def main() -> None:
    """Print what was asked for."""
    parser = option_parser(__doc__)
    parser.add_argument("what", choices=["make", "ask", "recall"])
    parser.add_argument("--hours", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rag-benchmarks")
    parser.add_argument("--questions", type=int, default=200)
    chosen = parser.parse_args()
    folder = chosen.folder / f"large-{chosen.hours}"
    begun, cpu = time.perf_counter(), time.process_time()
    if chosen.what == "make":
        build(folder, chosen.hours)
        wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(json.dumps({"wall_s": round(wall), "cpu_s": round(cpu), "bytes": size}))
    elif chosen.what == "recall":
        print(recall(folder, chosen.questions))
    else:
        print(json.dumps(ask(folder, chosen.questions), indent=2))


if __name__ == "__main__":
    main()
