"""Which comes first, and how often: decided by times and by the number of windows."""

import time

import numpy as np
import pytest

from corpora.records import Clip, Evidence
from localization.windows import Window
from rag.reasoners.embedded.over_time import answer_over_time
from rag.reasoners.embedded.rewriting import asks_for_order, counted_event
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.questions import AnchorEvent, RewrittenQuestion
from rag.reasoners.roles.reading import Reading, ReadWindow
from rag.records import Question
from rag.relevance import ImageScoreCalibrator
from tests.fakes.answer_world import BagOfWords, ImageWords


def window(start: float, said: str = "", seen: str = "") -> ReadWindow:
    tower = ImageWords()
    times = np.array([start, start + 1.0])
    vectors = np.stack([tower.image(seen.split(), f"{start} {i}") for i in range(2)])
    texts = (Evidence("v", start, start + 2.0, "subtitle", said),) if said else ()
    clip = Clip("v:00000", "v", 0.0, 1000.0)
    return ReadWindow("/v.mp4", "v", clip, Window("v", start, start + 5.0, 0.5), 0.5, texts, times, vectors)


def reading(text: str, options: tuple[str, ...], *windows: ReadWindow) -> Reading:
    event = AnchorEvent(description="event")
    asked = RewrittenQuestion(visual_query="x", counted=counted_event(text))
    return Reading(Question("q", text, options), asked, event, windows, (), True)


def test_forms_of_order_and_count() -> None:
    assert asks_for_order("Which of these happens first in the film?") == "first"
    assert asks_for_order("Which event takes place last?") == "last"
    assert asks_for_order("What happens first?") is None
    assert asks_for_order("Which drill is used first?") is None
    assert asks_for_order("Which event happens first, and which one comes last of all?") == "last"
    started = time.process_time()
    assert asks_for_order("which one happens " * 900) is None
    assert asks_for_order("which one happens " * 900 + "first") == "first"
    assert time.process_time() - started < 1, "cubic"


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("How many times in the video is it seen that somebody opens a door?", "somebody opens a door"),
        ("How often does the bell ring in the film?", "the bell ring"),
        ("How many parts of the video take place in the garden?", "in the garden"),
        ("How many times is a chain seen?", "a chain seen"),
        ("How many bottles are there in the video?", ""),
        ("How often should the chain be oiled?", ""),
        ("How many parts does a violin have?", ""),
        ("In a clip that shows a kitchen, how many times does he stir?", ""),
    ],
)
def test_an_event_is_counted_only_in_a_whole_video(text: str, event: str) -> None:
    assert counted_event(text) == event


@pytest.mark.parametrize(("end", "choice"), [("first", "B"), ("last", "A")])
def test_the_option_named_first_or_last_is_taken(end: str, choice: str) -> None:
    asked = reading(
        f"Which of these happens {end} in the film?",
        ("The woman folds the towel.", "The man opens the razor.", "The dog eats the carrot."),
        window(10.0, "Now the man opens the razor."),
        window(300.0, "Now the woman folds the towel."),
    )
    reply = answer_over_time(asked, SentenceVectors(BagOfWords()), None)
    assert reply is not None
    assert reply.choice == choice
    assert sum(reply.scores) == pytest.approx(1.0, abs=1e-5)
    assert reply.windows == (0, 1)
    assert "at 10 s" in reply.explanation


def test_the_window_that_words_and_frames_support_together_is_taken() -> None:
    asked = reading(
        "Which of these happens first?",
        ("The man takes the drill.", "The man takes the lamp."),
        window(10.0, "The man takes the lamp."),
        window(50.0, "The man takes the drill."),
        window(90.0, "The man takes the lamp.", seen="lamp"),
    )
    reply = answer_over_time(asked, SentenceVectors(BagOfWords()), ImageScoreCalibrator(ImageWords()))
    assert reply is not None
    assert reply.choice == "A"
    assert "at 90 s" in reply.explanation
