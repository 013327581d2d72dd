"""What an optional stage is when it does not run: a reason, in one line, instead of silence."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Off"]


@dataclass(frozen=True, slots=True)
class Off:
    """A stage that does not run."""

    reason: str
    """One line: what is off, why, and where there is a way, how to switch it on."""
