"""Outputs: what is replaced, what never is, and that a file is whole or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from corpora.outputs import (
    ANSWERS,
    HTML,
    MP4,
    PNG,
    RECORDING,
    RECORDING_HEAD,
    TRACE,
    TREC,
    Format,
    OverwritePolicy,
    atomic_file,
    atomic_write_text,
    check_output,
    check_output_folder,
    check_outputs,
    claim_appended,
    mark_html,
    open_output,
    output_folder,
    replace_file,
)
from corpora.video.reader import cut_clip
from rag.agents.runtime.trace import Step, TraceWriter
from rag.errors import UsageError
from rag.rendering.contact_sheet import save_png
from tests.fakes.synthetic import write_video

FORCE = OverwritePolicy(force=True)


def make_clip(path: Path) -> None:
    source = path.with_name("source.mp4")
    write_video(source, 2)
    cut_clip(source, 0.0, 1.0, path)


def make_image(path: Path) -> None:
    save_png(Image.new("RGB", (4, 4)), path)


def make_page(path: Path) -> None:
    path.write_text(mark_html("<!doctype html><html lang=en><meta charset=utf-8><p>"), encoding="utf-8")


def make_trace(path: Path) -> None:
    with TraceWriter(path) as trace:
        trace.write(Step(1, "plan", "one query"))


def make_recording(path: Path) -> None:
    path.write_text(RECORDING_HEAD + "\n", encoding="utf-8")


def make_answers(path: Path) -> None:
    path.write_text('{"question_id": "a"}\n', encoding="utf-8")
    path.with_name(path.name + ".manifest.json").write_text('{"schema": "rag.batch/1"}', encoding="utf-8")


def make_run(path: Path) -> None:
    path.write_text("q Q0 d 1 0.5 rag\n", encoding="utf-8")
    make_answers(path.with_name(path.name + ".windows.jsonl"))


OURS: list[tuple[Format, Callable[[Path], None]]] = [
    (PNG, make_image),
    (MP4, make_clip),
    (HTML, make_page),
    (TRACE, make_trace),
    (RECORDING, make_recording),
    (ANSWERS, make_answers),
    (TREC, make_run),
]


@pytest.mark.parametrize(("form", "make"), OURS)
def test_a_file_of_ours_is_recognized_by_its_content(
    form: Format, make: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "out"
    make(path)
    check_output(path, form)
    for other, _ in OURS:
        if other is not form and not (form is TREC and other is ANSWERS):
            with pytest.raises(UsageError, match="name another file, or replace it with --force"):
                check_output(path, other)


@pytest.mark.parametrize("form", [form for form, _ in OURS])
@pytest.mark.parametrize(
    "content",
    [
        b"Dear Ann,\n",
        b"\x89PNG\r\n\x1a\n" + b"\0" * 64,
        b"\0\0\0\x08ftyp\0\0\0\x00moov",
        b"\xff" * 100,
        b"<!doctype html><p>",
        b'{"number": 1, "kind": "plan"}\n',
        b"q Q0 d 1 0.5 rag\n",
        b"[" * 100_000,
    ],
)
def test_other_peoples_files_are_refused(form: Format, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="written by this program") as refused, replace_file(path, form):
        pass
    assert str(refused.value).count("\n") == 0
    assert path.read_bytes() == content
    with replace_file(path, form, FORCE) as draft:
        draft.write_bytes(b"new")
    assert path.read_bytes() == b"new"


def test_an_edited_image_of_another_program_is_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    Image.new("RGB", (4, 4)).save(path)
    with pytest.raises(UsageError, match="is not a PNG image"):
        make_image(path)


def links(folder: Path, path: Path) -> list[Path]:
    """The file by a symbolic link, a hard link, a linked folder and a detour."""
    (folder / "soft").symlink_to(path)
    os.link(path, folder / "hard")
    (folder / "door").symlink_to(path.parent, target_is_directory=True)
    (folder / "sub").mkdir()
    detour = folder / "sub" / ".." / path.name
    return [path, folder / "soft", folder / "hard", folder / "door" / path.name, detour]


def test_an_input_is_refused_by_every_path(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    make_page(path)
    for other in links(tmp_path, path):
        with pytest.raises(UsageError, match="is an input of this command"):
            check_output(other, HTML, OverwritePolicy(inputs=(path,)))
        with pytest.raises(UsageError, match="is an input of this command"):
            check_output(path, HTML, OverwritePolicy(inputs=(other,)))
        check_output(other, HTML, OverwritePolicy(True, (path,)))
    with pytest.raises(UsageError, match="is an input of this command"):
        check_output(tmp_path / "none", HTML, OverwritePolicy(inputs=(tmp_path / "sub" / ".." / "none",)))


def test_an_indexed_file_is_refused_by_every_path(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    make_page(path)
    policy = OverwritePolicy(indexed=lambda: [str(tmp_path / "gone"), str(path)])
    for other in links(tmp_path, path):
        with pytest.raises(UsageError, match="is indexed in the library"):
            check_output(other, HTML, policy)


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(UsageError, match="is named for two outputs"):
        check_outputs(FORCE, (tmp_path / "a", HTML), (None, PNG), (tmp_path / "b", TRACE))
    check_outputs(FORCE, ("/dev/null", HTML), ("/dev/null", TRACE))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file"):
        check_output(tmp_path, HTML, FORCE)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    make_page(path)
    old = path.read_bytes()

    def fail() -> None:
        with replace_file(path, HTML) as draft:
            draft.write_bytes(b"half")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        fail()
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]
    assert path.read_bytes() == old


def test_a_symbolic_link_stays_and_permissions_are_kept(tmp_path: Path) -> None:
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
    with replace_file("/dev/null", PNG) as draft:
        draft.write_bytes(b"image")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(OSError, match="No space"), atomic_file("/dev/full") as draft:
        draft.write_bytes(b"image")
    assert Path("/dev/full").is_char_device()


def test_a_stream_replaces_a_file_but_not_its_hard_links(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    make_trace(path)
    os.link(path, tmp_path / "b.jsonl")
    with open_output(path, TRACE) as stream:
        stream.write("new\n")
    assert path.read_text() == "new\n"
    assert "plan" in (tmp_path / "b.jsonl").read_text()


def test_a_recording_of_ours_is_kept_and_another_file_emptied_by_force_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    make_recording(path)
    claim_appended(path, RECORDING, FORCE)
    assert path.read_text() == RECORDING_HEAD + "\n"
    path.write_text("letters\n")
    with pytest.raises(UsageError, match="is not a recording"):
        claim_appended(path, RECORDING)
    claim_appended(path, RECORDING, FORCE)
    assert path.read_bytes() == b""


def fill(folder: Path, policy: OverwritePolicy | None = None, *, shared: bool = False, **files: str) -> None:
    with output_folder(folder, policy or OverwritePolicy(), shared=shared) as draft:
        for name, text in files.items():
            (draft / "sub").mkdir(exist_ok=True)
            (draft / "sub" / name).write_text(text)


def test_a_folder_of_ours_is_written_again(tmp_path: Path) -> None:
    home = tmp_path / "report"
    fill(home, a="1", b="2")
    fill(home, a="3")
    assert sorted(path.name for path in home.rglob("*") if path.is_file()) == [
        ".offline-video-rag.json",
        "a",
        "b",
    ]
    assert (home / "sub" / "a").read_text() == "3"
    (home / "sub" / "b").write_text("edited by hand")
    with pytest.raises(UsageError, match=r"b: exists, and is not as this program wrote it"):
        fill(home, a="4", b="5")
    assert (home / "sub" / "a").read_text() == "3"
    fill(home, FORCE, a="4", b="5")
    fill(home, a="6", b="7")
    assert (home / "sub" / "b").read_text() == "7"


def test_a_folder_of_another_program_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "mine"
    home.mkdir()
    (home / ".git").mkdir()
    (home / "empty").touch()
    check_output_folder(home)
    (home / "notes.md").write_text("mine")
    with pytest.raises(UsageError, match="is not empty, and was not written by this program"):
        fill(home, a="1")
    with pytest.raises(UsageError, match="is a file; name a folder"):
        fill(home / "notes.md", a="1")
    fill(home, shared=True, a="1")
    (home / "sub" / "b").write_text("mine")
    with pytest.raises(UsageError, match="b: exists, and is not as this program wrote it"):
        fill(home, shared=True, b="1")
    assert (home / "sub" / "b").read_text() == "mine"
    assert (home / "notes.md").read_text() == "mine"


def test_files_of_a_folder_that_are_inputs_or_indexed_are_refused(tmp_path: Path) -> None:
    fill(tmp_path, a="1")
    path = tmp_path / "sub" / "a"
    with pytest.raises(UsageError, match="is an input"):
        fill(tmp_path, OverwritePolicy(inputs=(path,)), a="2")
    with pytest.raises(UsageError, match="is indexed"):
        fill(tmp_path, OverwritePolicy(indexed=lambda: [str(path)]), a="2")


def test_a_folder_that_failed_is_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="half"), output_folder(tmp_path / "new"):
        raise ValueError("half")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_killed_between_two_files_is_still_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "report"
    fill(home, a="1", b="2")
    replace, moved = os.replace, []

    def killed(source: Path, target: Path) -> None:
        if Path(target).name == "b":
            raise KeyboardInterrupt
        moved.append(target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        fill(home, a="3", b="4")
    monkeypatch.undo()
    assert [(home / "sub" / name).read_text() for name in "ab"] == ["3", "2"]
    fill(home, a="5", b="6")
    assert [(home / "sub" / name).read_text() for name in "ab"] == ["5", "6"]
    manifest = json.loads((home / ".offline-video-rag.json").read_text())
    assert {name: len(held) for name, held in manifest["files"].items()} == {"sub/a": 1, "sub/b": 1}
