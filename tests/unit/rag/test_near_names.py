"""A mistyped name of a video: which names are like it, and that every command that takes one says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag._cli.main import main
from rag.errors import QuestionError, UsageError
from rag.library import Library
from rag.store.filters import nearest_names
from tests.fakes.detective_world import open_world

PATHS = ("/a/talk on Bees.mp4", "/a/talk on trees.mkv", "/a/2/intro.mp4", "/a/1/intro.mp4", "/a/lamp.webm")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_world(tmp_path_factory.mktemp("names")) as opened:
        yield opened


def test_the_most_alike_comes_first_whatever_its_capitals_and_folder() -> None:
    assert nearest_names("videos/Talk on bee.mp4", PATHS)[0] == "talk on Bees.mp4"
    assert nearest_names("talk on trees.mp4", PATHS) == ["talk on trees.mkv", "talk on Bees.mp4"]


def test_no_ending_is_needed_and_a_wrong_one_does_no_harm() -> None:
    assert nearest_names("lmap", PATHS) == nearest_names("lamp.mp4", PATHS) == ["lamp.webm"]


def test_names_that_several_files_have_are_given_whole() -> None:
    assert nearest_names("intor.mp4", PATHS) == ["/a/1/intro.mp4", "/a/2/intro.mp4"]


def test_nothing_is_named_that_is_not_like_it() -> None:
    assert nearest_names("zzzz.mp4", PATHS) == []
    assert nearest_names("", PATHS) == nearest_names("x.mp4", ()) == []


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


@pytest.mark.parametrize(
    "line",
    [
        ["shots", "wrokshop.mp4"],
        ["localize", "wrokshop.mp4", "a hammer"],
        ["show", "wrokshop.mp4@0-5"],
        ["agent", "video-detective", "wrokshop.mp4", "What is shown?"],
    ],
)
def test_every_command_that_takes_a_video_says_so(
    library: Library, line: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Library, "open", lambda *_, **__: library)
    monkeypatch.setattr(library, "close", lambda: None, raising=False)
    assert main(line) == 2
    assert "did you mean workshop.mp4?" in capsys.readouterr().err


def test_a_file_beside_the_library_is_still_to_be_indexed(library: Library, tmp_path: Path) -> None:
    (tmp_path / "wrokshop.mp4").touch()
    with pytest.raises(UsageError, match="rag index"):
        library.video_id(str(tmp_path / "wrokshop.mp4"))
