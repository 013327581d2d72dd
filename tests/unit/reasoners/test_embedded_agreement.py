"""Fact and counter-fact, compared pair by pair in either order of the options."""

from __future__ import annotations

import time

import pytest

from rag.reasoners.embedded.agreement import agreement, part_about, stance
from rag.reasoners.embedded.answer_types import answer_type
from rag.reasoners.embedded.opposites import ANTONYMS, opposites
from rag.reasoners.embedded.question_forms import focus_noun
from rag.words import content_words

PAIRS = [
    (
        "Acid-core solder should be avoided because it corrodes copper.",
        "Use rosin-core solder; acid-core solder should be avoided because it corrodes copper.",
        "Acid-core solder is recommended for copper.",
    ),
    (
        "A torque wrench should not be used to loosen bolts.",
        "A torque wrench should not be used to loosen bolts, because that ruins its calibration.",
        "A torque wrench should be used to loosen bolts.",
    ),
    (
        "A dull knife is more dangerous than a sharp one.",
        "A dull knife is more dangerous than a sharp one, since it slips.",
        "A dull knife is safer than a sharp one.",
    ),
    (
        "The jack should be placed under the jacking point.",
        "Place the jack under the jacking point, never under the oil pan.",
        "The jack should be placed under the oil pan.",
    ),
    (
        "Boiling water should be avoided on wool.",
        "Boiling water can set coloured wax and should be avoided on wool.",
        "Boiling water is recommended on wool.",
    ),
    ("The blade is dangerous when wet.", "The blade is dangerous when wet.", "The blade is safe when wet."),
    ("Wait forty minutes.", "Then let it rest: wait forty minutes before shaping.", "Wait fourteen minutes."),
    ("Iron it on low heat.", "Put a towel on the stain and iron it on low heat.", "Iron it on high heat."),
    ("Tighten the nuts crosswise.", "Tighten the nuts crosswise.", "Loosen the nuts crosswise."),
    ("Wet leaves get blight.", "Water the soil, as wet leaves get blight.", "Wet leaves never get blight."),
]


@pytest.mark.parametrize(("fact", "text", "counter"), PAIRS)
def test_the_fact_is_held_and_the_counter_fact_is_not(fact: str, text: str, counter: str) -> None:
    held, denied = agreement(fact, text, [counter]), agreement(counter, text, [fact])
    assert held.verdict > 0
    assert not held.reasons
    assert denied.verdict < 0
    assert denied.reasons


def test_a_denial_of_another_number_is_held() -> None:
    text = "The axle is 12 mm thick."
    assert agreement("not the axle 15 mm thick", text).verdict > 0
    assert agreement("not the axle 12 mm thick", text).verdict <= 0
    assert agreement("the axle 15 mm thick", text).verdict < 0


def test_times_of_a_clock_are_compared_whole() -> None:
    text = "The workshop opens at 9:00 and closes at 17:30."
    assert agreement("the workshop opens at 09:00", text).verdict > 0
    assert agreement("the workshop opens at 9:30", text).verdict < 0
    assert agreement("not the workshop opens at 8:00", text).verdict > 0


def test_what_is_excluded_is_not_covered() -> None:
    excluded = "Batteries are excluded from the warranty."
    assert agreement("Batteries are covered by the warranty.", excluded).verdict < 0
    assert agreement("Batteries are not covered by the warranty.", excluded).verdict > 0


def test_what_is_not_about_the_same_thing_has_no_verdict() -> None:
    unrelated = agreement("The lamp is red.", "Whole milk gives thick yogurt.")
    assert (unrelated.coverage, unrelated.verdict, unrelated.reasons) == (0.0, 0.0, ())


def test_two_denials_make_a_statement() -> None:
    assert stance("it should not be avoided") == 1
    assert stance("it should be avoided") == -1
    assert stance("never use it") == -1
    assert stance("the car is neither red nor blue") == -1


def test_opposites_are_symmetric_and_never_of_themselves() -> None:
    for word, others in ANTONYMS.items():
        assert word not in others
        assert all(word in ANTONYMS[other] for other in others)
    assert "unevenly" in opposites("evenly")
    assert "stabl" in opposites("unstabl")
    assert "inform2" not in opposites("form")


