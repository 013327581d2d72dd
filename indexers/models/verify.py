"""Whether the files of a model are, byte for byte, what they were published or first pulled as."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from corpora.identity import file_sha256
from indexers.errors import WeightsInvalid, WeightsMissing
from indexers.models.catalogue import Model, Pinned, Purpose, catalogue, known_model
from indexers.models.lookup import file_parts, find_weights
from indexers.settings import EncoderSettings

LOCK_FILE = "MODEL.json"


class Lock(BaseModel):
    """What `pull` writes beside the weights."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[1] = 1
    name: str
    repo: str
    revision: str
    sha256: dict[str, str]
    """Path below the folder, with slashes, to hex digest."""


@dataclass(frozen=True, slots=True)
class FileCheck:
    """The state of one file of a model."""

    path: str
    """Below the folder, with slashes."""
    state: Literal["ok", "changed", "missing", "unpinned"]
    """`unpinned`: nothing says what this file should be."""
    sha256: str
    """As found; empty where missing."""
    expected: str
    """As published or first pulled; empty where unpinned."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The state of a model's files."""

    name: str
    folder: Path
    revision: str
    """From the lock file; empty where the files were not pulled by us."""
    files: tuple[FileCheck, ...]

    @property
    def ok(self) -> bool:
        """No file is changed or missing."""
        return not any(check.state in ("changed", "missing") for check in self.files)

    @property
    def pinned(self) -> bool:
        """Every file is held to a hash."""
        return all(check.state != "unpinned" for check in self.files)


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


def read_lock(folder: Path) -> Lock | None:
    """The lock file beside the weights, or None; raises `WeightsInvalid` where it cannot be read."""
    path = folder / LOCK_FILE
    if not path.is_file():
        return None
    try:
        return Lock.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise WeightsInvalid(
            f"{path}: not a lock file of ours; delete it, or pull the model again"
        ) from error


def write_lock(folder: Path, lock: Lock) -> None:
    """Write the lock file that records what was downloaded."""
    text = json.dumps(lock.model_dump(), indent=2, sort_keys=True) + "\n"
    (folder / LOCK_FILE).write_text(text, encoding="utf-8")


def verify(name: str, settings: EncoderSettings) -> Verification:
    """Hash every file of a model that is here, and hold it to the published hash or to the first pull's.

    Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError` as `find_weights` does.
    """
    model = known_model(name)
    folder = find_weights(name, settings)
    lock = read_lock(folder)
    expected: dict[str, str] = dict(lock.sha256) if lock else {}
    expected.update(model.sha256)
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    here = {path.removesuffix(".part1") for path in files}
    wanted = {path for path in here if any(fnmatchcase(path, pattern) for pattern in model.files)}
    required = expected if lock else {path: expected[path] for path in expected if path in wanted}
    checks = tuple(_check(name, folder, path, expected) for path in sorted(wanted | set(required)))
    return Verification(name, folder, lock.revision if lock else "", checks)


def _check(name: str, folder: Path, path: str, expected: Mapping[str, str]) -> FileCheck:
    wanted = expected.get(path, "")
    parts = file_parts(name, folder / path)
    if not all(part.is_file() for part in parts):
        return FileCheck(path, "missing", "", wanted)
    found = file_sha256(*parts)
    if not wanted:
        return FileCheck(path, "unpinned", found, "")
    return FileCheck(path, "ok" if found == wanted else "changed", found, wanted)


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
