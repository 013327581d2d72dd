"""The roles of a reasoner: each module here that holds a `Role` adds it to `ROLES`, its prompt beside it."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from rag.reasoners.protocol import Role

ROLES: dict[str, Role[Any, Any]] = {
    value.name: value
    for found in iter_modules(__path__)
    for value in vars(import_module(f"{__name__}.{found.name}")).values()
    if isinstance(value, Role)
}
"""By name. A role of another package needs no place here: `run` takes any `Role`."""
