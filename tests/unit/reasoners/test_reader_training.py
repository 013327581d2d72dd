"""Rows that the cross-encoder is trained on, and the start of a run from the weights of another."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from indexers.e5 import FILE, Q4, open_file
from indexers.models.lookup import find_weights
from indexers.settings import EncoderSettings
from training.reader import Asked, Model, with_unanswered

TEXT = "The tower in Paris was finished in 1889. It was built for a fair. Lyon is on the Rhone."


def asked(answer: str) -> Asked:
    start = TEXT.index(answer)
    return Asked(TEXT, "When was the tower in Paris finished?", ((start, start + len(answer)),))


def test_questions_are_asked_again_of_text_that_does_not_answer_them() -> None:
    every = [asked("1889"), Asked("Nothing of it.", "Who came to Rome?", ())] * 40
    made = list(with_unanswered(every, random.Random(0)))
    without = [one for one in made if not one.answers and one.question == every[0].question]
    assert {one.text for one in without} == {
        "It was built for a fair. Lyon is on the Rhone.",
        "Nothing of it.",
    }
    replaced = {one.question for one in made if not one.answers and one.text == TEXT}
    assert "When was the tower in Lyon finished?" in replaced
    assert all("Paris" not in question for question in replaced)
    assert sum(one.question == "Who came to Rome?" for one in made) == 2 * 40


def test_an_answer_that_is_given_twice_is_not_cut_out() -> None:
    twice = replace(asked("Paris"), text=f"{TEXT} Paris has parks. All of it is old.")
    made = with_unanswered([twice] * 40, random.Random(0))
    assert all("Paris has parks" in one.text for one in made)


def test_a_run_starts_from_the_weights_of_another() -> None:
    file = open_file(find_weights(Q4, EncoderSettings()) / FILE)
    first, second = Model(file), Model(file)
    changed = {name: -of for name, of in first.trained().items()}
    second.start_from(changed | {name: of for name, of in first.trained().items() if name.endswith(".scale")})
    kept = second.trained()
    assert kept.keys() == changed.keys()
    weight = "encoder.layer.11.output.dense.weight"
    np.testing.assert_array_equal(kept[weight], changed[weight])
    np.testing.assert_array_equal(kept["answer.bias"], changed["answer.bias"])
