"""Shots out of sampled frames, each with a keyframe and what its images measure.

Frames are measured one by one as they are decoded (`measure_frames`) and let go; what is kept of each
is a few figures and a thumbnail. When the last has come, PySceneDetect's `ContentDetector` cuts the
thumbnails into shots, and each shot is described by its own figures (`describe_shots`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpora.records import Frames, Shot
from indexers.frame_measures import STATISTICS, image_statistics, lightness, style_of, tone_of, warmth_of

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
