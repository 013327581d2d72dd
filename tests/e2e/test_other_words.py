"""Questions in other words than the text has, over one document and the bundled sentence encoder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.library import Library
from rag.reasoners.embedded.answer_open import ALONE
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
PATIENT = """The patient weighs 72 kilograms. Her blood pressure was 140 over 90. She takes 5 mg of ramipril
every morning. She is allergic to penicillin. Her mother died of a stroke. The next appointment is on 3 June.
She smokes ten cigarettes a day.
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("words")
    (folder / "corpus").mkdir()
    (folder / "corpus/cabin.md").write_text(NOTES)
    assert run_rag(folder, "index", "corpus", "--library", "lib").returncode == 0
    with Library.open(folder / "lib") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("How do I prevent frozen plumbing?", "dripping"),
        ("At what time does the supermarket close on Saturday?", "three on Saturdays"),
    ],
)
def test_the_sentence_nearest_in_meaning_by_far_is_quoted(
    library: Library, question: str, quoted: str
) -> None:
    answer = library.ask(question)
    assert quoted in answer.text
    assert answer.confidence == ALONE
    assert "by far the nearest in meaning" in answer.explanation
    assert [Path(citation.path).name for citation in answer.citations] == ["cabin.md"]


def test_a_passage_is_as_relevant_as_its_sentence(library: Library) -> None:
    retriever, question = library._engine.new_retriever(), "What is the code for getting the key?"
    (found,) = retriever.find_passages(question, 1)
    (judged,) = judged_by_sentence([found], question, retriever.text_encoder)
    assert found.relevance < library.settings.search.threshold < judged.relevance
    assert "7302" in library.ask(question).text
    many = judged_by_sentence([found] * (MOST_JUDGED + 2), question, retriever.text_encoder)
    assert many == [judged] * MOST_JUDGED + [found] * 2


@pytest.mark.parametrize(
    "question",
    [
        "Who built the cabin?",
        "How much does a night cost?",
        "Which element has the atomic number six?",
        "Who won the football championship?",
        # Near a sentence, but about others.
        "How do the Lindqvists prevent frozen plumbing?",
        "Which boat must not be rowed?",
    ],
)
def test_what_no_sentence_is_near_is_refused(library: Library, question: str) -> None:
    assert not library.ask(question).matched


@pytest.mark.parametrize(
    "question", ["What did her father die of?", "What dose does she take in the evening?"]
)
def test_a_sentence_about_another_thing_of_the_kind_is_none(tmp_path: Path, question: str) -> None:
    (tmp_path / "patient.txt").write_text(PATIENT)
    assert run_rag(tmp_path, "index", "patient.txt", "--library", "lib").returncode == 0
    with Library.open(tmp_path / "lib") as opened:
        assert not opened.ask(question).matched
        assert "mother" in opened.ask("What did her mother die of?").text
