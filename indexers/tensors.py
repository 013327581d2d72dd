"""Reads single tensors out of safetensors files, mapped into memory, without torch.

The safetensors package checks each header; the bytes are mapped here because
its numpy side knows no bfloat16 and copies what it reads.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpora.errors import os_reason
from indexers.errors import WeightsInvalid

NUMPY_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}


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


@dataclass(frozen=True, slots=True)
class _Place:
    dtype: str
    shape: tuple[int, ...]
    data: NDArray[np.uint8]


class Tensors:
    """Named tensors of some safetensors files, as float32.

    float32 tensors are views of the mapped file; float16 and bfloat16 are
    widened (exactly) when read.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._places: dict[str, _Place] = {}
        for file in files:
            self._places.update(_places(file))

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def names(self) -> tuple[str, ...]:
        """Names of the tensors, sorted."""
        return tuple(sorted(self._places))

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor, without reading it."""
        return self._place(name).shape

    def read(self, name: str) -> NDArray[np.float32]:
        """The whole tensor, float32 of `shape(name)`. Raises `WeightsInvalid` for none or another type."""
        place = self._place(name)
        return _as_float32(place.data, place.dtype, name).reshape(place.shape)

    def rows(self, name: str, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """float32 (n, ...): the rows `indices`, int64 (n,); the others are not read."""
        place = self._place(name)
        row_bytes = len(place.data) // place.shape[0]
        picked = place.data.reshape(place.shape[0], row_bytes)[indices]
        return _as_float32(picked.reshape(-1), place.dtype, name).reshape(len(indices), *place.shape[1:])

    def _place(self, name: str) -> _Place:
        try:
            return self._places[name]
        except KeyError:
            raise WeightsInvalid(f"the weights hold no tensor {name}; is this the right folder?") from None


def _places(file: Path) -> dict[str, _Place]:
    from safetensors import SafetensorError, safe_open

    try:
        with file.open("rb") as stream:
            with safe_open(str(file), framework="np"):
                pass  # refuses overlapping, truncated and out-of-range entries
            (length,) = struct.unpack("<Q", stream.read(8))
            header = json.loads(stream.read(length))
    except OSError as error:
        # safetensors says of any file that it cannot open that there is none.
        raise WeightsInvalid(f"{file}: cannot be read ({os_reason(error)})") from error
    except (SafetensorError, struct.error, ValueError) as error:
        raise WeightsInvalid(f"{file}: not a safetensors file: {error}") from error
    mapped = np.memmap(file, dtype=np.uint8, mode="r", offset=8 + length)
    places = {}
    for name, entry in header.items():
        if name != "__metadata__":
            start, end = entry["data_offsets"]
            places[name] = _Place(entry["dtype"], tuple(entry["shape"]), np.asarray(mapped[start:end]))
    return places


def _as_float32(data: NDArray[np.uint8], dtype: str, name: str) -> NDArray[np.float32]:
    if dtype not in NUMPY_TYPES:
        raise WeightsInvalid(f"tensor {name} is {dtype}; float32, float16 and bfloat16 are read")
    values = data.view(NUMPY_TYPES[dtype])
    if dtype == "BF16":
        # bfloat16 is the upper half of a float32.
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32, copy=False)
