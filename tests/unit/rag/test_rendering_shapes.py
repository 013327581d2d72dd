"""The JSON that leaves the program, key by key, and its escapes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from corpora.records import Clip, Evidence, Passage
from localization.windows import LocalizedWindow, Window
from rag.records import (
    Answer,
    PassageCitation,
    PassageHit,
    Question,
    ScoreCurve,
    ScoredOption,
    Usage,
    VideoCitation,
    VideoHit,
    rounded_down,
)
from rag.rendering.shapes import (
    answer_shape,
    curve_shape,
    plain,
    report_shape,
    search_shape,
    to_json,
    windows_shape,
)

EVIDENCE = Evidence("v1", 12.0, 14.25, "subtitle", "made of beryllium")
VIDEO = VideoCitation("talks/webb.mp4", "v1", 12.5, 17.5, 0.8123456789, (EVIDENCE,))
PASSAGE = PassageCitation("notes.md", "p1", "Telescopes", "The mirror is beryllium.", 0.5, (4,))
ANSWER = Answer(
    question=Question("q1", "What is the mirror made of?", ("glass", "beryllium")),
    choice="B",
    text="beryllium",
    confidence=0.912345678,
    explanation="The talk says so.",
    matched=True,
    citations=(VIDEO, PASSAGE),
    options=(ScoredOption("A", "glass", 0.25), ScoredOption("B", "beryllium", 0.75)),
    usage=Usage(1, 200, 20, 0, 0.5, {"answer_choice": {"calls": 1.0}}),
    timings={"rewrite": 0.0012345678, "retrieve": 0.02},
)


def test_answer_shape_is_the_documented_one() -> None:
    assert answer_shape(ANSWER) == {
        "schema": "rag.ask/1",
        "question": "What is the mirror made of?",
        "answer": {
            "choice": "B",
            "text": "beryllium",
            "confidence": 0.912346,
            "explanation": "The talk says so.",
            "matched": True,
            "verdict": "sure",
        },
        "citations": [
            {
                "kind": "video",
                "path": "talks/webb.mp4",
                "video_id": "v1",
                "start": 12.5,
                "end": 17.5,
                "citation": "v1@12.5-17.5",
                "score": 0.812346,
                "evidence": [{"kind": "subtitle", "start": 12.0, "end": 14.25, "text": "made of beryllium"}],
            },
            {
                "kind": "passage",
                "path": "notes.md",
                "passage_id": "p1",
                "citation": "p1",
                "title": "Telescopes",
                "pages": [4],
                "text": "The mirror is beryllium.",
                "score": 0.5,
            },
        ],
        "options": [
            {"label": "A", "text": "glass", "score": 0.25},
            {"label": "B", "text": "beryllium", "score": 0.75},
        ],
        "usage": {
            "calls": 1,
            "prompt_tokens": 200,
            "completion_tokens": 20,
            "image_tokens": 0,
            "seconds": 0.5,
            "by_role": {"answer_choice": {"calls": 1.0}},
        },
        "timings": {"rewrite": 0.001235, "retrieve": 0.02},
    }


def test_a_batch_adds_only_the_question_id() -> None:
    alone, batch = answer_shape(ANSWER), answer_shape(ANSWER, batch=True)
    assert batch.pop("question_id") == "q1"
    assert batch == alone


def test_search_shape_is_the_documented_one() -> None:
    video = VideoHit("a.mp4", "v1", 1.0, 6.0, Clip("v1:00000", "v1", 0.0, 30.0), 0.9, (EVIDENCE,), "A talk")
    passage = PassageHit("b.csv", Passage("p1", "d1", "Soldering", "Heat the joint."), 0.4)
    assert search_shape("mirror", [video, passage], query_id="7") == {
        "schema": "rag.search/1",
        "query_id": "7",
        "query": "mirror",
        "results": [
            {
                "kind": "video",
                "path": "a.mp4",
                "video_id": "v1",
                "title": "A talk",
                "start": 1.0,
                "end": 6.0,
                "citation": "v1@1-6",
                "clip": {"start": 0.0, "end": 30.0},
                "score": 0.9,
                "relevance": 0.0,
                "evidence": [{"kind": "subtitle", "start": 12.0, "end": 14.25, "text": "made of beryllium"}],
            },
            {
                "kind": "passage",
                "path": "b.csv",
                "passage_id": "p1",
                "citation": "p1",
                "doc_id": "d1",
                "title": "Soldering",
                "pages": [],
                "text": "Heat the joint.",
                "score": 0.4,
                "relevance": 0.0,
            },
        ],
    }
    assert "query_id" not in search_shape("mirror", [])


def test_windows_shape() -> None:
    window = LocalizedWindow("v1", 1.00049, 6.0, 0.123456789, 0.25)
    assert windows_shape("a.mp4", "b/a.mp4", "v1", "a drill", [window], 0.3) == {
        "schema": "rag.localize/1",
        "video": "a.mp4",
        "path": "b/a.mp4",
        "video_id": "v1",
        "query": "a drill",
        "windows": [
            {
                "video_id": "v1",
                "start": 1.0,
                "end": 6.0,
                "citation": "v1@1-6",
                "score": 0.123457,
                "relevance": 0.25,
            }
        ],
        "matched": False,
        "verdict": "nothing",
        "threshold": 0.3,
    }


def test_a_refusal_has_the_confidence_of_the_best_answer_found() -> None:
    refused = Answer(Question("q", "?"), None, "Nothing.", 0.0, "", False, best_confidence=0.29)
    assert answer_shape(refused)["answer"]["best_confidence"] == 0.29
    assert "best_confidence" not in answer_shape(replace(refused, best_confidence=None))["answer"]


def test_rounding_down_keeps_what_has_two_digits() -> None:
    assert [rounded_down(value) for value in (0.29, 0.2999999, 0.57, 1.0, 0.0)] == [
        0.29,
        0.29,
        0.57,
        1.0,
        0.0,
    ]


def test_a_search_matches_where_a_hit_reaches_the_threshold() -> None:
    hit = VideoHit("a.mp4", "v1", 1, 6, Clip("v1:00000", "v1", 0, 30), 0.9, relevance=0.3)
    given = [search_shape("x", hits, threshold=t) for hits, t in (([hit], 0.3), ([hit], 0.31), ([], 0.0))]
    assert [(shape["matched"], shape["threshold"]) for shape in given] == [
        (True, 0.3),
        (False, 0.31),
        (False, 0.0),
    ]
    assert "matched" not in search_shape(None, [hit])


def test_hits_that_are_no_match_come_last() -> None:
    clips = [Clip(f"v1:{n:05d}", "v1", 30 * n, 30 * n + 30) for n in range(3)]
    relevances = (0.2, 0.5, 0.1)
    hits = [
        VideoHit("a.mp4", "v1", clip.start, clip.end, clip, 0.9, relevance=relevance)
        for clip, relevance in zip(clips, relevances, strict=True)
    ]
    shape = search_shape("x", hits, shots=[None] * 3, threshold=0.3)
    assert [found["relevance"] for found in shape["results"]] == [0.5, 0.2, 0.1]
    assert [found["relevance"] for found in search_shape("x", hits)["results"]] == [0.2, 0.5, 0.1]


def test_a_curve_keeps_its_peaks_when_it_is_thinned() -> None:
    times, scores = np.arange(1000) / 2, np.zeros(1000)
    scores[[3, 500, 999]] = 1.0, 2.0, 3.0
    shape = curve_shape(ScoreCurve("frames", times, scores), 10)
    assert len(shape["times"]) == 10
    assert shape["times"] == sorted(shape["times"])
    assert {(1.5, 1.0), (250.0, 2.0), (499.5, 3.0)} <= set(zip(shape["times"], shape["scores"], strict=True))
    assert len(curve_shape(ScoreCurve("frames", times, scores), 5000)["times"]) == 1000
    assert curve_shape(ScoreCurve("text", times[:0], scores[:0]), 2) == {
        "of": "text",
        "times": [],
        "scores": [],
    }


def test_names_that_are_not_utf8_survive_as_ascii_json() -> None:
    name = b"caf\xe9\n.mp4".decode("utf-8", "surrogateescape")
    text = to_json(search_shape("x", [VideoHit(name, "v", 0, 5, Clip("c", "v", 0, 30), 1.0)]))
    assert text.isascii()
    assert "\n" not in text
    back = json.loads(text)["results"][0]["path"]
    assert back.encode("utf-8", "surrogateescape") == b"caf\xe9\n.mp4"


def test_numbers_that_json_lacks_never_leave() -> None:
    assert plain({"a": math.nan, "b": math.inf}) == {"a": None, "b": None}
    with pytest.raises(ValueError, match="JSON compliant"):
        to_json({"a": math.nan})


@dataclass(frozen=True)
class _Report:
    where: Path
    names: frozenset[str]
    inner: tuple[Window, ...]


def test_reports_keep_their_own_names() -> None:
    report = _Report(Path("x/y"), frozenset({"b", "a"}), (Window("v", 0.0, 1.0, 0.5),))
    assert report_shape("rag.any/1", report) == {
        "schema": "rag.any/1",
        "where": "x/y",
        "names": ["a", "b"],
        "inner": [{"video_id": "v", "start": 0.0, "end": 1.0, "score": 0.5}],
    }
    with pytest.raises(TypeError, match="no JSON shape for object"):
        plain(object())
