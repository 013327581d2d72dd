"""The figures that the RACLO paper printed (tables 1 and 2), with their place in it.

They were measured on 1,440 queries over the open web with other models. They
stand beside ours to be looked at, never to be compared.
"""

from __future__ import annotations

from collections.abc import Mapping

MARK = "paper, other data"
Row = tuple[float | None, ...]

RULE_ONLY: Mapping[str, Row] = {
    "Human": (64.0, 28.0, 24.0, 88.0, 24.0, 56.0, 64.0, 60.0, 80.0, 54.2),
    "Gemini-3-Pro": (14.4, 23.8, 16.9, 16.9, 20.0, 23.8, 31.9, 15.6, 22.5, 20.6),
    "Qwen3-VL-235B": (21.9, 15.1, 12.4, 13.1, 15.0, 16.1, 11.9, 23.1, 30.0, 17.6),
}
"""Table 1, rule only: G, K, KT, GK, KA, KTA, GKA, GKT, GKTA, average; percent."""

MODEL_RULE: Mapping[str, Row] = {
    "Human": (64.0, None, None, 88.0, None, None, 72.0, 60.0, 80.0, 72.8),
    "Gemini-3-Pro": (45.6, None, None, 58.8, None, None, 63.1, 56.9, 61.2, 57.0),
    "Qwen3-VL-235B": (32.5, None, None, 42.5, None, None, 40.0, 43.8, 25.0, 36.6),
}
"""Table 1, model + rule."""

LOCALIZED: Mapping[str, Row] = {
    "Human": (None, 28.0, 32.0, 92.0, 32.0, 64.0, 72.0, 64.0, 80.0, 58.0),
    "GPT-5.2": (None, 35.6, 38.8, 36.9, 39.4, 41.9, 35.6, 33.1, 50.6, 38.9),
    "Gemini-3-Pro": (None, 18.1, 30.0, 32.5, 22.5, 34.4, 30.6, 36.2, 32.5, 29.5),
    "Qwen3-VL-235B": (None, 1.9, 3.1, 5.6, 1.2, 2.5, 3.8, 6.2, 6.9, 4.0),
}
"""Table 2."""
