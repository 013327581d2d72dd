"""A web built from a library: a video found on it has the library's stored vectors."""

from __future__ import annotations

from pathlib import Path

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
        with open_web(tmp_path / "web", engine="bm25") as web:
            found = web.search_videos("kettle").results[0]
            assert web.transcript(found.url).text == "Fill the kettle with water."
            got = web.download(found.url)
            assert web.video_id(found.url) == got.video_id
            video = library.engine.reader.video(got.video_id)
            assert library.engine.reader.clips(video.video_id)[0].end == 4.0
            assert (video.path, found.duration) == (str(videos / "kettle.mp4"), video.duration)
            assert web.search("lime").results[0].title == "Kettles"


def test_hybrid_search_on_the_real_encoder_is_the_same_twice(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        '{"id": "a", "link": "https://v.example/watch?v=a", "title": "Boiling water for tea"}\n'
        '{"id": "b", "link": "https://v.example/watch?v=b", "title": "A football match"}\n'
        '{"id": "c", "link": "https://v.example/watch?v=c", "title": "Kettle repair"}\n',
        encoding="utf-8",
    )
    build_web(tmp_path / "web", [tmp_path / "rows.jsonl"])
    runs = [open_web(tmp_path / "web").search_videos("kettle").results for _ in range(2)]
    assert runs[0] == runs[1]
    assert [result.id for result in runs[0]] == ["c", "a", "b"]
