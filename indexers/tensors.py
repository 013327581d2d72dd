"""What a model folder holds, read without transformers: its JSON files, and single tensors out of safetensors
files, which are mapped into memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import os_reason
from indexers.errors import WeightsInvalid

READ = ("F32", "F16", "BF16")


def read_json(path: Path) -> dict[str, Any]:
    """Raises `WeightsInvalid` where the file is missing or no JSON object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WeightsInvalid(f"{path.parent}: no {path.name}; is this the model's folder?") from error
    except ValueError as error:
        raise WeightsInvalid(f"{path}: not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise WeightsInvalid(f"{path}: holds no JSON object")
    return content


def model_type(folder: Path) -> str:
    """transformers' name for the architecture: clip, siglip, siglip2, metaclip_2, bert, ..."""
    return str(read_json(folder / "config.json").get("model_type", ""))


def tensor_files(folder: Path, names: Sequence[str] = ("model.safetensors",)) -> tuple[Path, ...]:
    """The safetensors file of the first name that is there, whole or in shards by its index, sorted.

    Raises `ValueError` where there is none, or where a shard is missing.
    """
    for name in names:
        index = folder / f"{name}.index.json"
        if (folder / name).is_file():
            return (folder / name,)
        if index.is_file():
            try:
                shards = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
                files = tuple(folder / Path(shard).name for shard in shards)
            except (ValueError, LookupError, AttributeError, TypeError) as error:
                raise ValueError(f"{index.name} cannot be read") from error
            for file in files:
                if not file.is_file():
                    raise ValueError(f"no {file.name}")
            return files
    pickles = sorted(path.name for path in folder.glob("*.bin"))
    only = f", only {pickles[0]}, a pickle, which is never loaded" if pickles else ""
    raise ValueError(f"no {names[0]}{only}")


def weight_files(folder: Path) -> tuple[Path, ...]:
    """`tensor_files` of a transformers folder. Raises `WeightsInvalid`."""
    try:
        return tensor_files(folder)
    except ValueError as error:
        raise WeightsInvalid(f"{folder}: {error}") from error


class Tensors:
    """Named tensors of some safetensors files, as float32; float16 and bfloat16 are widened, exactly."""

    def __init__(self, files: Sequence[Path]) -> None:
        """Raises `WeightsInvalid` for a file that is none, or cannot be read."""
        self._held: dict[str, Any] = {}
        for file in files:
            held = _opened(file, "np")
            if any(held.get_slice(name).get_dtype() == "BF16" for name in held.keys()):  # noqa: SIM118 (no dict)
                held = _opened(file, "pt")  # NumPy does not know it
            self._held |= dict.fromkeys(held.keys(), held)

    def __contains__(self, name: str) -> bool:
        return name in self._held

    def names(self) -> tuple[str, ...]:
        """Names of the tensors, sorted."""
        return tuple(sorted(self._held))

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor, without reading it."""
        return tuple(self._slice(name).get_shape())

    def read(self, name: str) -> NDArray[np.float32]:
        """The whole tensor, float32 of `shape(name)`. Raises `WeightsInvalid` for none or another type."""
        return self._part(name, slice(None))

    def rows(self, name: str, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """float32 (n, ...): the rows `indices`, int64 (n,); the others are not read."""
        return np.concatenate([self._part(name, slice(at, at + 1)) for at in indices.tolist()])

    def _part(self, name: str, rows: slice) -> NDArray[np.float32]:
        found = self._slice(name)
        if (dtype := found.get_dtype()) not in READ:
            raise WeightsInvalid(f"tensor {name} is {dtype}; float32, float16 and bfloat16 are read")
        values = found[rows]
        return np.asarray(values if isinstance(values, np.ndarray) else values.float(), np.float32)

    def _slice(self, name: str) -> Any:
        if name not in self._held:
            raise WeightsInvalid(f"the weights hold no tensor {name}; is this the right folder?")
        return self._held[name].get_slice(name)


def _opened(file: Path, framework: str) -> Any:
    from safetensors import SafetensorError, safe_open

    try:
        with file.open("rb"):
            pass  # safetensors says of any file that it cannot open that there is none
        return safe_open(str(file), framework=framework)
    except OSError as error:
        raise WeightsInvalid(f"{file}: cannot be read ({os_reason(error)})") from error
    except SafetensorError as error:
        raise WeightsInvalid(f"{file}: not a safetensors file: {error}") from error
