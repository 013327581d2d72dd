"""Frames of the synthetic videos found again in the JPEGs of a request, and the truth that they show.

A thumbnail is the mean colour of 16 x 9 cells: JPEG and resizing hardly change it, and the sway of the camera
changes it from one moment to the next. Of the frames of one stretch all are looked for in one video, the one
that fits them best together; frames that are alike to the pixel show the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter

from corpora.outputs import atomic_file
from rag.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

TRUTH = Path(".workbench", "events.jsonl")


@dataclass(frozen=True, slots=True)
class Event:
    """A person does something with something; all times are [start, end) seconds of the video."""

    number: int
    agent: str
    action_id: str
    place: str | None
    kind_id: str
    start: float
    end: float
    seen_from: float
    seen_until: float


@dataclass(frozen=True, slots=True)
class Part:
    """One story of a video."""

    number: int
    start: float
    end: float
    scene: str
    light: str
    style: str
    person: str
    props: tuple[tuple[str, str], ...]
    """Id and colour."""


@dataclass(frozen=True, slots=True)
class Card:
    """Text on the screen."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Moment:
    """What one frame shows, whole and true."""

    part: Part
    event: Event | None
    object_in_view: bool
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Video:
    """The truth of one video."""

    name: str
    path: Path
    parts: tuple[Part, ...]
    events: tuple[Event, ...]
    cards: tuple[Card, ...]

    def at(self, time: float) -> Moment:
        """What is to be seen at `time` seconds."""
        number = max(0, bisect_right([part.start for part in self.parts], time) - 1)
        event = next((each for each in self.events if each.start <= time < each.end), None)
        seen = event is not None and event.seen_from <= time < event.seen_until
        cards = tuple(card for card in self.cards if card.start <= time < card.end)
        return Moment(self.parts[number], event, seen, cards)


def corpus_folders(places: Iterable[Path]) -> list[Path]:
    """The corpora and webs of the synthetic world at or below the places, sorted.

    Raises `UsageError` for a place without one.
    """
    found: set[Path] = set()
    for place in places:
        here = {
            path.parent.parent for path in place.rglob(TRUTH.name) if path.parent.name == TRUTH.parent.name
        }
        if not here:
            raise UsageError(
                f"{place}: holds no synthetic videos; name a folder of 'rag workbench' or --data"
            )
        found |= here
    return sorted(found)


def read_videos(corpus: Path) -> list[Video]:
    """The videos of a corpus of which the file is there."""
    lines = (corpus / TRUTH).read_text(encoding="utf-8").splitlines()
    videos = (_video(corpus / "videos", json.loads(line)) for line in lines)
    return [video for video in videos if video.path.is_file()]


def _video(folder: Path, row: Mapping[str, Any]) -> Video:
    parts = row.get("parts") or [{**row, "start": 0.0, "end": row["duration"]}]
    found: Video = TypeAdapter(Video).validate_python(
        {
            "name": row["video"],
            "path": folder / row["video"],
            "parts": [
                {**part, "number": number, "props": [(prop["prop"], prop["color"]) for prop in part["props"]]}
                for number, part in enumerate(parts)
            ],
            "events": [{**event, "number": number} for number, event in enumerate(row["events"])],
            "cards": row.get("cards", ()),
        }
    )
    return found


VERSION = 1
COLUMNS, ROWS, CELL = 16, 9, 4
LENGTH = COLUMNS * ROWS * 3
RATE = 4.0
"""Frames a second that are indexed."""
LARGEST_DISTANCE = 12.0
"""Root mean square difference in levels of 255 beyond which a frame is none of these."""
TIME_WEIGHT = 0.15
"""Levels a second between the indexed and the stated time, up to `LARGEST_GAP` seconds."""
LARGEST_GAP = 10.0
BLOCK = 16384


@dataclass(frozen=True, slots=True)
class Recognized:
    """A frame of a request: which video, and when in it, in seconds."""

    video: Video
    time: float


