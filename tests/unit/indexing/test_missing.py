"""Which files count as gone, and when `--prune` is refused."""

import os

import pytest

from rag.indexing.missing import find_missing, is_gone, prune_refusal


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def lstat(_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("rag.indexing.missing.os.lstat", lstat)


@pytest.mark.parametrize(
    "name", ["EACCES", "EIO", "ESTALE", "ENOTCONN", "ETIMEDOUT", "ELOOP", "ENAMETOOLONG"]
)
def test_what_cannot_be_read_is_not_gone(monkeypatch, name: str) -> None:
    import errno

    failing(monkeypatch, getattr(errno, name))
    assert not is_gone("/corpus/a.mp4")


def test_a_deleted_file_is_gone_and_so_is_one_in_a_deleted_folder(tmp_path) -> None:
    (tmp_path / "file").touch()
    assert is_gone(str(tmp_path / "a.mp4"))
    assert is_gone(str(tmp_path / "no" / "such" / "a.mp4"))
    assert is_gone(os.path.join(tmp_path, *["a"] * 1500, "a.mp4"))
    assert is_gone(str(tmp_path / "file" / "a.mp4"))
    assert not is_gone(str(tmp_path / "file"))


def test_what_is_behind_a_broken_link_is_not_gone(tmp_path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "unmounted")
    (tmp_path / "a.mp4").symlink_to(tmp_path / "unmounted" / "a.mp4")
    assert not is_gone(str(tmp_path / "a.mp4"))
    assert not is_gone(str(tmp_path / "link" / "deep" / "a.mp4"))


def test_only_what_is_below_the_roots_and_was_not_found_is_missing(tmp_path) -> None:
    (tmp_path / "left out.mp4").touch()
    root = f"{tmp_path}/"
    known = [f"{root}b.mp4", f"{root}a.mp4", f"{root}found.mp4", f"{root}left out.mp4", f"{tmp_path}2/c.mp4"]
    assert find_missing(known, {f"{root}found.mp4"}, [root]) == [f"{root}a.mp4", f"{root}b.mp4"]


def test_more_than_half_is_refused_and_half_is_not(tmp_path) -> None:
    (tmp_path / "stray.txt").touch()
    known = [f"{tmp_path}/{number}.mp4" for number in range(4)]
    assert prune_refusal(known, known[:2], [], [str(tmp_path)]) == ""
    refusal = prune_refusal(known, known[:3], [], [str(tmp_path)])
    assert refusal.startswith(f"{tmp_path}: 3 of 4 files")
    assert "--prune-all" in refusal
    assert prune_refusal(known, known[:3], known[:1], [str(tmp_path)]) == ""
    # Each root is judged by itself, with a slash behind it or without.
    other = [f"/elsewhere/{number}.mp4" for number in range(99)]
    assert prune_refusal([*known, *other], known[:3], [], ["/elsewhere", f"{tmp_path}/"]).startswith(
        f"{tmp_path}/: 3 of 4"
    )
