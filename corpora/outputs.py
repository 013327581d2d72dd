"""Files and folders that users name as outputs: what may be replaced, and atomic writes.

What exists is replaced with `OverwritePolicy(force=True)` (`--force`) alone; empty files, and devices and
pipes (`/dev/null`, `/dev/stdout`), hold nothing to lose. An input of the same command, a file that the
library has indexed, and what is inside a library are never replaced. Symbolic links, hard links and other
spellings of a path count as the same file. What is written appears whole, by a draft beside it and a rename;
a symbolic link stays, and what it points to is replaced.

Answers with their manifest (`eval.batches`) are taken up again: they are appended to.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpora.errors import UsageError, file_error
from corpora.kinds import sidecar_base

PROGRAM = "offline-video-rag"

StrPath = str | os.PathLike[str]

LIBRARY_HEAD, SPARE_HEAD = "head.json", "head.spare.json"
"""Name of the file that names the versions of a library's tables, beside their folder."""


def is_library(folder: StrPath) -> bool:
    """Whether a local folder is that of a library: `head.json` or its copy, and a folder of tables."""
    heads = (os.path.join(folder, name) for name in (LIBRARY_HEAD, SPARE_HEAD))
    return any(map(os.path.isfile, heads)) and os.path.isdir(os.path.join(folder, "tables"))


@dataclass(frozen=True, slots=True)
class OverwritePolicy:
    """What outputs of one command must not replace."""

    force: bool = False
    """Replace what exists, but for inputs, indexed files and libraries."""
    inputs: tuple[StrPath, ...] = ()
    """Files that the command reads."""
    indexed: Callable[[Path], bool] = lambda _: False
    """Whether the library was made from a file, or a video of it would take it for its sidecar; asked of
    an output that exists already, and of one with the name of a sidecar."""

    def with_inputs(self, *paths: StrPath) -> OverwritePolicy:
        """The same policy with more paths that must not be replaced."""
        return replace(self, inputs=(*self.inputs, *paths))


DEFAULT_POLICY = OverwritePolicy()


def check_output(path: StrPath, policy: OverwritePolicy = DEFAULT_POLICY, *, taken_up: bool = False) -> None:
    """Raises `UsageError`, which says what to do, where `path` must not be written.

    `taken_up`: what the file holds is kept, so that it may exist.
    """
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"{target}: is a folder; name a file")
    if _is_special(target):
        return
    _require_no_library(target, Path(os.path.realpath(target)).parents)
    if any(same_file(target, path) for path in policy.inputs):
        raise UsageError(f"{target}: is an input of this command; name another file")
    exists = target.exists()
    if (exists or sidecar_base(target.name) is not None) and policy.indexed(target):
        what = "is indexed in the library" if exists else "would be taken for a file of an indexed video"
        raise UsageError(f"{target}: {what}; name another file")
    if _holds_bytes(target) and not (policy.force or taken_up):
        raise UsageError(f"{target}: exists; name another file, or replace it with --force")


def check_outputs(
    policy: OverwritePolicy, *outputs: StrPath | None, taken_up: Sequence[StrPath | None] = ()
) -> None:
    """`check_output` for all outputs of a command (None: not asked for), which must be different files."""
    seen: list[StrPath] = []
    for place, path in enumerate((*outputs, *taken_up)):
        if path is None:
            continue
        check_output(path, policy, taken_up=place >= len(outputs))
        if not _is_special(Path(path)) and any(same_file(path, other) for other in seen):
            raise UsageError(f"{path}: is named for two outputs; name two files")
        seen.append(path)


@contextlib.contextmanager
def replace_file(path: StrPath, policy: OverwritePolicy = DEFAULT_POLICY) -> Iterator[Path]:
    """`check_output`, then `atomic_file`: the way to write an output that a user named."""
    check_output(path, policy)
    with atomic_file(path) as draft:
        yield draft


@contextlib.contextmanager
def atomic_file(path: StrPath) -> Iterator[Path]:
    """An empty draft beside `path`, renamed to it at the end; removed where an error is raised.

    Without a rule of what may be replaced: for files in a folder of ours. The permissions are those of the
    file that is replaced, else the usual ones of a new file. Raises `OSError`.
    """
    target = Path(os.path.realpath(path))
    special = _is_special(Path(path))
    folder = Path(tempfile.gettempdir()) if special else target.parent
    draft = folder / f".part-{secrets.token_hex(6)}{target.suffix}"
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield draft
        if special:
            with draft.open("rb") as source, open(path, "wb") as sink:
                shutil.copyfileobj(source, sink)
            return
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(target, draft)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def atomic_write_text(path: StrPath, text: str) -> None:
    """`atomic_file` with a text: UTF-8, line ends as they are. Raises `OSError`."""
    with atomic_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def output_folder(
    folder: StrPath, policy: OverwritePolicy = DEFAULT_POLICY, *, shared: bool = False
) -> Iterator[Path]:
    """An empty draft folder; at the end its files move into `folder`.

    `shared`: the folder may hold other files, which stay. Raises `UsageError` as `check_output_folder` does
    for the files that were made, before any of them is moved, and `OSError`.
    """
    home = Path(folder)
    check_output_folder(home, policy, () if shared else None)
    fresh = not home.exists()
    home.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".part-", dir=home))
    try:
        yield draft
        made = {path.relative_to(draft): path for path in sorted(draft.rglob("*")) if path.is_file()}
        check_output_folder(home, policy, map(os.fspath, made))
        for name, path in made.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, os.path.realpath(home / name))
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if fresh:
            with contextlib.suppress(OSError):
                home.rmdir()


def check_output_folder(
    folder: StrPath, policy: OverwritePolicy = DEFAULT_POLICY, names: Iterable[str] | None = None
) -> None:
    """Raises `UsageError` where files must not be written into `folder`.

    It must be new or empty; or, where `names` are given (relative), only these files of it must not exist.
    """
    home = Path(folder)
    if home.exists() and not home.is_dir():
        raise UsageError(f"{home}: is a file; name a folder")
    real = Path(os.path.realpath(home))
    _require_no_library(home, (real, *real.parents))
    if names is None and not policy.force and holds_files(home):
        raise UsageError(f"{home}: is not empty; name a new or empty folder, or write into it with --force")
    for name in names or ():
        check_output(home / name, policy)


def _require_no_library(output: Path, folders: Iterable[Path]) -> None:
    for folder in folders:
        if is_library(folder):
            raise UsageError(f"{output}: is inside the library {folder}; name an output elsewhere")


def holds_files(folder: StrPath) -> bool:
    """Whether a folder holds more than hidden entries and empty files; False where there is no folder."""
    try:
        with os.scandir(folder) as entries:
            return any(
                not entry.name.startswith(".")
                and not (entry.is_file() and entry.stat(follow_symlinks=True).st_size == 0)
                for entry in entries
            )
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise file_error(folder, error, "read") from error


def same_file(one: StrPath, other: StrPath) -> bool:
    """Whether two paths are one file: by its number on the disk, or by name where one is missing."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _holds_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _is_special(path: Path) -> bool:
    """A device, a pipe or a socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
