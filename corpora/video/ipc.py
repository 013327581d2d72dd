"""Messages between the watched subprocess and its parent: a JSON header, then raw bytes. No pickle.

A message is two little-endian lengths (header u32, raw u64), the header, and the arrays named in it under
`arrays` as [dtype, shape], one after another.
"""

from __future__ import annotations

import json
import os
import select
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEAD = struct.Struct("<IQ")
_MOST_HEADER = 64 * 2**20
_DTYPES = ("|u1", "<f4", "<f8")

Array = NDArray[Any]
Message = dict[str, Any]


class Closed(Exception):
    """The other end is gone."""


def send(handle: int, header: Message, arrays: Sequence[Array] = ()) -> None:
    """Write one message; blocks while the pipe is full, which is what holds a fast decoder back."""
    flat = [np.ascontiguousarray(array) for array in arrays]
    described = {**header, "arrays": [[array.dtype.str, array.shape] for array in flat]}
    # ASCII JSON carries names that are not UTF-8 as lone surrogates, and back.
    words = json.dumps(described).encode("ascii")
    _write(handle, memoryview(_HEAD.pack(len(words), sum(array.nbytes for array in flat)) + words))
    for array in flat:
        if array.nbytes:
            _write(handle, array.data.cast("B"))


def _write(handle: int, data: memoryview) -> None:
    while data:
        try:
            data = data[os.write(handle, data) :]
        except BrokenPipeError as error:
            raise Closed from error


def receive(handle: int, wait: Callable[[], None]) -> tuple[Message, list[Array]]:
    """Read one message. `wait` is called before every read, and may raise.

    Raises `Closed` at the end of the stream, and if what comes is no message.
    """
    header_size, raw_size = _HEAD.unpack(_read(handle, _HEAD.size, wait))
    if header_size > _MOST_HEADER:
        raise Closed
    header: Message = json.loads(_read(handle, header_size, wait))
    arrays: list[Array] = []
    for kind, shape in header.pop("arrays"):
        if kind not in _DTYPES:
            raise Closed
        array: Array = np.empty(shape, kind)
        if array.nbytes:
            _read_into(handle, array.data.cast("B"), wait)
        arrays.append(array)
    if sum(array.nbytes for array in arrays) != raw_size:
        raise Closed
    return header, arrays


def _read(handle: int, count: int, wait: Callable[[], None]) -> bytes:
    data = bytearray(count)
    _read_into(handle, memoryview(data), wait)
    return bytes(data)


def _read_into(handle: int, data: memoryview, wait: Callable[[], None]) -> None:
    while data:
        wait()
        count = os.readv(handle, [data])
        if count == 0:
            raise Closed
        data = data[count:]


def readable(handle: int, seconds: float) -> bool:
    """Whether something, or the end, can be read within `seconds`."""
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    return bool(poller.poll(max(0, round(seconds * 1000))))
