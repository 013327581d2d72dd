"""Words and numbers of a text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.words import content_words, lexical_overlap, numbers, split_sentences, tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("baking", "baked"),
        ("mirrors", "mirror"),
        ("stopped", "stopping"),
        ("knives", "knife"),
        ("calibration", "calibrated"),
        ("tighten", "tight"),
        ("tightened", "tight"),
        ("loosening", "loose"),
        ("batteries", "battery"),
        ("drilling", "drill"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert content_words(one) == content_words(other)


def test_words_that_say_nothing_are_left_out() -> None:
    assert content_words("Which statement is true about the object in the video?") == ()
    assert content_words("What is the mirror of the telescope made of?") == ("mirror", "telescop")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Wo ist der Netzschalter?", ("netzschalter",)),
        ("¿Dónde está el interruptor de la bomba?", ("interruptor", "bomba")),
        ("Combien de temps dure l'extraction ?", ("temp", "dur", "extraction")),
        # Words of other languages that are English ones too, or names.
        ("When did the war between the son and the father end?", ("war", "son", "father", "end")),
        ("Who met in Los Angeles and La Paz?", ("meet", "los", "angel", "la", "paz")),
        ("Los Angeles", ("los", "angel")),
        ("Civil War hat, size 7", ("civil", "war", "hat", "siz", "7")),
        ("Tighten screws C, D and J", ("tight", "screw", "c", "d", "j")),
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
    [
        ("İstanbul", "istanbul"),
        ("كِتَاب", "كتاب"),
        ("כְּתִיב", "כתיב"),
        ("Turm\u00addreh\u00adkran", "Turmdrehkran"),
        ("cafe\u0301", "Café"),
    ],
)
def test_a_word_is_one_with_and_without_its_points(written: str, other: str) -> None:
    assert tokens(written) == tokens(other)
    assert len(tokens(written)) == 1


def test_vowel_signs_are_part_of_their_word() -> None:
    assert tokens("पुस्तकालय कब खुलता है।") == ["पुस्तकालय", "कब", "खुलता", "है"]
    assert tokens("தமிழ் നല്ല") == ["தமிழ்", "നല്ല"]
    assert tokens("ที่นี่")[0] == "ที"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("three hundred and fifty grams", [350.0]),
        ("eighteen segments, twenty-one bolts", [18.0, 21.0]),
        ("1,500 m and 2.5 km", [1500.0, 2.5]),
        ("two thousand eggs twice a day", [2000.0, 2.0]),
        ("a ratio of 50 to 1", [50.0, 1.0]),
        ("two dozen barrels, a dozen cups", [24.0, 12.0]),
        ("no numbers here", []),
        ("❶Press it for 3 s. ⓿ ➉ ①", [1.0, 3.0, 0.0, 10.0, 1.0]),
        ("2½ cups, ½ l, 40³ m²", [2.5, 0.5, 40.0, 3.0, 2.0]),
        ("1/2 cup, 1 1/2 inches; on 3/4/2020, 24/7", [0.5, 1.5, 3.0, 4.0, 2020.0, 24.0, 7.0]),
        ("half a dozen eggs, half a million people", [6.0, 500_000.0]),
        ("one and a half cups, two-and-a-half million, half an hour", [1.5, 2_500_000.0, 0.5]),
        ("፩ 𐩀", []),
    ],
)
def test_numbers_in_digits_and_words(text: str, found: list[float]) -> None:
    assert numbers(text) == tuple(found)


def test_the_number_of_a_step_is_no_part_of_the_word_after_it() -> None:
    assert tokens("❶Press ②Open") == ["1", "press", "2", "open"]


def test_any_character_can_be_beside_words() -> None:
    characters = [chr(code) for code in range(0x110000)]
    for start in range(0, len(characters), 256):
        text = " ".join(f"{one} 1{one} a{one}" for one in characters[start : start + 256])
        assert all(0 <= number < 10**12 for number in numbers(text))


@given(st.text(max_size=80))
def test_any_text_has_words_and_numbers(text: str) -> None:
    assert 0.0 <= lexical_overlap(content_words(text), set(content_words(text))) <= 1.0
    assert all(number >= 0 for number in numbers(text))


def test_a_long_run_of_initials_is_split_in_linear_time() -> None:
    started = time.process_time()
    assert split_sentences("A. " * 100_000 + "Smith. Next.") == ["A. " * 100_000 + "Smith.", "Next."]
    assert time.process_time() - started < 2, "quadratic: minutes"
