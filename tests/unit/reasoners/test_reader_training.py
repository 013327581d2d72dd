"""Rows that the cross-encoder is trained on, and the start of a run from the weights of another."""

from __future__ import annotations

import random

import pytest

from training.reader import Asked, with_unanswered

# Loads PyTorch.
pytestmark = pytest.mark.slow

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
