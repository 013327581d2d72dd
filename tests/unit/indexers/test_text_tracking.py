"""Text on screen begins and ends where its strokes do, whichever sampled frame it was read from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from corpora.records import Clip, Evidence, Frames
from indexers.screen import TextBox
from indexers.text_tracking import text_spans

SIZE = (398, 224)
TIMES = np.arange(20) / 2
SCALE = 960 / SIZE[0]
"""From pixels of a sampled frame to those in which text is found."""

Shown = Callable[[float], list[tuple[str, int, int]]]
"""By time, texts with their left and upper edges in pixels of a sampled frame."""


def frame(time: float, texts: list[tuple[str, int, int]], moving: bool) -> NDArray[np.uint8]:
    y, x = np.mgrid[0 : SIZE[1], 0 : SIZE[0]].astype(np.float32)
    shift = 12 * time if moving else 0.0
    image = Image.fromarray((120 + 50 * np.sin((x + shift) / 9) * np.cos((y - shift) / 11)).astype(np.uint8))
    for text, left, top in texts:
        ImageDraw.Draw(image).text(
            (left, top), text, 255, ImageFont.load_default(12), stroke_width=1, stroke_fill=0
        )
    return np.asarray(image.convert("RGB"))


def spans(shown: Shown, keyframes: list[float], moving: bool = True) -> list[Evidence]:
    images = np.stack([frame(time, shown(time), moving) for time in TIMES])
    readings = [
        [
            TextBox(left * SCALE, top * SCALE, (left + 6 * len(text)) * SCALE, (top + 15) * SCALE, text, 0.99)
            for text, left, top in shown(time)
        ]
        for time in keyframes
    ]
    return text_spans(Clip("v:0", "v", 0.0, 10.0), Frames(TIMES, images), keyframes, readings)


def times(found: list[Evidence], text: str) -> list[tuple[float, float]]:
    return [(span.start, span.end) for span in found if span.text == text]


@pytest.mark.parametrize(
    ("moving", "seen_at", "keyframes"), [(False, 3.0, [0.0]), (True, 3.0, [0.0, 7.0]), (True, 4.5, [0.0])]
)
def test_a_caption_lasts_from_its_first_frame_to_its_last(
    moving: bool, seen_at: float, keyframes: list[float]
) -> None:
    def shown(time: float) -> list[tuple[str, int, int]]:
        return [("Water the roots", 120, 190)] if 3.0 <= time < 5.0 else []

    found = spans(shown, sorted([*keyframes, seen_at]), moving)
    assert times(found, "Water the roots") == [(3.0, 5.0)]
    assert len(found) == 1


@pytest.mark.parametrize("moving", [False, True])
def test_of_captions_in_one_place_each_has_its_own_time(moving: bool) -> None:
    def shown(time: float) -> list[tuple[str, int, int]]:
        return [("Water the roots" if time < 4.0 else "Prune the old wood", 120, 190)]

    found = spans(shown, [0.0, 6.0], moving)
    assert [(s.start, s.end, s.text) for s in found] == [
        (0.0, 4.0, "Water the roots"),
        (4.0, 10.0, "Prune the old wood"),
    ]


def test_what_stays_is_beside_what_comes_and_goes() -> None:
    def shown(time: float) -> list[tuple[str, int, int]]:
        caption = [("Water the roots", 120, 190)] if 3.0 <= time < 5.0 else []
        return [("Garden hour", 20, 10), *caption]

    both = "Garden hour\nWater the roots"
    found = spans(shown, [0.0, 3.5, 8.0])
    assert [(s.start, s.end, s.text) for s in found] == [
        (0.0, 3.0, "Garden hour"),
        (3.0, 5.0, both),
        (5.0, 10.0, "Garden hour"),
    ]


def test_text_that_moves_with_the_image_is_followed() -> None:
    def shown(time: float) -> list[tuple[str, int, int]]:
        return [("Bakery street", round(20 + 24 * time), 80)] if time < 6.0 else []

    assert times(spans(shown, [0.0, 8.0]), "Bakery street") == [(0.0, 6.0)]


def test_a_clip_without_text_has_no_spans() -> None:
    assert spans(lambda _: [], [0.0, 5.0]) == []
    assert (
        text_spans(Clip("v:0", "v", 0.0, 10.0), Frames(TIMES[:0], np.empty((0, 1, 1, 3), np.uint8)), [], [])
        == []
    )
