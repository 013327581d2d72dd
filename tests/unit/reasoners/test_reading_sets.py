"""Published sets of texts and questions as libraries: which questions and answers are taken of them."""

from __future__ import annotations

import json

import pytest

from benchmarks.reading_sets import ALONE, GROUP, Asked, holds, reading_libraries


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
    assert holds("门票每人四十元。", ("四十元",))
    assert [one.name for one in reading_libraries(f"{path}:0-20", 9, 5)] == ["set-0"]


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
