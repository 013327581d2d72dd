"""The encoders of a library: selected once, stored in `meta`; others are refused later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from corpora.settings import SHORT_SIDE
from indexers.errors import OTHER_ENCODER, EncoderKind
from indexers.protocol import ImageEncoder, TextEncoder
from indexers.registry import choose_backend, open_image_encoder, open_text_encoder, resolve_image_encoder
from rag.errors import EncoderMismatch, SettingsError
from rag.settings import Settings
from rag.store.records import EncoderRef, Meta
from rag.store.writing import Writer

KEPT_SETTINGS = ("rate", "clip_seconds", "min_last_clip_seconds", "short_side")
"""Settings of the section `video` that decide what is stored: the same for all of a library."""
STORED_SIDE = "video.short_side"


@dataclass(frozen=True, slots=True)
class SelectedEncoders:
    """The encoders of a run. Opening one loads its weights, so it waits until a file needs it."""

    meta: Meta
    open_text: Callable[[], TextEncoder]
    open_image: Callable[[], ImageEncoder | None]
    line: str
    """One line on the image encoder: which, or why there is none."""
    new: bool = False
    """Whether the library was made by this run."""


def select_encoders(writer: Writer, settings: Settings) -> SelectedEncoders:
    """The encoders of this run: a new library takes what `settings` ask for, an old one keeps its own.

    Raises `EncoderMismatch`, `SettingsError`, `WeightsMissing`.
    """
    held = writer.meta
    if held is None:
        chosen = choose_encoders(settings)
        return replace(chosen, meta=writer.set_meta(chosen.meta))
    return stored_encoders(held, settings)


def stored_encoders(held: Meta, settings: Settings) -> SelectedEncoders:
    """The encoders that a library was made with. Raises as `select_encoders`."""
    settings = settings_of_library(held, settings)
    line = _image_line(held, settings)

    @cache
    def open_text() -> TextEncoder:
        encoder, ref = open_text_encoder(held.text_encoder.name, settings.encoder), held.text_encoder
        if encoder.fingerprint != ref.fingerprint:
            raise _mismatch("text", f"{ref.name} ({ref.fingerprint[:12]})", encoder.fingerprint[:12])
        return encoder

    def open_image() -> ImageEncoder | None:
        return open_held(held.image_encoder, settings) if held.image_encoder else None

    return SelectedEncoders(held, open_text, open_image, line)


def open_configured_encoder(settings: Settings) -> tuple[ImageEncoder | None, str]:
    """The image encoder that the settings ask for, loaded, and one line on it."""
    resolved = resolve_image_encoder(settings.encoder)
    if resolved.name is None:
        return None, f"image embeddings: off ({resolved.reason})"
    backend, batch = choose_backend(resolved.name, settings.encoder)
    encoder = open_image_encoder(resolved.name, settings.encoder, backend=backend, batch=batch)
    return encoder, f"image embeddings: {resolved.name}, {backend} x{batch}"


def reference(encoder: ImageEncoder | TextEncoder) -> EncoderRef:
    """What `meta` stores of an encoder."""
    return EncoderRef(
        name=encoder.name,
        fingerprint=encoder.fingerprint,
        dim=encoder.dim,
        backend=encoder.backend,
        batch=encoder.batch,
        weights=encoder.weights,
    )


def choose_encoders(settings: Settings) -> SelectedEncoders:
    """What a new library is to be made with on this machine."""
    image, line = open_configured_encoder(settings)
    text = open_text_encoder(settings.encoder.text, settings.encoder)
    side = settings.video.short_side or frame_side(SHORT_SIDE, image)
    meta = Meta(
        image_encoder=reference(image) if image else None,
        text_encoder=reference(text),
        settings={**_kept(settings), STORED_SIDE: side},
    )
    return SelectedEncoders(meta, lambda: text, lambda: image, line, new=True)


def frame_side(least: int, encoder: ImageEncoder | None) -> int:
    """Short side of frames in pixels: what the encoder takes, and not below `least`."""
    return least if encoder is None else max(least, encoder.short_side)


def stored_side(meta: Meta) -> int:
    """Short side in pixels of the frames that a library's embeddings are made of."""
    return int(meta.settings[STORED_SIDE])


def _kept(settings: Settings) -> Mapping[str, Any]:
    return {f"video.{name}": getattr(settings.video, name) for name in KEPT_SETTINGS}


def settings_of_library(held: Meta, settings: Settings) -> Settings:
    """The settings with the text encoder that a library was made with.

    Raises `SettingsError` for other clip settings than stored, and `EncoderMismatch` where the user names
    another text encoder.
    """
    for name, value in _kept(settings).items():
        if value is not None and name in held.settings and held.settings[name] != value:
            raise SettingsError(
                f"this library was made with {name} = {held.settings[name]}, not {value}: "
                f"use that value, or name another --library"
            )
    own = held.text_encoder.name
    if "text" in settings.encoder.model_fields_set and settings.encoder.text != own:
        raise EncoderMismatch(
            f"this library's text was encoded with {held.text_encoder.name}, not {settings.encoder.text}: "
            f"use that encoder.text, or name another --library"
        )
    return settings.model_copy(update={"encoder": settings.encoder.model_copy(update={"text": own})})


def _image_line(held: Meta, settings: Settings) -> str:
    """One line on the image encoder. Raises `EncoderMismatch` for another one that the settings name."""
    asked = settings.encoder.image
    own = held.image_encoder
    if asked == "auto":
        if own is not None:
            return f"image embeddings: {own.name}"
        resolved = resolve_image_encoder(settings.encoder)
        if resolved.name is None:
            return f"image embeddings: off ({resolved.reason})"
        return (
            f"image embeddings: off ({resolved.name} is installed now; "
            "add its embeddings with: rag index FOLDER --reembed)"
        )
    if asked != (own.name if own else "none"):
        raise _mismatch("image", own.name if own else "none", asked)
    return f"image embeddings: {own.name}" if own else "image embeddings: off (encoder.image is none)"


def open_held(ref: EncoderRef, settings: Settings) -> ImageEncoder:
    """The encoder of a library; raises `EncoderMismatch` where its weights are others now."""
    encoder = open_image_encoder(ref.name, settings.encoder, backend=ref.backend, batch=ref.batch)
    if encoder.fingerprint != ref.fingerprint:
        raise _mismatch("image", f"{ref.name} ({ref.fingerprint[:12]})", f"{encoder.fingerprint[:12]}")
    return encoder


def _mismatch(kind: EncoderKind, held: str, asked: str) -> EncoderMismatch:
    return EncoderMismatch(
        f"this library was made with the {kind} encoder {held}, not {asked}: use that one, or "
        f"{OTHER_ENCODER[kind]}"
    )
