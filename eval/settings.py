"""A task's settings: the user's, with what the task fixes; what it cannot honour is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag.errors import UsageError
from rag.settings import Settings

SYNTHETIC: Mapping[str, Any] = {
    "encoder.image": "bundled",
    "encoder.backend": "torch-fp32",
    "encoder.batch": 16,
}
"""Defaults over rendered videos: the encoder that was trained on them."""


def task_settings(
    task: str, settings: Settings, library: Path, fixed: Mapping[str, Any], synthetic: bool = False
) -> Settings:
    """The settings that a task is run under, its library in `library`.

    `fixed`: dotted names to values that the task's questions rest on (`{"ocr.mode": "off"}`); exact
    search always is. `synthetic`: the videos are rendered; `SYNTHETIC` then holds where the user sets
    no image encoder. Raises `UsageError` where the user sets a fixed setting to another value.
    """
    fixed = {"search.index": "flat", **fixed}
    changes: dict[str, dict[str, Any]] = {}
    for name, value in fixed.items():
        section, _, key = name.partition(".")
        held = getattr(settings, section)
        if key in held.model_fields_set and getattr(held, key) != value:
            raise UsageError(
                f"{task} fixes {name} = {value}; take {name} = {getattr(held, key)} out of the settings"
            )
        changes.setdefault(section, {})[key] = value
    if synthetic and settings.encoder.image == "auto":
        own = settings.encoder.model_fields_set - {"image"}
        encoder = {name.partition(".")[2]: value for name, value in SYNTHETIC.items()}
        changes.setdefault("encoder", {}).update({k: v for k, v in encoder.items() if k not in own})
    sections = {name: getattr(settings, name).model_copy(update=update) for name, update in changes.items()}
    return settings.model_copy(update={"library": library, **sections})
