"""ShotFinder's benchmark: published rows in both spellings, the sampled plan, the rules of counting."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.metrics.agreement import Agreement
from eval.tasks.shotfinder.dataset import QUOTA, Place, ShotQuery
from eval.tasks.shotfinder.scorer import JudgedFrame, failed_stage, true_moment, true_shot
from eval.tasks.shotfinder.task import open_folder
from rag.agents.shotfinder.constraints import Constraints

CARD: dict[str, Any] = {
    "id": "youtube_1",
    "Video URL": "https://v.example/1",
    "Description": "Temporal",
    "Clip Description": "a man sits down",
    "Temporal Description": ["a door opens", "he reads"],
}
PAPER: dict[str, Any] = {
    "id": "youtube_2",
    "video_link": "https://v.example/2",
    "resolution": "1080P",
    "segment_description_en": "a lion in a cage",
    "color_description_en": "The overall tone is warm.",
    "audio_description_en": "",
}


def rows(folder: Path, *found: dict[str, Any], lines: bool = False) -> list[ShotQuery]:
    path = folder / ("rows.jsonl" if lines else "rows.json")
    text = "\n".join(json.dumps(row) for row in found) if lines else json.dumps(list(found))
    path.write_text(text, encoding="utf-8")
    return list(open_folder(folder).load_rows([path]).records.values())


def test_both_spellings_are_read(tmp_path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "youtube_1.jpg").write_bytes(b"x")
    shot = {**CARD, "id": 3, "Description": ""}
    colour = {**CARD, "id": "4", "Description": "Color", "Color Description": "cold and blue"}
    one, two, three, four = rows(tmp_path, CARD, PAPER, shot, colour)
    assert (one.task, one.constraint, one.image) == (
        "temporal",
        "a door opens\nhe reads",
        "images/youtube_1.jpg",
    )
    assert one.constraints == Constraints(after="a door opens", before="he reads")
    assert (two.task, two.description, two.image) == ("color", "a lion in a cage", "")
    assert two.constraints.color == "warm"
    assert (three.query_id, three.task, three.constraints) == ("3", "shot", Constraints())
    assert four.constraints.color == "cold"
    assert not one.gold.timed
    assert one.gold.urls == ("https://v.example/1",)


def test_the_balanced_140(tmp_path) -> None:
    """Every topic once without a constraint; of a constraint every value alike, over as many topics."""
    tones = {"warm": "a warm tone", "cold": "cold light", "neutral": "a neutral tone"}
    published = [
        {**PAPER, "id": f"{topic} {task} {tone} {at}", "category": topic, "task": task}
        | {"color_description_en": words}
        for topic in map(str, range(20))
        for at in range(2)
        for task, tone, words in [("shot", "", ""), *(("color", *each) for each in tones.items())]
    ]
    rows(tmp_path, *published)
    task = open_folder(tmp_path, "7")
    chosen = task.choose(task.load_rows([tmp_path / "rows.json"]).records).values()
    assert task.name == "shotfinder-balanced7"
    assert Counter(one.topic for one in chosen if one.task == "shot") == dict.fromkeys(map(str, range(20)), 1)
    assert Counter(one.constraints.color for one in chosen if one.task == "color") == dict.fromkeys(tones, 8)
    for tone in tones:
        assert len({one.topic for one in chosen if one.constraints.color == tone}) == 8
    assert sum(QUOTA.values()) == 140


GOLD = Place("gold", ("https://v.example/gold",), 4.0, 8.0)
ASKED = ShotQuery("q", "color", "a kettle", "warm", GOLD, twins=(Place("twin", ("u",), 4.0, 8.0),))


def a_look(video: str, frame: float | None) -> dict[str, Any]:
    found = None if frame is None else [4.0, frame, 8.0]
    return {"url": f"https://v.example/{video}", "video_id": video, "found": found}


def test_truth_is_the_right_shot_of_the_right_video() -> None:
    assert true_shot(ASKED, "gold", 4.0)
    assert not true_shot(ASKED, "gold", 8.0)
    assert not true_shot(ASKED, "twin", 5.0)
    assert true_moment(ASKED, "twin", 5.0)
    assert not true_moment(ASKED, "twin", 9.0)
    unknown = replace(ASKED, gold=Place("gold", ("u",)))
    assert true_shot(unknown, "gold", 5.0) is None


def test_each_failure_has_its_stage() -> None:
    def stage(*looks: dict[str, Any], query: str = "kettle tips") -> str:
        return failed_stage(ASKED, looks, [query], ["Kettle tips nobody tells you"])

    assert stage(a_look("gold", 5.0)) == "verifier"
    assert stage(a_look("gold", 20.0)) == "localizer"
    assert stage(a_look("gold", None)) == "localizer"
    assert stage(a_look("twin", 5.0)) == "retriever"
    assert stage(query="sora demo") == "generator"


def test_strict_wants_both_and_lenient_either() -> None:
    text_alone = JudgedFrame(True, False, None, 0.8, 0.3, truth=False, moment=True)
    assert (text_alone.strict, text_alone.lenient, text_alone.by_clip) == (False, True, True)
    both = replace(text_alone, image=True, clip_image=0.69)
    assert (both.strict, both.lenient, both.by_clip) == (True, True, False)
    assert replace(both, constraint=False).strict is False
    assert replace(both, constraint=True).strict is True
    nothing = JudgedFrame(None, None, None, None, None, None, None)
    assert (nothing.strict, nothing.lenient, nothing.by_clip) == (None, None, None)
    alone = replace(nothing, text=True)
    assert (alone.strict, alone.lenient) == (None, True)
    assert replace(alone, text=False).strict is None


def test_agreement_by_hand() -> None:
    found = Agreement(both=4, only_rule=2, only_truth=1, neither=3, hits=())
    assert found.n == 10
    assert found.precision == pytest.approx(4 / 6)
    assert found.recall == pytest.approx(4 / 5)
    assert found.kappa == pytest.approx((0.7 - 0.5) / 0.5)
