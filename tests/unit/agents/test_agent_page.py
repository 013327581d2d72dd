"""What an agent's command writes: its page, and the files of its web."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.outputs import OverwritePolicy
from eval.workbench.story import plan_clip
from eval.workbench.video import Render, clip_frames, write_video
from rag._cli.agent_environment import citation, local_path, write_page
from rag.web import open_web
from rag.web.building import build_web


@pytest.mark.parametrize("path", ["/nope/x.html", "/dev/full"])
def test_a_page_that_cannot_be_written_is_one_line(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert write_page(Path(path), OverwritePolicy(), lambda: "<p>") == 3
    assert capsys.readouterr().err.startswith(f"rag: {path}: cannot be written: no s")


def test_a_file_of_a_made_web_is_cited_by_its_own_path(tmp_path: Path) -> None:
    story, render = plan_clip(1, "dev", duration=2), Render(120, 2)
    video = tmp_path / "videos" / "kettle.mp4"
    video.parent.mkdir()
    write_video(video, clip_frames(story, render), iter(()), render)
    build_web(tmp_path / "web", [video.parent])
    with open_web(tmp_path / "web", engine="bm25") as web:
        (entry,) = web.catalogue.videos
        assert local_path(web, made=True)(entry.url) == str(video)
        assert local_path(web, made=True)("https://videos.example/another") == ""
        # The files of a frozen web are its own affair.
        assert local_path(web, made=False)(entry.url) == ""
    assert citation(str(video), 1.5, 2.0) == f"{video}@1.5-2"
    assert citation(str(video), 10234.567, 10240.5) == f"{video}@10234.567-10240.5"
