"""Steps of a procedure that a passage lists: all of them, or one by its number."""

import pytest

from corpora.records import Passage
from rag.reasoners.embedded.answer_choice import answer_choice
from rag.reasoners.embedded.answer_open import answer_open
from rag.reasoners.embedded.procedures import asked_steps
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
    radiators = Passage("o", "d0", "Radiators", "Turn off the heating.")
    return of_passages(
        text, radiators, Passage("p", "d", "Bicycles", TUBE.replace("## ", "")), options=options
    )


def of_passages(text: str, *passages: Passage, options: tuple[str, ...] = ()) -> Reading:
    question = Question("q", text, options)
    read = tuple(ReadPassage(passage, "p.md", 0.8, None) for passage in passages)
    return Reading(question, rewrite_question(question), anchor_event(question), (), read)


def steps(text: str, *bodies: str, title: str = "Replacing a tube") -> str:
    passages = [Passage(f"p{at}", "d", title, body) for at, body in enumerate(bodies)]
    return answer_open(of_passages(text, *passages), SentenceVectors(BagOfWords()), None).text


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
    asked = reading("What is the first step of replacing a tube?", "wheel on the pump", "cycle home")
    found = answer_choice(asked, SentenceVectors(BagOfWords()), None)
    assert "It is the step" not in found.explanation, "no option has most of its words there"


def test_a_step_is_not_the_one_before_or_after_it() -> None:
    for text in (
        "What comes after the first step of replacing a tube?",
        "Why is the last step of a tube bad?",
    ):
        assert asked_steps(reading(text)) is None


def test_a_list_ends_where_another_begins_or_text_does() -> None:
    tools, work = "You need:\n\n- Levers\n- A pump", "1. Open it.\n\n   Wipe it.\n2. Pull it.\n   - Slowly."
    text = f"{tools}\n\nThen:\n\n{work}\n\nDone."
    assert steps("How do I replace a tube?", text) == "1. Open it. Wipe it. 2. Pull it. Slowly."
    lazy = "1. Open it.\n\nWipe it.\n\n1. Pull it.\n1. Fill it.\n\nDone."
    assert steps("How do I replace a tube?", lazy) == "1. Open it. Wipe it. 2. Pull it. 3. Fill it."
    assert steps("What is step 3 of replacing a tube?", lazy) == "Fill it."


def test_a_list_that_is_cut_between_passages_is_whole() -> None:
    cut = ("3. Fill it.\n4. Close it.", "1. Open it.\n2. Pull it.\n3. Fill it.")
    whole = "1. Open it. 2. Pull it. 3. Fill it. 4. Close it."
    assert steps("How do I replace a tube?", *cut) == whole
    assert steps("What is the last step of replacing a tube?", *cut) == "Close it."
    assert steps("What is the fourth step of replacing a tube?", *cut[:1]) == "Close it."
    assert steps("How do I replace a tube?", cut[0]) != "1. Fill it. 2. Close it.", "its beginning is unknown"
    passages = [Passage("a", "d", "Replacing a tube", cut[1]), Passage("b", "other", "Tubes", cut[0])]
    asked = asked_steps(of_passages("How do I replace a tube?", *passages))
    assert asked is not None
    assert asked.steps[-1] == "Fill it."


def test_a_list_without_numbers_is_of_its_heading() -> None:
    for heading in ("Tools", "Tools for replacing a tube"):
        text = f"{heading}\n\n- Levers\n- A pump\n\nWork\n\nTo replace a tube, pull it out."
        assert steps("How do I replace a tube?", text) == "To replace a tube, pull it out."
    text = "Steps of replacing a tube\n\n- Open it.\n- Pull it."
    assert steps("How do I replace a tube?", text, title="Manual") == "1. Open it. 2. Pull it."


def test_a_numbered_heading_names_a_procedure_by_a_part_of_the_task() -> None:
    text = "3 Filling the system\n\n1. Connect the hose.\n2. Open the valve.\n\n4 Operation"
    answer = "1. Connect the hose. 2. Open the valve."
    assert steps("How do I fill the heating system?", text, title="Boiler") == answer
    assert asked_steps(of_passages("How do I drain the system?", Passage("p", "d", "Boiler", text))) is None


@pytest.mark.parametrize(
    "lead",
    [
        "To replace the tube, follow these steps:",
        "It is quick. As you go on\nto replace a tube, follow the steps:",
    ],
)
def test_the_line_above_a_list_names_its_procedure(lead: str) -> None:
    text = f"A flat tyre is quickly fixed.\n\n{lead}\n\n1. Take it out.\n2. Pull it.\n\nKeep a spare tube."
    assert steps("How do I replace the tube?", text, title="Flat tyres") == "1. Take it out. 2. Pull it."
    assert "1." not in steps("How do I patch the tube?", text, title="Flat tyres")


def test_the_line_above_a_list_of_tools_names_no_procedure() -> None:
    text = "Before you replace the tube, gather:\n\n1. Levers\n2. A pump\n\nThen replace the tube by hand."
    assert "1." not in steps("How do I replace the tube?", text, title="Flat tyres")


def test_prose_below_a_heading_that_is_the_task_is_given() -> None:
    text = "Fixing a puncture\nTake the wheel out. Find the leak. Press on a patch.\n\nChain\nOil it. Often."
    assert steps("How do I fix a puncture?", text, title="Workshop").startswith("Take the wheel out. Find")
    tube = "Replace the inner tube\nLever the tyre off. Pull out the old tube. Inflate it."
    assert steps("How do I replace the inner tube?", tube, title="Bicycle") == tube.split("\n")[1]
    said = "Replace the inner tube\nReplace the inner tube as the tyre. It is quick."
    assert steps("How do I replace the inner tube?", said, title="Bicycle").endswith("as the tyre.")
    assert "Oil it" not in steps("How do I fix a puncture?", text, title="Workshop")
    assert not steps("How do I fix a chain?", text, title="Workshop").startswith("Take the wheel")
