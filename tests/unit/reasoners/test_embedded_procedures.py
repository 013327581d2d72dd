"""Steps of a procedure that a passage lists: all of them, or one by its number."""

import pytest

from corpora.records import Passage
from rag.reasoners.embedded.answer_choice import answer_choice
from rag.reasoners.embedded.answer_open import answer_open
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.records import Question
from tests.fakes.answer_world import BagOfWords

TUBE = """Tools

- Two levers
- A pump

## Replacing a tube

1. Take the wheel
   out.
2. Pull out the old tube.
3. Inflate it.
"""


def reading(text: str, *options: str) -> Reading:
    question = Question("q", text, options)
    passages = (
        ReadPassage(Passage("o", "d0", "Radiators", "Turn off the heating."), "o.md", 0.9, None),
        ReadPassage(Passage("p", "d", "Bicycles", TUBE.replace("## ", "")), "p.md", 0.8, None),
    )
    return Reading(question, rewrite_question(question), anchor_event(question), (), passages)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("How do I replace a tube?", "1. Take the wheel out. 2. Pull out the old tube. 3. Inflate it."),
        (
            "How to replace the tube of a bicycle?",
            "1. Take the wheel out. 2. Pull out the old tube. 3. Inflate it.",
        ),
        ("What is the first step of replacing a tube?", "Take the wheel out."),
        ("What is the 2nd step in replacing a tube?", "Pull out the old tube."),
        ("What is step 3 of replacing a tube?", "Inflate it."),
        ("Which is the last step of replacing a tube?", "Inflate it."),
    ],
)
def test_the_steps_that_are_asked_for(text: str, answer: str) -> None:
    found = answer_open(reading(text), SentenceVectors(BagOfWords()), None)
    assert (found.text, found.passages) == (answer, (1,))


@pytest.mark.parametrize("text", ["What is step 9 of replacing a tube?", "How do I replace a chain?"])
def test_no_steps_of_another_procedure_and_none_beyond_the_last(text: str) -> None:
    assert "1." not in answer_open(reading(text), SentenceVectors(BagOfWords()), None).text


def test_an_option_is_the_step_asked_for() -> None:
    asked = reading("What is the first step of replacing a tube?", "inflate it", "take the wheel out")
    found = answer_choice(asked, SentenceVectors(BagOfWords()), None)
    assert (found.choice, found.passages) == ("B", (1,))
