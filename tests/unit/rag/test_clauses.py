"""Descriptions in English, and the clauses they are cut into."""

import time

import pytest

from rag.clauses import MOST, clauses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a kitchen, where a cook slices onions while a waiter carries plates and two boys are laughing",
            ["a kitchen", "a cook slices onions", "a waiter carries plates", "two boys are laughing"],
        ),
        (
            "a woman in a red coat opens the door, and then her dog runs out",
            ["a woman in a red coat opens the door", "her dog runs out"],
        ),
        ("a person plays chess; a clock is shown", ["a person plays chess", "a clock is shown"]),
        ("A video that shows a dog in a garden.", ["a dog in a garden"]),
        (
            "a video where someone paints a fence and the neighbour mows the lawn",
            ["someone paints a fence", "the neighbour mows the lawn"],
        ),
        ("a party at which they sing as the band plays", ["a party", "they sing", "the band plays"]),
    ],
)
def test_each_clause_of_a_description_is_a_part(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a man and a woman dance",
        "bread and butter on a plate",
        "the goalkeeper kicks the ball toward the goal",
        "He takes the keys and a bottle of water",
        "a black and white silent movie",
        "salt, pepper and olive oil",
    ],
)
def test_what_is_one_clause_is_not_split(text: str) -> None:
    assert clauses(text) == [text]


def test_parts_are_few_and_none_says_nothing() -> None:
    assert len(clauses("; ".join(f"dog number {count}" for count in range(20)))) == MOST
    assert clauses("a video; the dog barks; the dog barks") == ["the dog barks"]
    assert clauses("") == []


def test_long_runs_of_spaces_take_no_longer() -> None:
    started = time.process_time()
    assert clauses("the dog" + " " * 16_000 + "barks") == ["the dog barks"]
    assert time.process_time() - started < 1, "quadratic: 2.5 s or more"
