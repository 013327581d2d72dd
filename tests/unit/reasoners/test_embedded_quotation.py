"""The fitted model that quotes passages: its order, its confidence, and how it is fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest

from benchmarks.reading_quality import GROUP, holds, reading_libraries
from corpora.records import Clip, Evidence, Passage
from localization.windows import Window
from rag.reasoners.embedded.answer_open import answer_open
from rag.reasoners.embedded.quotation import EVIDENCE, FEATURES, PassageText
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import Question
from training.quotation import Example, fit


class Cosines:
    """Every text is at 0.3 of every question, but those that are listed."""

    name = "cosines"
    dim = 2
    backend = weights = fingerprint = "test"
    batch = 8

    def __init__(self, known: Mapping[str, float]) -> None:
        self._known = known

    def encode_text(self, texts):
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
    return answer_open(reading, SentenceVectors(Cosines(known.get("cosines", {}))))


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


def test_features_and_evidence_by_hand():
    texts = ("The old tower is high.", "It was finished in 1889 by Eiffel.", "Birds sing.")
    sentences = [Sentence(text, text, "", "passage", 0, "passage") for text in texts]
    text = PassageText("When was the old tower of Nantes finished?", sentences, (0.5,))
    rows = text.rows(dict.fromkeys(sentences, 0.4))
    first, second = (dict(zip(FEATURES, row, strict=True)) for row in rows[:2])
    # old, tower, finish: each in one of three sentences, ln(4); nantes in none, as rare as the rarest.
    assert (first["overlap"], second["overlap"]) == (pytest.approx(0.5), pytest.approx(0.25))
    assert second["before"] == pytest.approx(0.5)
    assert (first["pairs"], second["pairs"]) == (pytest.approx(1 / 3), 0.0)
    assert (first["new_number"], second["new_number"]) == (0.0, 1.0)
    assert (second["rank"], second["score"]) == (1.0, 0.5)
    found = dict(zip(EVIDENCE, text.evidence(rows, np.array([1.0, 3.0, 0.0]), 1, 1.0), strict=True))
    assert found["unknown"] == pytest.approx(0.25)
    assert found["no_name"] == 1.0
    assert found["margin"] == 2.0
    # Thirteen sentences fewer than the shortlist takes, each of the background's value.
    assert found["share"] == pytest.approx(-np.log(1 + 14 * np.exp(-2) + np.exp(-3)))


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
        held.append(Example(f"library-{at % 10}", foreign, text, rows, right))
    made = fit(held)
    order = made["order"]
    assert max(order, key=lambda name: abs(order[name])) == "overlap"
    assert made["confidence"]["cosine"] > 0.5


def test_libraries_and_questions_of_a_set(tmp_path):
    def article(title, paragraphs):
        asked = {
            "question": f"What is {title}?",
            "answers": [{"text": "The Answer."}],
            "is_impossible": False,
        }
        odd = {"question": f"Why {title}?", "answers": [], "is_impossible": True}
        return {"title": title, "paragraphs": [{"context": title, "qas": [asked, odd]}] * paragraphs}

    path = tmp_path / "set.json"
    path.write_text(json.dumps({"data": [article("a_b", 9), article("c_d", 9)]}))
    first, second = reading_libraries(path, libraries=5, questions=5)
    assert {title for title, _ in first.paragraphs} == {""}
    assert {title for title, _ in second.paragraphs} == {"c d"}
    kinds = [asked.kind for asked in first.asked]
    assert (kinds.count("own"), kinds.count("impossible"), kinds.count("foreign")) == (5, 1, 1)
    assert [asked.text for asked in first.asked if asked.kind == "foreign"] == ["What is c_d?"]
    assert reading_libraries(path, libraries=5, questions=5) == [first, second]
    path.write_text(json.dumps({"data": [article(str(at), 2) for at in range(GROUP)]}))
    assert [len(library.paragraphs) for library in reading_libraries(path, 9, 5)] == [GROUP, GROUP]
    assert holds("It is, of course, an ANSWER", ("the answer",))
    assert not holds("The answers differ.", ("answer", "the"))
