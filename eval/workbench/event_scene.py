"""One event at one moment: which hands, where the object and the fixture are, what moves, in which order.

Lengths are in frame heights, angles in degrees; positions of a gesture are relative to the place of work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PIL import Image
from pydantic import TypeAdapter

from corpora.records import CAMERA_WEARER
from eval.workbench.backdrops import WIDE
from eval.workbench.catalogue import read_data
from eval.workbench.pen import Canvas, Color
from eval.workbench.seeds import stream
from eval.workbench.sprites import TurnedSprites, fixture_sprite, hand_sprite, level, thing_sprite
from eval.workbench.story import ClipStory, Event

HAND, THING = 0.42, 0.54
"""Sizes of the hand and of the object in it."""
WATER: Color = (80, 160, 226)


@dataclass(frozen=True, slots=True)
class Gesture:
    """Hands, positions and motion of one action."""

    pose: str
    """The pose of the hand that holds the object."""
    other: str
    """Pose of the second hand; empty where one hand does."""
    place_at: tuple[float, float]
    """Centre of the fixture or instrument."""
    place_size: float
    thing_at: tuple[float, float]
    thing_turn: float
    """Degrees by which the object is turned at the middle of the event."""
    travel: tuple[float, float]
    """How far hand and object move in the course of the event."""
    swing: float = 0.0
    """Amplitude of a to-and-fro of the moving part, in frame heights."""
    effect: str = ""
    """What else is seen, by its name in `BEFORE`, `BETWEEN` or `AFTER`; empty where nothing is."""
    moves: Literal["thing", "place"] = "thing"
    """Which part goes to and fro."""


GESTURES: dict[str, Gesture] = TypeAdapter(dict[str, Gesture]).validate_python(
    {action_id: row["gesture"] for action_id, row in read_data("actions").items()}
)


def _cable(scene: EventScene) -> None:
    scene.canvas.line(*scene.place_at, *scene.thing_at, (28, 28, 30), 0.022)


def _stream(scene: EventScene) -> None:
    sign = 1 if scene.mirror else -1
    x, y = scene.thing_at
    scene.canvas.line(x + sign * 0.15, y + 0.06, scene.place_at[0], scene.place_at[1] - 0.04, WATER, 0.035)


def _drops(scene: EventScene) -> None:
    x, y = scene.thing_at
    for step in range(7):
        phase = (scene.progress * 6 + step * 0.37) % 1
        scene.canvas.disc(x + (step - 3) * 0.05, y - 0.12 + 0.36 * phase, 0.013, WATER)


def _board(scene: EventScene) -> None:
    x, y = scene.thing_at
    for color, grown in (((96, 66, 40), 0.012), ((206, 166, 112), 0.0)):
        box = (x - 0.26 - grown, y - 0.12 - grown, x + 0.26 + grown, y + 0.14 + grown)
        scene.canvas.box(*box, color)


def _taker(scene: EventScene) -> None:
    """The hand that takes: of the other person, or of the camera wearer."""
    wearer_takes = not scene.wearer
    size = HAND * scene.scale * scene.height
    skin, sleeve = scene.story.hand_colors(CAMERA_WEARER if wearer_takes else str(scene.event.place))
    image = hand_sprite("claw", skin, sleeve, level(size), scene.style)
    x, y = scene.thing_at
    drop = 0.30 if wearer_takes else -0.30
    scene.canvas.paste(scene.turned(image, size, 0 if wearer_takes else 180), x + 0.04, y + drop)


def _apart(scene: EventScene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        for lift in (-0.10, 0.0, 0.10):
            start, end = (x + side * 0.22, y - 0.14 + lift), (x + side * 0.32, y - 0.18 + lift * 1.6)
            scene.canvas.line(*start, *end, (250, 236, 150), 0.012)


def _turn(scene: EventScene) -> None:
    start = 200 + 60 * scene.swing
    scene.canvas.arc(*scene.thing_at, 0.24, (start, start + 110), (250, 246, 230), 60)


def _arcs(scene: EventScene) -> None:
    for step in range(3):
        scene.canvas.arc(*scene.place_at, 0.16 + 0.04 * step, (200, 340), (246, 246, 250), 90)


def _paint(scene: EventScene) -> None:
    x, y = scene.thing_at
    for step in range(3):
        end = (x - 0.16 + 0.3 * scene.progress, y - 0.11 + 0.07 * step)
        scene.canvas.line(x - 0.16, y - 0.10 + 0.07 * step, *end, (214, 60, 130), 0.03)


def _mist(scene: EventScene) -> None:
    rng = stream("mist", scene.event.start, round(scene.progress * 8))
    for _ in range(16):
        share = rng.uniform(0.25, 1)
        x, y = (a + (b - a) * share for a, b in zip(scene.place_at, scene.thing_at, strict=True))
        scene.canvas.disc(x, y - 0.06 + rng.uniform(-0.09, 0.09) * share, 0.009, (222, 238, 250))


def _motes(scene: EventScene) -> None:
    rng = stream("motes", scene.event.start, round(scene.progress * 8))
    for _ in range(14):
        x, y = scene.thing_at
        scene.canvas.disc(x + rng.uniform(-0.3, 0.3), y + rng.uniform(-0.28, 0.16), 0.010, (150, 138, 120))


def _marks(scene: EventScene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        scene.canvas.line(x + side * 0.2, y - 0.2, x + side * 0.2, y + 0.16, (220, 30, 30), 0.010)


def _flash(scene: EventScene) -> None:
    x, y = scene.thing_at
    for corner_x in (-1, 1):
        for corner_y in (-1, 1):
            cx, cy = x + corner_x * 0.26, y + corner_y * 0.22
            scene.canvas.line(cx, cy, cx - corner_x * 0.08, cy, (255, 255, 255), 0.016)
            scene.canvas.line(cx, cy, cx, cy - corner_y * 0.08, (255, 255, 255), 0.016)


def _fold(scene: EventScene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        scene.canvas.line(x + side * 0.26, y + 0.14, x + side * 0.12, y - 0.10, (250, 250, 250), 0.016)


BEFORE: dict[str, Callable[[EventScene], None]] = {"taker": _taker, "board": _board}
BETWEEN: dict[str, Callable[[EventScene], None]] = {"cable": _cable, "stream": _stream}
AFTER: dict[str, Callable[[EventScene], None]] = {
    effect.__name__.strip("_"): effect
    for effect in (_drops, _apart, _turn, _arcs, _paint, _mist, _motes, _marks, _flash, _fold)
}


class EventScene:
    """One event of a story at one moment, to be rendered on one image.

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
        self.story, self.event, self.height, self.turned = story, event, height, turned
        self.canvas = Canvas(image, height)
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
        self.variant = rng.randrange(24) + {"dev": 100, "test": 200}[story.split]
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
        image = fixture_sprite(str(self.event.place), self.variant, level(size), self.style)
        turn = self.turn / 3 if self.gesture.moves == "thing" else self.turn / 2 + 12 * self.swing
        self.canvas.paste(self.turned(image, size, turn, self.mirror), *self.place_at)

    def _thing(self) -> None:
        size = THING * self.scale * self.height
        image = thing_sprite(self.event.thing, level(size), self.style)
        angle = self.turn + self.gesture.thing_turn * (-1 if self.mirror else 1)
        self.canvas.paste(self.turned(image, size, angle), *self.thing_at)

    def _hand(self, pose: str, at: tuple[float, float], lean: float) -> None:
        skin, sleeve = self.story.hand_colors(self.event.agent)
        size = HAND * self.scale * self.height
        image = hand_sprite(pose, skin, sleeve, level(size), self.style)
        angle = lean + self.turn / 4 + (0 if self.wearer else 180)
        drop = 0.27 if self.wearer else -0.27
        self._arm(at[0], at[1] + drop * self.scale, angle, sleeve)
        self.canvas.paste(self.turned(image, size, angle, self.mirror), at[0], at[1] + drop * self.scale)

    def _arm(self, x: float, y: float, angle: float, sleeve: Color) -> None:
        """Draw the arm from the wrist out of the frame."""
        lean = math.radians(angle)
        along = (math.sin(lean), math.cos(lean))
        start, end = 0.44 * HAND * self.scale, 1.5
        ends = [(x + along[0] * far, y + along[1] * far) for far in (start, end)]
        self.canvas.line(*ends[0], *ends[1], sleeve, 0.14 * self.scale)

    def _second_hand(self) -> None:
        if self.gesture.moves == "place":
            self._hand(
                self.gesture.other, (self.place_at[0], self.place_at[1] + 0.02), 24 if self.mirror else -24
            )
            return
        apart = 0.16 + (abs(self.place_swing or self.swing) * 0.05)
        side = 1 if self.mirror else -1
        self._hand(self.gesture.other, (self.thing_at[0] + side * apart, self.thing_at[1]), 20 * side)
