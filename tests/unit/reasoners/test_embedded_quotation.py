"""The fitted model that quotes passages: its order, its confidence, and how it is fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reading_sets import ALONE, GROUP, Asked, holds, reading_libraries
from corpora.records import Clip, Evidence, Passage
from indexers.protocol import TextEncoder
from localization.windows import Window
from rag.reasoners.embedded.answer_open import answer_open
from rag.reasoners.embedded.quotation import (
    EVIDENCE,
    FEATURES,
    Candidate,
    PassageText,
    Weights,
    columns,
    fitted_weights,
)
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import Question
from training.quotation import Example, answered, fit


class Cosines(TextEncoder):
    """Every text is at 0.3 of every question, but those that are listed."""

    name = "cosines"
    dim = 2
    backend = weights = fingerprint = "test"
    batch = 8

    def __init__(self, known: Mapping[str, float]) -> None:
        self._known = known

    def _encode(self, texts):
        values = [1.0 if text.endswith(("?", "？")) else self._known.get(text, 0.3) for text in texts]
        return np.array([(value, (1 - value**2) ** 0.5) for value in values], np.float32)


def ask(text: str, *passages: str, spoken: str = "", **known: float) -> OpenAnswer:
    question = Question("q", text)
    read = tuple(
        ReadPassage(Passage(f"p{at}", f"d{at}", "", passage), "p.md", 1 - at / 10, None)
        for at, passage in enumerate(passages)
    )
    evidence = (Evidence("v", 1.0, 3.0, "subtitle", spoken),) if spoken else ()
    clip, window = Clip("v:0", "v", 0.0, 30.0), Window("v", 0.0, 5.0, 1.0)
    windows = (ReadWindow("v.mp4", "", clip, window, 1.0, evidence),) if spoken else ()
    reading = Reading(question, rewrite_question(question), anchor_event(question), windows, read)
    return answer_open(reading, SentenceVectors(Cosines(known.get("cosines", {}))), None)


TOWER = (
    "The tower was finished in 1889. Gustave Eiffel owned the company that built the tower.",
    "Paris has many parks. Trees are cut along the river every spring.",
)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("When was the tower finished?", "The tower was finished in 1889."),
        (
            "Who owned the company that built the tower?",
            "Gustave Eiffel owned the company that built the tower.",
        ),
        ("When are trees cut along the river?", "Trees are cut along the river every spring."),
    ],
)
def test_the_sentence_with_the_words_and_the_kind_of_thing_is_quoted(question, quoted):
    answer = ask(question, *TOWER)
    assert answer.text == quoted
    assert answer.confidence > 0.5


def test_the_only_sentence_of_a_text_is_not_the_best_of_many():
    answer = ask("Which enzyme breaks down lactose in milk?", "The tower was finished in 1889.")
    assert answer.confidence < 0.2


def test_meaning_decides_in_a_script_without_words_in_common():
    far, near = "塔は川のそばにある。", "一八八九年に完成した。"
    answer = ask("いつ出来上がりましたか？", far, near, cosines={far: 0.1, near: 0.8})
    assert answer.text == near
    assert ask("Когда построена башня?", "Она стоит у реки. Париж велик.").confidence < 0.5


def test_of_a_window_and_a_passage_the_more_confident_is_quoted():
    question, spoken = "When was the tower finished?", "The tower was finished last year, I think."
    assert ask(question, *TOWER, spoken=spoken).text == "The tower was finished in 1889."
    surer = ask(question, *TOWER[1:], spoken=spoken, cosines={spoken: 0.9})
    assert (surer.text, surer.windows) == (spoken, (0,))


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("How long does line 2 take to the stadium?", True),
        ("How long does line 9 take to the stadium?", False),
        ("What does the E10 at the stadium say?", True),
        ("What does the E47 at the stadium say?", False),
        ("How long did line 2 take to the stadium in 1985?", True),
        ("How long did line 2 take to the stadium in 1986?", False),
        ("What was the stadium of line 2 in the 19th century?", False),
        # A time, an amount, a count, a day and a version may be written in another way, or compared with.
        ("Which line goes to the stadium at 10 pm?", True),
        ("Which line takes more than 30 minutes to the stadium?", True),
        ("What are the 3 lines to the stadium?", True),
        ("Which line goes to the stadium on May 1?", True),
        ("What does line 2 of v2 say at the stadium?", True),
        ("Which one goes to the stadium in 34 minutes?", True),
    ],
)
def test_a_passage_without_the_number_or_the_code_that_is_given_is_doubted(question, held):
    passage = "Line 2 took thirty-four minutes to the stadium in 1985. The display at the stadium says E10."
    sure = ask(question, passage).confidence
    surer = ask(question, f"{passage} Line 9, 19, 1986, E47.").confidence
    assert (sure > surer / 2) is held


def test_features_and_evidence_by_hand():
    texts = ("The old tower is high.", "It was finished in 1889 by Eiffel.", "Birds sing.")
    sentences = [Sentence(text, text, "", "passage", 0, "passage") for text in texts]
    text = PassageText("When was the old tower of Nantes finished?", sentences, (0.5,))
    held = text.candidates(dict.fromkeys(sentences, 0.4))
    first, second = (one.features for one in held[:2])
    # old, tower, finish: each in one of three sentences, ln(4); nantes in none, as rare as the rarest.
    assert (first["overlap"], second["overlap"]) == (pytest.approx(0.5), pytest.approx(0.25))
    assert second["before"] == pytest.approx(0.5)
    assert (first["pairs"], second["pairs"]) == (pytest.approx(1 / 3), 0.0)
    assert (first["new_number"], second["new_number"]) == (0.0, 1.0)
    assert (second["rank"], second["score"]) == (1.0, 0.5)
    found = text.evidence(held, np.array([1.0, 3.0, 0.0]), 1, 1.0)
    assert found["unknown"] == pytest.approx(0.25)
    assert found["no_name"] == 1.0
    assert found["margin"] == 2.0
    assert found["named"] == 1.0
    # Thirteen sentences fewer than the shortlist takes, each of the background's value.
    assert found["share"] == pytest.approx(-np.log(1 + 14 * np.exp(-2) + np.exp(-3)))


def test_weights_are_found_by_name():
    fitted = fitted_weights()
    assert set(fitted.order) == set(FEATURES)
    assert set(fitted.confidence) == set(EVIDENCE)
    sentence = Sentence("Towers are high.", "Towers are high.", "", "passage", 0, "passage")
    text = PassageText("How high?", [sentence], (0.5,))
    (one,) = text.candidates({sentence: 0.5})
    assert set(one.features) == set(FEATURES)
    assert set(text.evidence([one], np.array([0.0]), 0, 0.0)) == set(EVIDENCE)
    turned = Weights(
        dict(reversed(fitted.order.items())), dict(reversed(fitted.confidence.items())), fitted.background
    )
    assert text.scored({sentence: 0.5}, turned) == text.scored({sentence: 0.5}, fitted)
    with pytest.raises(KeyError):
        columns(("cosine", "unheard"), [one.features])


def test_the_fit_finds_what_decides_and_is_unsure_of_foreign_questions():
    rng = np.random.default_rng(0)
    sentences = [Sentence(f"Word{at}.", f"Word{at}.", "", "passage", 0, "passage") for at in range(6)]
    text = PassageText("Which word?", sentences, (1.0,))
    held = []
    for at in range(60):
        rows, right = rng.normal(size=(6, len(FEATURES))), np.zeros(6)
        foreign = at % 4 == 0
        if not foreign:
            right[int(rows[:, FEATURES.index("overlap")].argmax())] = 1.0
        else:
            rows[:, FEATURES.index("cosine")] -= 3
        found = [
            Candidate(sentence, dict(zip(FEATURES, row, strict=True)))
            for sentence, row in zip(sentences, rows, strict=True)
        ]
        asked = Asked("Which word?", (), "foreign" if foreign else "own")
        held.append(Example(f"library-{at % 10}", "set", asked, text, found, right, relevant=True))
    made = fit(held)
    assert max(made.order, key=lambda name: abs(made.order[name])) == "overlap"
    assert made.confidence["cosine"] > 0.5
    assert fit(held) == made


def test_a_question_is_answered_by_the_weights_that_are_given():
    texts = ("The tower was finished in 1889.", "Trees grow in the parks of the city.")
    sentences = [Sentence(text, text, "", "passage", at, "passage") for at, text in enumerate(texts)]
    question = "When was the tower finished?"
    text = PassageText(question, sentences, (0.5, 0.4))
    held = text.candidates(dict.fromkeys(sentences, 0.5))
    asked = Asked(question, ("1889",), "own")
    found = Example("library", "set", asked, text, held, np.array([1.0, 0.0]), relevant=True)
    (one,) = answered([found], fitted_weights())
    assert (one.sample.choice, one.sample.correct) == ("A", True)
    (unsure,) = answered([found], replace(fitted_weights(), confidence={"constant": -5.0}))
    assert (unsure.sample.choice, unsure.sample.correct) == (None, False)
    (irrelevant,) = answered([replace(found, relevant=False)], fitted_weights())
    assert (irrelevant.sample.choice, irrelevant.sample.confidence) == (None, 0.0)


def test_libraries_and_questions_of_a_set(tmp_path):
    def article(title, paragraphs):
        asked = {
            "question": f"What is {title}?",
            "answers": [{"text": "The Answer."}],
            "is_impossible": False,
        }
        again = {**asked, "question": f"what is {title}", "answers": [{"text": "Another."}]}
        odd = {"question": f"Why {title}?", "answers": [], "is_impossible": True}
        common = {**asked, "question": "What is all this?"}
        held = [
            {"context": f"{title} {at} " + "word " * (ALONE.start // 9), "qas": [asked, again, odd, common]}
            for at in range(paragraphs)
        ]
        return {"title": title, "paragraphs": held}

    path = tmp_path / "set.json"
    path.write_text(json.dumps({"data": [article("a_b", 9), article("c_d", 9)]}))
    first, second = reading_libraries(path, libraries=5, questions=5)
    assert (first.name, first.set_name) == ("set-0", "set")
    assert {passage.title for passage in first.passages} == {""}
    assert {passage.title for passage in second.passages} == {"c d"}
    asked = {one.text: one for one in first.asked if one.kind == "own"}
    assert set(asked) == {"what is a_b", "What is all this?"}
    assert asked["what is a_b"].answers == ("Another.", "The Answer.")
    assert [one.text for one in first.asked if one.kind == "impossible"] == ["Why a_b?"]
    # What this library is asked too is not foreign to it.
    assert [one.text for one in first.asked if one.kind == "foreign"] == ["what is c_d"]
    assert reading_libraries(path, libraries=5, questions=5) == [first, second]
    path.write_text(json.dumps({"data": [article(str(at), 2) for at in range(GROUP)]}))
    assert [len(library.passages) for library in reading_libraries(path, 9, 5)] == [GROUP, GROUP]
    assert holds("It is, of course, an ANSWER", ("the answer",))
    assert not holds("The answers differ.", ("answer", "the"))


@pytest.mark.parametrize("name", ["tweets.json", "reviews.csv"])
def test_sets_that_are_rows_of_a_text_and_a_question(tmp_path, name):
    path = tmp_path / name
    texts = [f"Bed number {at} is soft." for at in range(GROUP)]
    if path.suffix == ".json":
        rows = [{"Tweet": text, "Question": "How is the bed?", "Answer": ["soft"]} for text in texts]
        path.write_text(json.dumps(rows))
    else:
        rows = [f"{text} ANSWERNOTFOUND,How is the bed?,soft" for text in texts]
        rows.append(f"{texts[0]} ANSWERNOTFOUND,How is the sea?,ANSWERNOTFOUND")
        path.write_text("\n".join(["review,question,human_ans_spans", *rows]))
    (library,) = reading_libraries(path, libraries=2, questions=5)
    assert sorted(passage.text for passage in library.passages) == sorted(texts)
    assert library.asked == (Asked("How is the bed?", ("soft",), "own"),)
