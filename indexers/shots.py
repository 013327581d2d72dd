"""Shots out of sampled frames, each with a keyframe and what its images measure.

Frames are measured one by one as they are decoded (`measure_frames`) and let go; what is kept of each
is a few figures and a thumbnail. When the last has come, PySceneDetect's `ContentDetector` cuts the
thumbnails into shots, and each shot is described by its own figures (`describe_shots`).

The tone is that of the light, not of the things in it: a green garden under white light is neutral.
The light is estimated twice and the two estimates are averaged, since each errs elsewhere: by shades
of gray (the Minkowski norm p = 6 of a channel; Finlayson and Trezzi, CIC 2004) and by the white patch
(here the 99th percentile of a channel; Land and McCann 1971). `warmth` is b* of that light, brought to
L* = 76: above 0 towards yellow, below 0 towards blue.

The style (live action, 2D, 3D, graphics) follows from how an image was made: a camera leaves grain,
animations and renderings have none; real and rendered surfaces shade slowly, flat ones have one colour;
animations have outlines, and graphics dark ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.records import Frames, Shot, Style, Tone

THUMB_HEIGHT, THUMB_WIDTH = 18, 32
CUT_THRESHOLD = 27.0
"""Mean change of hue, saturation and value, of 255: PySceneDetect's own default."""
SHORTEST_SHOT = 2
"""Frames: a flash is no shot."""
FIGURE_SECONDS = 4.0
NEW_ABOVE = 15.0
"""Mean difference of two thumbnails, of 255, from which on a frame is measured whatever the time."""


@dataclass(frozen=True, slots=True)
class FrameFigures:
    """What is kept of frames in order of time.

    `times`: float64 (n,) seconds. `figures`: float32 (n, 7), the warmth and then those of
    `STATISTICS`. `thumbs`: n images, uint8 (18, 32, 3) RGB; those of a clip are one array.
    """

    times: NDArray[np.float64]
    figures: NDArray[np.float32]
    thumbs: Sequence[NDArray[np.uint8]] | NDArray[np.uint8]


def measure_frames(frames: Frames) -> FrameFigures:
    """Measure the frames of one clip: the first, one every `FIGURE_SECONDS`, and each that looks new.

    The others have the figures of the one before: they look like it, and a measurement costs as much as
    half of what decoding the frame did. The thumbnail is every frame's own.
    """
    import cv2

    count = len(frames.times)
    figures = np.zeros((count, 1 + len(STATISTICS)), np.float32)
    thumbs = np.zeros((count, THUMB_HEIGHT, THUMB_WIDTH, 3), np.uint8)
    steps = np.floor(np.asarray(frames.times) / FIGURE_SECONDS + 1e-6)
    last = 0
    for place, image in enumerate(frames.images):
        thumbs[place] = cv2.resize(image, (THUMB_WIDTH, THUMB_HEIGHT), interpolation=cv2.INTER_AREA)
        changed = float(cv2.absdiff(thumbs[place], thumbs[last]).mean()) > NEW_ABOVE
        if place and steps[place] == steps[last] and not changed:
            figures[place] = figures[last]
            continue
        figures[place] = warmth_of(image), *image_statistics(lightness(image))
        last = place
    return FrameFigures(np.asarray(frames.times, np.float64), figures, thumbs)


def joined(parts: Sequence[FrameFigures]) -> FrameFigures:
    """The figures of several stretches of one video as one; at least one part. Thumbnails, 12 MB an hour,
    are not copied."""
    return FrameFigures(
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.figures for part in parts]),
        [thumb for part in parts for thumb in part.thumbs],
    )


