"""Text in images: rapidocr on its own packaged models, offline and the same every time."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.passages.page_layout import TextLine, rows_of
from indexers.digests import fingerprint, folder_digest
from indexers.errors import ExtraMissing
from indexers.onnx_graph import forbid_telemetry
from indexers.protocol import Disabled, open_sense
from indexers.screen import (
    MARGIN,
    Line,
    Part,
    Screen,
    TextBox,
    area,
    around,
    bounds,
    meets,
    merged,
    slopes_of,
)
from indexers.settings import OcrSettings

SENSE = "on-screen text"
PACKAGES = ("rapidocr", "onnxruntime", "cv2")
INSTALL = "pip install -e '.[ocr]' (in the checkout)"

DETECTION_SIDE = 960
"""Long side, in pixels, that every image is scaled to for detection, down or up: one image, one result,
whatever was read before it, and letters of a 720p slide stay about 15 pixels high; 0.2 CPU-s."""

PROBE_SIDE = 480
"""Long side for the first look, where more than `DIRECT_SHARE` of an image may hold text; 0.05 CPU-s."""

DIRECT_SHARE = 0.25
"""Share of the image up to which its parts are searched at `DETECTION_SIDE` at once: no dearer than a first
look."""

DETECTION_SCORE, PROBE_SCORE = 0.5, 0.3
"""Least mean probability of a box: the engine's own, and that of the first look, whose finds are searched
again."""

KEYFRAME_RULE = 4
"""Number of the rule by which keyframes are chosen: raised with every change to `corpora.video.keyframes`."""

SCREEN_RULE = 5
"""Number of the rule by which a clip is searched: raised with every change to it, to `indexers.screen` or to
`indexers.text_tracking`."""

THREADS = 1
"""Two threads take 25 % more CPU for detection and twice as much for recognition: they wait by spinning."""


class Ocr:
    """Reads images. `engine` is a `rapidocr.RapidOCR`, or anything called in the same way."""

    def __init__(self, engine: Any, fingerprint: str, min_confidence: float, reason: str) -> None:
        self._engine = engine
        self._min_confidence = min_confidence
        self.fingerprint = fingerprint
        """Hash over the versions, models and settings that the text depends on."""
        self.reason = reason

    def read_page(self, image: NDArray[np.uint8]) -> list[TextLine]:
        """The pieces of text on a page, of at least the least confidence, in the engine's order.

        `image`: uint8 (height, width) gray, upright, at most 2,000 pixels long; corners are in its pixels.
        Texts are found in it as it is scaled for detection, and recognized at its own size.
        """
        colours = np.ascontiguousarray(np.repeat(image[:, :, None], 3, axis=2))
        found = self._call(colours, use_rec=True, least=DETECTION_SCORE)
        if found.boxes is None or found.txts is None or found.scores is None:
            return []
        read = zip(found.boxes, found.txts, found.scores, strict=True)
        boxes = (TextBox(*bounds(points), text.strip(), float(score)) for points, text, score in read)
        return [
            TextLine(box.left, box.top, box.right, box.bottom, box.text) for box in boxes if self._sure(box)
        ]

    def read_clip(self, images: Iterable[NDArray[np.uint8]]) -> Iterator[tuple[TextBox, ...]]:
        """The texts of each image of one clip, uint8 (height, width, 3) RGB, upright, in reading order.

        Their confidence is at least the least one, a lone character is none, and corners are in pixels of the
        image as it is scaled for detection. Where an image has no strokes, or those of the images before it
        in this call, nothing is searched; texts that are unchanged, or have scrolled, are not recognized
        again, whatever moves around them. No state is kept from call to call. Raises `ValueError` for another
        shape.
        """
        screen = Screen()
        for image in images:
            scaled = _scaled(image, DETECTION_SIDE)
            slopes = slopes_of(scaled)
            before = screen.lines
            parts = screen.update(slopes)
            if sum(area(part) for part in parts) > DIRECT_SHARE * slopes.size:
                probed = self._detect(_scaled(image, PROBE_SIDE), PROBE_SCORE)
                up = DETECTION_SIDE / PROBE_SIDE
                boxes = [bounds(points, up) for points in probed]
                found = [around(box, MARGIN) for box in boxes if meets(box, parts)]
                dense = screen.dense(slopes)
                if sum(area(part) for part in dense) > DIRECT_SHARE * slopes.size:
                    dense = []
                parts = merged([*found, *dense], slopes.shape)
            parts = screen.with_neighbours(parts)
            self._read_parts(scaled, slopes, parts, before, screen)
            yield self._shown(line.box for line in screen.lines)

    def _read_parts(
        self,
        scaled: NDArray[np.uint8],
        slopes: NDArray[np.float32],
        parts: Sequence[Part],
        known: Sequence[Line],
        screen: Screen,
    ) -> None:
        """Add the lines in `parts` to `screen`; of `known` ones, at whatever place, the text is taken."""
        unread: list[Any] = []
        for left, top, right, bottom in parts:
            for points in self._detect(scaled[top:bottom, left:right], DETECTION_SCORE):
                points = points + np.array([left, top], points.dtype)
                corners = bounds(points)
                earlier = next((line for line in known if line.moved_to(slopes, corners)), None)
                if earlier is None:
                    unread.append(points)
                else:
                    screen.add(TextBox(*corners, earlier.box.text, earlier.box.score), slopes)
        if unread:
            found = self._engine.recognize_txt(self._engine.crop_text_regions(scaled, unread))
            for points, text, score in zip(unread, found.txts, found.scores, strict=True):
                screen.add(TextBox(*bounds(points), text.strip(), float(score)), slopes)

    def _sure(self, box: TextBox) -> bool:
        return bool(box.text) and box.score >= self._min_confidence

    def _shown(self, boxes: Iterable[TextBox]) -> tuple[TextBox, ...]:
        """The boxes of a screen that are text, in reading order: one letter or digit counts only beside a
        longer text, for corners and textures are read as one."""
        rows = rows_of(box for box in boxes if self._sure(box))
        return tuple(
            box for row in rows if any(sum(map(str.isalnum, one.text)) > 1 for one in row) for box in row
        )

    def _detect(self, part: NDArray[np.uint8], least: float) -> Sequence[Any]:
        """The four points of each text, float (4, 2), in pixels of `part`, BGR."""
        found = self._call(part, use_rec=False, least=least)
        return () if found.boxes is None else tuple(found.boxes)

    def _call(self, image: NDArray[np.uint8], *, use_rec: bool, least: float) -> Any:
        import torch

        # Two layers of the detection model have mostly subnormal weights, with which it takes three times as
        # long; as zeros they give the same bits. It runs in this thread alone (`THREADS`).
        torch.set_flush_denormal(True)
        try:
            # The engine keeps the switches from call to call, so every call sets them.
            return self._engine(image, use_rec=use_rec, box_thresh=least)
        finally:
            torch.set_flush_denormal(False)


def lines_in_reading_order(boxes: Iterable[TextBox]) -> list[str]:
    """Boxes joined into lines, from top to bottom, each from left to right."""
    return [" ".join(box.text for box in row) for row in rows_of(boxes)]


def open_ocr(settings: OcrSettings) -> Ocr | Disabled:
    """The reader, or why there is none.

    `auto` without the packages is `Disabled`; `on` without them raises `ExtraMissing`.
    The import and the models take a second or more, once.
    """
    return open_sense(SENSE, settings.mode, lambda: _load(_find(), settings))


def reads_text(settings: OcrSettings) -> bool:
    """Whether text in images is read, as `ocr_line` says it; raises as it does."""
    return not isinstance(open_sense(SENSE, settings.mode, _find), Disabled)


def ocr_line(settings: OcrSettings) -> str:
    """What `open_ocr(...).reason` will say, by a look at files alone; raises as it does."""
    found = open_sense(SENSE, settings.mode, _find)
    return found.reason if isinstance(found, Disabled) else _on()


def _on() -> str:
    return f"{SENSE}: on, rapidocr {version('rapidocr')}"


def _find() -> tuple[Path, Path]:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise ExtraMissing(f"{' and '.join(missing)} not installed; install with: {INSTALL}")
    models = packaged_models()
    if models is None:
        raise ExtraMissing(f"rapidocr came without its models; install them with: {INSTALL}")
    return models


def packaged_models() -> tuple[Path, Path] | None:
    """The detection and recognition models inside the installed package, found without importing it."""
    spec = importlib.util.find_spec("rapidocr")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "models"
    detectors, recognizers = (sorted(folder.glob(f"*_{task}_*.onnx")) for task in ("det", "rec"))
    return (detectors[0], recognizers[0]) if detectors and recognizers else None


def _load(models: tuple[Path, Path], settings: OcrSettings) -> Ocr:
    forbid_telemetry()
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
            # One thread gains nothing by batches, and a text of its own width depends on no other.
            "Rec.rec_batch_num": 1,
            "Rec.rec_img_shape": [3, 48, 64],
            "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    parts = {
        "versions": [f"{name} {version(name)}" for name in ("rapidocr", "onnxruntime")],
        "weights": folder_digest(models),
        "settings": [DETECTION_SIDE, PROBE_SIDE, KEYFRAME_RULE, SCREEN_RULE, settings.min_confidence],
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
    small = cv2.resize(np.ascontiguousarray(image), size, interpolation=how)
    return np.ascontiguousarray(small[:, :, ::-1], np.uint8)
