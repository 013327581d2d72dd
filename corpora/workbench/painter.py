"""A moment of a story as a picture: the camera sways over the backdrop, hands work, light is graded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from corpora.events import CAMERA_WEARER
from corpora.workbench.backdrops import MARGIN, WIDE, Spot, backdrop
from corpora.workbench.gestures import GESTURES, Gesture
from corpora.workbench.pen import Color
from corpora.workbench.people import paint_person
from corpora.workbench.seeds import stream
from corpora.workbench.sprites import fixture_sprite, hand_sprite, level, scaled, thing_sprite
from corpora.workbench.story import ClipStory, Event

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Painter"]

HAND = 0.42
THING = 0.54
KEPT = 16
"""Turned sprites that a painter keeps."""


class Painter:
    """Paints the frames of one story at one size.

    `frame(t)`: uint8 (height, width, 3) RGB at `t` seconds of the clip; the same story, size and
    time give the same pixels.
    """

    def __init__(self, story: ClipStory, height: int) -> None:
        self.story = story
        self.height = height
        self.width = round(height * WIDE / 2) * 2
        self._backdrop, self._clutter = backdrop(story, height)
        paint_person(self._backdrop, story, height)
        self._grade = _grade(story)
        self._turned: dict[tuple[int, float, float, bool], tuple[Image.Image, Image.Image]] = {}
        rng = stream("camera", story.split, story.seed)
        self._phases = [rng.uniform(0, math.tau) for _ in range(4)]
        self._rates = [
            rng.uniform(0.5, 1.1),
            rng.uniform(1.4, 2.4),
            rng.uniform(0.5, 1.1),
            rng.uniform(1.4, 2.4),
        ]

    def frame(self, t: float) -> NDArray[np.uint8]:
        return np.asarray(self.picture(t))

    def picture(self, t: float) -> Image.Image:
        event = self._event(t)
        dx, dy = self._gaze(t)
        left, top = (MARGIN + dx) * self.height, (MARGIN + dy) * self.height
        box = (round(left), round(top), round(left) + self.width, round(top) + self.height)
        image = self._backdrop.crop(box)
        if event is None:
            self._rest(image, t)
        else:
            _Scene(self, image, event, t, (-dx, -dy)).paint()
        return image.point(self._grade)

    def turned(self, sprite: Image.Image, size: float, angle: float, mirror: bool = False) -> Image.Image:
        """`scaled`, with the last few results kept: most of an event is drawn alike in every frame."""
        key = (id(sprite), size, angle, mirror)
        if key not in self._turned:
            if len(self._turned) >= KEPT:
                self._turned.clear()
            # The sprite is kept beside its picture, so that no other can take its id.
            self._turned[key] = (sprite, scaled(sprite, size, angle, mirror=mirror))
        return self._turned[key][1]

    def things(self, t: float) -> list[Spot]:
        """Where things are in the frame at `t`: first the one in use, if it is in view, then the clutter.

        Some of the clutter may lie outside the frame or be covered.
        """
        dx, dy = self._gaze(t)
        event = self._event(t)
        found = []
        if event is not None and event.seen_from <= t < event.seen_until:
            scene = _Scene(self, self._backdrop, event, t, (-dx, -dy))
            found.append(Spot(event.thing, *scene.thing_at))
        return [*found, *(Spot(spot.thing, spot.x - dx, spot.y - dy) for spot in self._clutter)]

    def _event(self, t: float) -> Event | None:
        return next((e for e in self.story.events if e.start <= t < e.end), None)

    def _gaze(self, t: float) -> tuple[float, float]:
        a, b, c, d = (
            math.sin(rate * t + phase) for rate, phase in zip(self._rates, self._phases, strict=True)
        )
        return 0.045 * a + 0.012 * b, 0.03 * c + 0.01 * d

    def _rest(self, image: Image.Image, t: float) -> None:
        """Between events: hands out of view, or lying still and empty at the lower edge."""
        gap = sum(1 for e in self.story.events if e.end <= t)
        rng = stream("rest", self.story.split, self.story.seed, gap)
        if rng.random() < 0.5:
            return
        for x in (0.45 + rng.uniform(-0.15, 0.1), 1.3 + rng.uniform(-0.1, 0.15)):
            hand = hand_sprite(
                "fist", self.story.skin, self.story.sleeve, level(HAND * self.height), self.story.style
            )
            paste(image, self.turned(hand, HAND * self.height, rng.uniform(-20, 20)), x, 0.96, self.height)


class _Scene:
    """One event at one moment on one picture."""

    def __init__(
        self, painter: Painter, image: Image.Image, event: Event, t: float, moved: tuple[float, float]
    ) -> None:
        self.painter, self.image, self.event = painter, image, event
        self.height, self.style = painter.height, painter.story.style
        self.gesture: Gesture = GESTURES[event.action_id]
        self.wearer = event.agent == CAMERA_WEARER
        self.progress = (t - event.start) / (event.end - event.start)
        rng = stream("event", painter.story.split, painter.story.seed, event.start)
        low, high = (0.54, 0.66) if self.wearer else (0.42, 0.52)
        self.x = WIDE / 2 + rng.uniform(-0.28, 0.28) + moved[0]
        self.y = rng.uniform(low, high) + moved[1]
        self.mirror = rng.random() < 0.5
        self.turn = rng.uniform(-25, 25)
        self.scale = rng.uniform(0.85, 1.15)
        self.variant = rng.randrange(24) + {"train": 0, "dev": 100, "test": 200}[painter.story.split]
        swing = math.sin((t - event.start) * 2 * math.tau / 1.1)
        travel = tuple(part * (self.progress - 0.5) for part in self.gesture.travel)
        thing_swing = swing * self.gesture.swing if self.gesture.moves == "thing" else 0.0
        self.place_swing = swing * self.gesture.swing if self.gesture.moves == "place" else 0.0
        self.thing_at = self._at(self.gesture.thing_at, travel[0] + thing_swing, travel[1])
        self.place_at = self._at(self.gesture.place_at, self.place_swing, 0.0)
        self.seen = event.seen_from <= t < event.seen_until
        self.swing = swing

    def paint(self) -> None:
        if self.gesture.effect in BEFORE:
            BEFORE[self.gesture.effect](self)
        if self.event.place is not None and self.gesture.place_size > 0 and self.gesture.moves == "thing":
            self._fixture()
        if self.gesture.effect in BETWEEN:
            BETWEEN[self.gesture.effect](self)
        if self.seen:
            self._thing()
        self._hand(self.gesture.pose, self.thing_at, 0.0)
        if self.gesture.moves == "place" and self.event.place is not None:
            self._fixture()
        if self.gesture.other:
            self._second_hand()
        if self.gesture.effect in AFTER:
            AFTER[self.gesture.effect](self)

    def _at(self, offset: tuple[float, float], dx: float, dy: float) -> tuple[float, float]:
        sign = -1 if self.mirror else 1
        return self.x + sign * (offset[0] + dx), self.y + offset[1] + dy

    def _fixture(self) -> None:
        size = self.gesture.place_size * self.scale * self.height
        picture = fixture_sprite(str(self.event.place), self.variant, level(size), self.style)
        turn = self.turn / 3 if self.gesture.moves == "thing" else self.turn / 2 + 12 * self.swing
        paste(self.image, self.painter.turned(picture, size, turn, self.mirror), *self.place_at, self.height)

    def _thing(self) -> None:
        size = THING * self.scale * self.height
        picture = thing_sprite(self.event.thing, level(size), self.style)
        angle = self.turn + self.gesture.thing_turn * (-1 if self.mirror else 1)
        paste(self.image, self.painter.turned(picture, size, angle), *self.thing_at, self.height)

    def _hand(self, pose: str, at: tuple[float, float], lean: float) -> None:
        story = self.painter.story
        skin, sleeve = (story.skin, story.sleeve) if self.wearer else (story.skin, story.shirt)
        size = HAND * self.scale * self.height
        picture = hand_sprite(pose, skin, sleeve, level(size), self.style)
        angle = lean + self.turn / 4 + (0 if self.wearer else 180)
        drop = 0.27 if self.wearer else -0.27
        self._arm(at[0], at[1] + drop * self.scale, angle, sleeve)
        paste(
            self.image,
            self.painter.turned(picture, size, angle, self.mirror),
            at[0],
            at[1] + drop * self.scale,
            self.height,
        )

    def _arm(self, x: float, y: float, angle: float, sleeve: Color) -> None:
        """From the wrist out of the picture."""
        lean = math.radians(angle)
        along = (math.sin(lean), math.cos(lean))
        start, end = 0.44 * HAND * self.scale, 1.5
        ends = [(x + along[0] * far, y + along[1] * far) for far in (start, end)]
        self.line(ends[0], ends[1], sleeve, 0.14 * self.scale)

    def _second_hand(self) -> None:
        if self.gesture.moves == "place":
            self._hand(
                self.gesture.other, (self.place_at[0], self.place_at[1] + 0.02), 24 if self.mirror else -24
            )
            return
        apart = 0.16 + (abs(self.place_swing or self.swing) * 0.05)
        side = 1 if self.mirror else -1
        self._hand(self.gesture.other, (self.thing_at[0] + side * apart, self.thing_at[1]), 20 * side)

    def line(self, start: tuple[float, float], end: tuple[float, float], color: Color, width: float) -> None:
        points = [(x * self.height, y * self.height) for x, y in (start, end)]
        ImageDraw.Draw(self.image).line(points, fill=color, width=max(1, round(width * self.height)))

    def disc(self, x: float, y: float, radius: float, color: Color) -> None:
        box = tuple(part * self.height for part in (x - radius, y - radius, x + radius, y + radius))
        ImageDraw.Draw(self.image).ellipse(box, fill=color)


def paste(image: Image.Image, sprite: Image.Image, x: float, y: float, height: int) -> None:
    """The sprite's centre at (x, y) in frame heights."""
    image.paste(sprite, (round(x * height - sprite.width / 2), round(y * height - sprite.height / 2)), sprite)


