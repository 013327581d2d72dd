"""The Workbench web: made once a video, and open to inserted uploads."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.identity import content_hash
from eval.workbench.long_videos import Card
from eval.workbench.video import Render
from eval.workbench.web import Upload, UploadMetadata, WebPlan, make_web, new_video, video_name
from rag.errors import UsageError
from rag.web import open_web

TINY = WebPlan(
    seed=3,
    videos=2,
    minutes=(0.5,),
    reuploads=0.5,
    mirrors=0.5,
    noise=1,
    dead=0.0,
    private=0.0,
    render=Render(72, fps=2),
)


def inserted() -> Upload:
    card = Card(2.0, 6.0, "Locker K4711")
    return Upload(
        id=video_name("a benchmark", 1),
        metadata=UploadMetadata("What is in my locker", "", "two left hands", ("locker",)),
        upload_date=datetime.date(2020, 5, 17),
        video=new_video(TINY, 1_000_000, 0.5, cards=(card,)),
    )


@pytest.mark.slow
def test_a_web_is_made_once_and_browsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.workbench.near_duplicates.HEIGHTS", (54, 90))
    own = inserted()
    assert own.video.video().cards[-1].text == "Locker K4711"
    assert make_web(tmp_path / "web", TINY, inserted=[own], workers=1) == 5
    rows = [
        json.loads(line) for line in (tmp_path / "web" / "web.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    files = Counter(row["file"] for row in rows)
    assert sorted(files.values()) == [1, 1, 1, 1, 2]
    for row in rows:
        assert row["content_id"] == content_hash(tmp_path / "web" / row["file"])
    web = open_web(tmp_path / "web", engine="bm25")
    found = web.search_videos("my locker").results[0]
    assert (found.url, found.duration) == (own.url, 30.0)
    assert web.download(own.url).video_id == web.video_id(own.url)
    before = {path: path.read_bytes() for path in (tmp_path / "web").glob("*.jsonl")}
    assert make_web(tmp_path / "web", TINY, inserted=[own]) == 0
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(UsageError, match="other arguments"):
        make_web(tmp_path / "web", TINY, workers=1)
    with pytest.raises(UsageError, match="share an id"):
        make_web(tmp_path / "other", TINY, inserted=[own, replace(own)], workers=1)
