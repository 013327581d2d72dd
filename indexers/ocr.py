"""Text in images: rapidocr on its own packaged models, offline and the same every time."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.digests import fingerprint, folder_digest
from indexers.errors import ExtraMissing
from indexers.protocol import Disabled
from indexers.settings import OcrSettings

PACKAGES = ("rapidocr", "onnxruntime", "cv2")
INSTALL = "pip install 'offline-video-rag[ocr]'"

DETECTION_SIDE = 960
"""Long side, in pixels, that every image is scaled to for detection, down or up: one image, one result,
whatever was read before it, and letters of a 720p slide stay about 15 pixels high. Costs 0.6 CPU-s."""

PROBE_SIDE = 480
"""Long side for the first look, which only asks whether there is text; 0.14 CPU-s. Of 15 captions 24 pixels
high in 720p over real images it finds 15, of those of 16 pixels 10; at 384 it finds 9 and 6, at 320
(0.07 CPU-s) 7 and 3."""

SAME_STROKES = 0.85
"""Least correlation of the slopes in every piece of a text, a third as wide as it is high, that makes it
the same: half a letter, so that an 8 is no 3."""

FAINT = 24.0
"""Slopes below this, in gray levels, are paper and noise of coding, no strokes."""

KEYFRAME_RULE = 2
"""Number of the rule by which keyframes are chosen: raised with every change to `corpora.video.keyframes`."""

THREADS = 1
"""Two threads take 25 % more CPU for detection and twice as much for recognition: they wait by spinning."""


Corners = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class TextBox:
    """One piece of text in an image; pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float
    text: str
    score: float
    """Confidence in [0, 1]."""


class Ocr:
    """Reads images. `engine` is a `rapidocr.RapidOCR`, or anything called in the same way."""

    def __init__(self, engine: Any, fingerprint: str, min_confidence: float, reason: str) -> None:
        self._engine = engine
        self._min_confidence = min_confidence
        self.fingerprint = fingerprint
        """Hash over the versions, models and settings that the text depends on."""
        self.reason = reason

    def boxes(self, image: NDArray[np.uint8]) -> tuple[TextBox, ...]:
        """Pieces of text of at least the least confidence, in the engine's order.

        `image`: uint8 (height, width, 3) RGB, upright; corners are in pixels of the image as it is scaled
        for detection. Raises `ValueError` for another shape.
        """
        return tuple(box for box in self._all(_scaled(image, DETECTION_SIDE)) if self._sure(box))

    def read(self, image: NDArray[np.uint8]) -> str:
        """The image's text, lines in reading order joined by newlines; empty where there is none.

        `image`: uint8 (height, width, 3) RGB, upright.
        """
        return "\n".join(lines_in_reading_order(self.boxes(image)))

    def read_clip(self, images: Iterable[NDArray[np.uint8]]) -> Iterator[str]:
        """The text of each image of one clip, uint8 (height, width, 3) RGB, in order; quicker than `read`.

        An image in which a first look at `PROBE_SIDE` finds nothing has no text; one whose text is unchanged
        since the image read last in this call has that one's text, whatever moves around it. No state is
        kept from call to call.
        """
        last: _Read | None = None
        for image in images:
            found = self._probe(image)
            if not found:
                yield ""
                continue
            scaled = _scaled(image, DETECTION_SIDE)
            slopes = _slopes(scaled)
            if last is None or not last.still_there(found, slopes):
                boxes = self._all(scaled)
                text = "\n".join(lines_in_reading_order([box for box in boxes if self._sure(box)]))
                last = _Read(text, found, tuple(_corners(box) for box in boxes), slopes)
            yield last.text

    def _sure(self, box: TextBox) -> bool:
        return bool(box.text) and box.score >= self._min_confidence

    def _probe(self, image: NDArray[np.uint8]) -> tuple[Corners, ...]:
        """Where text seems to stand, in pixels of the image at `DETECTION_SIDE`."""
        # The engine keeps the switch from call to call, so both calls set it.
        found = self._engine(_scaled(image, PROBE_SIDE), use_rec=False)
        if found.boxes is None:
            return ()
        up = DETECTION_SIDE / PROBE_SIDE
        return tuple(_bounds(points, up) for points in found.boxes)

    def _all(self, scaled: NDArray[np.uint8]) -> tuple[TextBox, ...]:
        found = self._engine(scaled, use_rec=True)
        if found.boxes is None or found.txts is None or found.scores is None:
            return ()
        return tuple(
            TextBox(*_bounds(points), text.strip(), float(score))
            for points, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        )


@dataclass(frozen=True, slots=True)
class _Read:
    """An image that was read in full."""

    text: str
    probed: tuple[Corners, ...]
    read: tuple[Corners, ...]
    slopes: NDArray[np.float32]

    def still_there(self, probed: Sequence[Corners], slopes: NDArray[np.float32]) -> bool:
        """Whether an image with these findings and slopes has this text: none beyond it, none changed."""
        known = (*self.read, *self.probed)
        return (
            slopes.shape == self.slopes.shape
            and all(any(_covers(old, new) for old in known) for new in probed)
            and all(_same(self.slopes, slopes, box) for box in (self.read or self.probed))
        )


def _bounds(points: Any, scale: float = 1.0) -> Corners:
    """The upright box around the engine's four points, float (4, 2)."""
    left, top = (float(edge) * scale for edge in points.min(axis=0))
    right, bottom = (float(edge) * scale for edge in points.max(axis=0))
    return left, top, right, bottom


