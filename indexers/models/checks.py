"""Whether a folder holds a whole model: cheap looks at names, sizes and headers, without loading anything."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from indexers.errors import WeightsInvalid
from indexers.models.catalogue import Model
from indexers.models.layout import SENTENCE, TRANSFORMERS, WHISPER

LAYOUTS = {"vlm": TRANSFORMERS, "sentence": SENTENCE, "whisper": WHISPER}
"""Of families that are not image encoders; those have their own (`indexers.families`)."""
MAX_HEADER = 100_000_000
LFS_POINTER = b"version https://git-lfs"


def check_folder(model: Model, folder: Path) -> None:
    """Raise `WeightsInvalid`, in one line, unless the folder holds every file the model needs, whole as far
    as names, sizes and the safetensors header tell."""
    layout = LAYOUTS.get(model.family)
    if layout is None:
        from indexers.families import load_family

        layout = load_family(model.family).layout
    for alternatives in layout.required:
        if not any(all((folder / name).is_file() for name in names) for names in alternatives):
            wanted = " or ".join(" with ".join(names) for names in alternatives)
            raise _invalid(model, folder, f"no {wanted}")
    for name in (name for group in layout.required for names in group for name in names):
        if (folder / name).is_file():
            _check_plain(model, folder / name)
    if layout.tensors:
        _check_tensors(model, folder, layout.tensors)


def check_safetensors(path: Path) -> None:
    """Raise `ValueError` unless the file is as long as its own header says.

    Format: 8 bytes little-endian header length, JSON header, then the tensors (safetensors README, "Format").
    """
    size = path.stat().st_size
    if size == 0:
        raise ValueError("empty")
    with path.open("rb") as file:
        start = file.read(8)
        if (start + file.read(len(LFS_POINTER) - 8)).startswith(LFS_POINTER):
            raise ValueError("a Git LFS pointer, not the weights")
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else MAX_HEADER + 1
        if length > MAX_HEADER or length + 8 > size:
            raise ValueError("not a safetensors file, or cut off in its header")
        file.seek(8)
        try:
            header: dict[str, Any] = json.loads(file.read(length))
            ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
        except (ValueError, AttributeError, TypeError, LookupError) as error:
            raise ValueError("not a safetensors file") from error
    whole = 8 + length + max(ends, default=0)
    if size != whole:
        raise ValueError(f"{size} bytes where its header promises {whole}")


def _check_tensors(model: Model, folder: Path, name: str) -> None:
    names = [name]
    index = folder / f"{name}.index.json"
    if not (folder / name).is_file() and index.is_file():
        try:
            names = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            raise _invalid(model, folder, f"{index.name} cannot be read") from error
    for each in names:
        if not (folder / each).is_file():
            pickles = sorted(path.name for path in folder.glob("*.bin"))
            only = f", only {pickles[0]}, a pickle, which is never loaded" if pickles else ""
            raise _invalid(model, folder, f"no {each}{only}")
        try:
            check_safetensors(folder / each)
        except ValueError as error:
            raise _invalid(model, folder, f"{each} is {error}") from error


def _check_plain(model: Model, path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(len(LFS_POINTER))
    if not start:
        raise _invalid(model, path.parent, f"{path.name} is empty")
    if start == LFS_POINTER:
        raise _invalid(model, path.parent, f"{path.name} is a Git LFS pointer, not the file itself")
    if path.name.endswith("config.json"):
        try:
            whole = isinstance(json.loads(path.read_bytes()), dict)
        except ValueError:
            whole = False
        if not whole:
            raise _invalid(model, path.parent, f"{path.name} is not a JSON object")


def _invalid(model: Model, folder: Path, fault: str) -> WeightsInvalid:
    advice = (
        f"download it again with: rag models pull {model.name}" if model.repo else "put the whole model there"
    )
    return WeightsInvalid(f"{model.name}: {folder}: {fault}; {advice}")
