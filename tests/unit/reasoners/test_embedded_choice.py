"""Which option the evidence supports: by sentences, by frames, and by both; and when none."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from corpora.records import Clip, Evidence, Passage
from localization.windows import Window
from rag.reasoners.embedded.answer_choice import answer_choice
from rag.reasoners.embedded.answer_open import answer_open
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import sentences_of
from rag.reasoners.roles.answers import ChosenOption
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import SURE, UNSURE, Question
from rag.relevance import ImageScoreCalibrator
from tests.fakes.answer_world import BagOfWords, ImageWords
from tests.fakes.embedded_reasoner import encoder

FERRY = (
    "The ferry to Arlen leaves at nine and carries forty cars. Its captain is Maria Lund. The crossing takes "
    "two hours in summer. In winter the ferry stays in the harbour, where its engine is repaired."
)


def reading(text: str, options: tuple[str, ...], *said: str, **changes: Any) -> Reading:
    question = Question("q", text, options)
    passages = tuple(
        ReadPassage(Passage(f"p{at}", f"d{at}", "", each), "p.md", 0.9, None) for at, each in enumerate(said)
    )
    read = Reading(question, rewrite_question(question), anchor_event(question), (), passages)
    return replace(read, **changes)


def choose(text: str, options: tuple[str, ...], *said: str, **changes: Any) -> ChosenOption:
    return answer_choice(reading(text, options, *said, **changes), SentenceVectors(encoder()), None)


def label(chosen: ChosenOption, options: Sequence[str]) -> str | None:
    return None if chosen.choice is None else options["ABCDEF".index(chosen.choice)]


STATED = [
    ("Who is the captain of the ferry?", ("Otto Berg", "Maria Lund", "Jan Vik"), FERRY, "Maria Lund"),
    ("How many cars does the ferry carry?", ("14", "40", "90"), FERRY, "40"),
    ("How long does the crossing take?", ("9 hours", "2 hours", "3 days"), FERRY, "2 hours"),
    ("Where is the engine repaired?", ("at sea", "in the harbour", "in Arlen"), FERRY, "in the harbour"),
    ("Wie viele Tage dauert die Reise?", ("5", "3"), "Die Reise dauert 3 Tage. Sie kostet 400 Euro.", "3"),
    (
        "Wer leitet das Museum?",
        ("Jonas Weber", "Anna Klein"),
        "Das Museum wird von Anna Klein geleitet. Jonas Weber hat es gebaut.",
        "Anna Klein",
    ),
    ("桥是什么时候建成的?", ("1931年", "1956年"), "这座桥于1956年建成。设计师出生于1931年。", "1956年"),
]


@pytest.mark.parametrize(("text", "options", "said", "right"), STATED)
def test_the_option_that_the_text_states_is_chosen(
    text: str, options: tuple[str, ...], said: str, right: str
) -> None:
    for order in permutations(options):
        chosen = choose(text, order, said, must_choose=True)
        assert label(chosen, order) == right
        assert chosen.passages == (0,)
        assert sum(chosen.scores) == pytest.approx(1.0)
        assert max(chosen.scores) == chosen.scores[order.index(right)]


def test_the_answer_may_be_in_the_sentence_after_the_one_that_names_what_is_asked() -> None:
    said = "The tai chi master teaches in the park. He is seventy-one. The park has 12 benches."
    assert label(choose("How old is the tai chi master?", ("12", "71"), said), ("12", "71")) == "71"


@pytest.mark.parametrize(
    ("said", "claim", "choice"),
    [
        ("The cover must be closed during the test.", "Must the cover be closed?", "Yes"),
        ("The cover must not be closed during the test.", "Must the cover be closed?", "No"),
        ("The axle of the rear wheel is 12 mm thick.", "Is the axle 12 mm thick?", "Yes"),
    ],
)
def test_yes_and_no_are_what_they_claim(said: str, claim: str, choice: str) -> None:
    for options in (("Yes", "No"), ("No", "Yes")):
        assert label(choose(claim, options, said), options) == choice


def test_of_a_fact_and_its_denial_the_one_that_the_text_says_is_chosen() -> None:
    options = ("It should be lent to a colleague.", "It should not be lent to a colleague.")
    text = "Which statement is true about the saucepan?"
    assert label(choose(text, options, "Do not lend the saucepan to a colleague."), options) == options[1]
    assert label(choose(text, options, "Lend the saucepan to a colleague."), options) == options[0]


TRAY, TENT, TROUGH = (
    "When getting ready for work, page 48 of the blue register is the one on which to enter the tray.",
    "When packing a leather satchel put the tent at the top when holding a yard sale.",
    "A scrap of chamois is right for the trough, moved in narrow circles.",
)


def test_each_option_is_compared_with_its_own_sentence() -> None:
    """Four say more of the tray and the tent than two say of the trough."""
    options = (
        "When getting ready for work. It should be entered on page 12 of the blue register.",
        "When getting ready for work. It should be entered on page 48 of the blue register.",
        "When doing homework. It should be rubbed in narrow circles with a scrap of chamois.",
        "When doing homework. It should be rubbed in narrow circles with a scrap of flannel.",
        "When holding a yard sale. It should be packed at the top of a leather satchel.",
        "When holding a yard sale. It should be packed at the top of a canvas satchel.",
    )
    asked = "Which statement is true about the object that the man holds?"
    scores = choose(asked, options, TRAY, TENT, TROUGH, must_choose=True).scores
    assert scores[2] > 2 * scores[3]


ABSENT = ("Who painted the Mona Lisa?", ("Leonardo da Vinci", "Pablo Picasso", "Frida Kahlo"))


def test_what_a_text_does_not_say_is_no_choice_unless_one_must_be_taken() -> None:
    assert choose(*ABSENT, FERRY).choice is None
    assert choose(*ABSENT).choice is None
    taken = choose(*ABSENT, FERRY, must_choose=True)
    assert taken.choice is not None
    assert (
        taken.confidence
        < choose("Who is the captain?", ("Otto Berg", "Maria Lund", "Jan Vik"), FERRY).confidence
    )


def test_none_of_the_above_is_chosen_where_the_text_supports_no_other() -> None:
    text, options = "Who painted the Mona Lisa?", ("Pablo Picasso", "Frida Kahlo", "none of the above")
    chosen = choose(text, options, FERRY)
    assert label(chosen, options) == "none of the above"
    assert chosen.confidence < SURE
    assert not chosen.passages
    options = ("Otto Berg", "Maria Lund", "none of these")
    assert label(choose("Who is the captain of the ferry?", options, FERRY), options) == "Maria Lund"


def test_options_that_are_as_good_as_equal_are_not_distinguished() -> None:
    chosen = choose("Who is the captain of the ferry?", ("Maria Lund", "Maria Lund", "Jan Vik"), FERRY)
    assert chosen.choice is None
    assert "A and B" in chosen.explanation


def test_the_choice_quotes_the_sentence_that_it_rests_on() -> None:
    chosen = choose("Who is the captain of the ferry?", ("Otto Berg", "Maria Lund"), "It rains.", FERRY)
    assert chosen.explanation.endswith("“Its captain is Maria Lund.”")
    assert chosen.passages == (1,)


def test_a_text_with_a_stored_vector_is_not_encoded() -> None:
    given = reading("Who is the captain of the ferry?", ("Otto Berg", "Maria Lund"), FERRY)
    encoder, second = BagOfWords(), BagOfWords()
    answered = answer_choice(given, SentenceVectors(encoder), None)
    held = [one.context for one in sentences_of(given)]
    stored = dict(zip(held, encoder.encode_text(held), strict=True))
    known = replace(given, text_vectors=stored)
    assert answer_choice(known, SentenceVectors(second), None) == answered
    assert second.encoded
    assert not stored.keys() & set(second.encoded)


# Frames


def window(video: str, seen: str, said: str = "") -> ReadWindow:
    tower = ImageWords()
    vectors = np.stack([tower.image(seen.split(), f"{video} {at}") for at in range(4)])
    texts = (Evidence(video, 0.0, 4.0, "subtitle", said),) if said else ()
    clip, place = Clip(f"{video}:00000", video, 0.0, 30.0), Window(video, 0.0, 5.0, 0.5)
    return ReadWindow(f"/{video}.mp4", video, clip, place, 0.5, texts, np.arange(4.0), vectors)


def watched(text: str, options: tuple[str, ...], *said: str, seen: str, **changes: Any) -> ChosenOption:
    calibrator: Any = ImageScoreCalibrator(ImageWords())
    asked = reading(text, options, *said, windows=(window("v", seen),), **changes)
    return answer_choice(asked, SentenceVectors(BagOfWords()), calibrator)


PICKED = "In a video that shows a garage, what is the object that the woman picks up beside the lamp?"


def test_what_is_seen_is_chosen_whatever_passages_say_of_the_others() -> None:
    chosen = watched(
        PICKED, ("drill", "kettle"), "The woman picks up the drill in the garage.", seen="lamp kettle"
    )
    assert (chosen.choice, chosen.windows, chosen.passages) == ("B", (0,), ())
    assert "frames" in chosen.explanation


def test_frames_that_fit_one_option_are_never_sure_that_it_is_what_was_asked_for() -> None:
    options = ("drill", "kettle")
    asked = "What stands beside the lamp?"
    chosen = watched(asked, options, seen="lamp kettle")
    assert (chosen.choice, chosen.confidence < SURE) == ("B", True)
    assert watched(asked, options, seen="lamp").choice is None
    assert watched(asked, options, seen="kettle").choice is None
    for text in (asked, "Which of these is seen first?"):
        chosen = watched(text, options, seen="lamp kettle", must_choose=True)
        assert (chosen.choice, chosen.scores[1] > SURE, chosen.confidence) == ("B", True, UNSURE)


@pytest.mark.parametrize(("kind", "sure"), [("subtitle", True), ("caption", False)])
def test_what_a_model_said_of_frames_is_never_sure(kind: Any, sure: bool) -> None:
    text, said = "How many cars does the ferry carry?", (Evidence("v", 0.0, 4.0, kind, FERRY[:57]),)
    place = replace(window("v", "lamp"), texts=said, frame_times=None, frame_vectors=None)
    asked, vectors = reading(text, ("14", "40", "90"), windows=(place,)), SentenceVectors(encoder())
    chosen, quoted = answer_choice(asked, vectors, None), answer_open(asked, vectors, None)
    assert (chosen.choice, quoted.text) == ("B", FERRY[:57])
    assert (chosen.confidence >= SURE, quoted.confidence >= SURE) == (sure, sure)


def test_frames_that_hardly_tell_options_apart_are_not_cited_beside_the_sentence_that_does() -> None:
    options = ("Otto Berg", "Maria Lund")
    chosen = watched("Who is the captain of the ferry?", options, FERRY, seen="lamp")
    assert (chosen.choice, chosen.windows, chosen.passages) == ("B", (), (0,))
    assert "frames" not in chosen.explanation


def test_the_thing_that_a_how_to_is_about_is_what_frames_are_asked_for() -> None:
    options = ("When camping. The object should be tied up.", "When moving. The object should be tied up.")
    titles = ("How to tie a drill up beside the kettle", "How to tie a kettle up beside the drill")
    passages = tuple(
        ReadPassage(Passage(title, title, title, "Tie it up."), f"{at}.md", 0.9, at)
        for at, title in enumerate(titles)
    )
    calibrator: Any = ImageScoreCalibrator(ImageWords())
    asked = reading("In a video that shows a garage, which statement is true?", options)
    for seen, choice in (("drill", "A"), ("kettle", "B")):
        shown = replace(asked, windows=(window("v", seen),), passages=passages, must_choose=True)
        assert answer_choice(shown, SentenceVectors(BagOfWords()), calibrator).choice == choice


def test_of_two_windows_that_say_an_option_each_the_one_that_shows_the_scene_decides() -> None:
    text, options = "In a clip that shows a lamp, which part does the voice announce?", ("part 3", "part 5")
    calibrator: Any = ImageScoreCalibrator(ImageWords())
    for seen, choice in ((("lamp", "kettle"), "A"), (("kettle", "lamp"), "B")):
        windows = tuple(
            window(video, shown, said)
            for video, shown, said in zip("vw", seen, ("This is part 3.", "This is part 5."), strict=True)
        )
        asked = reading(text, options, windows=windows)
        assert answer_choice(asked, SentenceVectors(BagOfWords()), calibrator).choice == choice
        # What retrieval found by words and images together is read as it is.
        found = replace(asked, windows=tuple(replace(one, match=0.5) for one in windows))
        assert answer_choice(found, SentenceVectors(BagOfWords()), calibrator).choice == "B"
