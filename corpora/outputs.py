"""Files and folders that users name as outputs: the one rule for what may be replaced, and atomic writes.

An output never replaces an input of the same command, a file that the library has indexed, or a file that
this program did not write in the same format; `OverwritePolicy(force=True)` (`--force`) lifts all three.
Symbolic links, hard links and other spellings of a path count as the same file. What is written appears
whole, by a draft beside it and a rename; a symbolic link stays, and what it points to is replaced. Devices
and pipes (`/dev/null`, `/dev/stdout`) hold nothing to lose and are written to directly, empty files hold
nothing to lose either.

How a file of ours is recognized, by its content alone:

    PNG         a `Software` text chunk with the program's name
    MP4         the container's `comment` tag
    HTML        `<meta name=generator content="offline-video-rag">`
    TRACE       the first line has `"schema": "rag.trace/1"`
    RECORDING   the first line is that of a recording
    ANSWERS     JSON lines with `<name>.manifest.json` beside them, which `eval.batches` compares
    TREC        lines end with the tag `rag`, and the windows of the same run are beside it: a TREC run has
                no place for more
    a folder    `.offline-video-rag.json` in it lists the files that were written with their SHA-256: Markdown
                and CSV have no place for a mark, and what was edited by hand since is no longer ours

Recordings and answers are appended to; `force` empties answers that were made otherwise (`eval.batches`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from corpora.errors import UsageError, file_error
from corpora.identity import file_sha256

PROGRAM = "offline-video-rag"
FOLDER_MANIFEST = f".{PROGRAM}.json"
FOLDER_SCHEMA = "rag.outputs/1"
TRACE_SCHEMA = "rag.trace/1"
BATCH_SCHEMA = "rag.batch/1"
RESULTS_SCHEMA = "rag.eval.results/1"
"""Of `results.json` of a run folder (`eval.runs.runner`)."""
RECORDING_HEAD = '{"recording": "rag.recording/1"}'
GENERATOR = f'<meta name=generator content="{PROGRAM}">'
CHARSET = "<meta charset=utf-8>"
HEAD_BYTES = 1 << 16
"""What is read of a file to recognize it; of an MP4 all that describes it."""
LARGEST_MOOV = 64 << 20

StrPath = str | os.PathLike[str]


LIBRARY_MARKER = "rag-library.json"
"""Name of the file that marks the folder of a library (`rag.store.layout`)."""
LIBRARY_TABLES = ("meta", "files", "videos", "clips", "problems")
"""Tables without vectors, which a library has from its first moment; one without marker is known by them."""


def is_library(folder: StrPath) -> bool:
    """Whether a local folder has the marker of a library, or folders of all its tables."""
    tables = (os.path.join(folder, "tables", f"{name}.lance") for name in LIBRARY_TABLES)
    return os.path.isfile(os.path.join(folder, LIBRARY_MARKER)) or all(map(os.path.isdir, tables))


@dataclass(frozen=True, slots=True)
class OverwritePolicy:
    """What outputs of one command must not replace."""

    force: bool = False
    """Replace anything."""
    inputs: tuple[StrPath, ...] = ()
    """Files that the command reads."""
    indexed: Callable[[], Iterable[str]] = lambda: ()
    """Paths of the files in the library; called only where an output exists already."""

    def with_inputs(self, *paths: StrPath) -> OverwritePolicy:
        """The same policy with more paths that must not be replaced."""
        return OverwritePolicy(self.force, (*self.inputs, *paths), self.indexed)


DEFAULT_POLICY = OverwritePolicy()


@dataclass(frozen=True, slots=True)
class Format:
    """A file format, and how a file of it is recognized as written by this program."""

    name: str
    is_ours: Callable[[Path], bool] = field(repr=False)
    suffix: str = ""
    """What a name must end in that ends in letters; empty: anything."""


def check_output(path: StrPath, form: Format, policy: OverwritePolicy = DEFAULT_POLICY) -> None:
    """Raises `UsageError`, which says what to do, where `path` must not be written."""
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"{target}: is a folder; name a file")
    if policy.force or _is_special(target):
        return
    _check_protected(target, policy)
    if form.suffix and target.suffix[1:].isalpha() and target.suffix.lower() != form.suffix:
        raise UsageError(f"{target}: {form.name} is written, whose name ends in {form.suffix}")
    if _size(target) and not _recognized(form, target):
        raise UsageError(
            f"{target}: exists, and is not {form.name} written by this program; "
            "name another file, or replace it with --force"
        )


def check_outputs(policy: OverwritePolicy, *outputs: tuple[StrPath | None, Format]) -> None:
    """`check_output` for all outputs of a command (None: not asked for), which must be different files."""
    seen: list[StrPath] = []
    for path, form in outputs:
        if path is None:
            continue
        check_output(path, form, policy)
        if not _is_special(Path(path)) and any(_same_file(path, other) for other in seen):
            raise UsageError(f"{path}: is named for two outputs; name two files")
        seen.append(path)


def claim_appended(path: StrPath, form: Format, policy: OverwritePolicy = DEFAULT_POLICY) -> None:
    """`check_output` for a file that is appended to; `force` empties one that is not ours."""
    check_output(path, form, policy)
    target = Path(path)
    if policy.force and target.is_file() and _size(target) and not _recognized(form, target):
        atomic_write_text(target, "")


@contextlib.contextmanager
def replace_file(path: StrPath, form: Format, policy: OverwritePolicy = DEFAULT_POLICY) -> Iterator[Path]:
    """`check_output`, then `atomic_file`: the way to write an output that a user named."""
    check_output(path, form, policy)
    with atomic_file(path) as draft:
        yield draft


def open_output(path: StrPath, form: Format, policy: OverwritePolicy = DEFAULT_POLICY) -> TextIO:
    """A UTF-8 stream into a new, empty file at `path`, for output that is read while it is written.

    The old file is replaced at once and whole, so that other hard links of it keep their content. Raises
    `UsageError` as `check_output` does, and `OSError`.
    """
    check_output(path, form, policy)
    if _is_special(Path(path)):
        return open(path, "w", encoding="utf-8", newline="\n")
    with atomic_file(path):
        pass
    return open(path, "a", encoding="utf-8", newline="\n")


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
    """An empty draft folder; at the end its files move into `folder`, and its manifest lists them.

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
        _publish(draft, home, policy)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if fresh:
            with contextlib.suppress(OSError):
                home.rmdir()


