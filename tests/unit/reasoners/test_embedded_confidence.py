"""The confidence of a choice whose evidence was retrieved by the options: it grows with the margin."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest

from rag.reasoners.embedded.answer_choice import TEMPERATURE, TEMPERATURE_BY_OPTION, answer_choice
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.answer_choice import ChosenOption
from rag.reasoners.roles.reading import Reading, sample_reading, sample_window
from rag.records import Question
from tests.fakes.answer_world import THINGS, BagOfWords

LINES = (
    "Now the camera wearer measures the envelope with the caliper.",
    "The towel is wet because it was not rinsed.",
    "Part 12 lies beside the torque wrench.",
    "Never hold the blade in 3 fingers.",
)


def asked(options: tuple[str, ...], lines: tuple[str, ...] = LINES) -> Reading:
    question = Question("q", "What is done in the garage?", options)
    windows = tuple(sample_window(at, line) for at, line in enumerate(lines))
    return dataclasses.replace(sample_reading(question), windows=windows, passages=(), must_choose=True)


def both(given: Reading) -> tuple[ChosenOption, ChosenOption]:
    """As it is, and as of windows that the options were looked for in."""
    vectors = SentenceVectors(BagOfWords())
    event_text = dataclasses.replace(given, searched_by_option=True)
    return answer_choice(given, vectors, None), answer_choice(event_text, vectors, None)


def test_an_even_field_is_reported_as_one() -> None:
    # Every option has a line of its own, but one line denies.
    given = asked(
        ("The towel is wet since it was rinsed.", "The envelope is measured.", "Part 12 is announced.")
    )
    sharp, text_score = both(given)
    assert text_score.choice == sharp.choice
    assert text_score.confidence < 0.7
    assert text_score.confidence < sharp.confidence


def test_a_wide_margin_is_still_reported_as_one() -> None:
    given = asked(("Never hold the blade in 3 fingers.", "Hold the blade in 5 fingers.", "zebra", "okapi"))
    _, text_score = both(given)
    assert text_score.choice == "A"
    assert text_score.confidence > 0.8


def test_a_quotation_at_the_end_of_the_explanation_has_the_only_full_stop() -> None:
    sharp, _ = both(asked(("Part 12 lies beside the torque wrench.", "zebra")))
    assert sharp.explanation.endswith("says: “Part 12 lies beside the torque wrench.”")


@pytest.mark.parametrize("seed", range(40))
def test_the_choice_and_the_order_of_the_options_never_change(seed: int) -> None:
    draw = random.Random(seed)
    words = sorted({*THINGS, *" ".join(LINES).rstrip(".").split()})
    options = tuple(" ".join(draw.sample(words, draw.randint(1, 6))) for _ in range(draw.randint(2, 6)))
    sharp, text_score = both(asked(options))
    assert text_score.choice == sharp.choice
    assert text_score.confidence == pytest.approx(max(text_score.scores), abs=2e-6)
    assert sum(text_score.scores) == pytest.approx(1.0, abs=1e-9)
    for one in range(len(options)):
        for other in range(len(options)):
            if sharp.scores[one] > sharp.scores[other] + 1e-5:
                assert text_score.scores[one] >= text_score.scores[other]


def test_a_text_with_a_stored_vector_is_not_encoded() -> None:
    given = asked(("Part 12 lies beside the torque wrench.", "zebra"))
    encoder = BagOfWords()
    stored = dict(zip(LINES, encoder.encode_text(LINES), strict=True))
    answered = answer_choice(given, SentenceVectors(encoder), None)
    second = BagOfWords()
    known = dataclasses.replace(given, text_vectors=stored)
    assert answer_choice(known, SentenceVectors(second), None) == answered
    assert second.encoded
    assert not stored.keys() & set(second.encoded)


def test_odds_are_those_of_the_temperature() -> None:
    sharp, text_score = both(asked(("the caliper and the envelope", "the wrench of part 12")))
    odds = [math.log(max(each.scores) / min(each.scores)) for each in (sharp, text_score)]
    assert odds[1] == pytest.approx(odds[0] * TEMPERATURE / TEMPERATURE_BY_OPTION, rel=1e-3)
