"""Which arithmetic and which batch an image encoder runs with on this machine: measured, once for a library.

A faster arithmetic is taken only where its vectors stay within cosine 0.999
of float32 and are the same bits whatever else is in the batch, because a
library resumed after a kill must equal one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from corpora.errors import SettingsError
from indexers.devices import PLACES, available_backends, device_of, find_device
from indexers.protocol import ImageEncoder
from indexers.settings import Device

BATCHES = {"cpu": (8, 16, 32), "cuda": (32, 64, 128, 256), "mps": (16, 32, 64)}
"""What is tried on each device, in images; one that does not fit runs in halves, and is no quicker."""
MIN_COSINE = 0.999
TIE = 1.1
"""Batches within 10 % of the best count as equal, and the smallest is taken."""
ROUNDS = 3
"""Passes of each backend that are compared."""
MAX_TRIAL_SECONDS = 60.0
"""Larger batches are not tried after this long: for a big model the choice must not cost what it saves."""


class Opener(Protocol):
    """Opens one encoder with the backend and batch asked for."""

    def __call__(self, *, backend: str, batch: int) -> ImageEncoder: ...


@dataclass(frozen=True, slots=True)
class Measured:
    """A backend and batch size chosen by measurement; a library stores and keeps them in `meta`."""

    backend: str
    batch: int
    note: str
    """What was measured, in one line."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Of one backend at one batch, the quickest pass: noise only ever adds."""

    backend: str
    batch: int
    cpu: float
    """CPU seconds an image, all threads."""
    wall: float
    """Seconds an image."""

    @property
    def cost(self) -> float:
        # Wall time alone jumps with whatever else the machine does; CPU time alone hides idle cores.
        """CPU seconds plus wall seconds."""
        return self.cpu + self.wall

    def __str__(self) -> str:
        return f"{self.backend} x{self.batch} {self.cpu * 1000:.1f}/{self.wall * 1000:.1f}"


def measure(
    open_encoder: Opener,
    backends: Sequence[str],
    backend: str = "auto",
    batch: int = 0,
    *,
    device: Device = "auto",
) -> Measured:
    """The quickest backend of this device that keeps the vectors, at the quickest batch of `BATCHES`.

    `backends`: all that the encoder has; the first is the reference of the others. A `backend` or a
    `batch` that is set is the only one tried. Raises `SettingsError` where a backend or device that was set
    does not run here, or does not keep the vectors.
    """
    names = _candidates(backends, backend, device)
    sizes = (batch,) if batch else BATCHES[device_of(names[0])]
    images = probe_images(max(sizes))
    encoders = {name: open_encoder(backend=name, batch=sizes[0]) for name in names}
    plain = encoders.get(backends[0]) or open_encoder(backend=backends[0], batch=sizes[0])
    reference = plain.encode_images(images[: sizes[0]])
    notes: list[str] = []
    usable = [one for one in encoders.values() if _runs(one, images[: sizes[0]], notes)]
    trials = _quick_timings(usable, images[: sizes[0]])
    for name in trials or [one.backend for one in usable]:
        timings = _try_batches(encoders[name], sizes, images, reference, notes)
        if timings:
            return _best(timings, [trial for other, trial in trials.items() if other != name], notes)
    if backend != "auto":
        raise SettingsError(f"encoder.backend: {'; '.join(notes)}; take {backends[0]}")
    raise SettingsError(f"no backend keeps the vectors on this machine: {'; '.join(notes)}")


def _candidates(backends: Sequence[str], backend: str, device: Device) -> tuple[str, ...]:
    """Of the backends that run here, the one that was set, or all of the device.

    An encoder that knows no backend of the device runs on the processor.
    """
    if PLACES.keys().isdisjoint(backends):
        here = on_device = tuple(backends)
    else:
        chosen = find_device(device)
        usable = {name for place in BATCHES for name in available_backends(place)}
        here = tuple(name for name in backends if name in usable or name not in PLACES)
        on_device = tuple(name for name in here if device_of(name) == chosen)
    if backend == "auto":
        return on_device or tuple(name for name in here if device_of(name) == "cpu")
    if backend not in here:
        raise SettingsError(f"encoder.backend {backend!r} does not run here; what does: {', '.join(here)}")
    return (backend,)


def _runs(encoder: ImageEncoder, images: NDArray[np.uint8], notes: list[str]) -> bool:
    """Whether the device has all that the model computes: MPS lacks some operators in some dtypes."""
    if device_of(encoder.backend) == "cpu":
        return True
    try:
        encoder.encode_images(images)
    except NotImplementedError as error:
        notes.append(f"{encoder.backend} refused: {str(error).splitlines()[0]}")
        return False
    return True