def check_output_folder(
    folder: StrPath, policy: OverwritePolicy = DEFAULT_POLICY, names: Iterable[str] | None = None
) -> None:
    """Raises `UsageError` where files must not be written into `folder`.

    It must be new, empty, or carry our manifest; or, where `names` are given (relative, with `/`), only
    these files of it must not exist or be as this program wrote them.
    """
    home = Path(folder)
    if home.exists() and not home.is_dir():
        raise UsageError(f"{home}: is a file; name a folder")
    if policy.force:
        return
    held = _read_manifest(home)
    if names is None and held is None and holds_files(home):
        raise UsageError(
            f"{home}: is not empty, and was not written by this program; name a new or empty folder, "
            "or write into it with --force"
        )
    for name in names or ():
        path = home / name
        if path.is_dir():
            raise UsageError(f"{path}: is a folder where a file is to be written; name another folder")
        _check_protected(path, policy)
        if _size(path) and _sha256(path) not in (held or {}).get(name, ()):
            raise UsageError(
                f"{path}: exists, and is not as this program wrote it; name another folder, "
                "or replace it with --force"
            )


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


def mark_html(page: str) -> str:
    """The page with the mark by which it is recognized, after its declaration of the character set."""
    return page.replace(CHARSET, CHARSET + GENERATOR, 1)


def _publish(draft: Path, home: Path, policy: OverwritePolicy) -> None:
    made = {path.relative_to(draft).as_posix(): path for path in sorted(draft.rglob("*")) if path.is_file()}
    check_output_folder(home, policy, made)
    held = _read_manifest(home) or {}
    new = {name: [_sha256(path)] for name, path in made.items()}
    # Killed in between, each file is the old or the new one, and both are listed.
    _write_manifest(home, held | {name: [*held.get(name, ()), *new[name]] for name in new})
    for name, path in made.items():
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, os.path.realpath(target))
    _write_manifest(home, {name: value for name, value in held.items() if (home / name).is_file()} | new)


