"""A backend that would make two runs differ is refused, and so is one that changes the vectors."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from indexers import backend, families
from indexers.backend import Opener, Timing, examine, measure, probe_images
from indexers.protocol import ImageEncoder
from indexers.settings import EncoderSettings
from rag.errors import SettingsError
from rag.indexing.encoders import open_configured_encoder
from rag.settings import Settings

Forward = Callable[[NDArray[np.float32]], NDArray[np.float32]]


class ScriptedEncoder(ImageEncoder):
    name = "scripted"
    dim = 48
    weights = fingerprint = "0" * 32

    def __init__(self, forward: Forward, backend: str = "torch-bf16", batch: int = 8) -> None:
        self.forward = forward
        self.backend = backend
        self.batch = batch

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        return self.forward(
            images[:, :: len(images[0]) // 4, :: len(images[0, 0]) // 4][:, :4, :4]
            .reshape(len(images), -1)
            .astype(np.float32)
        )


def plain(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows


def by_neighbours(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """As dynamic quantization: the scale comes from the whole batch."""
    return np.round(rows / (rows.max() / 200)).astype(np.float32)


def by_place(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    rows = rows.copy()
    rows[-1] *= 1 + 1e-3 * np.arange(rows.shape[1], dtype=np.float32) / rows.shape[1]
    return rows


def coarse(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return (rows > 128).astype(np.float32)


class Drifting:
    """Another answer each time."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        self.calls += 1
        rows = rows.copy()
        rows[:, 0] += self.calls
        return rows


IMAGES = probe_images(8, 56, 100)
REFERENCE = ScriptedEncoder(plain).encode_images(IMAGES)


def test_a_sound_backend_passes() -> None:
    timing = examine(ScriptedEncoder(plain), IMAGES, REFERENCE)
    assert isinstance(timing, Timing)
    assert (timing.backend, timing.batch) == ("torch-bf16", 8)


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        (by_neighbours, "neighbours"),
        (by_place, "position"),
        (coarse, "cosine"),
        (lambda rows: rows * np.nan, "cosine"),
        (Drifting(), "second time"),
    ],
)
def test_an_unsound_backend_is_refused(forward: Forward, reason: str) -> None:
    found = examine(ScriptedEncoder(forward), IMAGES, REFERENCE)
    assert isinstance(found, str)
    assert reason in found


BOTH = FP32, BF16 = "torch-fp32", "torch-bf16"
COSTS = {(FP32, 8): 9.0, (FP32, 16): 8.0, (FP32, 32): 7.0, (BF16, 8): 5.0, (BF16, 16): 3.0, (BF16, 32): 4.0}


def _opener(half: Forward, opened: list[str] | None = None) -> Opener:
    def opener(*, backend: str, batch: int) -> ImageEncoder:
        if opened is not None:
            opened.append(backend)
        return ScriptedEncoder(plain if backend == FP32 else half, backend, batch)

    return opener


@pytest.fixture(autouse=True)
def costs(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, int], float]:
    """Two backends on any machine, whose passes cost what the table says."""
    monkeypatch.setattr("indexers.devices.has_device", lambda device: device == "cpu")
    monkeypatch.setattr(
        "indexers.backend.available_backends", lambda device: (FP32, BF16) if device == "cpu" else ()
    )
    table = dict(COSTS)

    def timed(encoder: ImageEncoder, images: NDArray[np.uint8]) -> tuple[NDArray[np.float32], Timing]:
        cost = table[encoder.backend, encoder.batch] / 2
        return encoder.encode_images(images), Timing(encoder.backend, encoder.batch, cost, cost)

    monkeypatch.setattr(backend, "_timed", timed)
    return table


def test_the_fastest_is_taken() -> None:
    found = measure(_opener(plain), BOTH)
    assert (found.backend, found.batch) == (BF16, 16)
    assert "torch-fp32 x8 4500.0/4500.0, torch-bf16 x8 2500.0/2500.0" in found.note


def test_a_tie_goes_to_the_smaller_batch(costs: dict[tuple[str, int], float]) -> None:
    costs.update({(BF16, 8): 4.3, (BF16, 16): 4.1, (BF16, 32): 4.0})
    assert measure(_opener(plain), BOTH).batch == 8


def test_an_unsound_backend_is_passed_over_and_named() -> None:
    found = measure(_opener(by_neighbours), BOTH)
    assert (found.backend, found.batch) == (FP32, 32)
    assert "torch-bf16 x8 refused" in found.note


def test_an_unsound_backend_that_was_set_is_an_error() -> None:
    with pytest.raises(SettingsError, match="neighbours"):
        measure(_opener(by_neighbours), BOTH, backend=BF16)


def test_what_is_set_is_all_that_is_tried(costs: dict[tuple[str, int], float]) -> None:
    costs[FP32, 5] = 1.0
    opened: list[str] = []
    found = measure(_opener(plain, opened), BOTH, backend=FP32, batch=5)
    assert (found.backend, found.batch) == (FP32, 5)
    assert opened == [FP32]


def test_a_slow_model_is_not_tried_with_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "MAX_TRIAL_SECONDS", -1.0)
    found = measure(_opener(plain), BOTH)
    assert (found.backend, found.batch) == (BF16, 8)
    assert "batches from 16 on not tried" in found.note


def test_without_an_image_encoder_a_backend_is_one_that_some_family_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    family = SimpleNamespace(backends=("abacus-int4",))
    monkeypatch.setattr(families, "all_entry_points", lambda _: {"abacus": None, "broken": None})

    def load(name: str) -> Any:
        if name == "broken":
            raise SettingsError("cannot be loaded")
        return family

    monkeypatch.setattr(families, "load_family", load)
    for name in ("auto", "torch-fp32", "cuda-bf16", "abacus-int4"):
        open_configured_encoder(Settings(encoder=EncoderSettings(image="none", backend=name)))
    with pytest.raises(SettingsError, match="'torch-fp3' is unknown; known: auto, torch-fp32"):
        open_configured_encoder(Settings(encoder=EncoderSettings(image="none", backend="torch-fp3")))
