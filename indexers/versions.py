"""Versions of the measurements; one changes whenever the same input would be measured otherwise."""

from __future__ import annotations

FRAME_MEASURES = "pictures/1"
"""Of frames (`indexers.shots`)."""
SOUND_MEASURES = "sound/1"
"""Of audio (`indexers.soundtrack`)."""
