"""Questions in other words than the text has, over one document and the bundled sentence encoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag.library import Library
from rag.retrieval.ranking import MOST_JUDGED, judged_by_sentence
from tests.fakes.command import run_rag

NOTES = """# Lake cabin: notes for guests

The key is in the small box next to the woodshed; the combination is 7302. Turn on the main water valve
under the kitchen sink before anything else. In winter, leave the taps dripping at night so that the pipes
don't freeze. Firewood is stacked behind the sauna. Open the damper fully before you light the stove.

The rowing boat belongs to the neighbours, who let us use it until sunset. The nearest shop is in
Hallstavik, eleven kilometres away, and it shuts at six on weekdays and at three on Saturdays.
Rubbish is collected on Thursday mornings; carry the bins to the gate the evening before.
"""
MANUAL = """# Espressomaschine Barista 300

Spülen Sie den Wassertank mit frischem Wasser aus und füllen Sie ihn bis zur MAX-Markierung.
Mahlen Sie 18 Gramm Bohnen in das Doppelsieb. Drücken Sie das Kaffeemehl mit etwa 15 Kilogramm Kraft an.
Die Extraktion dauert 25 bis 30 Sekunden. Die Garantie beträgt drei Jahre ab Kaufdatum.
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("words")
    (folder / "corpus").mkdir()
    (folder / "corpus/cabin.md").write_text(NOTES)
    (folder / "corpus/espresso.md").write_text(MANUAL)
    assert run_rag(folder, "index", "corpus", "--library", "lib").returncode == 0
    with Library.open(folder / "lib") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Why should the taps drip overnight?", "dripping"),
        ("At what time does the supermarket close on Saturday?", "three on Saturdays"),
        ("How do you prevent frozen plumbing?", "dripping"),
    ],
)
def test_a_sentence_in_other_words_is_quoted(library: Library, question: str, quoted: str) -> None:
    answer = library.ask(question)
    assert quoted in answer.text
    assert [Path(citation.path).name for citation in answer.citations] == ["cabin.md"]


def test_a_passage_is_as_relevant_as_its_sentence(library: Library) -> None:
    retriever, question = library.engine.new_retriever(), "What is the code for getting the key?"
    (found,) = retriever.find_passages(question, 1)
    (judged,) = judged_by_sentence([found], question, retriever.text_encoder)
    assert found.relevance < library.settings.search.threshold < judged.relevance
    assert "7302" in library.ask(question).text
    many = judged_by_sentence([found] * (MOST_JUDGED + 2), question, retriever.text_encoder)
    assert many == [judged, *[replace(judged, nearest="")] * (MOST_JUDGED - 1), found, found]


@pytest.mark.parametrize(
    "question",
    [
        "Who built the cabin?",
        "How much does a night cost?",
        "Which element has the atomic number six?",
        "Who won the football championship?",
    ],
)
def test_what_no_sentence_is_near_is_refused(library: Library, question: str) -> None:
    assert not library.ask(question).matched


def test_a_refusal_quotes_the_nearest_sentences_with_their_places(library: Library) -> None:
    answer = library.ask("Who may borrow the dinghy?")
    assert not answer.matched
    boat = "The rowing boat belongs to the neighbours, who let us use it until sunset."
    assert f"Nearest come “{boat}” in cabin.md; “" in answer.explanation
    assert answer.citations == ()


def test_a_german_manual_answers_german_questions(library: Library) -> None:
    assert "15 Kilogramm" in library.ask("Wie fest drücke ich das Kaffeemehl an?").text
    assert "18 Gramm" in library.ask("Wie viel Gramm Bohnen brauche ich?").text
