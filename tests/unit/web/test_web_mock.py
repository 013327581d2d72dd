"""The mock web: verbs, gates, and its engine against references."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corpora.identity import content_hash
from rag.errors import AccessRefused, NoMedia, NoTranscript, PageGone, QuestionError, WebUnusable
from rag.records import VideoHit
from rag.web import PageEntry, TranscriptLine, VideoEntry, open_web, write_catalogue
from rag.web.engine import K1, Bm25, SearchEngine, words
from tests.fakes.answer_world import BagOfWords
from tests.fakes.browser_world import make_web

HOST = "https://videos.example/watch?v="
CONTENT = b"a video of bytes " * 64
COUNT = 30


@pytest.fixture
def folder(tmp_path) -> Path:
    home = tmp_path / "web"
    home.mkdir()
    (home / "video.mp4").write_bytes(CONTENT)
    said = (TranscriptLine(0.0, 2.0, "hello"),)
    first = VideoEntry(
        "v00",
        f"{HOST}v00",
        "Kettle clip number zero",
        description="long words " * 60,
        channel="Tea",
        duration=9.0,
        tags=("tea",),
        transcript=said,
        file="video.mp4",
        content_id=content_hash(home / "video.mp4"),
    )
    others = [
        replace(first, id=f"v{n:02d}", url=f"{HOST}v{n:02d}", title=f"Kettle clip number {n}", alias_of="v00")
        for n in range(1, COUNT)
    ]
    closed = [
        replace(first, id=fate, url=f"{HOST}{fate}", title=f"closed {fate}", availability=fate)
        for fate in ("dead", "private", "region-blocked", "age-gated")
    ]
    bare = VideoEntry("bare", "https://youtu.be/bare", "A page without a video")
    pages = [
        PageEntry("p", "https://pages.example/p", "Kettles", "Words. " * 80 + "Use vinegar.", "pages.example")
    ]
    write_catalogue(home, [first, *others, *closed, bare], pages)
    return home


def test_files_without_titles_are_found_by_what_is_said(folder: Path) -> None:
    web = open_web(folder, dense=False)
    heard = open_web(folder, dense=False, spoken=True)
    assert web.search_videos("hello").results == ()
    assert f"{HOST}v00" in {found.url for found in heard.search_videos("hello").results}


def test_text_pages_show_the_part_that_fits(folder: Path) -> None:
    web = open_web(folder, dense=False)
    (found,) = web.search("vinegar").results
    assert "Use vinegar." in found.description
    assert web.open(found.url).text.endswith("Use vinegar.")
    with pytest.raises(NoTranscript):
        web.transcript(found.url)
    with pytest.raises(NoMedia):
        web.download(found.url)


def test_an_address_in_any_form(folder: Path) -> None:
    web = open_web(folder, dense=False)
    for url in (f"{HOST}v00&t=30s", "http://WWW.videos.example/watch?list=x&v=v00#top", f" {HOST}v00 "):
        assert web.open(url).id == "v00"
    for url in (
        "https://youtu.be/bare?si=1",
        "https://www.youtube.com/watch?v=bare",
        "https://m.youtube.com/watch?v=bare",
    ):
        assert web.open(url).id == "bare"
    for url in ("https://elsewhere.example/", "http://[", ""):
        with pytest.raises(PageGone, match="live web is out of scope"):
            web.open(url)


def test_gates(folder: Path) -> None:
    web = open_web(folder, dense=False)
    for fate, opened, closed in (
        ("dead", False, PageGone),
        ("private", False, PageGone),
        ("region-blocked", True, AccessRefused),
        ("age-gated", True, AccessRefused),
    ):
        url = f"{HOST}{fate}"
        if opened:
            assert web.open(url).availability == fate
        else:
            with pytest.raises(PageGone):
                web.open(url)
        for verb in (web.transcript, web.download):
            with pytest.raises(closed):
                verb(url)
        assert web.search_videos(f"closed {fate}").results[0].url == url
    with pytest.raises(NoMedia):
        web.download("https://youtu.be/bare")
    with pytest.raises(NoTranscript):
        web.transcript("https://youtu.be/bare")


def test_a_download_is_the_whole_file(folder: Path) -> None:
    web = open_web(folder, dense=False)
    first = web.download(f"{HOST}v00")
    assert Path(first.path).read_bytes() == CONTENT
    assert first.video_id == content_hash(first.path) == web.video_id(f"{HOST}v07")
    assert web.video_id("https://youtu.be/bare") is None
    (folder / "video.mp4").write_bytes(b"another video")
    with pytest.raises(WebUnusable, match="build the web again"):
        web.download(f"{HOST}v00")
    (folder / "video.mp4").unlink()
    with pytest.raises(WebUnusable, match="gone"):
        web.download(f"{HOST}v00")


class FakeLibrary:
    """Finds the windows of the videos that it is given, for any query."""

    def __init__(self, video_ids: list[str]) -> None:
        self.video_ids = video_ids

    def search(self, query: str, **_: Any) -> list[VideoHit]:
        if query == "!":
            raise QuestionError("no word")
        return [VideoHit("", video_id, 0.0, 5.0, SimpleNamespace(), 1.0) for video_id in self.video_ids]


def test_what_is_in_a_video_is_found_whatever_its_title_says(tmp_path) -> None:
    plain = make_web(tmp_path / "web")
    entries = {entry.id: entry for entry in plain.catalogue.videos}
    by_title = [result.url for result in plain.search_videos("kettle video 7").results]
    held = [entries["video03"].content_id] * 2 + ["of another web"]
    library = FakeLibrary(held)
    web = open_web(tmp_path / "web", dense=False, library=library)
    first, second = (result.url for result in web.search_videos("kettle video 7").results[:2])
    assert {first, second} == {entries["video03"].url, by_title[0]}
    assert [result.url for result in web.search_videos("unheard").results] == [entries["video03"].url]
    assert web.search_videos("!").results == ()
    web = open_web(tmp_path / "web", library=library, spoken=True)
    assert [result.url for result in web.search_videos("kettle video 7").results] == [entries["video03"].url]


DOCUMENTS = (
    "kettle on the stove",
    "how to clean a kettle with vinegar and a kettle brush",
    "garden rake",
    "the kettle",
    "vinegar salad dressing with olive oil and vinegar",
)
# bm25s 0.3.16, BM25(method="lucene", k1=1.5, b=0.75), which leaves out the constant factor k1 + 1.
REFERENCE = {
    "kettle": (0.244074, 0.230999, 0.0, 0.300835, 0.0),
    "kettle vinegar": (0.244074, 0.469763, 0.0, 0.300835, 0.433222),
    "vinegar vinegar brush": (0.0, 0.855609, 0.0, 0.0, 0.866443),
    "rake the": (0.396439, 0.0, 0.773746, 0.488634, 0.0),
}


@pytest.mark.parametrize("query", REFERENCE)
def test_bm25_equals_an_independent_implementation(query: str) -> None:
    scores = Bm25([document.split() for document in DOCUMENTS]).scores(query.split())
    np.testing.assert_allclose(scores / (K1 + 1), REFERENCE[query], atol=1e-6)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("My_first Kettle-video, S01E05!", ["my", "first", "kettle", "video", "s01e05"]),
        ("東京タワー tower", ["東京", "京タ", "タワ", "ワー", "tower"]),
        ("ﬁne Ｃａｆé STRASSE straße", ["fine", "café", "strasse", "strasse"]),
        ("😱 ?!", []),
    ],
)
def test_words(text: str, cut: list[str]) -> None:
    assert words(text) == cut


TEXTS = {"c": "abba", "b": "abba", "a": "zebra abba", "d": "quiz"}


def test_equal_scores_come_in_the_order_of_ids() -> None:
    found = SearchEngine(TEXTS).rank("abba")
    assert [hit.key for hit in found] == ["b", "c", "a"]
    assert found[0].score == found[1].score > found[2].score
    assert SearchEngine(TEXTS, BagOfWords).rank("zebra")[0].key == "a"


def test_vectors_are_made_once_and_kept(tmp_path) -> None:
    first, second = BagOfWords(), BagOfWords()
    before = SearchEngine(TEXTS, lambda: first, tmp_path).rank("zebra")
    assert SearchEngine(TEXTS, lambda: second, tmp_path).rank("zebra") == before
    assert len(first.encoded) > len(second.encoded) == 1
    for path in tmp_path.iterdir():
        path.write_bytes(b"torn")
    assert SearchEngine(TEXTS, BagOfWords, tmp_path).rank("zebra") == before