def _quick_timings(encoders: list[ImageEncoder], images: NDArray[np.uint8]) -> dict[str, Timing]:
    """By backend the quickest pass of each, the quickest backend first; nothing where there is no choice.

    They run in turns: what else the machine does then hits all of them.
    """
    if len(encoders) <= 1:
        return {}
    rounds = [[_timed(encoder, images)[1] for encoder in encoders] for _ in range(1 + ROUNDS)]
    # The first pass also sets kernels up.
    best = [min(passes, key=lambda timing: timing.cost) for passes in zip(*rounds[1:], strict=True)]
    return {timing.backend: timing for timing in sorted(best, key=lambda timing: timing.cost)}


def _try_batches(
    encoder: ImageEncoder,
    sizes: tuple[int, ...],
    images: NDArray[np.uint8],
    reference: NDArray[np.float32],
    notes: list[str],
) -> list[Timing]:
    """The timing of every batch that keeps the vectors, by trying them in turn."""
    timings: list[Timing] = []
    begun = time.perf_counter()
    for size in sizes:
        if timings and time.perf_counter() - begun > MAX_TRIAL_SECONDS:
            notes.append(f"batches from {size} on not tried after {MAX_TRIAL_SECONDS:.0f} s")
            break
        encoder.batch = size
        trial = examine(encoder, images[:size], reference)
        if isinstance(trial, str):
            notes.append(f"{encoder.backend} x{size} refused: {trial}")
        else:
            timings.append(trial)
    return timings


def _best(timings: list[Timing], others: list[Timing], notes: list[str]) -> Measured:
    cheapest = min(timing.cost for timing in timings)
    chosen = min(
        (timing for timing in timings if timing.cost <= cheapest * TIE), key=lambda timing: timing.batch
    )
    figures = ", ".join(str(timing) for timing in [*others, *timings])
    return Measured(chosen.backend, chosen.batch, "; ".join([f"CPU/wall ms an image: {figures}", *notes]))


def examine(encoder: ImageEncoder, images: NDArray[np.uint8], reference: NDArray[np.float32]) -> Timing | str:
    """How fast the encoder is, or why it may not be used for a library.

    `images`: uint8 (n, height, width, 3) RGB, exactly one batch. `reference`: unit float32 (m, dim), the
    vectors of the first m of them in float32 arithmetic.
    """
    first, timing = _timed(encoder, images)
    shared = min(len(reference), len(first))
    cosine = float(np.min(np.sum(first[:shared] * reference[:shared], axis=1)))
    if not cosine >= MIN_COSINE:
        return f"cosine to float32 is {cosine:.4f}, below {MIN_COSINE}"
    timings = [timing]
    for order, otherwise in _arrangements(len(images)):
        again, timing = _timed(encoder, images[order])
        if not np.array_equal(again, first[order]):
            return otherwise
        if len(order) == len(images):
            timings.append(timing)
    return min(timings, key=lambda timing: timing.cost)


def _arrangements(batch: int) -> Iterator[tuple[NDArray[np.int64], str]]:
    """The same batch, every image among other neighbours at another place, and one alone in a padded batch.

    Each with what is wrong where it gives other bits.
    """
    places = np.arange(batch)
    yield places, "the same batch gave other bits the second time"
    for order in (np.roll(places[::-1], batch // 2 + 1), places[-1:]):
        yield order, "an image's vector changes with its position and its neighbours in the batch"


def _timed(encoder: ImageEncoder, images: NDArray[np.uint8]) -> tuple[NDArray[np.float32], Timing]:
    cpu, wall = time.process_time(), time.perf_counter()
    rows = encoder.encode_images(images)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return rows, Timing(encoder.backend, len(images), cpu / len(images), wall / len(images))


@lru_cache(maxsize=1)
def probe_images(count: int, height: int = 224, width: int = 398) -> NDArray[np.uint8]:
    """Images with edges, gradients and grain, all different; uint8 (count, height, width, 3)."""
    random = np.random.default_rng(0)
    down, across = np.mgrid[0:height, 0:width].astype(np.float32)
    images = np.empty((count, height, width, 3), np.uint8)
    for image in images:
        colours = random.uniform(0, 255, (4, 3))
        angle, centre = random.uniform(0, 2 * np.pi), random.uniform(0.2, 0.8, 2)
        slope = (np.cos(angle) * across / width + np.sin(angle) * down / height) % 1
        disc = (down / height - centre[0]) ** 2 + (across / width - centre[1]) ** 2 < 0.04
        plain = colours[0] + slope[..., None] * (colours[1] - colours[0])
        plain[disc] = colours[2]
        plain += random.normal(0, 6, plain.shape)
        image[:] = np.clip(plain, 0, 255)
    images.setflags(write=False)  # kept for the next caller
    return images
