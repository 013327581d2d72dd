"""Encoders by name: which family opens a name, from which files; families are imported when asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.entry_points import find_entry_point
from corpora.errors import RagError, os_reason
from indexers.devices import BACKENDS, BATCHES, find_device
from indexers.errors import WeightsInvalid, WeightsMissing
from indexers.families import (
    GROUPS,
    EncoderSource,
    ImageEncoderFamily,
    Layout,
    Role,
    TextEncoderFamily,
    load_family,
)
from indexers.models.catalogue import Purpose, known_model
from indexers.models.lookup import check_layout, find_weights, readable_size, recommended_model
from indexers.settings import EncoderSettings

if TYPE_CHECKING:
    from indexers.protocol import ImageEncoder, TextEncoder, TextTower

ALIASES = {"imagebind": "imagebind-huge"}
PATH_STARTS = ("/", "./", "../", "~")
HUB_KINDS = ("hf", "openclip")
"""Prefixes of names on a hub too, which a path distinguishes from a local folder."""


AUTO_ORDER = (
    "siglip2-base-patch16-224",
    "siglip-base-patch16-224",
    "metaclip-b16-fullcc2.5b",
    "metaclip-b32-400m",
    "clip-vit-base-patch32",
    "siglip-so400m-384",
    "metaclip-l14-fullcc2.5b",
    "metaclip-h14-fullcc2.5b",
    "efficientnet-lite2",
)
"""What `auto` takes, the first that is here: base-size models, best first, then the large ones, which on a
CPU index slower than the video plays, then the one that comes with the installation."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which image encoder a run opens, and why."""

    name: str | None
    """The image encoder to open; None for text evidence alone."""
    reason: str
    """One line: why this one, or what is missing and how to get it."""


def resolve_image_encoder(settings: EncoderSettings) -> Resolution:
    """What `settings.image` means on this machine: a name, `none`, or `auto` for the first of `AUTO_ORDER`
    that is here. Looks at files only.

    Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError` for a name that
    cannot be opened; `auto` never raises.
    """
    name = ALIASES.get(settings.image, settings.image)
    if name == "none":
        return Resolution(None, "encoder.image is none; clips are searched by text alone")
    if name != "auto":
        _, source = image_source(name, settings)
        return Resolution(name, f"{name} by the settings, from {source.path}")
    broken = ""
    for name in AUTO_ORDER:
        try:
            folder = find_weights(name, settings, "image encoder")
        except WeightsMissing:
            continue
        except WeightsInvalid as error:
            broken = broken or f" (passed over {error})"
            continue
        model = known_model(name)
        note = f", {model.licence_note}" if model.licence_note else ""
        return Resolution(name, f"{name} ({model.licence}{note}), from {folder}{broken}")
    best = recommended_model("image encoder")
    return Resolution(
        None,
        "no image encoder on this machine: clips are searched by text alone; install one with: "
        f"rag models pull {best.name} ({readable_size(best.size)}, {best.licence}){broken}",
    )


def resolve_text_encoder(settings: EncoderSettings) -> str:
    """The encoder of sentences and passages that the settings name, and its files, as `NAME, from FOLDER`.

    Looks at files only. Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`.
    """
    return f"{settings.text}, from {_text_source(settings.text, settings)[1].path}"


def models_in_use(settings: EncoderSettings) -> set[str]:
    """Names of the models that the settings make a new library open for images and text."""
    with suppress(RagError):
        if name := resolve_image_encoder(settings).name:
            return {settings.text, name}
    return {settings.text}


def open_image_encoder(
    name: str, settings: EncoderSettings, *, backend: str | None = None, batch: int | None = None
) -> ImageEncoder:
    """Load an encoder; `backend` and `batch` default to those of the processor.

    Raises `WeightsMissing`, `WeightsInvalid`, `ExtraMissing` or `SettingsError`.
    """
    family, source = image_source(name, settings)
    backend = backend or family.backend or BACKENDS["cpu"]
    return family.open_image(source, backend=backend, batch=batch or BATCHES["cpu"])


