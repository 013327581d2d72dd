"""The Workbench: what reports rest on keeps its bytes, and a web is made once, with copies at their speed."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.identity import content_hash
from corpora.video.reader import MediaReader
from eval.workbench.catalogue import ACTIONS, KINDS, PROPS, SPLITS
from eval.workbench.event_scene import GESTURES
from eval.workbench.jobs import CorpusPlan, Job, truth, video_jobs
from eval.workbench.long_videos import Card
from eval.workbench.near_duplicates import Change
from eval.workbench.passages import world_passages
from eval.workbench.pen import Look, Pen
from eval.workbench.renderer import FrameRenderer
from eval.workbench.seeds import stable_number
from eval.workbench.story import plan_clip
from eval.workbench.strokes import STROKES, draw
from eval.workbench.video import AUDIO_RATE, Render
from eval.workbench.web import Upload, make_web
from rag.errors import UsageError
from rag.web import open_web


def test_a_world_without_families_keeps_its_bytes() -> None:
    """Who changes them makes all reports on the Workbench again, and then writes the new digest here."""
    digest = hashlib.sha256()
    plan = CorpusPlan(seed=7, split="test", clips=4, long_minutes=(1.0,))
    for job in video_jobs(plan):
        digest.update(json.dumps([truth(job), job.seconds]).encode())
    for job in video_jobs(plan)[:4]:
        renderer = FrameRenderer(job.clip(), 54)
        for second in range(0, 30, 3):
            digest.update(renderer.frame(second + 0.1).tobytes())
    assert digest.hexdigest()[:16] == "e17b812f3e66c440"


def test_the_stories_of_every_split_keep_their_bytes() -> None:
    """They name nothing that is used in a description, and share no look between splits."""
    digest = hashlib.sha256()
    for split in SPLITS:
        for number in range(150):
            digest.update(repr(plan_clip(stable_number(11, split, number), split)).encode())
    assert digest.hexdigest()[:16] == "9584878195641563"


def test_all_that_a_story_names_is_drawn() -> None:
    places = {place for one in ACTIONS for place in one.places} - {"person"}
    poses = {pose for one in GESTURES.values() for pose in (one.pose, one.other)} - {""}
    things = {one.kind_id for one in KINDS}
    named = {"things": things, "fixtures": places, "decor": set(PROPS), "hands": poses}
    assert {kind: set(drawings) for kind, drawings in STROKES.items()} == named
    for kind, drawings in STROKES.items():
        for name in drawings:
            for form in (0, 5):
                draw(kind, name, Pen(32), Look(form=form, stretch=form / 5))


def test_the_statements_are_those_of_the_reports() -> None:
    """Who changes them measures retrieval and agreement again, and then writes the new digest here."""
    digest = hashlib.sha256()
    for passage in world_passages():
        for statement in passage.statements:
            said = (passage.passage_id, statement.fact, *statement.counterfacts)
            digest.update("\x1f".join(said).encode())
    assert digest.hexdigest()[:16] == "e687cdf101c43efa"


PLAN = CorpusPlan(3, "test", 0, Render(72, fps=2))
VIDEO = Job("web", "a.mp4", 1_000_000, 0.5, PLAN, cards=(Card(2.0, 6.0, "Locker K4711"),))
COPY = Job("copy", "b.mp4", 0, 0.5, PLAN, VIDEO, Change((0.05, 0.0, 0.95, 0.9), "warmer", 0.9, 54, 30))
ORIGINAL = Upload("original", "What is in my locker", "", "two left hands", ("locker",), "2020-05-17", VIDEO)
MIRROR = replace(ORIGINAL, id="mirror", alias_of="original")
UPLOADS = [ORIGINAL, MIRROR, replace(MIRROR, id="copy", video=COPY)]


@pytest.mark.slow
def test_a_web_is_made_once_and_browsed(tmp_path) -> None:
    assert VIDEO.video().cards[-1].text == "Locker K4711"
    home = tmp_path / "web"
    assert make_web(home, UPLOADS, workers=1) == 2
    lines = (home / "web.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    assert [rows[name]["file"][-5:] for name in ("original", "mirror", "copy")] == ["a.mp4", "a.mp4", "b.mp4"]
    for row in rows.values():
        assert row["content_id"] == content_hash(home / row["file"])
    web = open_web(home, dense=False)
    found = {one.id: one for one in web.search_videos("my locker").results}["original"]
    assert (found.url, found.duration) == (ORIGINAL.url, 30.0)
    assert web.download(ORIGINAL.url).video_id == web.video_id(ORIGINAL.url)
    before = {path: path.read_bytes() for path in home.glob("*.jsonl")}
    assert make_web(home, UPLOADS) == 0
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(UsageError, match="other arguments"):
        make_web(home, UPLOADS[:1], workers=1)
    _check_copy(home, rows["copy"]["duration"])


def _check_copy(home: Path, duration: float) -> None:
    """It shows the same, at other times, and sounds as long."""
    assert duration == pytest.approx(30.0 / 0.9, abs=0.5)
    with MediaReader() as reader:
        samples = sum(len(block) for block in reader.audio(str(home / "videos" / COPY.name)))
    assert samples / AUDIO_RATE == pytest.approx(duration, abs=0.5)
    for event, before in zip(truth(COPY)["events"], truth(VIDEO)["events"], strict=True):
        assert event["rewritten"] == before["rewritten"]
        assert event["start"] * 0.9 == pytest.approx(before["start"], abs=0.01)