def cut_times(frames: FrameFigures) -> list[float]:
    """When a new shot begins, rising: the time of its first frame. The cut itself is between that frame
    and the one before. The first shot begins where the video does and is not named."""
    from scenedetect import FrameTimecode
    from scenedetect.detectors import ContentDetector

    detector = ContentDetector(threshold=CUT_THRESHOLD, min_scene_len=SHORTEST_SHOT)
    cuts: set[int] = set()
    last = FrameTimecode(0, 1.0)
    for place, thumb in enumerate(frames.thumbs):
        last = FrameTimecode(place, 1.0)
        found = detector.process_frame(last, np.ascontiguousarray(thumb[..., ::-1]))
        cuts.update(int(cut.frame_num) for cut in found)
    cuts.update(int(cut.frame_num) for cut in detector.post_process(last))
    return [float(frames.times[place]) for place in sorted(cuts) if place]


def describe_shots(video_id: str, frames: FrameFigures, duration: float) -> list[Shot]:
    """The shots of one video, covering [0, duration); none without a frame."""
    if not len(frames.times) or duration <= 0:
        return []
    starts = [0.0, *(time for time in cut_times(frames) if 0 < time < duration)]
    ends = [*starts[1:], duration]
    shots = []
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        inside = np.flatnonzero((frames.times >= start) & (frames.times < end))
        if not len(inside):
            inside = np.array([int(np.abs(frames.times - start).argmin())])
        own = frames.figures[inside].astype(np.float64)
        warmth = round(float(np.median(own[:, 0])), 3)
        shots.append(
            Shot(
                shot_id=f"{video_id}:s{index:05d}",
                video_id=video_id,
                start=round(start, 6),
                end=round(end, 6),
                key_time=round(float(frames.times[_key(frames.thumbs, inside)]), 6),
                tone=tone_of(warmth),
                warmth=warmth,
                style=style_of(own[:, 1:].mean(axis=0)),
            )
        )
    return shots


def _key(thumbs: Sequence[NDArray[np.uint8]] | NDArray[np.uint8], inside: NDArray[np.intp]) -> int:
    """The frame nearest to the mean of the shot, the first of several."""
    # One by one: four hours without a cut are 400 MB as float64.
    mean = np.zeros((THUMB_HEIGHT, THUMB_WIDTH, 3))
    for place in inside:
        mean += thumbs[place]
    mean /= len(inside)
    far = np.array([np.abs(thumbs[place] - mean).mean() for place in inside]).round(6)
    return int(inside[int(far.argmin())])


# Figures of one image

SHORT_SIDE = 56
"""Colours are measured on images this small: noise and block edges average out."""
MINKOWSKI = 6
WHITE_PERCENTILE = 99.0
LIGHT_LUMINANCE = 0.5
"""The luminance Y that every estimated light is brought to, L* = 76."""
WARM_ABOVE = 14.0
COLD_BELOW = -5.5
"""b* of the light: tuned on Workbench videos of the development split (docs/design/measurements.md)."""


LIGHTNESS = np.arange(256, dtype=np.float32) * np.float32(100 / 255)
"""L* in [0, 100] of OpenCV's 8-bit lightness."""


