"""Questions as people type them, and the limits."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import QuestionError
from rag.questions import MAX_CHARACTERS, option_label, parse_distinct_question, parse_query, parse_question


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
