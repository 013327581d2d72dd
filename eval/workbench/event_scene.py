"""One event at one moment: where hands, object and fixture are, and their painting order."""

from __future__ import annotations

import math

from PIL import Image, ImageDraw

from corpora.records import CAMERA_WEARER
from eval.workbench.backdrops import WIDE
from eval.workbench.effects import AFTER, BEFORE, BETWEEN
from eval.workbench.gestures import GESTURES, HAND, THING, Gesture
from eval.workbench.pen import Color
from eval.workbench.seeds import stream
from eval.workbench.sprites import TurnedSprites, fixture_sprite, hand_sprite, level, paste, thing_sprite
from eval.workbench.story import ClipStory, Event


class EventScene:
    """One event of a story at one moment, to be rendered on one picture.

    `t`: seconds of the clip. `moved`: by how much the camera's sway moves the scene, in frame heights.
    """

    def __init__(
        self,
        story: ClipStory,
        event: Event,
        t: float,
        moved: tuple[float, float],
        image: Image.Image,
        height: int,
        turned: TurnedSprites,
    ) -> None:
        self.story, self.event, self.image, self.height, self.turned = story, event, image, height, turned
        self.style = story.style
        self.gesture: Gesture = GESTURES[event.action_id]
        self.wearer = event.agent == CAMERA_WEARER
        self.progress = (t - event.start) / (event.end - event.start)
        rng = stream("event", story.split, story.seed, event.start)
        low, high = (0.54, 0.66) if self.wearer else (0.42, 0.52)
        self.x = WIDE / 2 + rng.uniform(-0.28, 0.28) + moved[0]
        self.y = rng.uniform(low, high) + moved[1]
        self.mirror = rng.random() < 0.5
        self.turn = rng.uniform(-25, 25)
        self.scale = rng.uniform(0.85, 1.15)
        self.variant = rng.randrange(24) + {"train": 0, "dev": 100, "test": 200}[story.split]
        swing = math.sin((t - event.start) * 2 * math.tau / 1.1)
        travel = tuple(part * (self.progress - 0.5) for part in self.gesture.travel)
        thing_swing = swing * self.gesture.swing if self.gesture.moves == "thing" else 0.0
        self.place_swing = swing * self.gesture.swing if self.gesture.moves == "place" else 0.0
        self.thing_at = self._at(self.gesture.thing_at, travel[0] + thing_swing, travel[1])
        self.place_at = self._at(self.gesture.place_at, self.place_swing, 0.0)
        self.seen = event.seen_from <= t < event.seen_until
        self.swing = swing

    def paint(self) -> None:
        """Paste fixture, object, hands and effects onto the image, back to front."""
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
        paste(self.image, self.turned(picture, size, turn, self.mirror), *self.place_at, self.height)

    def _thing(self) -> None:
        size = THING * self.scale * self.height
        picture = thing_sprite(self.event.thing, level(size), self.style)
        angle = self.turn + self.gesture.thing_turn * (-1 if self.mirror else 1)
        paste(self.image, self.turned(picture, size, angle), *self.thing_at, self.height)

    def _hand(self, pose: str, at: tuple[float, float], lean: float) -> None:
        story = self.story
        skin, sleeve = (story.skin, story.sleeve) if self.wearer else (story.skin, story.shirt)
        size = HAND * self.scale * self.height
        picture = hand_sprite(pose, skin, sleeve, level(size), self.style)
        angle = lean + self.turn / 4 + (0 if self.wearer else 180)
        drop = 0.27 if self.wearer else -0.27
        self._arm(at[0], at[1] + drop * self.scale, angle, sleeve)
        paste(
            self.image,
            self.turned(picture, size, angle, self.mirror),
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
        """A stroke between two points; lengths in frame heights."""
        points = [(x * self.height, y * self.height) for x, y in (start, end)]
        ImageDraw.Draw(self.image).line(points, fill=color, width=max(1, round(width * self.height)))

    def disc(self, x: float, y: float, radius: float, color: Color) -> None:
        """A filled circle; lengths in frame heights."""
        box = tuple(part * self.height for part in (x - radius, y - radius, x + radius, y + radius))
        ImageDraw.Draw(self.image).ellipse(box, fill=color)
