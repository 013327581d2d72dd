"""Settings of localization."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from corpora.settings import SettingsSection


class LocalizeSettings(SettingsSection):
    window_seconds: float = Field(5.0, gt=0)
    """EgoFact, section 4.1: 5 s, about 10 frames."""
    method: Literal["event", "window"] = "event"
    """`event` seeks events at their own length and lays the window around them; `window` takes the
    best mean over the whole window (EgoFact, section 4.1)."""
    relative: Literal["paired", "adjacent", "shift"] = "paired"
    """For `before` and `after`: find anchor and asked event together (`paired`), take the best window
    beside the anchor's (`adjacent`), or shift the anchor's window (`shift`: EgoFact, D.2.4)."""
    length: Literal["fixed", "per-query"] = "fixed"
    """`per-query` cuts the window to the stretch that stands out most."""
    event_seconds: float = Field(2.5, gt=0)
    """How long an event is taken to be."""
    shift_seconds: float = Field(1.0, ge=0)
    """EgoFact, D.2.4: `before` and `after` shift the window by 1 s."""
    frame_budget: int = Field(15, ge=1, le=512)
    """Frames read of one clip's window (EgoFact, section 4.1: 15)."""
