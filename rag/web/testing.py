"""The contract of a `Web`: a suite that any package can run over its own class with pytest.

    class TestMyWeb(WebContract):
        def open_web(self, folder: Path) -> Web:
            return MyWeb(...)

The web of the suite holds `VIDEO`, `SILENT` and `PAGE`, and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from rag.errors import NoMedia, NoTranscript, PageGone, UsageError
from rag.web import Web

VIDEO = "https://videos.example/watch?v=kettle"
"""Title "boiling kettle"; the line "water boils" is spoken at 1 s to 2 s; 4 bytes of file."""
SILENT = "https://videos.example/watch?v=silent"
"""Title "silent kettle"; without a transcript and without a file."""
PAGE = "https://pages.example/kettles"
"""Title "Kettles", text "A kettle boils water."."""
GONE = "https://videos.example/watch?v=gone"
"""Nothing."""
CONTENT = b"mp4!"


class WebContract(ABC):
    """Eight tests; a subclass opens the web."""

    @abstractmethod
    def open_web(self, folder: Path) -> Web:
        """A web of the four addresses above; `folder` is empty."""

    def test_videos_are_ranked_from_one_with_addresses(self, tmp_path: Path) -> None:
        """Videos are ranked from one with addresses."""
        web = self.open_web(tmp_path)
        page = web.search_videos("kettle")
        assert [result.rank for result in page.results] == list(range(1, len(page.results) + 1))
        assert {result.url for result in page.results} == {VIDEO, SILENT}
        assert (page.page, page.total, page.next_page) == (1, 2, None)
        assert web.search_videos("zeppelin").results == ()

    def test_results_come_in_pages(self, tmp_path: Path) -> None:
        """Results come in pages."""
        web = self.open_web(tmp_path)
        first = web.search_videos("kettle", page_size=1)
        second = web.search_videos("kettle", page=2, page_size=1)
        assert (first.next_page, second.next_page) == (2, None)
        assert [result.rank for result in (*first.results, *second.results)] == [1, 2]
        assert _raises(UsageError, lambda: web.search_videos("kettle", page=0))

    def test_pages_of_text_are_searched_and_opened(self, tmp_path: Path) -> None:
        """Pages of text are searched and opened."""
        web = self.open_web(tmp_path)
        (result,) = web.search("kettle").results
        assert (result.url, result.kind) == (PAGE, "text")
        page = web.open(result.url)
        assert (page.title, page.text, page.kind) == ("Kettles", "A kettle boils water.", "text")

    def test_a_transcript_is_in_time_order(self, tmp_path: Path) -> None:
        """A transcript is in time order."""
        web = self.open_web(tmp_path)
        lines = web.transcript(VIDEO).lines
        assert [(line.start, line.end, line.text) for line in lines] == [(1.0, 2.0, "water boils")]
        assert _raises(NoTranscript, lambda: web.transcript(SILENT))

    def test_a_download_is_whole_and_named_by_its_content(self, tmp_path: Path) -> None:
        """A download is whole and named by its content."""
        web = self.open_web(tmp_path)
        first, second = web.download(VIDEO), web.download(VIDEO)
        assert Path(first.path).read_bytes() == CONTENT
        assert first.bytes == len(CONTENT)
        assert first.video_id == second.video_id == web.video_id(VIDEO)
        assert (first.cached, second.cached) == (False, True)
        assert _raises(NoMedia, lambda: web.download(SILENT))
        assert _raises(NoMedia, lambda: web.download(PAGE))
        assert web.video_id(SILENT) is None

    def test_an_unknown_address_is_gone(self, tmp_path: Path) -> None:
        """An unknown address is gone."""
        web = self.open_web(tmp_path)
        assert _raises(PageGone, lambda: web.open(GONE))
        assert _raises(PageGone, lambda: web.transcript(GONE))
        assert _raises(PageGone, lambda: web.download(GONE))

    def test_every_call_is_one_line_of_the_trace(self, tmp_path: Path) -> None:
        """Every call is one line of the trace."""
        web = self.open_web(tmp_path)
        web.search_videos("kettle")
        web.open(VIDEO)
        assert _raises(PageGone, lambda: web.download(GONE))
        web.video_id(VIDEO)
        events = [(event.number, event.operation, event.outcome) for event in web.trace.events]
        assert events == [(1, "search_videos", "ok"), (2, "open", "ok"), (3, "download", "PageGone")]

    def test_the_same_web_has_the_same_fingerprint(self, tmp_path: Path) -> None:
        """The same web has the same fingerprint."""
        web = self.open_web(tmp_path)
        again = self.open_web(tmp_path / "again")
        assert web.fingerprint
        assert web.fingerprint == again.fingerprint
        assert web.search_videos("kettle") == again.search_videos("kettle")
        again.close()


def _raises(error: type[Exception], call: Callable[[], object]) -> bool:
    try:
        call()
    except error:
        return True
    return False
