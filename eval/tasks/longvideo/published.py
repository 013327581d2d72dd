"""What the VideoDetective paper printed, on VideoMME-long: other films, other questions, other models."""

from __future__ import annotations

from collections.abc import Mapping

MARK = "paper, other data"

COMPARISON: Mapping[str, Mapping[str, float]] = {
    "Qwen3-8B + Qwen3VL-8B": {
        "LVNet": 40.4,
        "DVD": 42.6,
        "VideoAgent": 42.0,
        "VideoRAG": 50.3,
        "VideoDetective": 55.6,
    },
    "Qwen3-30B + SeedVL-1.5": {
        "LVNet": 51.7,
        "DVD": 45.4,
        "VideoAgent": 51.7,
        "VideoRAG": 62.0,
        "VideoDetective": 65.6,
    },
}
"""Table 1, percent right."""

METHODS: Mapping[str, str] = {
    "video-detective": "VideoDetective",
    "retrieval-only": "VideoRAG",
    "video-agent": "VideoAgent",
}
"""Our system for each method of table 1 that has one."""

ABLATION: Mapping[str, float] = {
    "video-detective": 55.6,
    "no-propagation": 51.4,
    "no-facets": 47.8,
    "no-refinement": 51.0,
    "no-texts": 49.9,
    "uniform-texts": 50.7,
    "uniform": 50.2,
}
"""Table 3, percent right with Qwen3-8B and Qwen3VL-8B."""

SCALING: tuple[tuple[str, str, float], ...] = (
    ("Qwen3-8B", "Qwen3-VL-8B", 55.6),
    ("Qwen3-30B", "Qwen3-VL-8B", 55.8),
    ("Qwen3-8B", "SeedVL-1.5", 65.1),
    ("Qwen3-30B", "SeedVL-1.5", 65.6),
)
"""Table 4: planner, watcher, percent right."""
