"""Questions by rules: how they are rewritten, and which event comes first and how often."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.records import Clip, Evidence
from localization.windows import Window
from rag.questions import parse_question
from rag.reasoners.embedded.over_time import answer_over_time
from rag.reasoners.embedded.rewriting import anchor_event, asks_for_order, counted_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.questions import AnchorEvent, RewrittenQuestion
from rag.reasoners.roles.reading import Reading, ReadWindow
from rag.records import Question
from rag.relevance import ImageScoreCalibrator
from tests.fakes.answer_world import BagOfWords, ImageWords


@pytest.mark.parametrize(
    ("question", "visual"),
    [
        (
            "In a video where hikers are crossing a narrow bridge, what is the landscape around them?",
            "A video that shows hikers are crossing a narrow bridge.",
        ),
        (
            "In a video showing a crowded marketplace, what is the vendor placing on the display table?",
            "A video that shows a crowded marketplace.",
        ),
        (
            "In a video where a person is cooking, which statement is true about the object being stirred?",
            "A video that shows a person is cooking.",
        ),
        ("In a science lab video, which object is on the bench?", "A video that shows a science lab."),
        ("What is the vendor placing on the table?", "A video that shows the vendor placing on the table."),
    ],
)
def test_visual_query(question: str, visual: str) -> None:
    assert rewrite_question(parse_question(question)).visual_query == visual


SOCCER = "In a video that shows children playing soccer in a park, "
KITCHEN = "In a video that shows a chef preparing food in a restaurant kitchen, "
HIKERS = "In a video that shows a group of people hiking up a mountain trail, "


@pytest.mark.parametrize(
    ("question", "description", "position"),
    [
        (
            SOCCER + "which statement is true about the object that goalkeeper kicks toward the goal?",
            "the object that goalkeeper kicks toward the goal",
            "within",
        ),
        (
            KITCHEN
            + "after the camera wearer chops vegetables, what is the object that she puts into the pan?",
            "the camera wearer chops vegetables",
            "after",
        ),
        (
            HIKERS
            + "before people reach the summit, which statement is true about the object on their back?",
            "people reach the summit",
            "before",
        ),
        ("What does the cook add until the dough is firm?", "the dough is firm", "before"),
        ("While he paints, what is he holding?", "he paints, he holding", "within"),
    ],
)
def test_anchor(question: str, description: str, position: str) -> None:
    anchor = anchor_event(parse_question(question))
    assert (anchor.description, anchor.position) == (description, position)


def test_passage_queries_are_the_claims_and_name_the_topic() -> None:
    hop = "When baking cakes. The object is recommended for folding cream."
    asked = parse_question("Which statement is true about the object that she holds?", [hop, "a spoon"])
    assert rewrite_question(asked).passage_queries == (
        "when baking cakes, some object is recommended for folding cream",
        "a spoon",
    )
    asked = parse_question(
        "Which statement is true about the torque wrench?", ["It loosens bolts.", "It clicks."]
    )
    assert rewrite_question(asked).passage_queries[0] == "the torque wrench: it loosens bolts"
    asked = parse_question("What does the mechanic use to clean the chain?", ["a sponge", "sand"])
    assert "mechanic use to clean the chain: a sponge" in rewrite_question(asked).passage_queries[0]


@pytest.mark.parametrize(
    ("text", "by_option"),
    [
        ("Which of these happens first in the film?", True),
        ("Which of the following events takes place last?", True),
        ("Which of these happens first in the video of the lathe?", False),
        ("In a clip that shows a garden, which of these happens first?", False),
        ("Which event takes place in the last chapter on torque wrenches?", False),
        ("What happens first?", False),
    ],
)
def test_options_are_looked_for_alone_where_the_question_names_nothing(text: str, by_option: bool) -> None:
    options = ("The man opens the door.", "The woman folds the towel.")
    assert rewrite_question(parse_question(text, options)).by_option is by_option


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=40), min_size=2, max_size=3))
def test_every_question_can_be_rewritten(text: str, options: list[str]) -> None:
    asked = parse_question(f"why {text}", [f"o {option}" for option in options])
    rewritten = rewrite_question(asked)
    assert len(rewritten.passage_queries) == len(options)
    assert anchor_event(asked).description


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
    assert reply.choice == "A"
    assert "at 90 s" in reply.explanation
