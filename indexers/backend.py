"""Which arithmetic and which batch an image encoder runs with on this machine: measured, once for a library.

A faster arithmetic is taken only where its vectors stay within cosine 0.999
of float32 and are the same bits whatever else is in the batch, because a
library resumed after a kill must equal one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from indexers.protocol import ImageEncoder
from rag.errors import SettingsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BATCHES", "Measured", "Opener", "measure", "probe_pictures", "refusal"]


class Opener(Protocol):
    """Opens one encoder with the backend and batch asked for."""

    def __call__(self, *, backend: str, batch: int) -> ImageEncoder: ...


BATCHES = (8, 16, 32)
MIN_COSINE = 0.999
TIE = 1.1
"""Batches within 10 % of the best count as equal, and the smallest is taken."""
ROUNDS = 2
REFERENCE = "torch-fp32"


@dataclass(frozen=True, slots=True)
class Measured:
    backend: str
    batch: int
    note: str


@dataclass(frozen=True, slots=True)
class _Run:
    backend: str
    batch: int
    cpu: float
    """CPU seconds a picture, all threads."""
    wall: float
    """Seconds a picture."""

    @property
    def cost(self) -> float:
        # Wall time alone jumps with whatever else the machine does; CPU time alone hides idle cores.
        return self.cpu + self.wall


def measure(open_encoder: Opener, backend: str = "auto", batch: int = 0) -> Measured:
    """Try the backends of this processor, or the one set, with batches 8, 16 and 32, or that set.

    Raises `SettingsError` where a backend that was set does not run here or does not keep the vectors.
    """
    batches = (batch,) if batch else BATCHES
    runs: list[_Run] = []
    remarks: list[str] = []
    pictures = probe_pictures(max(batches))
    reference = open_encoder(backend=REFERENCE, batch=min(batches)).encode_images(pictures)
    for name in _candidates(backend):
        for size in batches:
            encoder = open_encoder(backend=name, batch=size)
            reason = refusal(encoder, pictures, reference)
            if reason:
                remarks.append(f"{name} x{size} refused: {reason}")
                if backend == "auto":
                    continue
                raise SettingsError(f"encoder.backend {name} with batch {size}: {reason}; take {REFERENCE}")
            runs.append(_time(encoder, pictures[:size]))
    return _best(runs, remarks)


def _candidates(backend: str) -> tuple[str, ...]:
    from indexers.torch_ground import available_backends

    here = available_backends()
    if backend == "auto":
        return here
    if backend not in here:
        raise SettingsError(f"encoder.backend {backend!r} does not run here; what does: {', '.join(here)}")
    return (backend,)


def _best(runs: list[_Run], remarks: list[str]) -> Measured:
    if not runs:
        raise SettingsError(f"no backend keeps the vectors on this machine: {'; '.join(remarks)}")
    cheapest = min(runs, key=lambda run: run.cost)
    same = [run for run in runs if run.backend == cheapest.backend and run.cost <= cheapest.cost * TIE]
    chosen = min(same, key=lambda run: run.batch)
    figures = [f"{run.backend} x{run.batch} {run.cpu * 1000:.1f}/{run.wall * 1000:.1f}" for run in runs]
    note = f"CPU/wall ms a picture: {', '.join(figures)}"
    return Measured(chosen.backend, chosen.batch, "; ".join([note, *remarks]))


def refusal(encoder: ImageEncoder, pictures: NDArray[np.uint8], reference: NDArray[np.float32]) -> str:
    """Why the encoder may not be used for a library; empty where it may.

    `pictures`: at least `encoder.batch`; `reference`: their float32 vectors.
    """
    batch = encoder.batch
    first = encoder.encode_images(pictures[:batch])
    cosine = float(np.min(np.sum(first * reference[:batch], axis=1)))
    if not cosine >= MIN_COSINE:
        return f"cosine to float32 is {cosine:.4f}, below {MIN_COSINE}"
    if not np.array_equal(first, encoder.encode_images(pictures[:batch])):
        return "the same batch gave other bits the second time"
    for order in _arrangements(batch):
        if not np.array_equal(encoder.encode_images(pictures[:batch][order]), first[order]):
            return "a picture's vector changes with its place and its neighbours in the batch"
    return ""


def _arrangements(batch: int) -> Iterator[NDArray[np.int64]]:
    """Every picture at some other place, among other neighbours, and one alone in a padded batch."""
    places = np.arange(batch)
    yield places[::-1].copy()
    yield np.roll(places, batch // 2 + 1)
    for picture in {0, batch - 1}:
        yield np.full(1, picture)


def _time(encoder: ImageEncoder, pictures: NDArray[np.uint8]) -> _Run:
    """The quickest of a few rounds: noise only ever adds."""
    best = (float("inf"), float("inf"))
    for _ in range(ROUNDS):
        cpu, wall = time.process_time(), time.perf_counter()
        encoder.encode_images(pictures)
        spent = (time.process_time() - cpu, time.perf_counter() - wall)
        best = min(best, spent, key=sum)
    return _Run(encoder.backend, encoder.batch, best[0] / len(pictures), best[1] / len(pictures))


def probe_pictures(count: int, height: int = 224, width: int = 398) -> NDArray[np.uint8]:
    """Pictures with edges, gradients and grain, all different; uint8 (count, height, width, 3)."""
    random = np.random.default_rng(0)
    down, across = np.mgrid[0:height, 0:width].astype(np.float32)
    pictures = np.empty((count, height, width, 3), np.uint8)
    for picture in pictures:
        colours = random.uniform(0, 255, (4, 3))
        angle, centre = random.uniform(0, 2 * np.pi), random.uniform(0.2, 0.8, 2)
        slope = (np.cos(angle) * across / width + np.sin(angle) * down / height) % 1
        disc = (down / height - centre[0]) ** 2 + (across / width - centre[1]) ** 2 < 0.04
        plain = colours[0] + slope[..., None] * (colours[1] - colours[0])
        plain[disc] = colours[2]
        plain += random.normal(0, 6, plain.shape)
        picture[:] = np.clip(plain, 0, 255)
    return pictures