@pytest.mark.parametrize(
    ("question", "name", "holds", "lacks"),
    [
        ("Who built it?", "who", "It was built by Maria.", "it was built of wood."),
        ("When was it opened?", "date", "It opened in 1910.", "It opened to the public."),
        ("How many arches are there?", "number", "There are nine arches.", "There are arches."),
        ("How hot is the oven?", "temperature", "It has 250 degrees.", "It takes 250 minutes."),
        ("How far apart are they?", "length", "They are 60 centimetres apart.", "They are apart."),
        ("Why is it gold?", "why", "It is gold because gold reflects.", "It is gold."),
        ("What is it made of?", "material", "It is made of beryllium.", "Look at it shine."),
        ("How much did it cost?", "money", "He paid ninety dollars.", "He paid at once."),
        ("What colour is it?", "colour", "The ropes are orange.", "The ropes hang there."),
    ],
)
def test_answer_types(question: str, name: str, holds: str, lacks: str) -> None:
    kind = answer_type(question)
    assert kind.name == name
    assert kind.strength(holds) == 1.0
    assert kind.strength(lacks) < 1.0


def test_focus_noun() -> None:
    assert focus_noun("Which oils are good?") == "oil"
    assert focus_noun("What is it?") == ""


def test_the_part_of_a_sentence_that_speaks_of_what_is_asked_counts() -> None:
    text = "The rear wheel has 36 spokes and the front wheel has 32 spokes."
    assert part_about(text, ["spoke", "front", "wheel"], "36") == "the front wheel has 32 spokes."
    assert part_about(text, ["spoke", "wheel"], "36") == text
    litres = "It holds 1,500 litres and a cup."
    assert part_about(litres, ["cup"], "7 litres") == litres
    assert (
        part_about("It costs 95 euros and takes three hours.", ["cost"], "one hour") == "takes three hours."
    )
    foam = "A CO2 extinguisher is beside the bench and a foam extinguisher at the door."
    assert (
        part_about(foam, content_words("foam extinguisher"), "the door") == "a foam extinguisher at the door."
    )
    red = "The foam extinguisher is red and hangs at the door."
    assert part_about(red, content_words("foam extinguisher"), "the door") == red


def test_what_is_said_of_it_is_said_of_the_thing_before() -> None:
    text = "The door code was 8812 until May; since June it is 3367."
    assert part_about(text, content_words("the door code since June"), "3367") == "since June it is 3367."
    assert part_about(text, content_words("the old door code"), "3367") == "The door code was 8812 until May"
    bridge = "The bridge is 40 m long; it was built in 1920."
    assert part_about(bridge, content_words("how long is the bridge"), "1920") == "The bridge is 40 m long"


@pytest.mark.parametrize(
    ("option", "text", "verdict"),
    [
        ("21", "The ferry carries twenty-one cars.", 1.0),
        ("20", "The ferry carries twenty-one cars.", -1.0),
        ("31", "A caravan of thirty one camels.", 1.0),
        ("101", "There are one hundred and one steps.", 1.0),
        ("24 barrels", "The raft floats on two dozen barrels.", 1.0),
        ("12 barrels", "The raft floats on two dozen barrels.", -1.0),
        ("1", "A sharp one is used.", 0.0),
    ],
)
def test_one_and_dozen_are_parts_of_numbers(option: str, text: str, verdict: float) -> None:
    assert agreement(option, text).verdict == verdict


@pytest.mark.parametrize(
    ("statement", "text", "denied"),
    [
        ("The sun deck is open", "All decks are open except the sun deck.", True),
        ("The sun deck is open", "All decks are open, except the sun deck.", True),
        ("The upper deck is open", "All decks are open except the sun deck.", False),
        ("Parrots are allowed", "Pets are allowed except for parrots.", True),
        ("Dogs are allowed", "No pets are allowed except for dogs.", False),
        ("Dogs are allowed", "No pets, except dogs, are allowed.", False),
        ("Cats are allowed", "No pets are allowed except for dogs.", True),
    ],
)
def test_an_exception_is_the_contrary_of_what_is_said_of_all(statement: str, text: str, denied: bool) -> None:
    assert (agreement(statement, text).verdict < 0) == denied


