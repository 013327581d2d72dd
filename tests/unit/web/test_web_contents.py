"""A web whose videos are searched by what a library holds of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from rag.errors import QuestionError
from rag.library import Library
from rag.records import VideoHit
from rag.web import open_web
from tests.fakes.browser_world import make_web


class FakeLibrary:
    """Finds the windows of the videos that it is given, for any query."""

    def __init__(self, video_ids: list[str]) -> None:
        self.video_ids = video_ids

    def search(self, query: str, **_: Any) -> list[VideoHit]:
        if query == "!":
            raise QuestionError("no word")
        return [
            VideoHit("", video_id, 0.0, 5.0, cast(Any, SimpleNamespace()), 1.0) for video_id in self.video_ids
        ]


def test_what_is_in_a_video_is_found_whatever_its_title_says(tmp_path: Path) -> None:
    with make_web(tmp_path / "web") as plain:
        entries = {entry.id: entry for entry in plain.catalogue.videos}
        by_title = [result.url for result in plain.search_videos("kettle video 7").results]
    held = [entries["video03"].content_id] * 2 + ["of another web"]
    library = cast(Library, FakeLibrary(held))
    with open_web(tmp_path / "web", engine="bm25", library=library) as web:
        first, second = (result.url for result in web.search_videos("kettle video 7").results[:2])
        assert {first, second} == {entries["video03"].url, by_title[0]}
        assert [result.url for result in web.search_videos("unheard").results] == [entries["video03"].url]
        assert web.search_videos("!").results == ()
        assert web.fingerprint != plain.fingerprint
