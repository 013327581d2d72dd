"""Near-duplicate re-uploads of a video: cropped, regraded, faster or slower, encoded at another size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from eval.workbench.sound import to_sixteen_bits
from eval.workbench.video import AUDIO_RATE, Render

if TYPE_CHECKING:
    from numpy.typing import NDArray

GRADES: dict[str, tuple[float, float, float]] = {
    "warmer": (1.14, 1.0, 0.82),
    "colder": (0.84, 0.98, 1.16),
    "faded": (0.92, 0.92, 0.95),
    "richer": (1.08, 1.06, 1.08),
}
"""Gains of red, green and blue."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a video."""

    crop: tuple[float, float, float, float]
    """Left, top, right and bottom edge of what is kept, in shares of the frame."""
    grade: str
    speed: float
    """Above 1: faster, so shorter; times of the video are divided by it."""
    height: int
    crf: int


def changed_frames(path: Path, change: Change, count: int) -> Iterator[NDArray[np.uint8]]:
    """`count` frames of the copy, uint8 (height, width, 3) RGB, at the video's own frame rate."""
    import av

    width = Render(change.height).width
    table = [min(255, round(value * gain)) for gain in GRADES[change.grade] for value in range(256)]
    with av.open(str(path)) as container:
        stream_: Any = container.streams.video[0]
        stream_.thread_count = 1
        given = 0
        for index, frame in enumerate(container.decode(stream_)):
            wanted = 0
            while given + wanted < count and int((given + wanted) * change.speed + 1e-6) == index:
                wanted += 1
            if wanted:
                image = frame.to_image()
                box = tuple(
                    edge * (image.width if side % 2 == 0 else image.height)
                    for side, edge in enumerate(change.crop)
                )
                small = image.resize((width, change.height), Image.Resampling.BILINEAR, box=box)
                pixels = np.asarray(small.point(table))
                yield from (pixels for _ in range(wanted))
                given += wanted


def changed_sound(path: Path, change: Change) -> Iterator[NDArray[np.float32]]:
    """The video's sound at the copy's speed, with its pitch; blocks of mono float32 (n,) at 16 kHz."""
    import av

    rest: NDArray[np.float32] = np.zeros(0, np.float32)
    first = given = 0
    with av.open(str(path)) as container:
        for frame in container.decode(audio=0):
            assert frame.sample_rate == AUDIO_RATE
            block = np.asarray(frame.to_ndarray(), np.float32).reshape(-1)
            rest = np.concatenate([rest, block])
            ready = max(0, int((first + len(rest) - 2) / change.speed) - given + 1)
            places = (given + np.arange(ready)) * change.speed - first
            yield to_sixteen_bits(np.interp(places, np.arange(len(rest)), rest).astype(np.float32))
            given += ready
            spent = min(len(rest), max(0, int(given * change.speed) - first))
            rest, first = rest[spent:], first + spent
