"""How each action looks: which hands, where the object and the fixture are, and what moves.

Lengths are in frame heights, angles in degrees; positions are relative to the place of work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HAND, THING = 0.42, 0.54
"""Sizes of the hand and of the object in it."""


@dataclass(frozen=True, slots=True)
class Gesture:
    """Hands, positions and motion of one action."""

    pose: str
    """Of the hand that holds the object."""
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
    """What else is seen, by its name in `eval.workbench.effects`; empty where nothing is."""
    moves: Literal["thing", "place"] = "thing"
    """Which part goes to and fro."""


GESTURES: dict[str, Gesture] = {
    "pick_up": Gesture("claw", "", (0.0, -0.20), 0.52, (0.0, -0.04), 0, (0.0, 0.16)),
    "place": Gesture("palm", "", (0.0, 0.20), 0.52, (0.0, -0.06), 0, (0.0, 0.12)),
    "plug": Gesture("pinch", "", (-0.42, -0.22), 0.36, (0.12, 0.04), -20, (-0.04, -0.02), effect="cable"),
    "tip": Gesture("fist", "", (-0.28, 0.24), 0.44, (0.10, -0.16), 65, (-0.06, 0.0), effect="stream"),
    "wipe": Gesture("palm", "fist", (0.10, -0.16), 0.30, (-0.04, 0.04), 0, (0.0, 0.0), 0.10, "arcs", "place"),
    "tighten": Gesture(
        "fist", "fist", (0.26, -0.10), 0.40, (-0.10, 0.06), 0, (0.0, 0.0), 0.05, "turn", "place"
    ),
    "cut": Gesture("palm", "fist", (0.22, -0.12), 0.44, (-0.12, 0.08), 0, (0.0, 0.0), 0.07, "board", "place"),
    "hand_over": Gesture("palm", "", (0.0, -0.34), 0.0, (0.0, -0.10), 0, (0.0, -0.14), effect="taker"),
    "open": Gesture("pinch", "pinch", (0.0, 0.0), 0.0, (0.0, 0.0), 0, (0.0, 0.0), 0.05, "apart"),
    "paint": Gesture(
        "fist", "fist", (0.24, -0.14), 0.40, (-0.10, 0.06), 0, (0.0, 0.0), 0.09, "paint", "place"
    ),
    "rinse": Gesture("claw", "", (0.0, -0.28), 0.46, (0.0, 0.10), 15, (0.0, 0.0), 0.05, "drops"),
    "hang": Gesture("claw", "", (0.0, -0.34), 0.40, (0.0, -0.04), 0, (0.0, -0.10), 0.02),
    "drop": Gesture("claw", "", (0.0, 0.26), 0.46, (0.0, -0.18), 30, (0.0, 0.16)),
    "measure": Gesture("pinch", "", (0.0, -0.20), 0.50, (0.0, 0.06), 0, (0.0, 0.0), 0.04, "marks", "place"),
    "weigh": Gesture("palm", "", (0.0, 0.18), 0.46, (0.0, -0.12), 0, (0.0, 0.04)),
    "spray": Gesture(
        "palm", "fist", (0.34, -0.10), 0.40, (-0.16, 0.06), 0, (0.0, 0.0), 0.02, "mist", "place"
    ),
    "wrap": Gesture("palm", "palm", (0.0, 0.06), 0.56, (0.0, -0.04), 0, (0.0, 0.02), 0.03, "fold"),
    "dust": Gesture(
        "fist", "fist", (0.20, -0.18), 0.40, (-0.08, 0.08), 0, (0.0, 0.0), 0.12, "motes", "place"
    ),
    "photograph": Gesture(
        "palm", "pinch", (0.26, 0.16), 0.40, (-0.14, -0.12), 0, (0.0, 0.0), 0.01, "flash", "place"
    ),
}
