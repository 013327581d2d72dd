"""Where an image encoder runs: by what torch sees, in the fingerprint."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from indexers import registry
from indexers.devices import BACKENDS, BATCHES, find_device, has_device, placement
from indexers.preprocess import Preprocessing
from indexers.settings import Device, EncoderSettings
from indexers.torch_backend import TorchImageEncoder, in_dtype
from rag.errors import DeviceFull, SettingsError

# Loads PyTorch, in the tests alone: each of pytest's workers imports every file.
pytestmark = pytest.mark.slow

ABSENT: tuple[Device, ...] = tuple(name for name in ("cuda", "mps") if not has_device(name))
"""No machine has both."""


def encoder(backend: str, forward: Any = None) -> TorchImageEncoder:
    return TorchImageEncoder(
        name="plain",
        dim=1,
        weights="0" * 64,
        preprocessing=Preprocessing(),
        forward=forward,
        backend=backend,
        batch=8,
    )


@pytest.mark.parametrize("message", ["CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED"])
def test_a_batch_that_does_not_fit_is_one_line(message: str) -> None:
    """cuBLAS, cuDNN and the loader of kernels allocate beside torch, whose error is then another one."""

    def forward(_: Any) -> Any:
        raise RuntimeError(message)

    with pytest.raises(DeviceFull, match=r"^the GPU has too little memory for a batch of images; free"):
        encoder("torch-fp32", forward).encode_images(np.zeros((1, 4, 4, 3), np.uint8))


def test_a_model_that_does_not_fit_is_one_line(monkeypatch) -> None:
    import torch

    def refused(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory.\nSee the documentation")

    monkeypatch.setattr(torch.nn.Module, "to", refused)
    with pytest.raises(DeviceFull, match=r"^the GPU has too little memory for the image encoder; free"):
        in_dtype(torch.nn.Identity(), lambda output: output, "torch-fp32")


def test_libraries_made_on_the_processor_keep_their_fingerprint() -> None:
    assert encoder("torch-fp32").fingerprint == "f18f436544a81b4d361fd9eccab36a04"
    assert len({encoder(backend).fingerprint for backend in BACKENDS.values()}) == len(BACKENDS)


@pytest.mark.parametrize("device", ABSENT)
def test_a_device_that_is_not_here_is_named(device: Device) -> None:
    with pytest.raises(SettingsError, match=f"encoder.device {device}"):
        find_device(device)
    with pytest.raises(SettingsError, match="rag index FOLDER --reembed"):
        placement(BACKENDS[device])
    with pytest.raises(SettingsError, match=f"encoder.device {device}"):
        chosen(device=device)


def chosen(backend: str = "", device: Device = "auto") -> tuple[str, int]:
    family = SimpleNamespace(backend=backend)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "image_source", lambda *_: (family, None))
        return registry.choose_backend("scripted", EncoderSettings(device=device))


@pytest.mark.parametrize(
    ("device", "backend"), [("cuda", "cuda-fp16"), ("mps", "mps-fp32"), ("cpu", "torch-fp32")]
)
def test_auto_takes_the_device_that_is_here(device: Device, backend: str, monkeypatch) -> None:
    monkeypatch.setattr("indexers.devices.has_device", lambda name: name in (device, "cpu"))
    assert chosen() == (backend, BATCHES[device])
    assert chosen(device="cpu") == ("torch-fp32", BATCHES["cpu"])
    assert chosen(backend="abacus-int4") == ("abacus-int4", BATCHES["cpu"])
