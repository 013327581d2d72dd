"""Days and months that texts name, and what is answered of a day."""

from __future__ import annotations

import pytest

from corpora.records import Passage
from rag.reasoners.embedded.answer_choice import answer_choice
from rag.reasoners.embedded.answer_open import answer_open
from rag.reasoners.embedded.calendar_terms import dates, names_other_dates, years
from rag.reasoners.embedded.question_forms import asks_openly
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.records import Question
from tests.fakes.answer_world import BagOfWords


@pytest.mark.parametrize(
    ("text", "days", "months"),
    [
        ("Monday to Friday from 9 to 6", {0, 1, 2, 3, 4}, set()),
        ("Mon-Fri 9:00-18:00, Sat 10-14", {0, 1, 2, 3, 4, 5}, set()),
        ("Mo–Fr 9–18 Uhr, So 10–12 Uhr", {0, 1, 2, 3, 4, 6}, set()),
        ("Friday to Monday", {0, 4, 5, 6}, set()),
        ("on Tuesdays and Thursdays", {1, 3}, set()),
        ("weekdays", {0, 1, 2, 3, 4}, set()),
        ("am Wochenende", {5, 6}, set()),
        ("Montagabend und sonntags", {0, 6}, set()),
        ("between May and July", set(), {4, 5, 6}),
        ("von November bis Februar", set(), {0, 1, 10, 11}),
        ("on 12 Jan. 1990", set(), {0}),
        ("You may march in June", set(), {5}),
        ("The Sun and the Moon. So 10 people sat.", set(), set()),
        ("May I ask? March on.", set(), set()),
    ],
)
def test_days_and_months_of_a_text(text: str, days: set[int], months: set[int]) -> None:
    found = dates(text)
    assert (found.days, found.months) == (days, months)


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("Is the shop open on Sunday?", "Monday to Friday from 9 to 6", True),
        ("Is the shop open on Wednesday?", "Monday to Friday from 9 to 6", False),
        ("Where does the choir meet in October?", "It meets in the hall in June.", True),
        ("Where does the choir meet in October?", "It meets from September to December.", False),
        ("When does the pool open on Saturday?", "It opens at 9 on weekdays.", True),
        ("When does the pool open on Saturday?", "It opens at 11 on weekends.", False),
        ("Which bus runs on Sunday?", "Bus 9 runs daily except Monday.", False),
        ("When does the course that begins in May end?", "It ends in July.", False),
        ("Wer kocht am Dienstag?", "Am Freitag kocht Ole.", True),
        ("Wer kocht am Dienstag?", "Montags bis mittwochs kocht Ole.", False),
        ("Who cooks?", "Ole cooks on Friday.", False),
        ("Who cooks on Friday?", "Ole cooks.", False),
    ],
)
def test_other_days_than_a_question_names(question: str, text: str, other: bool) -> None:
    assert names_other_dates(question, text) is other


def _reading(question: Question, text: str) -> Reading:
    passages = (ReadPassage(Passage("p", "d", "", text), "p.md", 0.9, None),)
    return Reading(question, rewrite_question(question), anchor_event(question), (), passages)


SHOP = "The shop is open Monday to Friday from 9 to 6. On Sundays it is closed."
POOL = "The pool opens at 9 on weekdays. On weekends it opens at 11."


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("Is the shop open on Sunday?", SHOP, "On Sundays it is closed."),
        ("Is the shop open on Tuesday?", SHOP, "The shop is open Monday to Friday from 9 to 6."),
        ("When does the pool open on Saturday?", POOL, "On weekends it opens at 11."),
        ("When does the pool open on Tuesday?", POOL, "The pool opens at 9 on weekdays."),
        ("When does the pool open on Sunday?", "The pool opens at 9 on Monday.", ""),
        ("Who feeds the seals in June?", "Ole feeds the seals in May.", ""),
        (
            "When does the bakery open on Sunday?",
            "The bakery opens at six every day. On Sundays it sells only cake.",
            "The bakery opens at six every day.",
        ),
        (
            "Ist das Museum am Sonntag offen?",
            "Das Museum ist von Montag bis Freitag offen. Am Sonntag ist es geschlossen.",
            "Am Sonntag ist es geschlossen.",
        ),
    ],
)
def test_an_answer_is_of_the_day_asked_for(question: str, text: str, answer: str) -> None:
    found = answer_open(_reading(Question("q", question), text), SentenceVectors(BagOfWords()), None)
    assert (found.text if found.confidence >= 0.3 else "") == answer


HARVEST = "In 2022 the apple harvest of the farm was 12 tons. In 2023 it was 9 tons. The press is from 2021."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "What was the apple harvest of the farm in 2022?",
            "In 2022 the apple harvest of the farm was 12 tons.",
        ),
        ("What was the apple harvest of the farm in 2023?", "In 2023 it was 9 tons."),
        ("How many tons was the apple harvest of the farm in 2023?", "In 2023 it was 9 tons."),
    ],
)
def test_an_answer_is_of_the_year_asked_for(question: str, answer: str) -> None:
    found = answer_open(_reading(Question("q", question), HARVEST), SentenceVectors(BagOfWords()), None)
    assert found.text == answer


def test_years_are_numbers_of_four_digits_that_stand_alone() -> None:
    assert years("In 1934 and 2023, not 2,022 nor 2100, 12345, 10:2019, 2019/20 or a1999.") == {1934, 2023}


@pytest.mark.parametrize(
    ("question", "choice"), [("Is the shop open on Sunday?", "B"), ("Is the shop open on Tuesday?", "A")]
)
def test_yes_or_no_is_of_the_day_asked_for(question: str, choice: str) -> None:
    asked = Question("q", question, ("yes", "no"))
    assert answer_choice(_reading(asked, SHOP), SentenceVectors(BagOfWords()), None).choice == choice


@pytest.mark.parametrize(
    ("question", "openly"),
    [
        ("How long is the warranty?", True),
        ("At which temperature does it boil?", True),
        ("If the light is red, what happens?", True),
        ("Wie lange ist die Garantie?", True),
        ("Was kostet das Zimmer?", True),
        ("¿Cuánto cuesta?", True),
        ("When is it open?", True),
        ("Was the shop open?", False),
        ("When the light is red, does the pump stop?", False),
        ("What is the pressure, is it 3 bar?", False),
        ("Ist der Laden offen?", False),
        ("What about the lid?", None),
        ("When the light is red", None),
    ],
)
def test_whether_a_question_asks_for_more_than_yes_or_no(question: str, openly: bool | None) -> None:
    assert asks_openly(question) is openly


@pytest.mark.parametrize(
    ("question", "text", "options", "choice"),
    [
        ("How long is the warranty?", "The warranty lasts two years.", ("yes", "no"), None),
        ("When is the shop open?", "The shop is open at nine.", ("No", "Yes"), None),
        ("Wie lang ist das Boot?", "Das Boot ist 12 Meter lang.", ("ja", "nein"), None),
        ("How deep is the lake?", "The lake is deep.", ("True", "False"), None),
        ("Is the lake deep?", "The lake is deep.", ("yes", "no"), "A"),
        ("When it rains, is the pool open?", "The pool is open when it rains.", ("yes", "no"), "A"),
        ("How deep is the lake?", "The lake is 9 metres deep.", ("9 metres", "no metre"), "A"),
    ],
)
def test_yes_or_no_answers_no_question_for_more(
    question: str, text: str, options: tuple[str, ...], choice: str | None
) -> None:
    asked = Question("q", question, options)
    assert answer_choice(_reading(asked, text), SentenceVectors(BagOfWords()), None).choice == choice
