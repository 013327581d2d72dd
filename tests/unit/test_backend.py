"""A backend that would make two runs differ is refused, and so is one that changes the vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from indexers import backend
from indexers.backend import measure, probe_pictures, refusal
from indexers.protocol import ImageEncoder
from rag.errors import SettingsError

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

    def encode_text(self, texts):  # type: ignore[no-untyped-def]  # no text here
        raise NotImplementedError


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


PICTURES = probe_pictures(16, 56, 100)
REFERENCE = ScriptedEncoder(plain).encode_images(PICTURES)


def test_a_sound_backend_passes() -> None:
    assert refusal(ScriptedEncoder(plain), PICTURES, REFERENCE) == ""


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        (by_neighbours, "neighbours"),
        (by_place, "place"),
        (coarse, "cosine"),
        (lambda rows: rows * np.nan, "cosine"),
        (Drifting(), "second time"),
    ],
)
def test_an_unsound_backend_is_refused(forward: Forward, reason: str) -> None:
    assert reason in refusal(ScriptedEncoder(forward), PICTURES, REFERENCE)


def _opener(half: Forward):  # type: ignore[no-untyped-def]  # an Opener
    def opener(*, backend: str, batch: int) -> ImageEncoder:
        return ScriptedEncoder(plain if backend == "torch-fp32" else half, backend, batch)

    return opener


@pytest.fixture(autouse=True)
def _two_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexers.torch_ground.available_backends", lambda: ("torch-fp32", "torch-bf16"))


def _costs(monkeypatch: pytest.MonkeyPatch, costs: dict[tuple[str, int], float]) -> None:
    def timed(encoder: ImageEncoder, _: object) -> backend._Run:
        cost = costs[encoder.backend, encoder.batch]
        return backend._Run(encoder.backend, encoder.batch, cost / 2, cost / 2)

    monkeypatch.setattr(backend, "_time", timed)


FP32, BF16 = "torch-fp32", "torch-bf16"


def test_the_fastest_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    _costs(
        monkeypatch, {(FP32, 8): 9, (FP32, 16): 8, (FP32, 32): 7, (BF16, 8): 5, (BF16, 16): 3, (BF16, 32): 4}
    )
    found = measure(_opener(plain))
    assert (found.backend, found.batch) == (BF16, 16)
    assert "torch-fp32 x32 3500.0/3500.0" in found.note


def test_a_tie_goes_to_the_smaller_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    _costs(
        monkeypatch,
        {(FP32, 8): 9, (FP32, 16): 9, (FP32, 32): 9, (BF16, 8): 4.3, (BF16, 16): 4.1, (BF16, 32): 4.0},
    )
    assert measure(_opener(plain)).batch == 8


def test_an_unsound_backend_is_passed_over_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _costs(monkeypatch, {(FP32, 8): 7, (FP32, 16): 7, (FP32, 32): 5})
    found = measure(_opener(by_neighbours))
    assert (found.backend, found.batch) == (FP32, 32)
    assert "torch-bf16 x8 refused" in found.note


def test_an_unsound_backend_that_was_set_is_an_error() -> None:
    with pytest.raises(SettingsError, match="neighbours"):
        measure(_opener(by_neighbours), backend=BF16)


def test_timing_counts_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "BATCHES", (8,))
    found = measure(_opener(plain), backend=FP32)
    assert (found.backend, found.batch) == (FP32, 8)
    assert found.note.startswith("CPU/wall ms a picture: torch-fp32 x8 ")
