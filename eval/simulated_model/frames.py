"""Frames of the synthetic videos found again in the JPEGs of a request, and the truth that they show.

A thumbnail is the mean colour of 16 x 9 cells: JPEG and resizing hardly change it, and the sway of the camera
changes it from one moment to the next. Of the frames of one stretch all are looked for in one video, the one
that fits them best together; frames that are alike to the pixel show the same.
"""

from __future__ import annotations

import io
import json
import os
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

TRUTH = Path(".workbench", "events.jsonl")
COLUMNS, ROWS, CELL = 16, 9, 4
RATE = 4.0
"""Frames a second that are indexed."""
LARGEST_DISTANCE = 12.0
"""Root mean square difference in levels of 255 beyond which a frame is none of these."""
TIME_WEIGHT = 0.15
"""Levels a second between the indexed and the stated time, up to `LARGEST_GAP` seconds."""
LARGEST_GAP = 10.0

Row = Mapping[str, Any]
"""A part of the truth, under the names of `eval.workbench.jobs.truth`."""


@dataclass(frozen=True, eq=False)
class Video:
    """A video with its truth and its thumbnails in time order."""

    name: str
    truth: Row
    thumbs: NDArray[np.uint8]
    """(n, 432)."""
    times: NDArray[np.float32]
    """(n,) seconds."""

    def part(self, time: float) -> tuple[int, Row]:
        """Number and row of the story that is told at `time` seconds."""
        parts = self.truth.get("parts") or [{**self.truth, "start": 0.0}]
        number = max(0, bisect_right([part["start"] for part in parts], time) - 1)
        return number, parts[number]

    def event(self, time: float) -> tuple[int, Row] | None:
        """Number and row of the event that goes on at `time` seconds."""
        every = enumerate(self.truth["events"])
        return next(((at, event) for at, event in every if event["start"] <= time < event["end"]), None)

    def cards(self, time: float) -> list[str]:
        """The texts on the screen at `time` seconds."""
        cards = self.truth.get("cards", ())
        return [card["text"] for card in cards if card["start"] <= time < card["end"]]

    def distances(self, wanted: NDArray[np.float32]) -> NDArray[np.float32]:
        """float32 (m, n) root mean square differences to float32 (m, 432) thumbnails."""
        own = self.thumbs.astype(np.float32)
        squares = [np.einsum("ij,ij->i", rows, rows) for rows in (wanted, own)]
        found = squares[0][:, None] + squares[1][None] - 2 * wanted @ own.T
        return np.asarray(np.sqrt(np.maximum(found, 0) / own.shape[1]), np.float32)


class FrameIndex:
    """Videos, to look frames up in."""

    def __init__(self, videos: Iterable[Video]) -> None:
        self.videos = [video for video in videos if len(video.times)]

    def recognize(
        self, images: Sequence[bytes], stated: Sequence[float] | None = None
    ) -> list[tuple[Video, float] | None]:
        """Which video each frame of one stretch is of, and when; None for one that is none of these.

        `images`: JPEG, in time order. `stated`: the seconds that are said of them.
        """
        if not images or not self.videos:
            return [None] * len(images)
        wanted = np.stack([jpeg_thumbnail(image) for image in images]).astype(np.float32)

        def off(video: Video) -> float:
            # One frame that is no frame of any video does not decide where the others are from.
            return float(np.minimum(video.distances(wanted).min(axis=1), 2 * LARGEST_DISTANCE).sum())

        best = min(self.videos, key=off)
        found: list[tuple[Video, float] | None] = []
        for row, own in enumerate(best.distances(wanted)):
            cost = own
            if stated is not None:
                cost = own + TIME_WEIGHT * np.minimum(np.abs(best.times - stated[row]), LARGEST_GAP)
            at = int(cost.argmin())
            found.append((best, float(best.times[at])) if own[at] <= LARGEST_DISTANCE else None)
        return found


def corpus_folders(places: Iterable[Path]) -> list[Path]:
    """The corpora and webs of the synthetic world at or below the places, sorted.

    Raises `UsageError` for a place without one.
    """
    found: set[Path] = set()
    for place in places:
        truths = [path for path in place.rglob(TRUTH.name) if path.parent.name == TRUTH.parent.name]
        if not truths:
            raise UsageError(f"{place}: holds no synthetic videos; name a benchmark's --data")
        found |= {path.parent.parent for path in truths}
    return sorted(found)


def open_index(corpora: Sequence[Path]) -> FrameIndex:
    """The index of the corpora's videos, which are decoded."""
    rows = [
        (corpus / "videos" / row["video"], row)
        for corpus in corpora
        for row in map(json.loads, (corpus / TRUTH).read_text(encoding="utf-8").splitlines())
    ]
    there = [(path, row) for path, row in rows if path.is_file()]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return FrameIndex(pool.map(lambda pair: _indexed(*pair), there))


def jpeg_thumbnail(data: bytes) -> NDArray[np.uint8]:
    """uint8 (432,) of an encoded image. Raises `OSError` for bytes that are no image."""
    from PIL import Image

    image = Image.open(io.BytesIO(data))
    image.draft("RGB", (COLUMNS * CELL * 2, ROWS * CELL * 2))
    small = image.convert("RGB").resize((COLUMNS * CELL, ROWS * CELL), Image.Resampling.BOX)
    return _means(np.asarray(small))


def _means(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    cells = pixels.reshape(ROWS, CELL, COLUMNS, CELL, 3).mean(axis=(1, 3))
    return np.asarray(cells.round(), np.uint8).reshape(-1)


def _indexed(path: Path, truth: Row) -> Video:
    """With thumbnails of `RATE` frames a second."""
    import av
    from av.video.reformatter import VideoReformatter

    thumbs, times = [], []
    shaper, due = VideoReformatter(), 0.0
    with av.open(str(path)) as container:
        stream: Any = container.streams.video[0]
        stream.thread_count = 1
        for frame in container.decode(stream):
            if frame.time is None or frame.time + 1e-6 < due:
                continue
            due = frame.time + 1 / RATE
            small = shaper.reformat(frame, COLUMNS * CELL, ROWS * CELL, "rgb24", interpolation="AREA")
            thumbs.append(_means(np.asarray(small.to_ndarray(), np.uint8)))
            times.append(frame.time)
    return Video(path.name, truth, np.stack(thumbs), np.array(times, np.float32))
