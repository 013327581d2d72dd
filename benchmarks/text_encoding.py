"""Processor seconds of encoding passages under several backends in one run, and how far the rankings of the
others agree with that of the first.

    python -m benchmarks.text_encoding FILE [--backends torch-fp32 onednn-fp32] [--passages 2000]

FILE is plain text; it is cut into passages of 120 words. Queries are 12 words out of every second passage,
encoded as `rag ask` does, in float32. A top ten is equal where both backends rank the same ten passages.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option_parser
from indexers.registry import open_query_encoder, open_text_encoder
from indexers.settings import EncoderSettings

NAME = "all-MiniLM-L6-v2"
WORDS = 120
QUERY = slice(40, 52)
TOP = 10


def top_ten(queries: NDArray[np.float32], rows: NDArray[np.float32]) -> list[set[int]]:
    """Of each query: indices of the ten nearest; `queries` float32 (q, d), `rows` float32 (n, d), stored as
    float16."""
    stored = rows.astype(np.float16).astype(np.float32)
    return [set(near) for near in np.argsort(-(queries @ stored.T), axis=1, kind="stable")[:, :TOP].tolist()]


def agreement(
    queries: NDArray[np.float32], encoded: dict[str, NDArray[np.float32]], backend: str
) -> dict[str, float]:
    """Of a backend's rows with those of the first."""
    first, rows = next(iter(encoded.values())), encoded[backend]
    pairs = list(zip(top_ten(queries, first), top_ten(queries, rows), strict=True))
    return {
        "least_cosine": round(float((first * rows).sum(axis=1).min()), 7),
        "equal_top_ten": round(float(np.mean([one == other for one, other in pairs])), 4),
        "shared_of_top_ten": round(float(np.mean([len(one & other) / TOP for one, other in pairs])), 4),
    }


def main() -> None:
    """Print one JSON object."""
    parser = option_parser(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--backends", nargs="+", default=["torch-fp32", "onednn-fp32"])
    parser.add_argument("--passages", type=int, default=2000)
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as `rag index` does
    words = chosen.file.read_text(encoding="utf-8").split()
    texts = [" ".join(words[at : at + WORDS]) for at in range(0, len(words), WORDS)][: chosen.passages]
    asked = [" ".join(text.split()[QUERY]) for text in texts[::2]]
    settings = EncoderSettings()
    queries = open_query_encoder(NAME, settings).encode_text(asked)
    encoded, found = {}, {}
    for backend in chosen.backends:
        encoder = open_text_encoder(NAME, settings, backend=backend)
        encoder.encode_text(texts[: encoder.batch])
        cpu, wall = time.process_time(), time.perf_counter()
        encoded[backend] = encoder.encode_text(texts)
        cost = round(time.process_time() - cpu, 2), round(time.perf_counter() - wall, 2)
        found[backend] = {"cpu_s": cost[0], "wall_s": cost[1], **agreement(queries, encoded, backend)}
        print(backend, found[backend], file=sys.stderr)
    figures = {
        "passages": len(texts),
        "bytes": sum(len(text.encode()) for text in texts),
        "queries": len(asked),
        "backends": found,
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
