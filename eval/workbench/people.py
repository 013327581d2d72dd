"""The other person in the room: head and shoulders at the far side of the work."""

from __future__ import annotations

from PIL import Image, ImageDraw

from eval.workbench.backdrops import MARGIN
from eval.workbench.pen import Color, darker
from eval.workbench.seeds import stream
from eval.workbench.story import ClipStory

HAIR: tuple[Color, ...] = ((40, 28, 22), (92, 58, 32), (196, 156, 84), (150, 146, 142), (128, 48, 28))


def paint_person(image: Image.Image, story: ClipStory, height: int) -> None:
    """Draws into the backdrop; a woman has long hair, a man short hair and a beard."""
    if not story.person:
        return
    rng = stream("person", story.split, story.seed)
    x, hair = rng.uniform(0.85, 1.15), rng.choice(HAIR)
    draw = ImageDraw.Draw(image)

    def box(x0: float, y0: float, x1: float, y1: float) -> list[float]:
        return [(part + MARGIN) * height for part in (x + x0, y0, x + x1, y1)]

    if story.person == "woman":
        draw.rounded_rectangle(box(-0.13, -0.08, 0.13, 0.30), radius=0.1 * height, fill=hair)
    draw.rounded_rectangle(
        box(-0.24, 0.20, 0.24, 0.50), radius=0.1 * height, fill=story.shirt, outline=darker(story.shirt)
    )
    draw.rectangle(box(-0.05, 0.14, 0.05, 0.24), fill=darker(story.skin, 0.15))
    draw.ellipse(box(-0.095, -0.05, 0.095, 0.19), fill=story.skin)
    draw.pieslice(box(-0.10, -0.07, 0.10, 0.15), 180, 360, fill=hair)
    if story.person == "man":
        draw.pieslice(box(-0.09, 0.02, 0.09, 0.20), 20, 160, fill=hair)
    for side in (-1, 1):
        draw.ellipse(box(side * 0.04 - 0.012, 0.06, side * 0.04 + 0.012, 0.085), fill=(30, 30, 30))
