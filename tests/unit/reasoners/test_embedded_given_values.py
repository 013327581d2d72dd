"""Numbers and codes that a question gives, and texts that have them."""

from __future__ import annotations

import pytest

from rag.reasoners.embedded.given_values import GivenValues


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Is it open at 10 pm?", "The shop is open until 22:00."),
        ("What happens at 22:00?", "The shop closes at 10 p.m."),
        ("Is it open at 9:30?", "We open at 9.30 a.m."),
        ("What happened on 01.05.2024?", "On 1 May 2024 the pool opened."),
        ("What happened on 2024-05-01?", "On May 1st, 2024 the pool opened."),
        ("What was built in the 1980s?", "In 1985 the pool was built."),
        ("Who won the 2nd prize?", "The second prize went to Anna."),
        ("Who plays in scene 4?", "Act I, Scene IV. Hamlet."),
        ("What is in the 1.5 l bottle?", "The 1500 ml bottle holds syrup."),
        ("What is due in 2 weeks?", "The fee is due within 14 days."),
        ("What does a 30-minute session cost?", "A session of half an hour costs 5 EUR."),
        ("What costs 1.000 EUR?", "The bike costs 1,000 EUR."),
        ("What costs 1000 EUR?", "The bike costs 1 000 EUR."),
        ("Who has the number 0800 1234?", "Call Anna at 0800-1234."),
        ("What is new in v2?", "Version 2 has tabs."),
        ("What did the COVID-19 rules say?", "Covid rules: stay at home."),
        ("What applies to groups of 15?", "Groups of 10 to 20 people pay 4 EUR each."),
        ("What does a group of 12 pay?", "Groups of 10 or more people pay 4 EUR each."),
    ],
)
def test_a_text_has_what_it_writes_in_another_way(question: str, text: str) -> None:
    assert GivenValues(question).held_in(text)


@pytest.mark.parametrize(
    "question",
    [
        *("Who is older than 60?", "What costs at least $100?", "What was built between 1990 and 2000?"),
        *("What are the 3 steps?", "Name 3 fruits.", "Is support there 24/7?", "Which one is it?"),
    ],
)
def test_what_is_compared_with_or_counted_is_not_given(question: str) -> None:
    assert not GivenValues(question)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When does line 9 go?", "Line 2 goes at 10 pm from platform 4."),
        ("What leaves at 9:30?", "The tram leaves at 9:45."),
        ("What happened on 01.05.2024?", "On 7 June 2024 the pool opened."),
        ("What was built in the 1980s?", "In 1975 the pool was built."),
        ("What applies to groups of 25?", "Groups of 10 to 20 people pay 4 EUR each."),
        ("What does E47 say?", "E10 says that the tank is empty. Call 0800-1234."),
        ("What is in the 2 l bottle?", "The 1500 ml bottle holds syrup."),
        ("What happened in 1000?", "Call 0800-1234."),
    ],
)
def test_a_text_lacks_other_values(question: str, text: str) -> None:
    assert not GivenValues(question).held_in(text)
