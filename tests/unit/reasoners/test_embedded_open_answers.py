"""Which sentence is quoted where all are equally near in meaning, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.records import Clip, Evidence, Passage
from localization.windows import Window
from rag.reasoners.embedded.answer_open import answer_open
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import Question
from tests.fakes.answer_world import BagOfWords


class Even:
    """Every statement is at cosine 0.42 of every question."""

    name = "even"
    dim = 2
    backend = "test"
    batch = 8
    weights = fingerprint = "even"

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [(1.0, 0.0) if text.endswith("?") else (0.42, (1 - 0.42**2) ** 0.5) for text in texts]
        return np.array(rows, np.float32)


def ask(text: str, passage: str, title: str = "", encoder: Any = None) -> OpenAnswer:
    question = Question("q", text)
    read = (ReadPassage(Passage("p", "d", title, passage), "p.md", 1.0, None),)
    reading = Reading(question, rewrite_question(question), anchor_event(question), (), read)
    return answer_open(reading, SentenceVectors(encoder or Even()), None)


def test_a_measure_with_all_words_of_the_question_is_surer_than_without_its_unit() -> None:
    question = "How tight should the bolts be?"
    answer = ask(question, "The bolts are made of steel. Tighten the bolts to 110 Nm.")
    assert answer.text == "Tighten the bolts to 110 Nm."
    assert answer.confidence > 0.5
    unmeasured = ask(question, "The bolts are made of steel. Tighten the bolts to the stop.")
    assert unmeasured.confidence < answer.confidence


def test_a_ban_with_an_after_in_it_does_not_say_when() -> None:
    answer = ask(
        "When should I flip a pancake?",
        "Do not press the pancake after flipping it. Flip a pancake when bubbles form.",
    )
    assert answer.text == "Flip a pancake when bubbles form."


def test_what_comes_before_or_after_a_step_is_the_step_beside_it() -> None:
    steps = "1. Close the cover.\n2. Clamp the workpiece.\n3. Turn on the coolant."
    assert ask("What do I do after clamping the workpiece?", steps).text == "Turn on the coolant."
    assert ask("What do I do before clamping the workpiece?", steps).text == "Close the cover."
    assert ask("What do I do after turning on the coolant?", steps).text == "", "it is the last step"
    repeated = "Start the coolant. Clamp the workpiece. Start the coolant. Press the button."
    assert ask("What do I do after clamping the workpiece?", repeated).text == "Start the coolant."
    window = ReadWindow(
        "v.mp4",
        "v",
        Clip("v:0", "v", 0.0, 30.0),
        Window("v", 0.0, 30.0, 0.5),
        0.5,
        (
            Evidence("v", 20.0, 22.0, "subtitle", "He now clamps the workpiece."),
            Evidence("v", 1.0, 2.0, "ocr", "Welcome to the workshop"),
        ),
        None,
        None,
    )
    question = Question("q", "What do I do after clamping the workpiece?")
    reading = Reading(question, rewrite_question(question), anchor_event(question), (window,), ())
    last = answer_open(reading, SentenceVectors(Even()), None)
    assert last.text == "He now clamps the workpiece.", "what is read on the screen does not follow speech"
    said = "Replace the pads when they are thin. Oil the pads. After replacing the pads, ride slowly."
    answer = ask("What should be done after replacing the pads?", said)
    assert answer.text == "After replacing the pads, ride slowly."


def test_a_sentence_that_says_what_is_asked_is_not_left_for_one_beside_or_after_it() -> None:
    war = "After the war, bread was scarce. Truman was the president from 1945 on."
    assert ask("Who was the president after the war?", war).text.startswith("Truman")
    oil = "Replace the filter when you change the oil. Check the tires."
    assert ask("When should I replace the filter after changing the oil?", oil).text.startswith("Replace")


def test_a_sentence_that_has_the_event_and_what_follows_is_the_answer() -> None:
    asked = "What do I do after clamping the workpiece?"
    for said in (
        "When you have clamped the workpiece, turn on the coolant.",
        "Clamping the workpiece is followed by turning on the coolant.",
        "Clamp the workpiece and turn on the coolant.",
    ):
        assert ask(asked, said).text == said
    assert ask(asked, "When you have clamped the workpiece, cool it. Close the lid.").text.startswith("When")


def test_one_word_below_its_question_is_an_answer() -> None:
    said = "What is the capital of France?\n\nParis.\n\nWhat is the capital of Spain?\n\nMadrid."
    assert ask("What is the capital of Spain?", said, encoder=BagOfWords()).text == "Madrid."


def test_a_row_of_a_table_is_given_with_the_heads_of_its_columns() -> None:
    answer = ask(
        "What is the price of the router?", "| Tool | Price |\n|-|-|\n| Router | 210 |\n| Sander | 90 |"
    )
    assert answer.text == "Tool Router, Price 210"
    assert "“Router | 210”" in answer.explanation
