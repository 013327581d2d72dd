"""The JSON that leaves the program, key by key, and its escapes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from corpora.records import Clip
from rag.records import ScoreCurve, VideoHit
from rag.rendering.shapes import curve_shape, plain, search_shape, to_json


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
