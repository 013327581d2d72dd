"""Outputs: what is replaced, what never is, and that a file is whole or not there."""

import os
from pathlib import Path

import pytest

from corpora.outputs import (
    OverwritePolicy,
    atomic_file,
    atomic_write_text,
    check_output,
    output_folder,
    replace_file,
)
from rag.errors import UsageError

FORCE = OverwritePolicy(force=True)


def test_a_file_that_exists_is_replaced_by_force_alone(tmp_path) -> None:
    path = tmp_path / "a.html"
    path.touch()
    check_output(path)
    path.write_bytes(b"Dear Ann")
    refused = r"a\.html: exists; name another file, or replace it with --force$"
    with pytest.raises(UsageError, match=refused), replace_file(path):
        pass
    assert path.read_bytes() == b"Dear Ann"
    check_output(path, taken_up=True)
    with replace_file(path, FORCE) as draft:
        draft.write_bytes(b"new")
    assert path.read_bytes() == b"new"


def links(folder: Path, path: Path) -> list[Path]:
    """The file by a symbolic link, a hard link, a linked folder and a detour."""
    (folder / "soft").symlink_to(path)
    os.link(path, folder / "hard")
    (folder / "door").symlink_to(path.parent, target_is_directory=True)
    (folder / "sub").mkdir()
    detour = folder / "sub" / ".." / path.name
    return [path, folder / "soft", folder / "hard", folder / "door" / path.name, detour]


@pytest.mark.parametrize("policy", [OverwritePolicy(), FORCE])
def test_an_input_is_refused_by_every_path(tmp_path, policy: OverwritePolicy) -> None:
    path = tmp_path / "page.html"
    path.write_text("page")
    for other in links(tmp_path, path):
        for output, given in ((other, path), (path, other)):
            with pytest.raises(UsageError, match="is an input of this command"):
                check_output(output, policy.with_inputs(given), taken_up=True)
    with pytest.raises(UsageError, match="is an input of this command"):
        check_output(tmp_path / "none", policy.with_inputs(tmp_path / "sub" / ".." / "none"))


@pytest.mark.parametrize("force", [False, True])
def test_an_indexed_file_is_refused_by_every_path(tmp_path, force: bool) -> None:
    path = tmp_path / "page.html"
    path.write_text("page")
    policy = OverwritePolicy(force, indexed=lambda output: output.samefile(path))
    for other in links(tmp_path, path):
        with pytest.raises(UsageError, match="is indexed in the library"):
            check_output(other, policy)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"old")

    def fail() -> None:
        with replace_file(path, FORCE) as draft:
            draft.write_bytes(b"half")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        fail()
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]
    assert path.read_bytes() == b"old"


def test_a_symbolic_link_stays_and_permissions_are_kept(tmp_path) -> None:
    path, link = tmp_path / "kept" / "a.txt", tmp_path / "a.txt"
    path.parent.mkdir()
    path.write_text("old")
    path.chmod(0o600)
    link.symlink_to(path)
    atomic_write_text(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    mask = os.umask(0o027)
    try:
        atomic_write_text(tmp_path / "b.txt", "new")
    finally:
        os.umask(mask)
    assert (tmp_path / "b.txt").stat().st_mode & 0o777 == 0o640


def test_devices_are_written_to_and_stay() -> None:
    with replace_file("/dev/null") as draft:
        draft.write_bytes(b"image")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(OSError, match="No space"), atomic_file("/dev/full") as draft:
        draft.write_bytes(b"image")
    assert Path("/dev/full").is_char_device()


def fill(folder: Path, policy: OverwritePolicy | None = None, *, shared: bool = False, **files: str) -> None:
    with output_folder(folder, policy or OverwritePolicy(), shared=shared) as draft:
        for name, text in files.items():
            (draft / "sub").mkdir(exist_ok=True)
            (draft / "sub" / name).write_text(text)


def test_a_folder_is_written_again_by_force_alone(tmp_path) -> None:
    home = tmp_path / "report"
    fill(home, a="1", b="2")
    with pytest.raises(UsageError, match=r"report: is not empty; name a new or empty folder, or .* --force"):
        fill(home, a="3")
    fill(home, FORCE, a="3")
    assert {path.name: path.read_text() for path in (home / "sub").iterdir()} == {"a": "3", "b": "2"}


@pytest.mark.parametrize(("below", "head"), [("", "head.json"), ("reports/new", "head.spare.json")])
def test_a_folder_in_a_library_is_refused_before_anything_is_made(tmp_path, below: str, head: str) -> None:
    (tmp_path / head).touch()
    (tmp_path / "tables").mkdir()
    for shared in (False, True):
        with pytest.raises(UsageError, match="is inside the library"):
            fill(tmp_path / below, FORCE, shared=shared, a="1")
    assert sorted(path.name for path in tmp_path.iterdir()) == [head, "tables"]


def test_files_of_a_folder_that_are_inputs_or_indexed_are_refused(tmp_path) -> None:
    fill(tmp_path, a="1")
    path = tmp_path / "sub" / "a"
    with pytest.raises(UsageError, match="is an input"):
        fill(tmp_path, FORCE.with_inputs(path), a="2")
    with pytest.raises(UsageError, match="is indexed"):
        fill(tmp_path, OverwritePolicy(True, indexed=path.samefile), a="2")
