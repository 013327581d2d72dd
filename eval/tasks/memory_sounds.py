"""Sounds of the Workbench world in words: the noise that an action makes, and what is said near a moment."""

from __future__ import annotations

from collections.abc import Iterable

from eval.workbench.video import Line

NEAR = 2.0
"""Seconds on both sides of a moment."""
NOISES = {
    "pick_up": "a dull knock now and then",
    "place": "a low thud",
    "plug": "a sharp click",
    "tip": "the gurgle of something that is poured",
    "wipe": "a rubbing to and fro",
    "tighten": "a fast ratchet-like clicking",
    "cut": "a quick sawing sound",
    "hand_over": "a soft rustle",
    "open": "a creak and some rapping",
    "paint": "slow brushing strokes",
    "rinse": "running water",
    "hang": "a ringing chime",
    "drop": "a deep thump",
    "measure": "short high beeps",
    "weigh": "low beeps",
    "spray": "hissing bursts",
    "wrap": "crackling paper or foil",
    "dust": "a muffled sweeping",
    "photograph": "the click of a shutter",
}


def action_noise(action_id: str) -> str:
    """What `eval.workbench.sound` makes for the action, in everyday words."""
    return NOISES.get(action_id, "some noise")


def said_near(lines: Iterable[Line], start: float, end: float) -> Line | None:
    """The line that overlaps [start - 2, end + 2) most; of equal ones the first; None where nobody speaks."""
    found = [line for line in lines if line.start < end + NEAR and line.end > start - NEAR]
    return max(
        found, key=lambda line: (min(line.end, end) - max(line.start, start), -line.start), default=None
    )
