"""Settings of scanning, object stores and decoding, and the base of every settings section."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from corpora.entry_points import all_entry_points, find_entry_point
from corpora.scan import Shard


class SettingsSection(BaseModel):
    """Base of every section of the settings: unknown keys are refused, values are frozen and finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _shard(text: str) -> str:
    if text:
        Shard.parse(text)
    return text


class ScanSettings(SettingsSection):
    """Section `scan`: which files belong to a corpus."""

    include: tuple[str, ...] = ()
    """Globs on the path below the corpus folder; empty takes every known kind of file."""
    exclude: tuple[str, ...] = ()
    """Globs on the same paths; what matches is left out."""
    within: tuple[str, ...] = ()
    """Folders; a link to a file outside all of them is reported and not followed. Empty: links may lead
    anywhere."""
    subtitles: tuple[str, ...] = ()
    """Folders of subtitle files, which belong to the videos of their names wherever these are. Empty: only
    those in a video's own folder."""
    shard: Annotated[str, AfterValidator(_shard)] = ""
    """`K/N`: only the K-th of N shares of the files, chosen by the path below the corpus folder; each
    machine indexes one into a library of its own. Empty: all files."""


def _endpoint(address: str) -> str:
    try:
        parts = urlsplit(address)
        fits = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
    except ValueError:  # a port above 65535, or brackets that are not closed
        fits = False
    if not fits or not re.fullmatch(r"\w+://[\w\[]\S*", address):
        raise ValueError(f"{address!r} is no address such as https://minio.example:9000")
    return address


class StorageSettings(SettingsSection):
    """Section `storage`: how object stores are reached; credentials come from the environment or the role."""

    endpoint: Annotated[str, AfterValidator(_endpoint)] | None = None
    """Address of a store that is not the provider's own, as of MinIO; default: the provider's."""
    region: str | None = None
    """Region of an S3 bucket; default: as the environment says."""
    allow_http: bool = False
    """Allow an endpoint without encryption, as on a private network."""
    timeout_seconds: float = Field(60.0, gt=0, le=3600)
    """How long a store that sends nothing is waited for. A read without a byte is sent again after a sixth of
    it, up to five times; one that goes on may take any time. With its repeats a write has twice as long."""
    retries: int = Field(8, ge=0, le=100)
    """Most times that a request is sent again after an error of the store, with growing pauses, within
    `timeout_seconds`."""
    scratch: Path | None = None
    """Folder for the copies of objects while they are indexed; default: the system's temporary folder. A
    worker needs twice its largest file."""


LOCAL = StorageSettings()
"""The settings of callers that name no store."""


class ReadingSettings(SettingsSection):
    """Section `reading`: limits of the subprocess in which files are read. A file that exceeds them is
    reported once, and tried again when it or a limit changes."""

    memory_gib: float = Field(4.0, ge=0.5, le=4096)
    """Memory that the subprocess may write to, on Linux."""
    document_seconds: float = Field(60.0, ge=1, le=86400)
    """Processor time for each MiB of a document, and for one smaller than that."""
    language: str = Field("", pattern="^([a-z]{2})?$")
    """Language of texts and subtitles, as a code such as `tr`. It decides where the letters of an old text
    fit several encodings; the language in the name of a subtitle file goes before it."""


def _registered_decoder(name: str) -> str:
    if find_entry_point("rag.decoders", name) is None:
        raise ValueError(f"no decoder {name!r}; installed are: {', '.join(all_entry_points('rag.decoders'))}")
    return name


SHORT_SIDE = 224
"""Pixels of frames whose size neither the settings nor an encoder decide."""


class VideoSettings(SettingsSection):
    """Section `video`: how videos are decoded and sampled."""

    decoder: Annotated[str, AfterValidator(_registered_decoder)] = "pyav"
    """Which library decodes: `pyav`, `decord` or an installed extension; it is recorded with each video.
    Objects of a store are decoded by ranges with PyAV when a question is answered."""
    audio_track: Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, max_length=35)] = ""
    """Which audio track of new files is heard and cut: its number from 1, or its language (`en`, `eng`,
    `English`). Without such a track: the default one, else the one with most channels, else the first."""
    rate: float = Field(2.0, gt=0, le=60)
    """Sampled frames a second (EgoFact, section 4.1: 2)."""
    clip_seconds: float = Field(30.0, ge=1)
    """Clip length (EgoFact, section 2.1: 30)."""
    min_last_clip_seconds: float = Field(5.0, ge=0)
    """A last clip shorter than this is merged into the one before it."""
    short_side: int | None = Field(None, ge=32, le=2160)
    """Frames are scaled down in the decoder so that their short side has this many pixels; default: what the
    image encoder takes, at least 224. A library keeps the size it was made with."""
    stall_seconds: float = Field(60.0, gt=0, le=86400)
    """A file whose reader makes no progress for this long is abandoned."""
