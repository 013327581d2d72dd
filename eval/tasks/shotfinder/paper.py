"""The figures that the ShotFinder paper printed (table 1 and the text), with their place in it.

They were measured on 1,210 rows over the open web with other models. They stand
beside ours to be looked at, never to be compared.
"""

from __future__ import annotations

from collections.abc import Mapping

MARK = "paper, other data"
CLIP_THRESHOLD = 0.7
"""Appendix B: from this similarity on, CLIP calls it a match."""

TABLE_1: Mapping[str, Mapping[str, float]] = {
    "Human": {
        "shot": 85.1,
        "temporal": 91.6,
        "color": 91.4,
        "style": 83.3,
        "resolution": 91.7,
        "audio": 87.5,
        "overall": 88.5,
    },
    "Gemini-3-Pro": {
        "shot": 22.5,
        "temporal": 31.0,
        "color": 15.7,
        "style": 26.5,
        "resolution": 21.0,
        "audio": 30.0,
        "overall": 24.4,
    },
    "GPT-5.2": {
        "shot": 25.5,
        "temporal": 35.5,
        "color": 15.7,
        "style": 32.5,
        "resolution": 26.0,
        "overall": 26.9,
    },
    "Qwen3-Omni-30B-A3B": {
        "shot": 19.0,
        "temporal": 33.0,
        "color": 11.4,
        "style": 18.5,
        "resolution": 17.5,
        "audio": 21.0,
        "overall": 20.0,
    },
    "Qwen3-VL-235B-A22B": {
        "shot": 18.5,
        "temporal": 28.5,
        "color": 20.5,
        "style": 17.0,
        "resolution": 18.5,
        "overall": 20.6,
    },
}
"""Percent of each task; a model without sound has no `audio`."""
