"""Encoders by name: which family opens a name, from which files; families are imported when asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.entry_points import find_entry_point
from corpora.errors import SettingsError, os_reason
from indexers.devices import TORCH_BACKENDS
from indexers.errors import WeightsInvalid, WeightsMissing
from indexers.families import (
    SENTENCE,
    TEXT_GROUP,
    EncoderSource,
    FolderLayout,
    ImageEncoderFamily,
    TextEncoderFamily,
    is_family,
    load_family,
    load_text_family,
)
from indexers.models import lookup
from indexers.models.catalogue import known_model
from indexers.models.lookup import Resolution
from indexers.settings import EncoderSettings

if TYPE_CHECKING:
    from indexers.backend import Measured
    from indexers.folders import Role
    from indexers.protocol import ImageEncoder, TextEncoder, TextTower

DEFAULT_BATCH = 16
ALIASES = {"imagebind": "imagebind-huge"}
PATH_STARTS = ("/", "./", "../", "~")
HUB_KINDS = {"hf": "clip", "openclip": "openclip"}
"""Prefixes of names on a hub, which a path distinguishes from a local folder, and their families."""


def resolve_image_encoder(settings: EncoderSettings, *, recommended: str | None = None) -> Resolution:
    """What `settings.image` means on this machine: a name, `auto` or `none`. Looks at files only.

    `recommended`: the encoder that all indexed corpora recommend (`corpora.manifest`); `auto` takes it first.

    Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError` for a name that
    cannot be opened; `auto` never raises.
    """
    name = ALIASES.get(settings.image, settings.image)
    if _own_model(name) is not None:
        family, source = _open_source(name, settings)
        if source.path.is_dir():
            check_own(family.layout, source.path)
        return Resolution(name, f"{name} by the settings, from {source.path}")
    return lookup.resolve_image_encoder(settings.model_copy(update={"image": name}), recommended=recommended)


def resolve_text_encoder(settings: EncoderSettings) -> str:
    """The encoder of sentences and passages that the settings name, and its files, as `NAME, from FOLDER`.

    Looks at files only. Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`.
    """
    from indexers.folders import read_sentence_folder

    family, source = _text_source(settings.text, settings)
    if family.layout is SENTENCE:
        check_own(SENTENCE, read_sentence_folder(source.path).transformer)
    return f"{settings.text}, from {source.path}"


def open_image_encoder(
    name: str, settings: EncoderSettings, *, backend: str | None = None, batch: int | None = None
) -> ImageEncoder:
    """Load an encoder; `backend` and `batch` default to the family's reference (plain float32) and 16.

    Raises `WeightsMissing`, `WeightsInvalid`, `ExtraMissing` or `SettingsError`.
    """
    family, source = _open_source(name, settings)
    return family.open_image(source, backend=backend or family.backends[0], batch=batch or DEFAULT_BATCH)


def choose_backend(name: str, settings: EncoderSettings) -> Measured:
    """The fastest backend and batch that keep the vectors, measured here and now where there are several.

    `settings.backend` and `settings.batch`, where set, narrow what is tried.
    Raises `SettingsError` where a backend that was set does not exist here, or
    does not keep the vectors.
    """
    from indexers.backend import Measured, measure

    family, source = _open_source(name, settings)
    # One that is set for encoders in torch says nothing to an encoder without any of them.
    if len(family.backends) == 1 and settings.backend in ("auto", *family.backends, *TORCH_BACKENDS):
        return Measured(family.backends[0], settings.batch or DEFAULT_BATCH, "the only backend")
    return measure(
        partial(family.open_image, source),
        family.backends,
        settings.backend,
        settings.batch,
        device=settings.device,
    )


def open_text_tower(name: str, settings: EncoderSettings) -> TextTower:
    """The text half of an image encoder, without torch for CLIP, MetaCLIP, SigLIP and SigLIP 2."""
    family, source = _open_source(name, settings)
    return family.open_text(source)


def open_text_encoder(name: str, settings: EncoderSettings, role: Role = "document") -> TextEncoder:
    """Passages and evidence into vectors, or by `role` questions. Raises as `open_image_encoder`."""
    family, source = _text_source(name, settings)
    return family.open(source, role)


def open_query_encoder(name: str, settings: EncoderSettings) -> TextEncoder:
    """Questions into the space of `open_text_encoder`; encoded rows are kept, for all in this process that
    open it, until a file of the model changes. Raises as `open_image_encoder`."""
    _, source = _text_source(name, settings)
    root = source.path
    files = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
    return _opened(
        name, settings, tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    )


@lru_cache(maxsize=4)
def _opened(name: str, settings: EncoderSettings, stamps: tuple[Hashable, ...]) -> TextEncoder:  # noqa: ARG001 (of the key)
    from indexers.protocol import CachedTextEncoder

    return CachedTextEncoder(open_text_encoder(name, settings, "query"))


def open_word_counter(name: str) -> Callable[[str], int]:
    """Text to its number of tokens under the tokenizer of a text encoder's folder: whole, and without special
    ones. Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`."""
    from indexers.folders import read_sentence_folder
    from indexers.tokens import word_counter

    _, source = _text_source(name, EncoderSettings())
    return word_counter(read_sentence_folder(source.path).transformer)


def _text_source(name: str, settings: EncoderSettings) -> tuple[TextEncoderFamily, EncoderSource]:
    """The family that opens a text encoder, and what from. Raises as `_open_source`."""
    own = own_folder(name)
    if own is not None:
        return load_text_family("sentence"), EncoderSource(name, own, settings)
    kind, _, rest = name.partition(":")
    if rest and find_entry_point(TEXT_GROUP, kind) is not None:
        family = load_text_family(kind)
        return family, _source(family.file, name, Path(rest).expanduser(), settings)
    folder = lookup.find_weights(name, settings)
    model = known_model(name)
    if model.purpose != "text encoder":
        raise SettingsError(
            f"encoder.text {name!r} is for {model.purpose}; `rag models list` names what fits"
        )
    if published := model.sha256.get("model.safetensors"):
        from indexers.digests import expect_digest

        expect_digest(folder / "model.safetensors", published)
    family = load_text_family(model.family)
    return family, _source(family.file, name, folder, settings)


def _source(file: str, name: str, path: Path, settings: EncoderSettings) -> EncoderSource:
    """`path` itself, or where a family opens one `file` of its folders and `path` is a folder, that file."""
    if not file:
        path = _existing_folder(path)
    else:
        path = _existing_file(path / file if path.is_dir() else path)
    return EncoderSource(name, path, settings)


def own_folder(name: str) -> Path | None:
    """The folder of `hf:FOLDER`; None for any other name. Raises `WeightsMissing` or `WeightsInvalid`."""
    path = name.removeprefix("hf:")
    return _existing_folder(Path(path).expanduser()) if path.startswith(PATH_STARTS) else None


def _own_model(name: str) -> tuple[str, str] | None:
    """Family and path of a model of one's own, `FAMILY:PATH` or `hf:FOLDER`; None for any other name."""
    kind, colon, rest = name.partition(":")
    if not colon:
        return None
    path = rest.removeprefix("local-dir:")
    if kind in HUB_KINDS and not (path != rest or path.startswith(PATH_STARTS)):
        return None
    family = HUB_KINDS.get(kind, kind)
    return (family, path) if is_family(family) else None


def _open_source(name: str, settings: EncoderSettings) -> tuple[ImageEncoderFamily, EncoderSource]:
    """Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`; imports nothing heavy."""
    name = ALIASES.get(name, name)
    own = _own_model(name)
    if own is not None:
        family, path = load_family(own[0]), Path(own[1]).expanduser()
    else:
        model = known_model(name)
        if model.purpose != "image encoder":
            raise SettingsError(
                f"encoder.image {name!r} is for {model.purpose}; `rag models list` names what fits"
            )
        path = lookup.find_weights(name, settings)
        family = load_family(model.family)
    return family, _source(family.file, name, path, settings)


def _existing_file(path: Path) -> Path:
    if not path.is_file():
        raise WeightsMissing(f"{path}: no such file")
    return path


def _existing_folder(path: Path) -> Path:
    if not path.is_dir():
        raise WeightsMissing(f"{path}: no such folder")
    if (path / "snapshots").is_dir() and (path / "blobs").is_dir():
        found = sorted(str(each) for each in (path / "snapshots").iterdir())
        raise WeightsInvalid(
            f"{path}: a repository in the hub's cache; name a snapshot: {', '.join(found) or 'there is none'}"
        )
    return path


def check_own(layout: FolderLayout, folder: Path) -> None:
    """Raises `WeightsInvalid` for a folder of one's own that lacks a file, or has half of one."""
    try:
        lookup.check_layout(layout, folder)
    except ValueError as error:
        raise WeightsInvalid(f"{folder}: {error}") from error
    except OSError as error:
        raise WeightsInvalid(f"{folder}: cannot be read: {os_reason(error)}") from error
