"""`rag library`: what it copies, prints and refuses, over made-up libraries."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.command import run_rag
from tests.fakes.store_material import META, add_video, fill, video, video_path


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    for name in ("left", "right"):
        fill(folder / name)
    with Writer.open(folder / "right") as writer:
        writer.remove_paths([video_path(1)])
        add_video(writer, 4)
    return folder


def test_two_libraries_become_one_and_a_part_of_it_another(home: Path) -> None:
    merged = run_rag(home, "library", "merge", "left", "right", "--into", "all")
    report = json.loads(merged.stdout)
    assert (merged.returncode, report["schema"], report["into"]) == (0, "rag.library/1", f"{home}/all")
    assert (report["files"], report["videos"], report["sources"], report["known"]) == (6, 4, 2, 0)
    again = run_rag(home, "library", "merge", "left", "--into", "all", "--text")
    assert again.returncode == 0
    assert again.stdout.startswith("copied 0 files in ")
    assert "already in the library: 5 contents\n" in again.stdout
    part = run_rag(
        home, "library", "export", "--path", "part0", "--library", "all", "--into", "part", "--text"
    )
    assert part.returncode == 0
    assert ": 2 videos of 2 min 00 s, 0 text files; the library has " in part.stdout
    with Reader.open(home / "part") as reader:
        assert reader.indexed_paths() == [video_path(2), video_path(4)]


def test_what_is_refused_says_what_to_do(home: Path) -> None:
    for words, said in (
        (["merge", "left", "left", "--into", "x"], f"{home}/left: this library is named twice"),
        (
            ["merge", "left", "--into", "left/x"],
            f"{home}/left/x and {home}/left: one is inside the other; name a folder outside",
        ),
        (["merge", "left", "--into", ".."], f"{home.parent} and {home}/left: one is inside the other"),
        (["merge", "gone", "--into", "x"], f"{home}/gone: no library here; make one with: rag index FOLDER"),
        (["export", "--library", "left", "--into", "x"], "--path GLOB is missing: which files to export"),
        (
            ["export", "--library", "left", "--into", "x", "--path", "*.mov", "--text"],
            f"no file matches *.mov in {home}/left; nothing was written",
        ),
    ):
        refused = run_rag(home, "library", *words)
        assert refused.returncode in (1, 2)
        assert refused.stderr.startswith(f"rag: {said}")
        assert len((refused.stdout + refused.stderr).splitlines()) == 1
        assert not (home / "x").exists()
    assert run_rag(home, "library", "merge", "left").returncode == 2


def test_several_libraries_are_read_as_one_where_that_is_possible(home: Path) -> None:
    both = ["--library", "left", "--library", "right"]
    for name, found in ((video_path(1), video(1)), (video_path(4), video(4))):
        shown = run_rag(home, "show", f"{name}@1-6", *both)
        assert json.loads(shown.stdout)["citation"]["video_id"] == found.video_id
    refused = run_rag(home, "remove", video_path(1), *both)
    assert refused.returncode == 2
    words = "this command takes one --library; rag library merge makes one of several"
    assert refused.stderr == f"rag: {words}\n"
    with Writer.open(home / "slow") as writer:
        writer.set_meta(replace(META, settings={"video.rate": 1.0}))
    unlike = run_rag(home, "search", "lamp", "--library", "left", "--library", "slow")
    assert unlike.returncode == 1
    assert unlike.stderr == (
        f"rag: {home}/slow: made with video.rate = 1.0, and {home}/left with 2.0; "
        "index its files into a new library with that value\n"
    )