def _corners(box: TextBox) -> Corners:
    return box.left, box.top, box.right, box.bottom


def _covers(old: Corners, new: Corners) -> bool:
    """Whether most of `new` is in `old`; what sticks out is less than a letter."""
    slack = (new[3] - new[1]) / 2
    return (
        new[0] >= old[0] - slack
        and new[2] <= old[2] + slack
        and new[1] >= old[1] - slack
        and new[3] <= old[3] + slack
    )


def _slopes(scaled: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Change of the green channel from left to right, float32 (h, w)."""
    green = scaled[:, :, 1].astype(np.float32)
    slopes = np.zeros_like(green)
    slopes[:, 1:-1] = green[:, 2:] - green[:, :-2]
    return slopes


def _same(old: NDArray[np.float32], new: NDArray[np.float32], box: Corners) -> bool:
    """Whether the strokes in the box are the same, piece by piece: one other letter in a long line counts."""
    left, top, right, bottom = (max(0, round(edge)) for edge in box)
    width = max(6, (bottom - top) // 3)
    for start in range(left, max(left + 1, right), width // 2):
        a, b = (slopes[top:bottom, start : start + width].ravel() for slopes in (old, new))
        size = float(np.sqrt((a @ a) * (b @ b)))
        faint = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0))) < FAINT
        if not faint and (size == 0.0 or float(a @ b) < SAME_STROKES * size):
            return False
    return True


def lines_in_reading_order(boxes: Sequence[TextBox]) -> list[str]:
    """Boxes joined into lines, from top to bottom, each from left to right.

    A box belongs to a line when its middle is between the line's top and
    bottom; so a word a little higher than its neighbour stays beside it.
    """
    lines: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda box: ((box.top + box.bottom) / 2, box.left)):
        middle = (box.top + box.bottom) / 2
        if lines and lines[-1][0].top <= middle <= lines[-1][0].bottom:
            lines[-1].append(box)
        else:
            lines.append([box])
    return [" ".join(box.text for box in sorted(line, key=lambda box: box.left)) for line in lines]


def open_ocr(settings: OcrSettings, *, threads: int = THREADS) -> Ocr | Disabled:
    """The reader, or why there is none.

    `auto` without the packages is `Disabled`; `on` without them raises `ExtraMissing`.
    The import and the models take a second or more, once.
    """
    try:
        models = _find(settings)
        return models if isinstance(models, Disabled) else _load(models, settings, threads)
    except ExtraMissing as error:
        if settings.mode == "on":
            raise
        return Disabled(f"on-screen text: off, {error}")


def ocr_line(settings: OcrSettings) -> str:
    """What `open_ocr(...).reason` will say, by a look at files alone; raises as it does."""
    try:
        models = _find(settings)
    except ExtraMissing as error:
        if settings.mode == "on":
            raise
        return f"on-screen text: off, {error}"
    return models.reason if isinstance(models, Disabled) else _on()


def _on() -> str:
    return f"on-screen text: on, rapidocr {version('rapidocr')}"


def _find(settings: OcrSettings) -> tuple[Path, Path] | Disabled:
    if settings.mode == "off":
        return Disabled("on-screen text: off by the settings")
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise ExtraMissing(f"{' and '.join(missing)} not installed; install with: {INSTALL}")
    models = _packaged_models()
    if models is None:
        raise ExtraMissing(f"rapidocr came without its models; install them with: {INSTALL}")
    return models


def _packaged_models() -> tuple[Path, Path] | None:
    """The detection and recognition models inside the installed package, found without importing it."""
    spec = importlib.util.find_spec("rapidocr")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "models"
    detectors, recognizers = (sorted(folder.glob(f"*_{task}_*.onnx")) for task in ("det", "rec"))
    return (detectors[0], recognizers[0]) if detectors and recognizers else None


def _load(models: tuple[Path, Path], settings: OcrSettings, threads: int) -> Ocr:
    try:
        # OpenCV with windows wants system libraries (libGL) that a bare machine lacks.
        from rapidocr import RapidOCR
    except ImportError as error:
        raise ExtraMissing(
            f"rapidocr cannot be loaded ({error}); install it again with: {INSTALL}"
        ) from error

    detector, recognizer = models
    engine = RapidOCR(
        params={
            # Named files are used as they are; without names rapidocr would download what it misses.
            "Det.model_path": str(detector),
            "Rec.model_path": str(recognizer),
            # Text in videos is upright.
            "Global.use_cls": False,
            "Global.text_score": 0.0,
            "Global.log_level": "critical",
            "Det.limit_type": "max",
            "Det.limit_side_len": DETECTION_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    parts = {
        "versions": [f"{name} {version(name)}" for name in ("rapidocr", "onnxruntime")],
        "weights": folder_digest(models),
        "settings": [DETECTION_SIDE, PROBE_SIDE, SAME_STROKES, FAINT, KEYFRAME_RULE, settings.min_confidence],
    }
    return Ocr(engine, fingerprint(parts), settings.min_confidence, _on())


def _scaled(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """BGR, as the engine wants it, with a long side of `side`. Raises `ValueError` for no RGB image."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(f"image must be uint8 (h, w, 3), not {image.dtype} {image.shape}")
    import cv2

    height, width = image.shape[:2]
    scale = side / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    reversed_channels = np.ascontiguousarray(image[:, :, ::-1])
    return np.asarray(cv2.resize(reversed_channels, size, interpolation=how), np.uint8)
