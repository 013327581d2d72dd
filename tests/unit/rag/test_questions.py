"""Questions as people type them, their limits, and the words, numbers and clauses of a text."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.clauses import clauses
from rag.errors import QuestionError
from rag.questions import MAX_CHARACTERS, option_label, parse_distinct_question, parse_query, parse_question
from rag.words import content_words, lexical_overlap, numbers, tokens


@pytest.mark.parametrize(
    ("text", "question", "options"),
    [
        ("What is it? (A) a drill (B) a lamp", "What is it?", ("a drill", "a lamp")),
        ("What is it?\nA. a drill\nB. a lamp\nC. none", "What is it?", ("a drill", "a lamp", "none")),
        ("What is it? A. a drill B. a lamp", "What is it?", ("a drill", "a lamp")),
        ("Who is with Mr. A. Smith? (A) Ann (B) Bob", "Who is with Mr. A. Smith?", ("Ann", "Bob")),
        (
            "Which? (A) When soldering. The object is hot. (B) When gluing. The object (D) is cold.",
            "Which?",
            ("When soldering. The object is hot.", "When gluing. The object (D) is cold."),
        ),
        ("What does A. Smith hold?", "What does A. Smith hold?", ()),
        ("Who is taller, A. Smith or B. Jones?", "Who is taller, A. Smith or B. Jones?", ()),
        ("Is hepatitis (A) or (B) worse?", "Is hepatitis (A) or (B) worse?", ()),
    ],
)
def test_options_in_the_text(text: str, question: str, options: tuple[str, ...]) -> None:
    parsed = parse_question(text)
    assert (parsed.text, parsed.options) == (question, options)


@pytest.mark.parametrize("text", ["???", "😀"])
def test_signs_without_a_word_are_named(text: str) -> None:
    with pytest.raises(QuestionError, match=f"no word and no number: {re.escape(text)}$"):
        parse_question(text)


def test_a_query_keeps_what_would_be_options_of_a_question() -> None:
    assert parse_query("the \ud800 buttons\x00 (A)\n(B)") == "the buttons (A) (B)"
    for text in ("", "  ", "?!", "\ud800"):
        with pytest.raises(QuestionError, match=r"is empty|has no word"):
            parse_query(text)
    with pytest.raises(QuestionError, match="16,000 is the limit"):
        parse_query("x" * (MAX_CHARACTERS + 1))


def test_limits_name_what_is_too_much() -> None:
    with pytest.raises(QuestionError, match=r"100,000 characters, and 16,000 is the limit"):
        parse_question("x" * 100_000)
    with pytest.raises(QuestionError, match="50 options, and 26"):
        parse_question("Which?", [f"option {n}" for n in range(50)])
    with pytest.raises(QuestionError, match="a single option"):
        parse_question("Which?", ["this"])
    with pytest.raises(QuestionError, match="option B is empty"):
        parse_question("Which?", ["this", "  "])
    assert len(parse_question("x" * MAX_CHARACTERS).text) == MAX_CHARACTERS
    assert len(parse_question("Which?", ["o"] * 26).options) == 26
    with pytest.raises(QuestionError, match="number 27"):
        option_label(26)


def test_identity_is_of_text_and_options() -> None:
    one = parse_question("Which?", ["a b", "c"])
    assert one.question_id == parse_question(" Which? ", ["a  b", "c"]).question_id
    assert one.question_id != parse_question("Which?", ["a", "b c"]).question_id
    assert parse_question("Which?", question_id="q7").question_id == "q7"


@given(st.lists(st.text("abc .,?", min_size=1).filter(str.strip), min_size=2, max_size=26))
def test_text_with_options_reads_back(options: list[str]) -> None:
    asked = parse_question("what is it", options)
    lettered = [f"({option_label(index)}) {option}" for index, option in enumerate(asked.options)]
    again = parse_question("\n".join([asked.text, *lettered]))
    assert (again.text, again.options) == (asked.text, asked.options)


@pytest.mark.parametrize("zero_width", ["\u200c", "\u00ad"])
def test_options_that_look_the_same_are_refused(zero_width: str) -> None:
    with pytest.raises(QuestionError, match="options A and B are the same"):
        parse_distinct_question("Which tool?", ["a drill", f"a dri{zero_width}ll"])


def test_a_question_of_labels_is_read_in_linear_time() -> None:
    started = time.process_time()
    assert parse_question("A. " * 5_000).options == ()
    assert time.process_time() - started < 0.5, "quadratic: 1.5 s or more"


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
