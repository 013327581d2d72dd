"""What stages say of themselves: why one does not run, and which measurements those are that do."""

from __future__ import annotations

from dataclasses import dataclass

PICTURES = "pictures/1"
"""Changes whenever the same frames would be measured otherwise (`indexers.shots`)."""
SOUND = "sound/1"
"""Changes whenever the same sound would be measured otherwise (`indexers.soundtrack`)."""


@dataclass(frozen=True, slots=True)
class Off:
    """A stage that does not run."""

    reason: str
    """One line: what is off, why, and where there is a way, how to switch it on."""
