"""Dataclasses as the JSON of plans and manifests, whose bytes stay the same while the classes grow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

LATER: Mapping[str, Any] = {"later": True}
"""`metadata` of a field that was added later: at its default it is not written, as before it came."""
RECORDED = {
    "near_duplicates": "copies",
    "videos": "films",
    "video": "film",
    "metadata": "words",
    "audio": "heard",
}
"""Attributes that plan.json knows by another name."""


def recorded_fields(value: Any) -> Any:
    """A dataclass, or a sequence of them, as plain JSON data under the field names of `plan.json`."""
    if is_dataclass(value):
        return {
            RECORDED.get(one.name, one.name): recorded_fields(getattr(value, one.name))
            for one in fields(value)
            if not (one.metadata.get("later") and getattr(value, one.name) == one.default)
        }
    return [recorded_fields(item) for item in value] if isinstance(value, list | tuple) else value
