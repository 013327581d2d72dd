"""Which option a passage supports: by the part of a sentence, and by numbers, that speak of what is asked."""

import pytest

from corpora.records import Passage
from rag.reasoners.embedded.answer_choice import answer_choice
from rag.reasoners.embedded.pairings import misarranged
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.answer_choice import ChosenOption
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.records import Question
from tests.fakes.answer_world import BagOfWords


def choose(text: str, options: tuple[str, ...], said: str) -> ChosenOption:
    question = Question("q", text, options)
    passages = (ReadPassage(Passage("p", "d", "", said), "p.md", 0.9, None),)
    asked = Reading(question, rewrite_question(question), anchor_event(question), (), passages)
    return answer_choice(asked, SentenceVectors(BagOfWords()), None)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (
            "How often does the bus run?",
            ("ten minutes", "every six minutes"),
            "The bus runs every six minutes.",
        ),
        ("How often is the filter changed?", ("monthly", "weekly"), "The filter is changed weekly."),
    ],
)
def test_how_often_may_be_answered_by_no_number_of_times(
    text: str, options: tuple[str, ...], said: str
) -> None:
    assert choose(text, options, said).choice == "B"


def test_how_many_times_is_answered_by_no_other_number() -> None:
    said = "The bell has 3 clappers."
    assert choose("How many times does the bell ring?", ("3", "5 times"), said).choice is None


def test_an_option_with_a_number_is_no_likelier_than_one_without() -> None:
    said = "The bolt of the saddle must be hand tight. The bolt of the wheel must be tightened to 25 Nm."
    chosen = choose("How tight must the bolt of the saddle be?", ("25 Nm", "hand tight"), said)
    assert chosen.choice == "B"


def test_the_part_that_is_asked_about_may_be_beside_the_one_that_answers() -> None:
    chosen = choose(
        "What do you insert to remove the tube?",
        ("the pump", "the lever"),
        "Insert the lever and remove the tube.",
    )
    assert chosen.choice == "B"
    assert max(chosen.scores) > 0.9


def test_an_option_that_a_text_about_something_else_names_is_not_chosen() -> None:
    names = ("Leonardo da Vinci", "Tomas Eklund", "Pablo Picasso")
    assert choose("Who painted the Mona Lisa?", names, "Director: Tomas Eklund.").choice is None
    assert choose("Who is the director?", names, "Director: Tomas Eklund.").choice == "B"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (
            "What does the heron not eat?",
            ("fish", "berries"),
            "The heron does not eat berries. The heron eats fish and frogs.",
        ),
        (
            "What must the pads never be cleaned with?",
            ("isopropyl alcohol", "oil"),
            "The pads must never be cleaned with oil. Clean the pads with isopropyl alcohol.",
        ),
        (
            "Where does the otter not sleep?",
            ("in the boat house", "in the reeds"),
            "The otter sleeps in the boat house, not in the reeds.",
        ),
    ],
)
def test_what_is_not_so_is_what_a_text_denies(text: str, options: tuple[str, ...], said: str) -> None:
    assert choose(text, options, said).choice == "B"
    assert choose(text, options[::-1], said).choice == "A"


@pytest.mark.parametrize(("asked", "choice"), [("15 mm", "B"), ("12 mm", "A")])
def test_another_number_is_a_no(asked: str, choice: str) -> None:
    said = "The axle of the rear wheel is 12 mm thick."
    chosen = choose(f"Is the axle {asked} thick?", ("Yes", "No"), said)
    assert chosen.choice == choice
    assert chosen.confidence > 0.8


