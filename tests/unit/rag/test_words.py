"""Words and numbers of a text, and the clauses of a description."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.clauses import clauses
from rag.words import content_words, lexical_overlap, numbers, tokens


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Wo ist der Netzschalter?", ("netzschalter",)),
        ("¿Dónde está el interruptor de la bomba?", ("interruptor", "bomba")),
        ("When did the war between the son and the father end?", ("war", "son", "father", "end")),
        ("Who met in Los Angeles and La Paz?", ("meet", "los", "angel", "la", "paz")),
    ],
)
def test_words_that_hold_a_sentence_together_do_not_count_in_its_language(
    text: str, kept: tuple[str, ...]
) -> None:
    assert content_words(text) == kept


def test_scripts_without_spaces_become_pairs() -> None:
    assert tokens("望远镜 x") == ["望远", "远镜", "x"]
    assert tokens("Jusqu'à l’entrée, aujourd'hui; don't") == ["à", "entrée", "aujourd'hui", "don't"]


@pytest.mark.parametrize(
    ("written", "other"),
    [("كِتَاب", "كتاب"), ("Turm\u00addreh\u00adkran", "Turmdrehkran"), ("cafe\u0301", "Café")],
)
def test_a_word_is_one_with_and_without_its_points(written: str, other: str) -> None:
    assert tokens(written) == tokens(other)
    assert len(tokens(written)) == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("three hundred and fifty grams", [350.0]),
        ("1,500 m and 2.5 km", [1500.0, 2.5]),
        ("two dozen barrels, a dozen cups", [24.0, 12.0]),
        ("❶Press it for 3 s. ⓿ ➉ ①", [1.0, 3.0, 0.0, 10.0, 1.0]),
        ("2½ cups, ½ l, 40³ m²", [2.5, 0.5, 40.0, 3.0, 2.0]),
        ("half a dozen eggs, half a million people", [6.0, 500_000.0]),
    ],
)
def test_numbers_in_digits_and_words(text: str, found: list[float]) -> None:
    assert numbers(text) == tuple(found)


@given(st.text(max_size=80))
def test_any_text_has_words_and_numbers(text: str) -> None:
    assert 0.0 <= lexical_overlap(content_words(text), set(content_words(text))) <= 1.0
    assert all(number >= 0 for number in numbers(text))


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
        (
            "a video where someone paints a fence and the neighbour mows the lawn",
            ["someone paints a fence", "the neighbour mows the lawn"],
        ),
        *(
            (whole, [whole])
            for whole in (
                "a man and a woman dance",
                "the goalkeeper kicks the ball toward the goal",
                "salt, pepper and olive oil",
            )
        ),
    ],
)
def test_each_clause_of_a_description_is_a_part(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected
