"""Questions over a library of 100, 1,000 or 10,000 hours: made, and asked.

    python -m benchmarks.large_library make --hours 10000
    python -m benchmarks.large_library ask --hours 10000 [--questions 200]

The library is that of `benchmarks.synthetic_library`, in the folder `large-HOURS` of --folder.

`ask` is `Library.search`, with what the page cache has of the library: drop it before (`vmtouch -e`) to
measure reading from the disk. It differs from `rag search` in two points: the vector of a question in the
space of images is given, for no image encoder made the library, and nothing is printed.
"""

from __future__ import annotations

import gc
import json
import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.options import option_parser
from benchmarks.synthetic_library import IMAGE, ClipSpace, Rows, build, questions, unit
from indexers.protocol import TextTower
from rag.store import schema
from rag.store.layout import Layout

TOP = 10
SEED = 17


def clip_queries(folder: Path, count: int) -> Rows:
    """Unit float32 (count, dim) as a text tower gives them, each with a share of one clip."""
    rng = np.random.default_rng(SEED)
    space = ClipSpace(_rows_of(folder, "videos").count_rows(), IMAGE.dim)
    data = _rows_of(folder, schema.vectors_table(IMAGE))
    chosen = np.sort(rng.choice(data.count_rows(), count, replace=False))
    clips = schema.column_matrix(data.take(chosen, columns=["vector"])["vector"], IMAGE.dim)
    return space.text_like(rng, clips.astype(np.float32))


def _rows_of(folder: Path, table: str) -> Any:
    """A table as a Lance dataset."""
    import lance

    return lance.dataset(str(Layout(folder).table(table)))


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
    tower = GivenTower(dict(zip(texts, clip_queries(folder, count + 1), strict=True)))
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


def main() -> None:
    """Print what was asked for."""
    parser = option_parser(__doc__)
    parser.add_argument("what", choices=["make", "ask"])
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
    else:
        print(json.dumps(ask(folder, chosen.questions), indent=2))


if __name__ == "__main__":
    main()