@pytest.mark.parametrize(
    ("statement", "text", "denied"),
    [
        ("the shop open on Mondays", "The shop is open from Tuesday to Sunday, and closed on Mondays.", True),
        (
            "not the shop open on Mondays",
            "The shop is open from Tuesday to Sunday, and closed on Mondays.",
            False,
        ),
        (
            "the shop closed on Mondays",
            "The shop is open from Tuesday to Sunday, and closed on Mondays.",
            False,
        ),
        (
            "the shop open on Fridays",
            "The shop is open from Tuesday to Sunday, and closed on Mondays.",
            False,
        ),
        ("the sauna open on Saturdays", "The sauna is open on Fridays, but not on Saturdays.", True),
        ("not the sauna open on Saturdays", "The sauna is open on Fridays, but not on Saturdays.", False),
        ("not the sauna open on Fridays", "The sauna is open on Fridays, but not on Saturdays.", True),
        ("the kiosk sell food", "The kiosk sells tickets, but no food.", True),
        ("the kiosk sell tickets", "The kiosk sells tickets, but no food.", False),
        ("the crew speak Polish", "The crew speaks Danish and no Polish.", True),
        ("the crew speak Danish", "The crew speaks Danish and no Polish.", False),
        ("masks required in the lobby", "Masks are required in the clinic, not in the lobby.", True),
        ("masks required in the clinic", "Masks are required in the clinic, not in the lobby.", False),
    ],
)
def test_a_clause_that_begins_with_a_denial_is_about_the_clause_before(
    statement: str, text: str, denied: bool
) -> None:
    assert (agreement(statement, text).verdict < 0) == denied


def test_a_clause_that_begins_with_a_denial_is_one_part_with_the_clause_before() -> None:
    text = "The kiosk sells tickets, but no food, and the café sells tea."
    assert (
        part_about(text, content_words("kiosk sell food"), "food") == "The kiosk sells tickets, but no food"
    )
    fish = "The bar serves fish and soup, but never meat, and the bar sells tea."
    assert (
        part_about(fish, content_words("bar serve meat"), "meat")
        == "The bar serves fish and soup, but never meat"
    )


def test_parts_are_found_in_time_linear_in_a_text() -> None:
    text = "The bar serves fish" + "".join(f", not dish {number}" for number in range(3000))
    started = time.process_time()
    assert part_about(text, content_words("bar serve meat"), "meat") == text
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    ("statement", "text", "denied"),
    [
        ("photography with flash permitted", "Photography without flash is permitted.", True),
        ("not photography with flash permitted", "Photography without flash is permitted.", False),
        ("swimming with a cap allowed", "Swimming without a cap is not allowed.", False),
        ("not swimming with a cap allowed", "Swimming without a cap is not allowed.", True),
        ("the ladder safe", "The ladder is unsafe.", True),
        ("not the ladder safe", "The ladder is unsafe.", False),
    ],
)
def test_an_opposite_that_denies_turns_a_statement_once(statement: str, text: str, denied: bool) -> None:
    assert (agreement(statement, text).verdict < 0) == denied


@pytest.mark.parametrize(
    ("statement", "text", "denied"),
    [
        ("parking available in December", "Parking is available from May to September.", True),
        ("not parking available in December", "Parking is available from May to September.", False),
        ("parking available in June", "Parking is available from May to September.", False),
        ("the shop open on Tuesday", "The shop is closed on Mondays.", False),
        ("the shop closed on Tuesday", "The shop is closed on Mondays.", True),
        ("the shop open on Sunday", "The shop is open every day except Monday.", False),
    ],
)
def test_what_is_said_of_some_days_or_months_is_not_so_on_others(
    statement: str, text: str, denied: bool
) -> None:
    assert (agreement(statement, text).verdict < 0) == denied