@pytest.mark.parametrize(
    ("text", "options", "said", "choice"),
    [
        ("How many days does the tour last?", ("4", "3"), "The tour lasts three days.", "B"),
        (
            "How many days does the tour last?",
            ("3", "400"),
            "The tour lasts 3 days and costs 400 euros.",
            "A",
        ),
        ("How many eggs does it need?", ("12", "6"), "The recipe needs half a dozen eggs.", "B"),
        ("How many cups of sugar are added?", ("2", "0.5"), "Add ½ cup of sugar.", "B"),
        ("How many cups of sugar are added?", ("1", "1.5", "2"), "Add 1½ cups of sugar.", "B"),
        ("How many cups of sugar are added?", ("1", "1.5", "2"), "Add one and a half cups of sugar.", "B"),
        ("How many doors does the house have?", ("12", "2"), "The house has 12 windows and 2 doors.", "B"),
        ("How many people go on the trip?", ("3", "5"), "The trip takes 3 days.", None),
        ("How many people go on the trip?", ("3", "5"), "A group of 3 goes on the trip.", "A"),
        ("Wie viele Tage dauert die Reise?", ("5", "3"), "Die Reise dauert 3 Tage.", "B"),
    ],
)
def test_a_bare_number_is_of_what_is_counted(
    text: str, options: tuple[str, ...], said: str, choice: str | None
) -> None:
    assert choose(text, options, said).choice == choice


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (
            "How deep is the lake?",
            ("3 metres in the middle and 14 at the pier", "14 metres in the middle and 3 at the pier"),
            "The lake is 14 metres deep in the middle and 3 metres at the pier.",
        ),
        (
            "How much can be loaded?",
            ("40 cups and 40 plates", "40 cups and 25 plates", "25 cups and 40 plates"),
            "Load up to 40 cups and 25 plates.",
        ),
        (
            "What do helpers and drivers earn an hour?",
            ("19 and 14 euros", "14 and 19 euros", "14 and 14 euros"),
            "Helpers earn 14 euros an hour, drivers 19.",
        ),
        (
            "What do the lid and the door weigh?",
            ("30 and 12 kilograms", "12 and 30 kilograms"),
            "The door weighs 30 kilograms and the lid 12.",
        ),
        (
            "Where is music played?",
            ("folk on channel two and jazz on channel five", "jazz on channel two and folk on channel five"),
            "Jazz is played on channel two, folk on channel five.",
        ),
        (
            "Wann fahren die Züge ab?",
            ("nach Ulm um 11 Uhr und nach Bonn um 8 Uhr", "nach Ulm um 8 Uhr und nach Bonn um 11 Uhr"),
            "Der Zug nach Ulm fährt um 8 Uhr ab, der Zug nach Bonn um 11 Uhr.",
        ),
        (
            "How is the blade moved?",
            ("from bottom to top", "from top to bottom"),
            "Move it from top to bottom",
        ),
    ],
)
def test_of_options_of_the_same_words_the_one_arranged_as_in_the_text_is_chosen(
    text: str, options: tuple[str, ...], said: str
) -> None:
    chosen = choose(text, options, said)
    assert chosen.choice == "B"
    assert chosen.confidence > 0.6
    assert "contradicted" not in chosen.explanation
    assert choose(text, (options[1], options[0], *options[2:]), said).choice == "A"


def test_an_option_about_one_thing_alone_is_not_compared_by_its_arrangement() -> None:
    said = "The shop opens at nine and closes at six."
    options = ("six and nine", "nine and six", "eight")
    assert misarranged("When does it open and close?", options, [said] * 3) == [1.0, 0.0, None]


def test_what_options_deny_is_not_read_from_their_arrangement() -> None:
    said = "Cats are forbidden, dogs are allowed."
    options = ("cats but not dogs", "dogs but not cats")
    assert misarranged("Which animals are allowed?", options, [said] * 2) == [None, None]


def test_options_that_a_text_does_not_say_are_not_compared_by_their_arrangement() -> None:
    said = "The shop sells tea and the cellar is dry."
    options = ("red tea and green coffee", "green tea and red coffee")
    assert misarranged("What is sold?", options, [said] * 2) == [None, None]


@pytest.mark.parametrize(
    ("text", "options", "said", "choice"),
    [
        ("Which colour is the boat?", ("red", "blue", "none of the above"), "The boat is green.", "C"),
        ("Which colour is the boat?", ("none of these", "red", "green"), "The boat is green.", "C"),
        (
            "How long is the boat?",
            ("8 metres", "9 metres", "None of them."),
            "The boat is 12 metres long.",
            "C",
        ),
        (
            "How long is the boat?",
            ("8 metres", "12 metres", "none of them"),
            "The boat is 12 metres long.",
            "B",
        ),
        (
            "Who built the bridge?",
            ("Eiffel", "Telford", "none of the above"),
            "It is crossed by trains.",
            None,
        ),
        ("Which colour is the boat?", ("red", "blue", "none of the above"), "Snow fell on the roof.", None),
        (
            "How long must the cake bake?",
            ("10 minutes", "20 minutes", "none of the above"),
            "None of the cakes above the oven is done.",
            None,
        ),
        (
            "What does the soup contain?",
            ("carrots", "leeks", "potatoes", "all of the above"),
            "The soup contains carrots, leeks and potatoes.",
            "D",
        ),
        (
            "What does the soup contain?",
            ("carrots", "leeks", "all of these"),
            "The soup contains carrots.",
            "A",
        ),
        (
            "What does the soup contain?",
            ("carrots", "leeks", "all of these"),
            "All of these soups are cold.",
            None,
        ),
        (
            "Which colour is the boat?",
            ("red", "blue", "all of the above"),
            "The boat is red. The car is blue.",
            "A",
        ),
        ("Wie lang ist das Boot?", ("8 m", "9 m", "keine der genannten"), "Das Boot ist 12 m lang.", "C"),
    ],
)
def test_options_about_the_others(text: str, options: tuple[str, ...], said: str, choice: str | None) -> None:
    chosen = choose(text, options, said)
    assert chosen.choice == choice
    if choice is not None:
        assert sum(chosen.scores) == pytest.approx(1.0)
        assert chosen.confidence == max(chosen.scores) == chosen.scores["ABCD".index(choice)]
