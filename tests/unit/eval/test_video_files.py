"""Videos found by the names that published data give them."""

from pathlib import Path

import pytest

from eval.tasks.videos import FoundVideos, VideoFiles, with_subtitles
from rag.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "videos/CgvJqGxzRfE.mp4",
        "videos/v.1.MKV",
        "videos/Holiday [abc_DEF-123].webm",
        "video/1_plotQA/movie_1.mp4",
        "video/9_summary/movie_1.mp4",
        "deep/er/clip.mov.mp4",
        "no_suffix",
        "library/own.mp4",
        ".hidden/dark.mp4",
        "videos/notes.txt",
    ):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("CgvJqGxzRfE", "videos/CgvJqGxzRfE.mp4"),
        ("./video/CgvJqGxzRfE.mp4", "videos/CgvJqGxzRfE.mp4"),
        ("https://www.youtube.com/watch?v=CgvJqGxzRfE&t=3", "videos/CgvJqGxzRfE.mp4"),
        ("https://youtu.be/abc_DEF-123", "videos/Holiday [abc_DEF-123].webm"),
        ("/home/else/1_plotQA/movie_1.mp4", "video/1_plotQA/movie_1.mp4"),
    ],
)
def test_names_in_the_forms_of_published_files(folder: Path, name: str, found: str) -> None:
    assert VideoFiles(folder).find([name]) == str(folder / found)


@pytest.mark.parametrize("name", ["cgvjqgxzrfe", "own.mp4", "dark", "notes", ".."])
def test_other_files_and_other_folders_are_not_found(folder: Path, name: str) -> None:
    with pytest.raises(LookupError, match="video missing: "):
        VideoFiles(folder).find([name])


def test_the_folder_of_the_task_decides_between_equal_names(folder: Path) -> None:
    files = VideoFiles(folder)
    assert files.find(["movie_1.mp4"], near=["9_summary"]).endswith("9_summary/movie_1.mp4")
    (folder / "video/1_plotQA/movie_1.mp4").write_text("longer than the other", encoding="utf-8")
    with pytest.raises(LookupError, match=r"two different files: video/1_plotQA.*, video/9_summary"):
        files.find(["movie_1.mp4"])
    assert files.find(["601", "", "CgvJqGxzRfE"]).endswith("CgvJqGxzRfE.mp4")


def test_subtitles_that_are_published_apart(folder: Path) -> None:
    for name in ("subtitle/CgvJqGxzRfE.srt", "videos/v.1.srt", "other/z.srt", "info/CgvJqGxzRfE.info.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    paths = {name: VideoFiles(folder).find([name]) for name in ("CgvJqGxzRfE", "v.1")}
    settings = with_subtitles(Settings(), folder, FoundVideos(paths, {}))
    assert settings.scan.subtitles == (str(folder / "subtitle"),)