class FrameIndex:
    """Thumbnails uint8 (n, 432) of videos, those of one video together and in time order."""

    def __init__(
        self,
        videos: Sequence[Video],
        thumbs: NDArray[np.uint8],
        times: NDArray[np.float32],
        counts: NDArray[np.int64],
    ) -> None:
        kept = counts > 0
        self.videos = [video for video, keep in zip(videos, kept, strict=True) if keep]
        self._thumbs, self._times = thumbs, times
        self._starts = np.concatenate([[0], np.cumsum(counts[kept])])
        whole = thumbs.astype(np.float32)
        self._squares = np.einsum("ij,ij->i", whole, whole)

    def recognize(
        self, images: Sequence[bytes], stated: Sequence[float] | None = None
    ) -> list[Recognized | None]:
        """The frames of one stretch of a video; None for one that is none of these.

        `images`: JPEG, in time order. `stated`: the seconds that are said of them.
        """
        if not images or not self.videos:
            return [None] * len(images)
        distances = self._distances(np.stack([jpeg_thumbnail(image) for image in images]))
        nearest = np.minimum.reduceat(distances, self._starts[:-1], axis=1)
        # One frame that is no frame of any video does not decide where the others are from.
        best = int(np.minimum(nearest, 2 * LARGEST_DISTANCE).sum(axis=0).argmin())
        low, high = int(self._starts[best]), int(self._starts[best + 1])
        times = self._times[low:high]
        found: list[Recognized | None] = []
        for row, own in enumerate(distances[:, low:high]):
            cost = own
            if stated is not None:
                cost = own + TIME_WEIGHT * np.minimum(np.abs(times - stated[row]), LARGEST_GAP)
            at = int(cost.argmin())
            near = float(own[at]) <= LARGEST_DISTANCE
            found.append(Recognized(self.videos[best], float(times[at])) if near else None)
        return found

    def _distances(self, wanted: NDArray[np.uint8]) -> NDArray[np.float32]:
        """(m, n) root mean square differences."""
        rows = wanted.astype(np.float32)
        own = np.einsum("ij,ij->i", rows, rows)
        found = np.empty((len(rows), len(self._thumbs)), np.float32)
        for low in range(0, len(self._thumbs), BLOCK):
            block = slice(low, low + BLOCK)
            dots = rows @ self._thumbs[block].astype(np.float32).T
            found[:, block] = own[:, None] + self._squares[None, block] - 2 * dots
        return np.sqrt(np.maximum(found, 0) / LENGTH)


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


def open_index(
    corpora: Sequence[Path], cache: Path | None = None, progress: Callable[[int, int], None] | None = None
) -> FrameIndex:
    """The index of the corpora's videos; decoded once and kept in `cache`.

    `cache`: a folder; default `$XDG_CACHE_HOME/rag/simulated-model`. `progress`: videos done, and all.
    """
    folder = cache or _default_cache()
    videos, thumbs, times, counts = [], [], [], []
    for corpus in corpora:
        own = read_videos(corpus)
        stored = folder / f"{_key(corpus, own)}.npz"
        if not stored.is_file():
            _write(stored, own, progress)
        with np.load(stored) as data:
            videos += own
            thumbs.append(data["thumbs"])
            times.append(data["times"])
            counts.append(data["counts"])
    return FrameIndex(videos, np.concatenate(thumbs), np.concatenate(times), np.concatenate(counts))


def _default_cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root, "rag", "simulated-model")


def _key(corpus: Path, videos: Sequence[Video]) -> str:
    """Of the truth and the files that are there; a copied corpus has the same."""
    digest = hashlib.sha256(f"{VERSION} {RATE} {COLUMNS} {ROWS}".encode())
    digest.update((corpus / TRUTH).read_bytes())
    for video in videos:
        digest.update(f"{video.name} {video.path.stat().st_size}".encode())
    return digest.hexdigest()[:24]


def _write(path: Path, videos: Sequence[Video], progress: Callable[[int, int], None] | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[NDArray[np.uint8], NDArray[np.float32]]] = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done, row in enumerate(pool.map(video_thumbnails, (video.path for video in videos)), start=1):
            rows.append(row)
            if progress is not None:
                progress(done, len(videos))
    with atomic_file(path) as draft, draft.open("wb") as file:
        np.savez(
            file,
            thumbs=np.concatenate([row[0] for row in rows] or [np.zeros((0, LENGTH), np.uint8)]),
            times=np.concatenate([row[1] for row in rows] or [np.zeros(0, np.float32)]),
            counts=np.array([len(row[1]) for row in rows], np.int64),
        )


def video_thumbnails(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Thumbnails uint8 (n, 432) of `RATE` frames a second, and their times float32 (n,) in seconds."""
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
    return np.stack(thumbs), np.array(times, np.float32)