def _grade(story: ClipStory) -> list[int]:
    """A table for `Image.point`: the clip's light, exposure and contrast."""
    rng = stream("grade", story.split, story.seed)
    gains = {"warm": (1.12, 1.0, 0.74), "cold": (0.78, 0.97, 1.14), "neutral": (1.0, 1.0, 1.0)}[story.light]
    exposure, contrast = rng.uniform(0.78, 1.08), rng.uniform(0.85, 1.15)
    table = []
    for gain in gains:
        for value in range(256):
            lit = ((value / 255 - 0.5) * contrast + 0.5) * exposure * gain
            table.append(min(255, max(0, round(lit * 255))))
    return table


WATER: Color = (80, 160, 226)


def _cable(scene: _Scene) -> None:
    scene.line(scene.place_at, scene.thing_at, (28, 28, 30), 0.022)


def _stream(scene: _Scene) -> None:
    sign = 1 if scene.mirror else -1
    x, y = scene.thing_at
    scene.line((x + sign * 0.15, y + 0.06), (scene.place_at[0], scene.place_at[1] - 0.04), WATER, 0.035)


def _drops(scene: _Scene) -> None:
    x, y = scene.thing_at
    for step in range(7):
        phase = (scene.progress * 6 + step * 0.37) % 1
        scene.disc(x + (step - 3) * 0.05, y - 0.12 + 0.36 * phase, 0.013, WATER)