def choose_backend(name: str, settings: EncoderSettings) -> tuple[str, int]:
    """Backend and batch that a new library is made with. Raises `SettingsError` for a device that is not
    here."""
    family, _ = image_source(name, settings)
    device = "cpu" if family.backend else find_device(settings.device)
    return family.backend or BACKENDS[device], BATCHES[device]


def open_text_tower(name: str, settings: EncoderSettings) -> TextTower:
    """The text half of an image encoder, without torch for CLIP, MetaCLIP, SigLIP and SigLIP 2."""
    family, source = image_source(name, settings)
    return family.open_text(source)


def open_text_encoder(name: str, settings: EncoderSettings, role: Role = "document") -> TextEncoder:
    """Passages and evidence into vectors, or by `role` questions. Raises as `open_image_encoder`."""
    family, source = _text_source(name, settings)
    return family.open(source, role)


@lru_cache(maxsize=4)
def open_query_encoder(name: str, settings: EncoderSettings) -> TextEncoder:
    """Questions into the space of `open_text_encoder`; opened once a process, and encoded rows are kept.
    Raises as `open_image_encoder`."""
    return open_text_encoder(name, settings, "query").keep_rows()


def open_word_counter(name: str) -> Callable[[str], int]:
    """Text to its number of tokens under the tokenizer of a text encoder's folder: whole, and without special
    ones. Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`."""
    from indexers.onnx_text import word_counter

    _, source = _text_source(name, EncoderSettings())
    return word_counter(source.path)


def own_model(name: str) -> tuple[str, Path] | None:
    """Kind and path of a model of one's own, `KIND:PATH`, or a path alone, of which the kind is `hf`.

    None for any other name, as those of the hub: `hf:ORGANISATION/NAME`, `openclip:ARCHITECTURE/PRETRAINED`.
    """
    kind, _, rest = ("hf", "", name) if name.startswith(PATH_STARTS) else name.partition(":")
    path = rest.removeprefix("local-dir:")
    if not rest or (kind in HUB_KINDS and path == rest and not path.startswith(PATH_STARTS)):
        return None
    return kind, Path(path).expanduser()


def image_source(name: str, settings: EncoderSettings) -> tuple[ImageEncoderFamily, EncoderSource]:
    """Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`; imports nothing heavy."""
    name = ALIASES.get(name, name)
    return _source(name, settings, "image encoder", "clip")


def _text_source(name: str, settings: EncoderSettings) -> tuple[TextEncoderFamily, EncoderSource]:
    """The family that opens a text encoder, and what from. Raises as `image_source`."""
    return _source(name, settings, "text encoder", "sentence")


def _source(
    name: str, settings: EncoderSettings, purpose: Purpose, folders: str
) -> tuple[Any, EncoderSource]:
    """What opens an encoder; `folders`: the family of `hf:FOLDER`."""
    kind, path = own_model(name) or ("", Path())
    kind = folders if kind == "hf" else kind
    if kind and find_entry_point(GROUPS[purpose], kind) is not None:
        family = load_family(purpose, kind)
        if not family.file:
            path = whole_folder(path, family.layout)
    else:
        path = find_weights(name, settings, purpose)
        family = load_family(purpose, known_model(name).family)
    if family.file:
        path = path / family.file if path.is_dir() else path
        if not path.is_file():
            raise WeightsMissing(f"{path}: no such file")
    return family, EncoderSource(name, path, settings)


def whole_folder(path: Path, layout: Layout) -> Path:
    """The folder of a model of one's own. Raises `WeightsMissing`, or `WeightsInvalid` where it lacks a file,
    or has half of one."""
    if not path.is_dir():
        raise WeightsMissing(f"{path}: no such folder")
    if (path / "snapshots").is_dir() and (path / "blobs").is_dir():
        found = sorted(str(each) for each in (path / "snapshots").iterdir())
        raise WeightsInvalid(
            f"{path}: a repository in the hub's cache; name a snapshot: {', '.join(found) or 'there is none'}"
        )
    try:
        check_layout(layout, path)
    except ValueError as error:
        raise WeightsInvalid(f"{path}: {error}") from error
    except OSError as error:
        raise WeightsInvalid(f"{path}: cannot be read: {os_reason(error)}") from error
    return path
