"""Devices and dtypes that encoders run on: the names of backends, and which of them torch sees here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from corpora.errors import SettingsError
from indexers.errors import OTHER_ENCODER, DeviceFull
from indexers.settings import Device

BACKENDS = {"cpu": "torch-fp32", "cuda": "cuda-fp16", "mps": "mps-fp32"}
"""The arithmetic of images on each device: on CUDA the fastest one (docs/how-to/gpu.md)."""
BATCHES = {"cpu": 16, "cuda": 32, "mps": 32}
"""Images in a batch on each device; larger ones were no faster."""


def has_device(device: str) -> bool:
    """Whether torch sees a device of that class here: `cpu`, `cuda` or `mps`."""
    import torch

    if device == "cuda":
        return bool(torch.cuda.is_available())
    return device == "cpu" or (device == "mps" and bool(torch.backends.mps.is_available()))


def find_device(device: Device) -> str:
    """`cpu`, `cuda` or `mps`; `auto` takes CUDA, else MPS, else the processor.

    Raises `SettingsError` for a device that torch does not see here.
    """
    if device == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if has_device(name))
    if not has_device(device):
        raise SettingsError(f"encoder.device {device}: torch finds none here; use auto")
    return device


def is_out_of_memory(error: RuntimeError) -> bool:
    """Tell whether memory is short, also where not torch's allocator fails: kernels are loaded, and cuBLAS
    and cuDNN opened, at their first use."""
    import torch

    text = str(error)
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in text or "ALLOC_FAILED" in text


@contextmanager
def device_memory(purpose: str) -> Iterator[None]:
    """Raises `DeviceFull` where the device has too little memory for what is done inside."""
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise DeviceFull(
            f"the GPU has too little memory for {purpose}; free some, and run the same again"
        ) from error


def placement(backend: str) -> tuple[str, Any]:
    """Device and torch dtype of a backend. Raises `SettingsError` for an unknown one, or without its device.

    A library keeps the backend that its images were encoded with, and needs its device to encode more, not to
    be asked.
    """
    import torch

    device = next((device for device, known in BACKENDS.items() if known == backend), "")
    if not has_device(device):
        raise SettingsError(
            f"backend {backend} does not run here: torch finds no such device; index on a machine "
            f"that has it, or {OTHER_ENCODER['image']}"
        )
    return device, torch.float16 if backend.endswith("fp16") else torch.float32