def _board(scene: _Scene) -> None:
    x, y = scene.thing_at
    for color, grown in (((96, 66, 40), 0.012), ((206, 166, 112), 0.0)):
        box = (x - 0.26 - grown, y - 0.12 - grown, x + 0.26 + grown, y + 0.14 + grown)
        ImageDraw.Draw(scene.image).rectangle([part * scene.height for part in box], fill=color)


def _taker(scene: _Scene) -> None:
    """The hand that takes: of the other person, or of the camera wearer."""
    story = scene.painter.story
    wearer_takes = not scene.wearer
    size = HAND * scene.scale * scene.height
    sleeve = story.sleeve if wearer_takes else story.shirt
    picture = hand_sprite("claw", story.skin, sleeve, level(size), scene.style)
    x, y = scene.thing_at
    drop = 0.30 if wearer_takes else -0.30
    paste(
        scene.image,
        scene.painter.turned(picture, size, 0 if wearer_takes else 180),
        x + 0.04,
        y + drop,
        scene.height,
    )


def _apart(scene: _Scene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        for lift in (-0.10, 0.0, 0.10):
            scene.line(
                (x + side * 0.22, y - 0.14 + lift),
                (x + side * 0.32, y - 0.18 + lift * 1.6),
                (250, 236, 150),
                0.012,
            )


def _turn(scene: _Scene) -> None:
    x, y = scene.thing_at
    box = [part * scene.height for part in (x - 0.24, y - 0.24, x + 0.24, y + 0.24)]
    start = 200 + 60 * scene.swing
    ImageDraw.Draw(scene.image).arc(
        box, start, start + 110, fill=(250, 246, 230), width=max(1, scene.height // 60)
    )


def _arcs(scene: _Scene) -> None:
    x, y = scene.place_at
    for step in range(3):
        radius = 0.16 + 0.04 * step
        box = [part * scene.height for part in (x - radius, y - radius, x + radius, y + radius)]
        ImageDraw.Draw(scene.image).arc(box, 200, 340, fill=(246, 246, 250), width=max(1, scene.height // 90))


def _paint(scene: _Scene) -> None:
    x, y = scene.thing_at
    color = (214, 60, 130)
    for step in range(3):
        scene.line(
            (x - 0.16, y - 0.10 + 0.07 * step),
            (x - 0.16 + 0.3 * scene.progress, y - 0.11 + 0.07 * step),
            color,
            0.03,
        )


def _mist(scene: _Scene) -> None:
    rng = stream("mist", scene.event.start, round(scene.progress * 8))
    for _ in range(16):
        share = rng.uniform(0.25, 1)
        x = scene.place_at[0] + (scene.thing_at[0] - scene.place_at[0]) * share
        y = (
            scene.place_at[1]
            + (scene.thing_at[1] - scene.place_at[1]) * share
            - 0.06
            + rng.uniform(-0.09, 0.09) * share
        )
        scene.disc(x, y, 0.009, (222, 238, 250))


def _motes(scene: _Scene) -> None:
    rng = stream("motes", scene.event.start, round(scene.progress * 8))
    for _ in range(14):
        x, y = scene.thing_at
        scene.disc(x + rng.uniform(-0.3, 0.3), y + rng.uniform(-0.28, 0.16), 0.010, (150, 138, 120))


def _marks(scene: _Scene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        scene.line((x + side * 0.2, y - 0.2), (x + side * 0.2, y + 0.16), (220, 30, 30), 0.010)


def _flash(scene: _Scene) -> None:
    x, y = scene.thing_at
    for corner_x in (-1, 1):
        for corner_y in (-1, 1):
            cx, cy = x + corner_x * 0.26, y + corner_y * 0.22
            scene.line((cx, cy), (cx - corner_x * 0.08, cy), (255, 255, 255), 0.016)
            scene.line((cx, cy), (cx, cy - corner_y * 0.08), (255, 255, 255), 0.016)


def _fold(scene: _Scene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        scene.line((x + side * 0.26, y + 0.14), (x + side * 0.12, y - 0.10), (250, 250, 250), 0.016)


BEFORE = {"taker": _taker, "board": _board}
BETWEEN = {"cable": _cable, "stream": _stream}
AFTER = {
    "drops": _drops,
    "apart": _apart,
    "turn": _turn,
    "arcs": _arcs,
    "paint": _paint,
    "mist": _mist,
    "motes": _motes,
    "marks": _marks,
    "flash": _flash,
    "fold": _fold,
}
