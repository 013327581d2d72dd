"""Settings of an agent: dataclasses whose annotations say what a value may be."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from rag.errors import UsageError

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]


def check_settings(settings: Any) -> None:
    """Raise `UsageError` where a value is none that its annotation allows."""
    for name, adapter in _adapters(settings.__class__).items():
        try:
            adapter.validate_python(getattr(settings, name))
        except ValidationError as error:
            raise UsageError(f"{name}: {error.errors()[0]['msg']}") from error


@cache
def _adapters(kind: Any) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: TypeAdapter(hint) for name, hint in hints.items()}
