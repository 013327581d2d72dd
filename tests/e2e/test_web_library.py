"""A web built from a library: a video found on it has the library's stored vectors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from eval.tasks.web_task import WebEnvironment
from indexers.settings import EncoderSettings
from rag.library import Library
from rag.settings import Settings
from rag.web import open_web
from rag.web.building import build_web
from tests.fakes.synthetic import write_video


def test_a_video_of_the_web_is_a_video_of_the_library(tmp_path: Path) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    write_video(videos / "kettle.mp4", 4.0, subtitles=[(0.5, 3.0, "Fill the kettle with water.")])
    write_video(videos / "silent.mp4", 3.0, fps=5)
    (videos / "note.md").write_text("# Kettles\n\nVinegar takes the lime off.\n", encoding="utf-8")
    settings = Settings(library=tmp_path / ".rag", encoder=EncoderSettings(image="none"))
    Library.index([videos], settings=settings)
    with Library.open(settings=settings) as library:
        report = build_web(tmp_path / "web", library=library)
        assert (report.videos, report.with_file, report.with_transcript, report.pages) == (2, 2, 1, 1)
        assert report.problems == ()
        web = open_web(tmp_path / "web", engine="bm25")
        found = web.search_videos("kettle").results[0]
        assert web.transcript(found.url).text == "Fill the kettle with water."
        got = web.download(found.url)
        assert web.video_id(found.url) == got.video_id
        video = library.engine.reader.video(got.video_id)
        assert library.engine.reader.clips(video.video_id)[0].end == 4.0
        assert (video.path, found.duration) == (str(videos / "kettle.mp4"), video.duration)
        assert web.search("lime").results[0].title == "Kettles"


def test_a_file_that_was_replaced_is_no_video_of_the_library(tmp_path: Path) -> None:
    """The web names a copy, and none of what looks at its frames reads the other content."""
    videos = tmp_path / "videos"
    videos.mkdir()
    write_video(videos / "a.mp4", 4.0, subtitles=[(0.5, 3.0, "Fill the kettle with water.")])
    shutil.copy(videos / "a.mp4", videos / "b.mp4")
    settings = Settings(library=tmp_path / ".rag", encoder=EncoderSettings(image="none"))
    Library.index([videos], settings=settings)
    other: Any = None
    with Library.open(settings=settings) as library:
        (video,) = library.engine.reader.videos()
        given = WebEnvironment(other, other, other, library)
        write_video(videos / "a.mp4", 3.0, fps=5)
        report = build_web(tmp_path / "web", library=library)
        assert (report.videos, report.problems) == (1, ())
        web = open_web(tmp_path / "web", engine="bm25")
        assert web.download(web.catalogue.videos[0].url).video_id == video.video_id
        assert given.path_of(video.video_id) == str(videos / "b.mp4")
        write_video(videos / "b.mp4", 3.0, fps=6)
        (videos / "note.md").write_text("# Kettles\n", encoding="utf-8")
        (problem,) = build_web(tmp_path / "other", [videos / "note.md"], library=library).problems
        assert problem.reason.startswith("the file is gone or changed; ")
        assert given.path_of(video.video_id) is None
