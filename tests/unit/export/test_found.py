"""Selects out of the documents of the command line."""

from dataclasses import replace
from typing import Any

import pytest

from corpora.errors import UsageError
from corpora.records import Clip, Evidence, Passage
from rag.export.found import read_documents, select_of
from rag.export.records import Select
from rag.records import Answer, PassageCitation, PassageHit, Question, VideoCitation, VideoHit
from rag.rendering.shapes import answer_shape, citation_shape, search_shape, to_json

ODD = "/v/caf\udce9.mp4"
SPOKEN = (Evidence("e", 12.0, 14.0, "asr", "switch the lamp on"),)
CITED = VideoCitation(ODD, "5f0c", 12.5, 17.5, 0.5, SPOKEN)
SAID = ("recognized speech: switch the lamp on",)
SELECT = Select(ODD, "5f0c", 12.5, 17.5, query="lamp?", score=0.5, evidence=SAID)


def _read(document: Any) -> list[Select]:
    return read_documents(to_json(document), lambda path, video_id: path or f"/found/{video_id}")


def test_search_and_answer_have_the_same_windows() -> None:
    passage = Passage("p1", "d1", "Lamps", "Light.")
    hit = VideoHit(ODD, "5f0c", 12.5, 17.5, Clip("c", "5f0c", 0, 30), 0.5, SPOKEN)
    searched = search_shape("lamp?", [hit, PassageHit("b.csv", passage, 0.4)])
    cited = (CITED, PassageCitation("b.csv", "p1", "Lamps", "Light.", 0.4))
    answer = Answer(Question("q", "lamp?"), None, "yes", 0.9, "", True, cited)
    assert _read(searched) == _read(answer_shape(answer)) == [SELECT]
    lines = f"{to_json(searched)}\n{to_json(answer_shape(answer))}\n"
    assert read_documents(lines, lambda path, _: path) == [SELECT, SELECT]


def test_hits_that_are_only_the_nearest_are_left_out() -> None:
    clip = Clip("c", "5f0c", 0, 30)
    hits = [
        VideoHit(ODD, "5f0c", 12.5, 17.5, clip, 0.5, SPOKEN, relevance=relevance) for relevance in (0.3, 0.29)
    ]
    found = search_shape("lamp?", hits, threshold=0.3)
    assert _read(found) == [SELECT]
    without = [{key: value for key, value in hit.items() if key != "relevance"} for hit in found["results"]]
    assert _read({**found, "results": without}) == [SELECT, SELECT]


def test_a_citation_and_a_list_of_selects() -> None:
    (shown,) = _read({"schema": "rag.show/1", "citation": citation_shape(CITED)})
    assert shown == replace(SELECT, query="")
    assert select_of(CITED) == replace(SELECT, query="", score=None)
    plain = [{"path": "a.mp4", "start": 1, "end": 2, "name": "n", "note": "why", "evidence": ["ocr: x"]}]
    photograph = {"path": "a.png", "start": 0, "end": 0.04}
    assert _read([*plain, photograph]) == [Select("a.mp4", "", 1.0, 2.0, "n", "why", evidence=("ocr: x",))]


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        '{"schema": "rag.stats/1"}',
        '{"results": [3]}',
        '{"results": [{"path": "a", "start": 1}]}',
        '{"results": [{"path": "a", "start": NaN, "end": 2}]}',
        "[" * 100_000,
    ],
)
def test_what_has_no_windows_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_documents(text, lambda path, _: path)
