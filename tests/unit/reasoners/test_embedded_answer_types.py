"""What a question asks for, and which sentences hold such a thing."""

from __future__ import annotations

import time

import pytest

from rag.reasoners.embedded.answer_types import answer_type


@pytest.mark.parametrize(
    ("question", "sentence", "strength"),
    [
        (
            "When should I flip a pancake?",
            "Flip a pancake when bubbles form, usually after two minutes.",
            1.0,
        ),
        ("When should I flip a pancake?", "Do not press the pancake after flipping it.", 0.0),
        ("When should I flip a pancake?", "Press the pancake after flipping it.", 0.5),
        ("When should I flip a pancake?", "Pour the batter into the pan.", 0.0),
        ("When do I flip a pancake?", "We flip a pancake usually two minutes into baking.", 0.5),
        ("When can I walk on the floor?", "Do not walk on the floor until the glue is dry.", 1.0),
        ("When can I walk on the floor?", "Never walk on the floor after waxing.", 0.0),
        ("When was the bridge built?", "It was built in 1932, after the war.", 1.0),
        ("What year did the bridge open?", "It opened after the war.", 1.0),
    ],
)
def test_a_sentence_says_when_what_is_asked_is_done(question: str, sentence: str, strength: float) -> None:
    kind = answer_type(question)
    assert kind.name == "date"
    assert kind.strength(sentence) == strength


@pytest.mark.parametrize(
    ("question", "with_unit", "without_unit"),
    [
        ("How tight should the wheel bolts be?", "Tighten the bolts to 110 Nm.", "They are made of steel."),
        ("How tight should the bolts be?", "Tighten them to 110Nm.", "Tighten the 5 bolts."),
        ("How tightly are they done up?", "To 80 foot-pounds, in a star.", "With a wrench, in a star."),
        ("How hot is the oven?", "Heat it to 200 C.", "Heat it for 200 guests."),
        ("How long does it rest?", "It rests for ten minutes.", "It rests in the bowl."),
        ("How far is the village?", "It is 5km down the road.", "It is down the road."),
        ("How heavy is the wheel?", "It weighs 18 kg.", "It weighs a lot."),
    ],
)
def test_a_measure_is_a_number_with_its_unit(question: str, with_unit: str, without_unit: str) -> None:
    kind = answer_type(question)
    assert kind.measures(with_unit)
    assert not kind.measures(without_unit)
    assert kind.strength(with_unit) > kind.strength(without_unit)


def test_a_number_alone_is_no_measure_where_none_is_asked() -> None:
    assert not answer_type("What is the bolt made of?").measures("Tighten the bolts to 110 Nm.")


def test_a_question_of_one_long_word_is_typed_at_once() -> None:
    started = time.process_time()
    assert answer_type("a" * 4000).name == "thing"
    assert answer_type("And so, finally, when is it done?").name == "date"
    assert time.process_time() - started < 1, "cubic"


def test_a_torque_wrench_is_no_torque() -> None:
    assert answer_type("Where is the torque wrench?").name == "where"
    assert answer_type("What torque do the wheel bolts need?").name == "tightness"
