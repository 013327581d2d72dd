"""A moment of a story as an image: the camera sways over the backdrop, hands work, light is graded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageFilter

from eval.workbench.backdrops import MARGIN, backdrop, frame_width, render_passer, render_person
from eval.workbench.event_scene import HAND, EventScene
from eval.workbench.pen import Canvas
from eval.workbench.seeds import stream
from eval.workbench.sprites import TurnedSprites, hand_sprite, level
from eval.workbench.story import ClipStory, Event

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNFOCUSED = 0.012
"""Radius of the blur out of focus, in frame heights."""


class FrameRenderer:
    """Renders the frames of one story at one size.

    `frame(t)`: uint8 (height, width, 3) RGB at `t` seconds of the clip; the same story, size and
    time give the same pixels.
    """

    def __init__(self, story: ClipStory, height: int) -> None:
        self.story = story
        self.height = height
        self.width = frame_width(height)
        self._backdrop = backdrop(story, height)
        render_person(self._backdrop, story, height)
        self._grade = _grade(story)
        self._turned = TurnedSprites()
        rng = stream("camera", story.split, story.seed)
        self._phases = [rng.uniform(0, math.tau) for _ in range(4)]
        self._rates = [
            rng.uniform(0.5, 1.1),
            rng.uniform(1.4, 2.4),
            rng.uniform(0.5, 1.1),
            rng.uniform(1.4, 2.4),
        ]
        if story.disturbance is not None:
            self._shakes = [(rng.uniform(9, 16), rng.uniform(24, 38), rng.uniform(0, math.tau)) for _ in "xy"]

    def frame(self, t: float) -> NDArray[np.uint8]:
        """uint8 (height, width, 3) RGB at `t` seconds of the clip."""
        return np.asarray(self.image(t))

    def image(self, t: float) -> Image.Image:
        """The same as a Pillow image."""
        event = self._event(t)
        dx, dy = self._gaze(t)
        left, top = (MARGIN + dx) * self.height, (MARGIN + dy) * self.height
        box = (round(left), round(top), round(left) + self.width, round(top) + self.height)
        image = self._backdrop.crop(box)
        if event is None:
            self._rest(image, t)
        else:
            EventScene(self.story, event, t, (-dx, -dy), image, self.height, self._turned).paint()
        disturbance = self.story.disturbance
        if disturbance is None:
            return image.point(self._grade)
        for passer in disturbance.passers:
            if passer.start <= t < passer.end:
                render_passer(image, passer, t, self.height)
        return self._blurred(image.point(self._grade), t)

    def _event(self, t: float) -> Event | None:
        return next((e for e in self.story.events if e.start <= t < e.end), None)

    def _gaze(self, t: float) -> tuple[float, float]:
        a, b, c, d = (
            math.sin(rate * t + phase) for rate, phase in zip(self._rates, self._phases, strict=True)
        )
        sway = 0.045 * a + 0.012 * b, 0.03 * c + 0.01 * d
        if self.story.disturbance is None:
            return sway
        return sway[0] + self._shake(0, t), sway[1] + self._shake(1, t)

    def _shake(self, axis: int, t: float) -> float:
        """Frame heights beyond the sway: slow and fast tremor that comes and goes."""
        assert self.story.disturbance is not None, "only a disturbed camera shakes"
        slow, fast, phase = self._shakes[axis]
        strength = self.story.disturbance.shake * (0.5 + 0.5 * math.sin(0.7 * t + 2 * phase))
        return strength * (0.6 * math.sin(slow * t + phase) + 0.4 * math.sin(fast * t + 3 * phase))

    def _blurred(self, image: Image.Image, t: float) -> Image.Image:
        """By the camera's motion while the shutter is open, and by a lens that has lost its focus."""
        disturbance = self.story.disturbance
        assert disturbance is not None, "only a disturbed camera blurs"
        half = disturbance.shutter / 2
        before, after = self._gaze(t - half), self._gaze(t + half)
        radii = [abs(last - first) * self.height / 2 for first, last in zip(before, after, strict=True)]
        if max(radii) >= 0.3:
            image = image.filter(ImageFilter.BoxBlur((radii[0], radii[1])))
        if any(start <= t < end for start, end in disturbance.unfocused):
            image = image.filter(ImageFilter.GaussianBlur(UNFOCUSED * self.height))
        return image

    def _rest(self, image: Image.Image, t: float) -> None:
        """Between events: hands out of view, or lying still and empty at the lower edge."""
        gap = sum(1 for e in self.story.events if e.end <= t)
        rng = stream("rest", self.story.split, self.story.seed, gap)
        if rng.random() < 0.5:
            return
        canvas = Canvas(image, self.height)
        for x in (0.45 + rng.uniform(-0.15, 0.1), 1.3 + rng.uniform(-0.1, 0.15)):
            hand = hand_sprite(
                "fist", self.story.skin, self.story.sleeve, level(HAND * self.height), self.story.style
            )
            canvas.paste(self._turned(hand, HAND * self.height, rng.uniform(-20, 20)), x, 0.96)


def _grade(story: ClipStory) -> list[int]:
    """A table for `Image.point`: the clip's light, exposure and contrast."""
    rng = stream("grade", story.split, story.stage_seed)
    gains = {"warm": (1.12, 1.0, 0.74), "cold": (0.78, 0.97, 1.14), "neutral": (1.0, 1.0, 1.0)}[story.light]
    exposure, contrast = rng.uniform(0.78, 1.08), rng.uniform(0.85, 1.15)
    table = []
    for gain in gains:
        for value in range(256):
            lit = ((value / 255 - 0.5) * contrast + 0.5) * exposure * gain
            table.append(min(255, max(0, round(lit * 255))))
    return table
