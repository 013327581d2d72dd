"""Settings of localization."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from corpora.settings import SettingsSection

MethodName = Literal["event", "egofact", "salient"]
"""Names of `localization.methods.METHODS`."""


class LocalizeSettings(SettingsSection):
    """How windows are found, for `rag ask`, `rag search` and `rag localize` alike."""

    window_seconds: float = Field(5.0, ge=0.01, le=86400)
    """Length of a window (EgoFact, section 4.1: 5 s, about 10 frames)."""
    method: MethodName = "event"
    """`event`: around the best stretch of `event_seconds`, found with that of an anchor event.
    `egofact`: the best mean, shifted by 1 s for `before` and `after` (EgoFact, D.2.4). `salient`: the most
    salient of any of `lengths`."""
    lengths: tuple[Annotated[float, Field(ge=0.01, le=86400)], ...] = Field(
        (2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0), min_length=1
    )
    """Lengths in seconds that `salient` tries."""
    overlap: float = Field(0.0, ge=0, lt=1)
    """IoU up to which several windows of one video may share time; 0: they share none."""
    event_seconds: float = Field(2.5, ge=0.01, le=86400)
    """Assumed duration of an event. Where it is not set, an image encoder whose vectors flicker from frame to
    frame takes more: 5 s with the one that comes with the installation."""
    frame_budget: int = Field(15, ge=1, le=512)
    """Most frames read of one window (EgoFact, section 4.1: 15)."""

    def averaged_over(self, seconds: float) -> LocalizeSettings:
        """Copy with events of at least `seconds`; `event_seconds`, where it was set, stays."""
        longer = max(self.event_seconds, seconds)
        return (
            self
            if "event_seconds" in self.model_fields_set
            else self.model_copy(update={"event_seconds": longer})
        )
