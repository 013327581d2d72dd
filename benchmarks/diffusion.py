"""How quick belief is over a very long video: 10,000 segments, 8 neighbours each, 7 iterations.

    python -m benchmarks.diffusion [--segments 10000] [--neighbours 8] [--repeat 50]

Prints milliseconds of one observation with its diffusion (best and median), of
normalizing and of building the graph. The target is under 20 ms an observation.
Ten thousand segments of ten seconds are 28 hours of video.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks.options import option_parser
from localization.belief import BETA, ITERATIONS, BeliefField, diffused
from localization.graph import affinity_graph, normalized, unit_rows


def milliseconds(call: Callable[[], object], repeat: int) -> list[float]:
    """Wall time of each of `repeat` calls, in milliseconds."""
    found = []
    for _ in range(repeat):
        begun = time.perf_counter()
        call()
        found.append((time.perf_counter() - begun) * 1000)
    return found


def main() -> None:
    """Print the times of each size."""
    parser = option_parser(__doc__)
    parser.add_argument("--segments", type=int, default=10_000)
    parser.add_argument("--neighbours", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=50)
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    vectors = unit_rows(rng.standard_normal((chosen.segments, 384)))
    centres = np.arange(chosen.segments) * 10.0 + 5.0
    begun = time.perf_counter()
    graph = affinity_graph(vectors, centres, neighbours=chosen.neighbours)
    building = (time.perf_counter() - begun) * 1000
    moved = normalized(graph)
    injection = rng.uniform(0, 1, chosen.segments)
    field = BeliefField.begin(graph, injection)
    nodes = iter(rng.permutation(chosen.segments).tolist() * (1 + chosen.repeat // chosen.segments))
    rows = {
        f"diffusion, {ITERATIONS} iterations, beta {BETA}": milliseconds(
            lambda: diffused(injection, moved), chosen.repeat
        ),
        "observation and diffusion": milliseconds(lambda: field.observe(next(nodes), 0.5), chosen.repeat),
        "next neighbour": milliseconds(lambda: field.next_neighbour(17), chosen.repeat),
        "normalizing": milliseconds(lambda: normalized(graph), 5),
        "building the graph": [building],
    }
    print(f"{chosen.segments} segments, {graph.nnz} edges")
    for name, found in rows.items():
        print(f"{name}: best {min(found):.2f} ms, median {statistics.median(found):.2f} ms")


if __name__ == "__main__":
    main()
