"""Questions rewritten by rules, on the examples of EgoFact's own prompts and on plain ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.questions import parse_question
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question


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
