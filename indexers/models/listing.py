"""The models of the catalogue, and whether each is on this machine."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, fields

from indexers.errors import WeightsInvalid, WeightsMissing
from indexers.models.catalogue import Model, Pinned, Purpose, catalogue
from indexers.models.lookup import find_weights
from indexers.settings import EncoderSettings


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
    pinned: Pinned
    """What `catalogue.toml` holds a first pull to, beside the hub's own hashes."""
    note: str


def list_models(settings: EncoderSettings, used: Set[str] = frozenset()) -> tuple[ModelRow, ...]:
    """The rows of `rag models list`: the catalogue, and whether each model is here. Hashes what comes in
    packages. `used`: names of those that are in use."""
    return tuple(_row(model, settings, model.name in used) for model in catalogue())


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
