"""When text that was read in keyframes is on screen: it is followed through the sampled frames between."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corpora.records import Clip, Evidence, Frames
from indexers.ocr import DETECTION_SIDE, lines_in_reading_order
from indexers.screen import TextBox, around, clipped, slopes_of

LEAST_CORRELATION = 0.4
"""Correlation of the slopes of a text with those of an earlier or later frame, from which on it is there too.
F1 of what is read of made videos (docs/design/senses.md) is about the same from 0.3 to 0.4, and lower for
small captions at 0.5."""
REACH = 0.1
"""How far a text moves from one sampled frame to the next, at most, in short sides of the image."""


def text_spans(
    clip: Clip, frames: Frames, keyframes: Sequence[float], readings: Sequence[Sequence[TextBox]]
) -> list[Evidence]:
    """The text on screen over time, as spans of kind `ocr` that do not overlap, lines in reading order.

    `keyframes`: times of frames of the clip, in order; `readings`: the texts of each, corners in pixels of
    the image as it is scaled for detection. Text that two keyframes on end have is there in between; other
    text as long as its strokes are, seen from the keyframe that has it.
    """
    images = _Slopes(frames.images)
    ends = [*frames.times[1:].tolist(), clip.end]
    places = [*np.searchsorted(frames.times, keyframes).tolist(), len(ends)]
    spans: list[Evidence] = []
    for number, (first, stop) in enumerate(pairwise(places)):
        here, after = readings[number], readings[number + 1] if number + 1 < len(readings) else ()
        stay = [box for box in here if box.text in {other.text for other in after}]
        leave = [box for box in here if box not in stay]
        come = [box for box in after if box.text not in {other.text for other in here}]
        left = {first: math.inf} | images.correlation(leave, first, range(first + 1, stop))
        came = images.correlation(come, stop, range(stop - 1, first, -1))
        # Of two texts in one place the later one begins where it is the likelier one, and goes on.
        change = min((at for at in came if came[at] > left.get(at, 0.0)), default=stop)
        for at in range(first, stop):
            shown = [*stay, *(come if at >= change else leave if at in left else [])]
            text = "\n".join(lines_in_reading_order(shown))
            start = float(frames.times[at])
            if spans and spans[-1].text == text and spans[-1].end == start:
                start = spans.pop().start
            if text:
                spans.append(Evidence(clip.video_id, start, ends[at], "ocr", text))
    return spans


class _Slopes:
    """Changes of brightness in frames uint8 (n, h, w, 3), found when they are asked for."""

    def __init__(self, images: NDArray[np.uint8]) -> None:
        self._images = images
        self._known: dict[int, NDArray[np.float32]] = {}

    def correlation(self, boxes: Sequence[TextBox], at: int, frames: Iterable[int]) -> dict[int, float]:
        """How like the texts of frame `at` are at the places that they have moved to, in [0, 1] by frame, in
        the order of `frames` for as long as it is `LEAST_CORRELATION`; longer texts weigh more."""
        letters = sum(len(box.text) for box in boxes)
        paths = [(len(box.text) / letters, *self._strokes(at, box)) for box in boxes]
        found: dict[int, float] = {}
        for frame in frames if boxes else ():
            correlation, followed = 0.0, []
            for weight, left, top, strokes in paths:
                like, left, top = self._nearest(frame, left, top, strokes)
                if like >= LEAST_CORRELATION:
                    correlation += weight * like
                    followed.append((weight, left, top, strokes))
            if correlation < LEAST_CORRELATION:
                break
            paths, found[frame] = followed, correlation
        return found

    def _of(self, frame: int) -> NDArray[np.float32]:
        if frame not in self._known:
            self._known[frame] = slopes_of(self._images[frame])
        return self._known[frame]

    def _strokes(self, frame: int, box: TextBox) -> tuple[int, int, NDArray[np.float32]]:
        """The left and the upper edge of a text in a frame, and its strokes there."""
        scale = max(self._images.shape[1:3]) / DETECTION_SIDE
        edges = (box.left * scale, box.top * scale, box.right * scale, box.bottom * scale)
        left, top, right, bottom = clipped(around(edges, 1), self._images.shape[1:3])
        return left, top, np.ascontiguousarray(self._of(frame)[top:bottom, left:right])

    def _nearest(
        self, frame: int, left: int, top: int, strokes: NDArray[np.float32]
    ) -> tuple[float, int, int]:
        """Where near this corner the strokes are most like these: the correlation there, and the corner."""
        import cv2

        slopes = self._of(frame)
        (high, wide), reach = strokes.shape, round(REACH * min(slopes.shape))
        row, column = max(0, top - reach), max(0, left - reach)
        near = np.ascontiguousarray(slopes[row : top + high + reach, column : left + wide + reach])
        correlation = cv2.matchTemplate(near, strokes, cv2.TM_CCORR_NORMED)
        down, right = np.unravel_index(int(correlation.argmax()), correlation.shape)
        return float(correlation[down, right]), column + int(right), row + int(down)
