"""Names of encoders to encoders: the one place that knows which file makes which, imported when asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.errors import SettingsError
from indexers.errors import WeightsMissing
from indexers.models import lookup
from indexers.models.catalogue import known_model
from indexers.models.lookup import Resolution
from indexers.settings import EncoderSettings

if TYPE_CHECKING:
    from indexers.backend import Opener
    from indexers.protocol import ImageEncoder, TextEncoder, TextTower

DEFAULT_BACKEND = "torch-fp32"
DEFAULT_BATCH = 16
IMAGEBIND = "imagebind-huge"
OWN_PREFIXES = ("hf:/", "hf:./", "hf:../", "hf:~", "openclip:local-dir:", "imagebind:")
"""Of models of one's own: `hf:FOLDER`, `openclip:local-dir:FOLDER`, `imagebind:FILE`."""


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """Chosen once for a library, stored in `meta`, kept for its life."""

    backend: str
    batch: int
    note: str
    """What was measured, in one line."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a name leads: a family of encoders and what it is opened from."""

    family: str
    source: str


def resolve_image_encoder(settings: EncoderSettings, *, workbench: bool = False) -> Resolution:
    """What `settings.image` means on this machine: a name, `auto` or `none`. Looks at files only.

    `workbench`: whether all that is indexed is a Workbench corpus; `auto` takes `bundled` only there.

    Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError` for a name that
    cannot be opened; `auto` never raises.
    """
    if settings.image.startswith(OWN_PREFIXES):
        place = _place(settings.image, settings)
        return Resolution(
            settings.image, f"image encoder: {settings.image} by the settings, from {place.source}"
        )
    named = IMAGEBIND if settings.image == "imagebind" else settings.image
    return lookup.resolve_image_encoder(settings.model_copy(update={"image": named}), workbench=workbench)


def open_image_encoder(
    name: str, settings: EncoderSettings, *, backend: str | None = None, batch: int | None = None
) -> ImageEncoder:
    """Load an encoder; `backend` and `batch` default to plain float32 and 16.

    Raises `WeightsMissing`, `WeightsInvalid`, `ExtraMissing` or `SettingsError`.
    """
    place = _place(name, settings)
    return _opener(name, place, settings)(backend=backend or DEFAULT_BACKEND, batch=batch or DEFAULT_BATCH)


def choose_backend(name: str, settings: EncoderSettings) -> BackendChoice:
    """The fastest backend and batch that keep the vectors, measured here and now.

    `settings.backend` and `settings.batch`, where set, narrow what is tried.
    Raises `SettingsError` where a backend that was set does not exist here, or
    does not keep the vectors.
    """
    from indexers.backend import measure

    found = measure(_opener(name, _place(name, settings), settings), settings.backend, settings.batch)
    return BackendChoice(found.backend, found.batch, found.note)


def open_text_tower(name: str, settings: EncoderSettings) -> TextTower:
    """The text half of an image encoder, without torch for CLIP, MetaCLIP, SigLIP and SigLIP 2."""
    place = _place(name, settings)
    if place.family == "transformers":
        from indexers.numpy_text_encoder import open_picture_text

        return open_picture_text(name, Path(place.source))
    if place.family == "bundled":
        from indexers.bundled.encoder import open_bundled_text

        return open_bundled_text(_sentences(settings), Path(place.source))
    if place.family == "openclip":
        from indexers.open_clip import open_openclip_text

        return open_openclip_text(name, place.source)
    from indexers.imagebind import open_imagebind_text

    return open_imagebind_text(name, Path(place.source))


def open_text_encoder(name: str, settings: EncoderSettings) -> TextEncoder:
    """Passages and evidence into vectors, through sentence-transformers, in stable batches."""
    from indexers.sentence import SentenceEncoder

    return SentenceEncoder(name, _sentence_folder(name, settings))


def open_query_encoder(name: str, settings: EncoderSettings) -> TextEncoder:
    """Questions into the space of `open_text_encoder`, without torch where the model is a BERT."""
    from indexers.numpy_text_encoder import can_read_sentences, open_sentences

    folder = _sentence_folder(name, settings)
    if can_read_sentences(folder):
        return open_sentences(name, folder)
    from indexers.sentence import SentenceEncoder

    return SentenceEncoder(name, folder, role="query")


def open_word_counter(name: str, settings: EncoderSettings | None = None) -> Callable[[str], int]:
    """Text to its number of tokens under a text encoder's tokenizer: whole, and without special ones.

    Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`.
    """
    from indexers.sentence_folder import read_sentence_folder
    from indexers.tokens import word_counter

    folder = _sentence_folder(name, settings or EncoderSettings())
    return word_counter(read_sentence_folder(folder).transformer)


def _sentence_folder(name: str, settings: EncoderSettings) -> Path:
    path = name.removeprefix("hf:")
    if path.startswith(("/", "./", "../", "~")):
        return _own_folder(path)
    folder = lookup.find_weights(name, settings)
    model = known_model(name)
    if model.purpose != "text encoder":
        raise SettingsError(
            f"encoder.text {name!r} is for {model.purpose}; `rag models list` names what fits"
        )
    published = model.sha256.get("model.safetensors")
    if published is not None:
        from indexers.digests import expect_digest

        expect_digest(folder / "model.safetensors", published)
    return folder


def _own_folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise WeightsMissing(f"{path}: no such folder")
    return folder


def _place(name: str, settings: EncoderSettings) -> _Place:
    """Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`; imports nothing heavy."""
    if name.startswith("openclip:local-dir:"):
        return _Place("openclip", str(_own_folder(name.removeprefix("openclip:local-dir:"))))
    if name.startswith("imagebind:"):
        return _Place("imagebind", str(_file(Path(name.removeprefix("imagebind:")).expanduser())))
    if name.startswith(OWN_PREFIXES):
        return _Place("transformers", str(_own_folder(name.removeprefix("hf:"))))
    if name in {"imagebind", IMAGEBIND}:
        return _Place(
            "imagebind", str(_file(lookup.find_weights(IMAGEBIND, settings) / "imagebind_huge.pth"))
        )
    model = known_model(name)
    if model.purpose != "image encoder":
        raise SettingsError(
            f"encoder.image {name!r} is for {model.purpose}; `rag models list` names what fits"
        )
    folder = lookup.find_weights(name, settings)
    if model.family == "bundled":
        return _Place("bundled", str(_file(folder / "tower.safetensors")))
    family = "openclip" if model.family == "openclip" else "transformers"
    return _Place(family, str(folder))


def _file(path: Path) -> Path:
    if not path.is_file():
        raise WeightsMissing(f"{path}: no such file")
    return path


def _sentences(settings: EncoderSettings) -> Path:
    """The sentence encoder that the bundled tower was trained against, whatever `encoder.text` is."""
    return lookup.find_weights("all-MiniLM-L6-v2", settings)


def _opener(name: str, place: _Place, settings: EncoderSettings) -> Opener:
    if place.family == "bundled":
        from indexers.bundled.encoder import open_bundled

        return partial(open_bundled, _sentences(settings), Path(place.source))
    if place.family == "transformers":
        from indexers.hf_clip import open_transformers

        return partial(open_transformers, name, Path(place.source))
    if place.family == "openclip":
        from indexers.open_clip import open_openclip

        return partial(open_openclip, name, place.source)
    from indexers.imagebind import open_imagebind

    return partial(open_imagebind, name, Path(place.source))
