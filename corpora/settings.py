"""Settings of scanning and decoding, and the base of every settings section."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class SettingsSection(BaseModel):
    """Base of every section of the settings: unknown keys are refused, values are frozen and finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ScanSettings(SettingsSection):
    include: tuple[str, ...] = ()
    """Globs on the path below the corpus folder; empty takes every known kind of file."""
    exclude: tuple[str, ...] = ()
    """Globs on the same paths; what matches is left out."""


class VideoSettings(SettingsSection):
    decoder: Literal["pyav", "decord"] = "pyav"
    """Which library decodes; the one used is recorded with each video."""
    rate: float = Field(2.0, gt=0, le=60)
    """Sampled frames a second (EgoFact, section 4.1: 2)."""
    clip_seconds: float = Field(30.0, ge=1)
    """Clip length (EgoFact, section 2.1: 30)."""
    min_last_clip_seconds: float = Field(5.0, ge=0)
    """A last clip shorter than this is merged into the one before it."""
    short_side: int = Field(224, ge=32, le=2160)
    """Frames are scaled in the decoder so that their short side has this many pixels."""
    shots: bool = True
    """Measure shots: colour tone, style, sharpness, and a fingerprint by which copies are known."""
    sound: bool = True
    """Measure the sound by seconds: speech, music, ambient or silence, and how loud."""
    stall_seconds: float = Field(60.0, gt=0, le=86400)
    """A file whose reader makes no progress for this long is given up."""