def lightness(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lightness of one image uint8 (h, w, 3) RGB: uint8 (h, w), an index of `LIGHTNESS`."""
    import cv2

    return np.asarray(cv2.extractChannel(cv2.cvtColor(image, cv2.COLOR_RGB2LAB), 0))


def warmth_of(image: NDArray[np.uint8]) -> float:
    """b* of the light of one image, uint8 (h, w, 3) RGB, in CIELAB units."""
    import cv2

    height, width = image.shape[:2]
    shrink = SHORT_SIDE / max(1, min(height, width))
    size = max(1, round(width * shrink)), max(1, round(height * shrink))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA) if shrink < 1 else image
    pixels = small.reshape(-1, 3).astype(np.float64) + 1
    gray = (pixels**MINKOWSKI).mean(axis=0) ** (1 / MINKOWSKI)
    white = np.percentile(pixels, WHITE_PERCENTILE, axis=0)
    light = np.sqrt(gray * white) / 256
    linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ np.array([0.2126, 0.7152, 0.0722]))
    levelled = (linear * (LIGHT_LUMINANCE / max(luminance, 1e-6))).astype(np.float32)
    lab = cv2.cvtColor(levelled.reshape(1, 1, 3), cv2.COLOR_LRGB2LAB)
    return float(lab[0, 0, 2])


def tone_of(warmth: float) -> Tone:
    """The class of a `warmth` in CIELAB units: warm above 14, cold below -5.5, else neutral."""
    if warmth > WARM_ABOVE:
        return "warm"
    return "cold" if warmth < COLD_BELOW else "neutral"


STYLES: tuple[Style, ...] = ("live", "2d", "3d", "graphics")
STATISTICS = ("grain", "texture", "shading", "outlines", "dark outlines", "even")
FLAT_RANGE = 3.0
"""L* units within 5 by 5 pixels: below it a place has no detail."""
WEIGHTS = np.array(
    [
        [0.93, 0.41, 0.16, -2.54, 0.82, -4.98],
        [-0.61, -0.76, -0.44, -3.98, -4.06, 1.04],
        [-0.01, 0.30, 0.65, -5.36, -0.13, 3.63],
        [-0.31, 0.04, -0.37, 11.87, 3.37, 0.31],
    ]
)
"""(style, statistic): logistic regression on videos of the Workbench's development split."""
BIAS = np.array([5.56, -2.24, 1.50, -4.82])


def image_statistics(light: NDArray[np.uint8]) -> NDArray[np.float32]:
    """float32 (6,), in the order of `STATISTICS`, of the `lightness` of one image, uint8 (h, w), of about
    224 pixels.

    grain: log of the mean deviation from the blurred image where there is no detail. texture: log of the
    median local deviation. shading: log of the median change over 8 pixels where there is no detail.
    outlines: share of thin lines darker than both sides among all places with detail. dark outlines: share
    of nearly black ones among these. even: share of places without any change.
    """
    import cv2

    square = np.ones((5, 5), np.uint8)
    # Greatest and least in 8 bits, which order is the same: several times as quick as on L*.
    most = cv2.dilate(light, square)
    closed = cv2.LUT(cv2.erode(most, square), LIGHTNESS)
    span = cv2.LUT(most, LIGHTNESS) - cv2.LUT(cv2.erode(light, square), LIGHTNESS)
    light = cv2.LUT(light, LIGHTNESS)
    flat = span < FLAT_RANGE
    mean = cv2.blur(light, (5, 5))
    variance = cv2.blur(light * light, (5, 5)) - mean * mean
    rest = cv2.absdiff(light, cv2.GaussianBlur(light, (0, 0), 1.0))
    slow = cv2.GaussianBlur(light, (0, 0), 3.0)
    step = cv2.absdiff(slow[:, 8:], slow[:, :-8])
    calm = flat[:, 8:] & flat[:, :-8] & flat[:, 4:-4]
    thin = closed - light > 15
    detail = max(1, int(np.count_nonzero(span > 20)))
    return np.array(
        [
            np.log(0.01 + (float(rest[flat].mean()) if flat.any() else 1.0)),
            np.log(0.05 + float(np.median(np.sqrt(np.maximum(variance, np.float32(0)))))),
            np.log(0.01 + (float(np.median(step[calm])) if calm.any() else 1.0)),
            min(1.0, int(np.count_nonzero(thin)) / detail),
            int(np.count_nonzero(thin & (light < 20))) / max(1, int(np.count_nonzero(thin))),
            int(np.count_nonzero(span < 1.2)) / span.size,
        ],
        np.float32,
    )


def style_of(statistics: NDArray[np.floating[Any]]) -> Style:
    """The likeliest style. `statistics`: the mean of `image_statistics` over a shot's frames, float (6,)."""
    scores = WEIGHTS @ np.asarray(statistics, np.float64) + BIAS
    return STYLES[int(scores.round(6).argmax())]
