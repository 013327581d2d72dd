"""How much the simulated model perceives, how its replies are off, and what its server refuses."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib import resources

from eval.workbench.seeds import stable_number
from rag.errors import UsageError


@dataclass(frozen=True, slots=True)
class Dials:
    """Shares are in [0, 1]; the defaults perceive everything and never fail."""

    perception: float = 1.0
    """Events and pieces of decor that are perceived, of those in view."""
    trailing_comma: float = 0.0
    """Replies with a comma before a closing bracket; likewise below, each a share of all replies."""
    prose: float = 0.0
    """Words before and after the JSON."""
    code_fence: float = 0.0
    """The JSON in a Markdown code block."""
    refusal: float = 0.0
    """An apology in place of a reply."""
    context_tokens: int = 131072
    """Of prompt and reply together; more is HTTP 400."""
    images: int = 256
    """Most images a request; more are HTTP 400."""

    def __post_init__(self) -> None:
        """Raises `UsageError` for a value out of range."""
        for name, value in asdict(self).items():
            if isinstance(value, float) and not 0 <= value <= 1:
                raise UsageError(f"{name} {value}: it is a number from 0 to 1")
            if isinstance(value, int) and value < 1:
                raise UsageError(f"{name} {value}: it is at least 1")


def preset(name: str, changes: Mapping[str, float] | None = None) -> Dials:
    """A preset of `presets.toml`, with some of its dials set otherwise.

    Raises `UsageError` for a preset or dial that there is not.
    """
    found = _presets().get(name)
    if found is None:
        raise UsageError(f"preset {name!r}: it is one of {', '.join(_presets())}")
    known = {one.name: one.type for one in fields(Dials)}
    values: dict[str, float] = {}
    for dial, value in (changes or {}).items():
        if dial not in known:
            raise UsageError(f"dial {dial!r}: it is one of {', '.join(known)}")
        values[dial] = int(value) if known[dial] == "int" else float(value)
    return replace(found, **values)  # type: ignore[arg-type]  # the names and types are those of the fields


@cache
def _presets() -> dict[str, Dials]:
    text = resources.files("eval.simulated_model").joinpath("presets.toml").read_text(encoding="utf-8")
    return {name: Dials(**row) for name, row in tomllib.loads(text).items()}


def draw(*parts: object) -> float:
    """A number in [0, 1) that belongs to the parts: the same parts, the same number."""
    return (stable_number(*parts) % 2**53) / 2**53
