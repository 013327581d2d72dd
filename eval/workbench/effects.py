"""What is seen of an action beside hands and things: streams, drops, marks, the hand that takes.

Lengths are in frame heights; `BEFORE`, `BETWEEN` and `AFTER` give its place in the painting order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PIL import ImageDraw

from eval.workbench.gestures import HAND
from eval.workbench.pen import Color
from eval.workbench.seeds import stream
from eval.workbench.sprites import hand_sprite, level, paste

if TYPE_CHECKING:
    from eval.workbench.event_scene import EventScene

    Effect = Callable[[EventScene], None]

WATER: Color = (80, 160, 226)


def _cable(scene: EventScene) -> None:
    scene.line(scene.place_at, scene.thing_at, (28, 28, 30), 0.022)


def _stream(scene: EventScene) -> None:
    sign = 1 if scene.mirror else -1
    x, y = scene.thing_at
    scene.line((x + sign * 0.15, y + 0.06), (scene.place_at[0], scene.place_at[1] - 0.04), WATER, 0.035)


def _drops(scene: EventScene) -> None:
    x, y = scene.thing_at
    for step in range(7):
        phase = (scene.progress * 6 + step * 0.37) % 1
        scene.disc(x + (step - 3) * 0.05, y - 0.12 + 0.36 * phase, 0.013, WATER)


def _board(scene: EventScene) -> None:
    x, y = scene.thing_at
    for color, grown in (((96, 66, 40), 0.012), ((206, 166, 112), 0.0)):
        box = (x - 0.26 - grown, y - 0.12 - grown, x + 0.26 + grown, y + 0.14 + grown)
        ImageDraw.Draw(scene.image).rectangle([part * scene.height for part in box], fill=color)


def _taker(scene: EventScene) -> None:
    """The hand that takes: of the other person, or of the camera wearer."""
    story = scene.story
    wearer_takes = not scene.wearer
    size = HAND * scene.scale * scene.height
    sleeve = story.sleeve if wearer_takes else story.shirt
    picture = hand_sprite("claw", story.skin, sleeve, level(size), scene.style)
    x, y = scene.thing_at
    drop = 0.30 if wearer_takes else -0.30
    paste(
        scene.image, scene.turned(picture, size, 0 if wearer_takes else 180), x + 0.04, y + drop, scene.height
    )


def _apart(scene: EventScene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        for lift in (-0.10, 0.0, 0.10):
            scene.line(
                (x + side * 0.22, y - 0.14 + lift),
                (x + side * 0.32, y - 0.18 + lift * 1.6),
                (250, 236, 150),
                0.012,
            )


def _turn(scene: EventScene) -> None:
    x, y = scene.thing_at
    box = [part * scene.height for part in (x - 0.24, y - 0.24, x + 0.24, y + 0.24)]
    start = 200 + 60 * scene.swing
    ImageDraw.Draw(scene.image).arc(
        box, start, start + 110, fill=(250, 246, 230), width=max(1, scene.height // 60)
    )


def _arcs(scene: EventScene) -> None:
    x, y = scene.place_at
    for step in range(3):
        radius = 0.16 + 0.04 * step
        box = [part * scene.height for part in (x - radius, y - radius, x + radius, y + radius)]
        ImageDraw.Draw(scene.image).arc(box, 200, 340, fill=(246, 246, 250), width=max(1, scene.height // 90))


def _paint(scene: EventScene) -> None:
    x, y = scene.thing_at
    color = (214, 60, 130)
    for step in range(3):
        scene.line(
            (x - 0.16, y - 0.10 + 0.07 * step),
            (x - 0.16 + 0.3 * scene.progress, y - 0.11 + 0.07 * step),
            color,
            0.03,
        )


def _mist(scene: EventScene) -> None:
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


def _motes(scene: EventScene) -> None:
    rng = stream("motes", scene.event.start, round(scene.progress * 8))
    for _ in range(14):
        x, y = scene.thing_at
        scene.disc(x + rng.uniform(-0.3, 0.3), y + rng.uniform(-0.28, 0.16), 0.010, (150, 138, 120))


def _marks(scene: EventScene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        scene.line((x + side * 0.2, y - 0.2), (x + side * 0.2, y + 0.16), (220, 30, 30), 0.010)


def _flash(scene: EventScene) -> None:
    x, y = scene.thing_at
    for corner_x in (-1, 1):
        for corner_y in (-1, 1):
            cx, cy = x + corner_x * 0.26, y + corner_y * 0.22
            scene.line((cx, cy), (cx - corner_x * 0.08, cy), (255, 255, 255), 0.016)
            scene.line((cx, cy), (cx, cy - corner_y * 0.08), (255, 255, 255), 0.016)


def _fold(scene: EventScene) -> None:
    x, y = scene.thing_at
    for side in (-1, 1):
        scene.line((x + side * 0.26, y + 0.14), (x + side * 0.12, y - 0.10), (250, 250, 250), 0.016)


BEFORE: dict[str, Effect] = {"taker": _taker, "board": _board}
BETWEEN: dict[str, Effect] = {"cable": _cable, "stream": _stream}
AFTER: dict[str, Effect] = {
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
