"""Open questions: which sentence is quoted, how surely, and how the model that decides it is fitted."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reading_sets import Asked
from corpora.records import Clip, Evidence, Passage
from localization.windows import Window
from rag.reasoners.embedded.answer_open import AskedText, answer_open, asks_for_number, fitted_weights
from rag.reasoners.embedded.ranker import open_ranker
from rag.reasoners.embedded.reader import open_reader
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence
from rag.reasoners.roles.answers import OpenAnswer
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import SURE, Question
from tests.fakes.embedded_reasoner import encoder
from training.quotation import Example, answered, fit, fit_number, rows_of


def reading(question: str, *passages: str, spoken: str = "") -> Reading:
    asked = Question("q", question)
    read = tuple(
        ReadPassage(Passage(f"p{at}", "d", "", text), "p.md", 0.5, None) for at, text in enumerate(passages)
    )
    said = Evidence("v", 0.0, 4.0, "subtitle", spoken)
    window = ReadWindow("v.mp4", "v", Clip("v:0", "v", 0.0, 30.0), Window("v", 0.0, 5.0, 0.5), 0.5, (said,))
    windows = (window,) if spoken else ()
    return Reading(asked, rewrite_question(asked), anchor_event(asked), windows, read)


def ask(question: str, *passages: str, spoken: str = "") -> OpenAnswer:
    return answer_open(reading(question, *passages, spoken=spoken), SentenceVectors(encoder()), None)


TOWER = (
    "The tower was finished in 1889. Gustave Eiffel owned the company that built the tower.",
    "Paris has many parks. Trees are cut along the river every spring.",
)
PUMPE = (
    "Die Wasserpumpe sitzt unter der Abdeckung. Vor dem Ausbau wird der Strom abgestellt.",
    "Der Filter wird alle drei Monate gewechselt. Er liegt neben dem Tank.",
)
CHEN = ("This is master Chen, who teaches tai chi. He is seventy-one. The park opens at six.",)
MACHINES = (
    "| machine | fuse | bought |\n|-|-|-|\n| lathe | 16 A | 2019 |\n| band saw | 10 A | 2021 |\n"
    "| dust extractor | 13 A | 2018 |",
)
OPENING = ("博物馆周一闭馆。开放时间是上午九点到下午五点。", "门票每人四十元。学生半价。")


@pytest.mark.parametrize(
    ("question", "passages", "quoted"),
    [
        ("When was the tower finished?", TOWER, "The tower was finished in 1889."),
        (
            "Who was the owner of the builder?",
            TOWER,
            "Gustave Eiffel owned the company that built the tower.",
        ),
        ("How often are the trees pruned?", TOWER, "Trees are cut along the river every spring."),
        ("Wie oft muss man den Filter tauschen?", PUMPE, "Der Filter wird alle drei Monate gewechselt."),
        (
            "What is switched off before taking the pump out?",
            PUMPE,
            "Vor dem Ausbau wird der Strom abgestellt.",
        ),
        ("票价是多少？", OPENING, "门票每人四十元。"),
        ("How old is the teacher?", CHEN, "He is seventy-one."),
        ("When was the band saw bought?", MACHINES, "machine band saw, fuse 10 A, bought 2021"),
        ("Which machine has a 10 A fuse?", MACHINES, "machine band saw, fuse 10 A, bought 2021"),
    ],
)
def test_the_sentence_that_answers_is_quoted_in_any_words_and_language(
    question: str, passages: tuple[str, ...], quoted: str
) -> None:
    assert ask(question, *passages).text == quoted


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("Wann wurde der Turm fertig?", TOWER),
        ("¿Cada cuánto se cambia el filtro?", PUMPE),
        ("How much is a ticket?", OPENING),
    ],
)
def test_a_question_in_another_language_than_the_text_is_answered(
    question: str, passages: tuple[str, ...]
) -> None:
    assert ask(question, *passages).confidence >= 0.3


def test_a_text_in_another_language_is_read_beside_texts_in_that_of_the_question() -> None:
    lathe = "The lathe runs at 450 rpm for steel. Empty its bag every day. Never leave the key in the chuck."
    answer = ask("What is switched off before the pump is removed?", lathe, *TOWER, PUMPE[0])
    assert answer.text == "Vor dem Ausbau wird der Strom abgestellt."
    assert answer.confidence >= 0.3


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("Which enzyme breaks down lactose in milk?", TOWER[:1]),
        ("Which enzyme breaks down lactose in milk?", (*TOWER, *PUMPE)),
        ("Wer gewann das Endspiel im Tennis?", PUMPE),
        ("谁发明了电话？", OPENING),
    ],
)
def test_a_question_about_another_subject_is_not_answered(question: str, passages: tuple[str, ...]) -> None:
    assert ask(question, *passages).confidence < 0.3


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("Who won in 1998?", "Brazil won the final."),
        ("How many bottles are filled in a 2 hour shift?", "The line fills 900 bottles in an hour."),
    ],
)
def test_without_the_number_that_is_given_no_answer_is_sure(question: str, passage: str) -> None:
    assert ask(question, passage).confidence < SURE


@pytest.mark.parametrize(
    ("question", "passage", "sure"),
    [
        ("How many people came to the meeting?", "Many people came to the meeting.", False),
        ("How many people came to the meeting?", "Twelve people came to the meeting.", True),
        ("Wie viele Leute kamen zur Sitzung?", "Zur Sitzung kamen viele Leute.", False),
        ("¿Cuántas personas vinieron a la reunión?", "A la reunión vinieron muchas personas.", False),
        ("有多少人参加了会议？", "很多人参加了会议。", False),
        ("Who came to the meeting?", "Maria Lund came to the meeting.", True),
    ],
)
def test_without_the_number_that_is_asked_for_no_answer_is_sure(
    question: str, passage: str, sure: bool
) -> None:
    assert (ask(question, passage).confidence >= SURE) is sure


def test_of_a_window_and_a_passage_the_better_is_quoted() -> None:
    question = "When was the tower finished?"
    assert (
        ask(question, *TOWER, spoken="Good evening to all of you.").text == "The tower was finished in 1889."
    )
    surer = ask(question, TOWER[1], spoken="They finished the tower in the year 1889.")
    assert (surer.text, surer.windows) == ("They finished the tower in the year 1889.", (0,))


def test_the_scores_of_windows_and_passages_need_no_common_scale() -> None:
    spoken = "Then the glue goes on both sides. After that we wait for forty minutes."
    hose = "The motor trips if the hose is blocked; wait ten minutes before pressing reset."
    held = reading("How long do they wait after gluing?", hose, *TOWER, spoken=spoken)
    windows = tuple(replace(one, retrieval_score=0.05) for one in held.windows)
    passages = tuple(replace(one, score=1.0) for one in held.passages)
    answer = answer_open(replace(held, windows=windows, passages=passages), SentenceVectors(encoder()), None)
    assert (answer.text, answer.windows) == ("After that we wait for forty minutes.", (0,))
    assert answer.confidence >= SURE


def test_the_cross_encoder_reads_long_texts_in_parts_and_keeps_their_order() -> None:
    filler = ["The river flows slowly through the wide and quiet valley."] * 60
    question = "When was the tower finished?"
    first, last, none = open_reader().values(question, [[TOWER[0], *filler], [*filler, TOWER[0]], [""]])
    assert (len(first), len(last), len(none)) == (61, 61, 1)
    assert first.index(max(first)) == 0
    assert last.index(max(last)) == 60
    assert max(first) > 0 > max(first[1:])
    assert open_reader().values(question, []) == []
    assert open_reader().values("how " * 500, [["So."]])[0][0] == pytest.approx(
        open_reader().values("how " * 600, [["So."]])[0][0]
    )


def test_the_ranker_knows_what_it_can_read() -> None:
    english = ["How old is the tai chi master?", "tai chi master age"]
    others = [
        "Wie alt ist der Meister?",
        "Quanto tempo devo esperar antes de abrir a porta?",
        OPENING[0],
        "5/4",
    ]
    assert list(filter(open_ranker().is_english, english + others)) == english


def test_the_ranker_gives_the_published_values_but_for_rounding() -> None:
    berlin = (
        "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
        "Berlin is well known for its museums.",
    )
    values = open_ranker().values("How many people live in Berlin?", berlin)
    assert values == pytest.approx([9.2189, -4.0780], abs=0.2)


def sentences(*texts: str) -> list[Sentence]:
    return [Sentence(text, text, "", "passage", 0, "passage") for text in texts]


def example(at: int, rng: np.random.Generator, *, foreign: bool) -> Example:
    """Six sentences of random cosines, the greatest of which answers; foreign questions are far from all."""
    cosines = (rng.random(6) - 3.0 * foreign).tolist()
    right = np.zeros(6)
    if not foreign:
        right[int(np.argmax(cosines))] = 1.0
    text = AskedText("Which word?", sentences(*(f"Word{n}." for n in range(6))), {"passage": [1.0]})
    asked = Asked("Which word?", () if foreign else ("Word",), "foreign" if foreign else "own")
    reads, relevances = rng.random(6).tolist(), rng.random(6).tolist()
    rows = rows_of(text, reads, cosines, relevances)
    return Example(f"library-{at % 10}", "set", asked, text, reads, cosines, right, True, relevances, rows)


NUMBER = (0.0, -1.0)
"""Weights by which no question asks for a number."""


def test_the_fit_finds_what_decides_and_is_unsure_of_foreign_questions() -> None:
    rng = np.random.default_rng(0)
    held = [example(at, rng, foreign=at % 4 == 0) for at in range(60)]
    made = fit(held, NUMBER, "one")
    assert max(made.order, key=lambda name: abs(made.order[name])) == "cosine"
    assert made.confidence["cosine"] > 0.1
    assert fit(held, NUMBER, "one") == made
    own, foreign = answered(held[1:2], made), answered(held[:1], made)
    assert own[0].sample.confidence > foreign[0].sample.confidence


def test_what_asks_for_a_number_is_known_by_questions_whose_answers_have_one() -> None:
    numbered = [Asked(f"How many {thing} are there?", ("3",), "own") for thing in ("cars", "dogs", "trees")]
    named = [Asked(f"Who owns the {thing}?", ("Maria",), "own") for thing in ("cars", "dogs", "trees")]
    made = replace(fitted_weights(), number=fit_number([*numbered, *named], encoder()))
    for question, number in (("How many boats are there?", True), ("Who owns the boats?", False)):
        (vector,) = np.asarray(encoder().encode_text([question]), np.float64)
        assert asks_for_number(vector, made.encoder, made) is number
        assert not asks_for_number(vector, "another", made)
