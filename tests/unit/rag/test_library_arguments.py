"""The Python API: values that no search has, and a library of which another process removes files."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.records import Passage
from rag.errors import LibraryError, QuestionError, UsageError
from rag.library import Library
from rag.records import PassageCitation, PassageHit, SearchFilter, ShotFilter, VideoCitation, passage_citation
from rag.settings import Settings, load_settings
from rag.store import head
from rag.store.writing import Writer
from tests.fakes.answer_world import BagOfWords, ImageWords, build_library
from tests.fakes.detective_world import open_world

Ask = Callable[[Any], object]


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Iterator[Library]:
    with open_world(tmp_path_factory.mktemp("arguments")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda library: library.search("hammer", kind="videos"),
            "kind: 'videos' is none of video, passage, all",
        ),
        (lambda library: library.ask(None), "the question is of type NoneType; give a text"),
        (lambda library: library.search("hammer", top_k=2.5), "top_k: 2.5 is no whole number"),
        (lambda library: library.localize(" ", "hammer"), "the name of a video is empty; give its path or"),
        (
            lambda library: library.search_image(np.zeros((8, 8), np.uint8)),
            r"of type uint8, shape \(8, 8\); give",
        ),
        (lambda library: library.ask("What?", threshold=float("nan")), r"threshold: nan is not in \[0, 1\]"),
        (lambda library: library.search("a", where=SearchFilter(shots="x")), "shots is of type str; give a"),
        (lambda library: library.remove("a\0b"), "a path has a character NUL"),
    ],
)
def test_arguments_that_nothing_can_be_found_with(library: Library, ask: Ask, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ask(library)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (SearchFilter(start=5, end=1), "end is not after start"),
        (SearchFilter(start=float("nan")), "start: nan is no time in seconds"),
        (SearchFilter(paths="*.mp4"), r"paths: give several in a tuple, or one as in \('\*\.mp4',\)"),
        (SearchFilter(kinds=frozenset(["subtitel"])), "kinds: 'subtitel' is none of subtitle, asr"),
        (ShotFilter(tone="hot"), "tone: 'hot' is none of warm, cold, neutral"),
    ],
)
def test_filters_that_would_leave_out_all_or_nothing(
    library: Library, where: SearchFilter | ShotFilter, message: str
) -> None:
    for find in (library.search, library.ask):
        with pytest.raises(UsageError, match=message):
            find("hammer", where=where)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limit": 1.5}, "limit: 1.5 is no whole number above 0"),
        ({"prune": "some"}, "prune: 'some' is none of False, True, 'all'"),
    ],
)
def test_options_that_would_index_or_remove_others_than_asked_for(tmp_path, given: Any, message: str) -> None:
    (tmp_path / "a.md").write_text("Oak.", encoding="utf-8")
    settings = load_settings(flags={"library": tmp_path / "library"})
    with pytest.raises(UsageError, match=message):
        Library.index(tmp_path, settings=settings, **given)
    assert not (tmp_path / "library").exists()


def test_a_search_by_images_without_image_embeddings_says_so(tmp_path) -> None:
    with open_world(tmp_path, images=False) as library:
        for ask in (
            lambda: library.search_like("workshop.mp4@1"),
            lambda: library.search_image(np.zeros((8, 8, 3), np.uint8)),
        ):
            with pytest.raises(LibraryError, match="this library has none; add an image encoder with: rag"):
                ask()


def test_a_closed_library_says_so(tmp_path) -> None:
    with open_world(tmp_path) as library:
        video_id = library.video_id("workshop.mp4")
    for ask in (
        lambda: library.search("hammer"),
        lambda: library.ask("What is a hammer?"),
        lambda: library.path_of(video_id),
        library.stats,
        lambda: library.remove("/videos/workshop.mp4"),
    ):
        with pytest.raises(LibraryError, match="the library is closed; open it again"):
            ask()


def test_a_window_is_printed_as_what_resolve_takes(library: Library) -> None:
    (hit,) = library.search("hammer", kind="video", top_k=1)
    assert hit.kind == "video"
    cited = library.resolve(str(hit))
    assert (str(cited), cited.kind) == (str(hit), "video")
    assert str(hit).startswith(f"{hit.path}@")
    assert str(PassageCitation("a.md", "77ab", "", "Oak.", 1.0)) == "a.md (passage 77ab)"
    assert str(PassageHit("a.md", Passage("77ab", "d", "", "Oak."), 1.0)) == "a.md (passage 77ab)"
    odd = "/v/a\tb\nc\udcff.mp4"
    assert str(VideoCitation(odd, "v", 0.0, 2.5, 1.0)) == r"/v/a\tb\nc\xff.mp4@0-2.5"
    assert str(PassageCitation(odd, "77ab", "", "Oak.", 1.0)) == r"/v/a\tb\nc\xff.mp4 (passage 77ab)"
    on_pages = PassageHit("a.pdf", Passage("77ab", "d", "", "Oak.", (4, 5)), 1.0)
    assert str(on_pages) == "a.pdf (pages 4-5, passage 77ab)"
    assert str(passage_citation("a.pdf", on_pages.passage, 1.0)) == str(on_pages)


def test_the_library_says_what_may_have_been_meant(library: Library) -> None:
    with pytest.raises(UsageError, match=r"no such video in the library; did you mean workshop\.mp4\?"):
        library.video_id("wrokshop.mp4")
    with pytest.raises(
        UsageError, match=r"index it first, if the file exists: rag index 'quite another\.mkv'"
    ):
        library.video_id("quite another.mkv")


def test_a_query_without_a_word_is_at_no_place_of_a_video(library: Library) -> None:
    for find in (library.localize, library.score_curve):
        with pytest.raises(QuestionError, match="empty"):
            find("workshop.mp4", "  ")
    assert library.localize("workshop.mp4", "a \ud800 hammer")
    assert library.search("the buttons (A) (B) of a \ud800 hammer")


SEEN = {"red": "lamp", "blue": "lamp", "green": "drill", "grey": "drill"}
SCRIPT = {name: [(0.0, 6.0, seen, f"The {name} lamp is on.")] for name, seen in SEEN.items()}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(head, "PIN_SECONDS", 0)
    return build_library(tmp_path / "library", SCRIPT, {}, ImageWords())


def without_green(folder: Path) -> None:
    """The head that a new one replaces is kept, so that it takes two runs to clean it away."""
    for name in ("green", "grey"):
        with Writer.open(folder) as writer:
            writer.remove_paths([f"/videos/{name}.mp4"])
            writer.maintain()


def test_a_question_is_asked_of_the_newest_state_where_what_it_found_is_gone(folder: Path) -> None:
    with Library.open(folder, settings=Settings()) as library:
        vars(library.engine).update(text_encoder=BagOfWords(), tower=ImageWords())
        assert library.search("the red lamp")[0].path == "/videos/red.mp4"
        without_green(folder)
        assert {hit.path for hit in library.search("the green lamp")} == {
            "/videos/red.mp4",
            "/videos/blue.mp4",
        }


@pytest.mark.parametrize("call", ["localize", "search_like"])
def test_a_video_that_is_gone_is_unknown(folder: Path, call: str) -> None:
    asked = ("green.mp4@0-6",) if call == "search_like" else ("green.mp4", "the green lamp")
    with Library.open(folder, settings=Settings()) as library:
        vars(library.engine).update(text_encoder=BagOfWords(), tower=ImageWords())
        assert library.search("the red lamp")
        without_green(folder)
        with pytest.raises(UsageError, match=r"green\.mp4"):
            getattr(library, call)(*asked)
