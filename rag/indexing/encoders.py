"""Which encoders a library is made with: chosen once, kept in `meta`, refused when they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexers.protocol import ByParts, ImageEncoder, TextEncoder
from indexers.registry import choose_backend, open_image_encoder, open_text_encoder, resolve_image_encoder
from rag.errors import EncoderMismatch, SettingsError
from rag.settings import Settings
from rag.store.records import EncoderRef, Meta
from rag.store.writing import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEPT_SETTINGS = ("rate", "clip_seconds", "min_last_clip_seconds", "short_side")
"""Settings of the section `video` that decide what is stored: one library, one choice."""


@dataclass(frozen=True, slots=True)
class SelectedEncoders:
    """The encoders of a run. `open_image` loads the weights, so it waits until a video needs it."""

    meta: Meta
    text: TextEncoder
    open_image: Callable[[], ImageEncoder | None]
    line: str
    """One line on the image encoder: which, or why there is none."""


def choose(writer: Writer, settings: Settings, *, workbench: bool = False) -> SelectedEncoders:
    """Settle the encoders of this run with the library's own; `workbench`: all roots are Workbench corpora.

    A new library takes what `settings` ask for, and measures backend and batch
    once. An old one keeps its own. Raises `EncoderMismatch`, `SettingsError`, `WeightsMissing`.
    """
    held = writer.meta
    if held is None:
        return _begin(writer, settings, workbench)
    check_text_encoder_match(held, settings)
    line = _image_line(held, settings, workbench)

    def open_image() -> ImageEncoder | None:
        return _open_held(held.image_encoder, settings) if held.image_encoder else None

    return SelectedEncoders(held, LazyTextEncoder(held.text_encoder, settings), open_image, line)


def open_configured_encoder(
    settings: Settings, *, workbench: bool = False
) -> tuple[ImageEncoder | None, str]:
    """The image encoder that the settings ask for, measured and loaded, and one line on it."""
    resolved = resolve_image_encoder(settings.encoder, workbench=workbench)
    if resolved.name is None:
        return None, f"pictures: off ({resolved.reason})"
    choice = choose_backend(resolved.name, settings.encoder)
    encoder = open_image_encoder(resolved.name, settings.encoder, backend=choice.backend, batch=choice.batch)
    return encoder, f"pictures: {resolved.name}, {choice.backend} x{choice.batch} ({choice.note})"


def reference(encoder: ImageEncoder | TextEncoder) -> EncoderRef:
    """What `meta` keeps of an encoder."""
    return EncoderRef(
        name=encoder.name,
        fingerprint=encoder.fingerprint,
        dim=encoder.dim,
        backend=getattr(encoder, "backend", ""),
        batch=getattr(encoder, "batch", 0),
        weights=getattr(encoder, "weights", ""),
    )


def _begin(writer: Writer, settings: Settings, workbench: bool) -> SelectedEncoders:
    image, line = open_configured_encoder(settings, workbench=workbench)
    text = open_text_encoder(settings.encoder.text, settings.encoder)
    meta = writer.set_meta(
        Meta(
            image_encoder=reference(image) if image else None,
            text_encoder=reference(text),
            settings=_kept(settings),
        )
    )
    return SelectedEncoders(meta, text, lambda: image, line)


def _kept(settings: Settings) -> Mapping[str, Any]:
    return {f"video.{name}": getattr(settings.video, name) for name in KEPT_SETTINGS}


def check_text_encoder_match(held: Meta, settings: Settings) -> None:
    """Raise where the settings ask for other clips or another text encoder than the library has."""
    for name, value in _kept(settings).items():
        if name in held.settings and held.settings[name] != value:
            raise SettingsError(
                f"this library was made with {name} = {held.settings[name]}, not {value}: "
                f"leave it so, name another --library, or make a new one"
            )
    if settings.encoder.text != held.text_encoder.name:
        raise EncoderMismatch(
            f"this library's words were encoded with {held.text_encoder.name}, not {settings.encoder.text}: "
            f"leave encoder.text so, or name another --library"
        )


def _image_line(held: Meta, settings: Settings, workbench: bool) -> str:
    """Refuse another encoder that was asked for by name; say where `auto` would now find one."""
    asked = settings.encoder.image
    own = held.image_encoder
    if asked == "auto":
        if own is not None:
            return f"pictures: {own.name}"
        resolved = resolve_image_encoder(settings.encoder, workbench=workbench)
        if resolved.name is None:
            return f"pictures: off ({resolved.reason})"
        return f"pictures: off ({resolved.name} is here now: rag index --reembed brings its vectors in)"
    if asked != (own.name if own else "none"):
        raise _mismatch("image", own.name if own else "none", asked)
    return f"pictures: {own.name}" if own else "pictures: off (encoder.image is none)"


def _open_held(ref: EncoderRef, settings: Settings) -> ImageEncoder:
    encoder = open_image_encoder(ref.name, settings.encoder, backend=ref.backend, batch=ref.batch)
    if encoder.fingerprint != ref.fingerprint:
        raise _mismatch("image", f"{ref.name} ({ref.fingerprint[:12]})", f"{encoder.fingerprint[:12]}")
    return encoder


def _mismatch(role: str, held: str, asked: str) -> EncoderMismatch:
    return EncoderMismatch(
        f"this library was made with the {role} encoder {held}, not {asked}: leave it so, or encode "
        f"everything again (text, OCR and speech are kept) with rag index --reembed"
    )


class LazyTextEncoder:
    """The library's text encoder, loaded at the first text: many runs have none."""

    def __init__(self, ref: EncoderRef, settings: Settings) -> None:
        self.name = ref.name
        self.dim = ref.dim
        self.fingerprint = ref.fingerprint
        self.weights = ref.weights
        self.backend = ref.backend
        self.batch = ref.batch
        self._settings = settings
        self._encoder: TextEncoder | None = None

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the encoder itself. Raises `EncoderMismatch` where its weights are not the library's."""
        return self._opened().encode_text(texts)

    def encode_parts(self, texts: Sequence[str]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """As the encoder itself; all at once where that tells of no parts. Raises `EncoderMismatch`."""
        encoder = self._opened()
        if isinstance(encoder, ByParts):
            yield from encoder.encode_parts(texts)
        else:
            yield list(range(len(texts))), encoder.encode_text(texts)

    def _opened(self) -> TextEncoder:
        if self._encoder is None:
            encoder = open_text_encoder(self.name, self._settings.encoder)
            if encoder.fingerprint != self.fingerprint:
                raise _mismatch("text", f"{self.name} ({self.fingerprint[:12]})", encoder.fingerprint[:12])
            self._encoder = encoder
        return self._encoder
