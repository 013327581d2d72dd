"""What is said elsewhere says nothing of the scene that a question names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from corpora.records import Clip, Evidence
from localization.windows import Window
from rag.reasoners.embedded.answer_choice import answer_choice, windows_in_scene
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.anchor_event import AnchorEvent
from rag.reasoners.roles.reading import Reading, ReadWindow
from rag.reasoners.roles.rewrite_question import RewrittenQuestion
from rag.records import Question
from rag.relevance import ImageScoreCalibrator
from tests.fakes.answer_world import BagOfWords, ImageWords

CLIP = Clip("v:00000", "v", 0.0, 1000.0)


def window(start: float, seen: str, said: str) -> ReadWindow:
    tower = ImageWords()
    vectors = np.stack([tower.image(seen.split(), f"{start} {i}") for i in range(3)])
    times = start + np.arange(3.0)
    texts = (Evidence("v", start, start + 3.0, "subtitle", said),)
    return ReadWindow("/v.mp4", "v", CLIP, Window("v", start, start + 3.0, 0.5), 0.5, texts, times, vectors)


def reading(text: str, *windows: ReadWindow) -> Reading:
    asked = Question("q", text, ("the number 12", "the number 34"))
    event, scene = AnchorEvent(description="the number"), RewrittenQuestion(visual_query="x")
    return Reading(asked, scene, event, windows, (), must_choose=True)


def test_windows_of_the_scene_alone_are_listened_to() -> None:
    elsewhere = window(10.0, "hammer", "The voice says the number 34.")
    there = window(500.0, "kettle", "The voice says the number 12.")
    calibrator: Any = ImageScoreCalibrator(ImageWords())
    asked = reading("In a clip that shows a kettle, which number does the voice say?", elsewhere, there)
    assert windows_in_scene(asked, calibrator) == {1}
    assert answer_choice(asked, SentenceVectors(BagOfWords()), calibrator).choice == "A"
    asked = reading("In a clip that shows a hammer, which number does the voice say?", elsewhere, there)
    assert answer_choice(asked, SentenceVectors(BagOfWords()), calibrator).choice == "B"


def test_nothing_is_left_out_where_the_scene_is_unknown() -> None:
    both = window(10.0, "hammer", "The number 34."), window(500.0, "kettle", "The number 12.")
    calibrator: Any = ImageScoreCalibrator(ImageWords())
    assert windows_in_scene(reading("Which number does the voice say?", *both), calibrator) is None
    assert (
        windows_in_scene(reading("In a clip that shows a kettle, which number is said?", *both), None) is None
    )
    unseen = reading("In a clip that shows a giraffe, which number is said?", *both)
    assert windows_in_scene(unseen, calibrator) is None


def test_where_the_scene_is_seen_an_option_is_chosen_and_elsewhere_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The fake's frames favour some option strongly; here none is supported by itself.
    monkeypatch.setattr("rag.reasoners.embedded.answer_choice.LEAST_IMAGE_SHARE", 1.1)
    calibrator: Any = ImageScoreCalibrator(ImageWords())
    shown = window(10.0, "kettle", "Nobody speaks of it.")
    options = ("a spoon", "a knife", "a hammer", "a brush")
    for scene, chosen in (("kettle", True), ("giraffe", False)):
        text = f"In a clip that shows a {scene}, what is behind it?"
        asked = replace(reading(text, shown), question=Question("q", text, options), must_choose=False)
        reply = answer_choice(asked, SentenceVectors(BagOfWords()), calibrator)
        assert (reply.choice is not None) is chosen
