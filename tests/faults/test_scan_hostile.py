"""A tree full of traps: each is reported in one line, none does harm, the rest is found."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora.scan import scan


def reasons(root: Path) -> dict[str, str]:
    found = scan(root)
    assert len({problem.path for problem in found.problems}) == len(found.problems)
    return {os.path.relpath(p.path, root): f"{p.reason} ({p.action})" for p in found.problems}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    (tmp_path / "good.mp4").write_bytes(b"x")
    return tmp_path


def found_names(root: Path) -> list[str]:
    return [os.path.relpath(file.path, root) for file in scan(root).files]


def test_pipes_and_sockets_are_reported_and_never_opened(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(good / "pipe.mp4")
    os.mkfifo(good / "unknown")
    monkeypatch.chdir(good)  # a socket's path may be no longer than 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock.mkv")
        assert reasons(good) == {
            "pipe.mp4": "a named pipe, not a file; it was not opened (skipped)",
            "sock.mkv": "a socket, not a file; it was not opened (skipped)",
        }
    assert found_names(good) == ["good.mp4"]


def test_folder_links_are_not_followed(good: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "far.mp4").write_bytes(b"x")
    (good / "sub").mkdir()
    (good / "sub" / "up").symlink_to("..")
    (good / "sub" / "self").symlink_to(".")
    (good / "alias").symlink_to("sub")
    (good / "away").symlink_to(outside)
    assert reasons(good) == {
        "away": f"a link to the folder {outside} (not followed; name that folder to index it)",
        "sub/self": "a link to a folder that contains it (not followed)",
        "sub/up": "a link to a folder that contains it (not followed)",
    }
    assert found_names(good) == ["good.mp4"]


def test_file_links_are_found_under_their_own_path(good: Path) -> None:
    (good / "link.mp4").symlink_to("good.mp4")
    (good / "broken.mp4").symlink_to("nowhere.mp4")
    (good / "lost").symlink_to("unmounted")
    (good / "a.mp4").symlink_to("b.mp4")
    (good / "b.mp4").symlink_to("a.mp4")
    assert found_names(good) == ["good.mp4", "link.mp4"]
    assert reasons(good) == {
        "broken.mp4": "a broken link to nowhere.mp4 (skipped)",
        "lost": "a broken link to unmounted (skipped)",
        "a.mp4": "a link that leads in a circle (skipped)",
        "b.mp4": "a link that leads in a circle (skipped)",
    }


@pytest.mark.parametrize("held", [4096, 0])
def test_empty_and_hollow_files_are_reported(good: Path, held: int) -> None:
    (good / "empty.mp4").touch()
    with (good / "hollow.mp4").open("wb") as file:
        file.write(b"x" * held)
        file.truncate(10 * 2**30)
    reported = reasons(good)
    assert reported["empty.mp4"] == "empty, 0 bytes (skipped)"
    assert reported["hollow.mp4"].startswith("hollow: claims 10,737,418,240 bytes and holds ")
    assert found_names(good) == ["good.mp4"]


def test_a_sparse_file_that_holds_enough_is_no_giant(good: Path) -> None:
    with (good / "sparse.mp4").open("wb") as file:
        file.write(b"x" * 4 * 2**20)
        file.truncate(300 * 2**20)
    assert found_names(good) == ["good.mp4", "sparse.mp4"]


def test_unreadable_files_and_folders_are_reported(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read anything, so the refusal is played here."""
    (good / "secret.mp4").write_bytes(b"x")
    (good / "locked").mkdir()
    (good / "locked" / "in.mp4").write_bytes(b"x")
    really_may, really_list = os.access, os.scandir

    def access(path: str, mode: int) -> bool:
        return not str(path).endswith("secret.mp4") and really_may(path, mode)

    def listing(path: str) -> Iterator[os.DirEntry[str]]:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return really_list(path)

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(os, "scandir", listing)
    assert reasons(good) == {
        "locked": "folder: permission denied (skipped with all it holds)",
        "secret.mp4": "permission denied (skipped)",
    }
    assert found_names(good) == ["good.mp4"]


def test_what_vanishes_during_the_walk_is_passed_over(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (good / "sub").mkdir()
    (good / "sub" / "late.mp4").write_bytes(b"x")
    (good / "going.mp4").write_bytes(b"x")
    really_list = os.scandir

    def listing(path: str) -> Iterator[os.DirEntry[str]]:
        entries = really_list(path)
        if str(path) == str(good):
            (good / "going.mp4").unlink(missing_ok=True)
            (good / "sub" / "late.mp4").unlink(missing_ok=True)
        return entries

    monkeypatch.setattr(os, "scandir", listing)
    found = scan(good)
    assert [Path(file.path).name for file in found.files] == ["good.mp4"]
    assert found.problems == ()


def test_a_tree_deeper_than_the_stack_is_walked(tmp_path: Path) -> None:
    before, depth = os.getcwd(), 1500
    try:
        os.chdir(tmp_path)
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("deep.mp4").write_bytes(b"x")
        found = scan(tmp_path)
        # pytest's own clearing away of old folders would not get down there.
        os.unlink("deep.mp4")
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")
    finally:
        os.chdir(before)
    assert [Path(file.path).name for file in found.files] == ["deep.mp4"]
