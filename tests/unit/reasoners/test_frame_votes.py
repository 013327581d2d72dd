"""What frames say for each option: by how likely each clip is, and by the names of its own passage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corpora.records import Clip
from localization.windows import Window
from rag.reasoners.embedded.frame_votes import frame_votes, window_weights
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import Question
from rag.relevance import ImageScoreCalibrator
from tests.fakes.answer_world import ImageWords

TOWER = ImageWords()
CALIBRATOR = ImageScoreCalibrator(TOWER)


def window(number: int, seen: str, match: float | None) -> ReadWindow:
    clip = Clip(f"v{number}:00000", f"v{number}", 0.0, 30.0)
    vectors = np.stack([TOWER.image([seen], f"{seen} {at}") for at in range(4)])
    found = Window(clip.video_id, 0.0, 2.0, 0.5)
    return ReadWindow("/v.mp4", "v", clip, found, 0.5, (), np.arange(4) / 2, vectors, match=match)


def votes(
    options: tuple[str, ...], *windows: ReadWindow, passages: tuple[ReadPassage, ...] = ()
) -> list[float]:
    question = Question("q", "What does the man hold?", options)
    reading = Reading(question, rewrite_question(question), anchor_event(question), windows, passages)
    found = frame_votes(reading, CALIBRATOR, window_weights(reading, CALIBRATOR))
    assert found is not None
    return [vote.z for vote in found]


def test_the_likelier_clip_decides_and_an_unlikely_one_says_little() -> None:
    options = ("kettle", "hammer")
    sure = votes(options, window(0, "kettle", 0.9), window(1, "hammer", 0.05))
    unsure = votes(options, window(0, "kettle", 0.3), window(1, "hammer", 0.05))
    assert sure[0] > unsure[0] > 0 > unsure[1] > sure[1]
    alone = window(0, "kettle", 0.01)
    assert np.allclose(votes(options, alone), 0.0, atol=0.05)
    assert votes(options, replace(alone, match=None))[0] > 0.5
