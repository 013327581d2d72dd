"""The questions that the demo asks of its corpus, with what a right answer holds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DemoQuestion", "demo_questions"]


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    question_id: str
    text: str
    options: tuple[str, ...]
    """In order A, B, C; empty for an open question."""
    expected: str
    """The label of the right option, or words that a right open answer holds."""
    source: str
    """Path below the corpus folder of the file that proves the answer."""
    span: tuple[float, float] | None = None
    """Where in a video the proof is seen or heard, half-open, seconds."""
    needs: str = ""
    """`ocr` where only the pictures hold the answer."""


def demo_questions() -> tuple[DemoQuestion, ...]:
    """One answered by narration, one by text on the screen, one by a passage about a thing in a film."""
    return (
        DemoQuestion(
            "narration",
            "How long should the coffee steep in the French press?",
            (),
            "four minutes",
            "videos/kitchen_french_press.mp4",
            (18.0, 25.0),
        ),
        DemoQuestion(
            "screen",
            "How much space should be kept between tomato plants?",
            (),
            "60 cm",
            "videos/garden_tomato_plants.mp4",
            (4.0, 11.0),
            needs="ocr",
        ),
        DemoQuestion(
            "passage",
            "After the wheel nuts are tight, how should the torque wrench be stored?",
            (
                "hung on a nail with the scale at its highest setting",
                "in its case with the scale wound down to the lowest setting",
                "in a bucket of oil",
            ),
            "B",
            "passages/torque_wrench_storage.md",
        ),
    )