def _read_manifest(home: Path) -> dict[str, list[str]] | None:
    """File name to the SHA-256 that it may have; None where the folder has no manifest of ours."""
    try:
        content = json.loads((home / FOLDER_MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or content.get("schema") != FOLDER_SCHEMA:
        return None
    return {name: value for name, value in files.items() if isinstance(value, list)}


def _write_manifest(home: Path, files: Mapping[str, list[str]]) -> None:
    shape = {"schema": FOLDER_SCHEMA, "program": PROGRAM, "files": dict(sorted(files.items()))}
    atomic_write_text(home / FOLDER_MANIFEST, json.dumps(shape, indent=1) + "\n")


def _check_protected(target: Path, policy: OverwritePolicy) -> None:
    """Raises `UsageError` where `target` is an input, an indexed file, or inside a library."""
    for folder in Path(os.path.realpath(target)).parents:
        if is_library(folder):
            raise UsageError(f"{target}: is inside the library {folder}; name a file elsewhere")
    for path in policy.inputs:
        if _same_file(target, path):
            raise UsageError(
                f"{target}: is an input of this command; name another file, or replace it with --force"
            )
    if _size(target) is not None and any(_same_file(target, path) for path in policy.indexed()):
        raise UsageError(
            f"{target}: is indexed in the library; name another file, or replace it with --force"
        )


def _same_file(one: StrPath, other: StrPath) -> bool:
    """Whether two paths are one file: by its number on the disk, or by name where one is missing."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _size(path: Path) -> int | None:
    """Bytes; None where there is nothing."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def _is_special(path: Path) -> bool:
    """A device, a pipe or a socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _recognized(form: Format, path: Path) -> bool:
    try:
        return form.is_ours(path)
    except OSError:
        return False


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _first_line(path: Path) -> Any:
    """Of JSON lines; None where it is no JSON. A first line of any length is read whole."""
    with path.open("rb") as file:
        if file.read(1) != b"{":
            return None
        file.seek(0)
        try:
            return json.loads(file.readline())
        except (ValueError, RecursionError):
            return None


def _sha256(path: Path) -> str:
    try:
        return file_sha256(path)
    except OSError:
        return ""


def _is_our_png(path: Path) -> bool:
    head = _head(path)
    return head.startswith(b"\x89PNG\r\n\x1a\n") and b"tEXtSoftware\0" + PROGRAM.encode() in head


def _is_our_mp4(path: Path) -> bool:
    """The comment of iTunes' metadata, `moov/udta/meta/ilst/(c)cmt/data`, in whatever order boxes come."""
    comment = re.compile(rb"\xa9cmt....data.{8}" + re.escape(PROGRAM.encode()), re.DOTALL)
    with path.open("rb") as file:
        while len(header := file.read(8)) == 8:
            size, kind, taken = int.from_bytes(header[:4], "big"), header[4:], 8
            if size == 1:
                size, taken = int.from_bytes(file.read(8), "big"), 16
            if kind == b"moov":
                return comment.search(file.read(min(max(size - taken, 0), LARGEST_MOOV))) is not None
            if size < taken:
                return False
            file.seek(size - taken, os.SEEK_CUR)
    return False


def _is_our_trace(path: Path) -> bool:
    first = _first_line(path)
    return isinstance(first, dict) and first.get("schema") == TRACE_SCHEMA


def _is_our_recording(path: Path) -> bool:
    """A killed run may have left a part of the first line."""
    head, whole = _head(path), f"{RECORDING_HEAD}\n".encode()
    return whole.startswith(head) or head.startswith(whole)


def _is_our_answers_manifest(path: Path) -> bool:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("schema") == BATCH_SCHEMA


def _is_our_trec(path: Path) -> bool:
    first = _head(path).split(b"\n", 1)[0].split()
    windows = path.with_name(f"{path.name.removesuffix('.trec')}.windows.jsonl")
    manifest = windows.with_name(f"{windows.name}.manifest.json")
    return (
        len(first) == 6 and first[5] == b"rag" and manifest.is_file() and _is_our_answers_manifest(manifest)
    )


PNG = Format("a PNG image", _is_our_png, ".png")
MP4 = Format("an MP4 clip", _is_our_mp4, ".mp4")
CALIBRATION = Format("a calibration", lambda path: b'"rag.calibration/1"' in _head(path))
HTML = Format("an HTML page", lambda path: GENERATOR.encode() in _head(path))
TRACE = Format("a trace", _is_our_trace)
RECORDING = Format("a recording", _is_our_recording)
ANSWERS = Format(
    "a file of answers with its manifest", lambda path: path.with_name(f"{path.name}.manifest.json").is_file()
)
ANSWERS_MANIFEST = Format("the manifest of a file of answers", _is_our_answers_manifest)
TREC = Format("a TREC run with its windows", _is_our_trec)
