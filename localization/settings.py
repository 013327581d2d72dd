"""Settings of localization."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from corpora.settings import SettingsSection

LENGTHS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
"""Seconds that an event may take (EgoFact's are of a few seconds)."""


class LocalizeSettings(SettingsSection):
    """How windows are found, for `rag ask`, `rag search` and `rag localize` alike."""

    window_seconds: float = Field(5.0, ge=0.01, le=86400)
    """Length of a window (EgoFact, section 4.1: 5 s, about 10 frames)."""
    method: Literal["event", "window"] = "event"
    """`event` finds the best stretch of `event_seconds` and centres the window on it; `window` takes the best
    mean over the whole window (EgoFact, section 4.1)."""
    relative: Literal["paired", "adjacent", "shift"] = "paired"
    """For `before` and `after`: find the anchor event and the event asked for together (`paired`), take the
    best window next to the anchor's (`adjacent`), or shift the anchor's window (`shift`: EgoFact, D.2.4)."""
    length: Literal["fixed", "per-query"] = "fixed"
    """`per-query` chooses the length, of `lengths`, at which a window is most salient."""
    lengths: tuple[Annotated[float, Field(ge=0.01, le=86400)], ...] = Field(LENGTHS, min_length=1)
    """Lengths in seconds that `per-query` tries."""
    overlap: float = Field(0.0, ge=0, lt=1)
    """IoU up to which several windows of one video may share time; 0: they share none."""
    event_seconds: float = Field(2.5, ge=0.01, le=86400)
    """Assumed duration of an event. Where it is not set, an image encoder whose vectors flicker from frame to
    frame takes more: 5 s with the one that comes with the installation."""
    shift_seconds: float = Field(1.0, ge=0)
    """Shift of the window for `before` and `after` (EgoFact, D.2.4: 1 s)."""
    frame_budget: int = Field(15, ge=1, le=512)
    """Most frames read of one window (EgoFact, section 4.1: 15)."""

    def averaged_over(self, seconds: float) -> LocalizeSettings:
        """These, with events of `seconds` at least where `event_seconds` is not set."""
        longer = max(self.event_seconds, seconds)
        return (
            self
            if "event_seconds" in self.model_fields_set
            else self.model_copy(update={"event_seconds": longer})
        )
