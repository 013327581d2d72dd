"""The figures that the EgoFact paper printed, with their place in it.

They were measured on Ego4D clips with GPT-4o-mini, ImageBind and MetaCLIP, on
queries that are not public. They are shown beside ours for reference, never for
comparison: other videos, other questions, another reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MARK = "paper, other data"
BASELINE = "no-localization"
"""The system that the others are compared with."""

QUERY_COUNTS: Mapping[str, int] = {
    "local-1hop": 113,
    "local-2hop": 73,
    "temporal-1hop": 119,
    "temporal-2hop": 91,
}
"""EgoFact, table 1."""

METHODS: Mapping[str, str] = {
    "graphrag": "GraphRAG",
    "videorag-jeong": "VideoRAG (Jeong)",
    "no-localization": "VideoRAG (Ren)",
    "localized": "VideoRAG (Ren) + Localization",
}
"""Our system for each method of the paper."""

ACCURACY: Mapping[str, Mapping[str, float]] = {
    "graphrag": {
        "local-1hop": 15.04,
        "local-2hop": 8.22,
        "temporal-1hop": 21.01,
        "temporal-2hop": 4.40,
        "overall": 13.13,
    },
    "videorag-jeong": {
        "local-1hop": 10.62,
        "local-2hop": 12.33,
        "temporal-1hop": 29.41,
        "temporal-2hop": 9.89,
        "overall": 16.41,
    },
    "no-localization": {
        "local-1hop": 25.66,
        "local-2hop": 24.66,
        "temporal-1hop": 30.25,
        "temporal-2hop": 27.47,
        "overall": 27.27,
    },
    "localized": {
        "local-1hop": 31.86,
        "local-2hop": 27.40,
        "temporal-1hop": 43.70,
        "temporal-2hop": 27.47,
        "overall": 33.59,
    },
}
"""Percent right. EgoFact, table 3."""

UNDERSTANDING: Mapping[str, Mapping[str, float]] = {
    "no-localization": {"all": 30.33, "right": 41.67, "wrong": 28.17},
    "localized": {"all": 40.95, "right": 44.05, "wrong": 38.89},
}
"""Percent understood, as GPT-4o-mini judged. EgoFact, table 2."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What the paper says in words of a figure whose bars carry no numbers."""

    text: str
    place: str


REMARKS: Mapping[str, Remark] = {
    "figure 3": Remark(
        "clip retrieval 50 to 60 %, around 50 % where the answer was wrong; passages generally above 90 %",
        "3.2 and figure 3",
    ),
    "figure 4": Remark("understanding generally below 50 %", "3.3 and figure 4"),
    "figure 5": Remark("B, D and F in about 80 % of the cases", "3.3 and figure 5"),
    "figure 8": Remark(
        "localization above splitting at every window; an inverted U with its peak at middle windows",
        "4.2 and figure 8",
    ),
}
