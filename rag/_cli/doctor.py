"""`rag doctor`: check the environment, the model weights and the library."""

from __future__ import annotations

import importlib
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from corpora.entry_points import all_entry_points, own_entry_points
from corpora.errors import os_reason
from corpora.escaping import visible
from corpora.objects import ConditionsIgnored, StoreError, open_store
from corpora.platforms import has_no_inodes
from corpora.sandbox import why_network
from rag._cli.options import option
from rag._cli.output import echo_stderr, is_confirmed
from rag._cli.progress import CountProgress
from rag._cli.session import Session, with_session
from rag.checks import Check
from rag.errors import LibraryCorrupt, LibraryNotFound, RagError
from rag.rendering.shapes import plain
from rag.rendering.terminal import byte_count, table_lines

if TYPE_CHECKING:
    from rag.store.checking import Repair
    from rag.store.layout import Location

REQUIRED = ("av", "faiss", "lancedb", "llama_index.core", "numpy", "PIL", "pyarrow", "tokenizers", "torch")
"""Modules that every command on a library needs."""
OPTIONAL = {
    "decord": "it has wheels for Linux on x86-64 alone, and PyAV decodes",
    "cv2": "OCR needs it: pip install -e '.[ocr]' (in the checkout)",
    "torchvision": "only openclip and imagebind need it",
}
EXTENSIONS = (
    "rag.image_encoders",
    "rag.text_encoders",
    "rag.decoders",
    "rag.document_readers",
    "rag.reasoners",
    "rag.tasks",
    "rag.solvers",
)
"""Groups of entry points."""


@with_session()
def doctor(
    session: Session,
    repair: Annotated[
        bool, option("--repair", "Go back to the last state that can be read, or drop what cannot be read.")
    ] = False,
    yes: Annotated[
        bool, option("--yes", "With --repair, do not ask before erasing what cannot be indexed again.")
    ] = False,
    settings: Annotated[
        bool, option("--settings", "List the settings in effect and what sets each, instead.")
    ] = False,
) -> int:
    """Check the environment, the weights and the library. Exit 1 if something is broken.

    With --repair it repairs the library, and checks only that.
    """
    if settings:
        _list_settings(session)
        return 0
    if repair:
        if not _repair(session, yes=yes):
            return 1
        findings = [*_library(session)]
        return _report(session, findings)
    findings = [
        *_environment(),
        *_extensions(),
        *_network(),
        *_weights(session),
        *store_findings(session),
        *_library(session),
    ]
    return _report(session, findings)


def _list_settings(session: Session) -> None:
    from rag.settings import resolved_settings

    found = [*resolved_settings(session.settings, session.config)]
    rows = [[each.name, json.dumps(plain(each.value), ensure_ascii=False), each.source] for each in found]
    session.report("rag.settings/1", {"settings": found}, table_lines(rows))


def _report(session: Session, findings: Sequence[Check]) -> int:
    healthy = not any(finding.ok is False for finding in findings)
    session.report("rag.doctor/1", {"ok": healthy, "checks": findings}, finding_lines(findings))
    return 0 if healthy else 1


def finding_lines(findings: Sequence[Check]) -> Iterator[str]:
    """The findings as a table, and how many are broken."""
    marks = {True: "ok", False: "BROKEN", None: "-"}
    yield from table_lines([[marks[each.ok], each.area, each.name, each.message] for each in findings])
    broken = sum(each.ok is False for each in findings)
    yield ""
    yield f"{broken} broken" if broken else "nothing is broken"


def _environment() -> Iterator[Check]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    place = f"{platform.system()} {platform.machine()}, {cores} cores"
    yield Check("python", sys.version_info >= (3, 11), f"{platform.python_version()}, {place}", "environment")
    for module in REQUIRED:
        yield _module(module)
    for module, needed in OPTIONAL.items():
        yield _module(module, f"not installed; {needed}")
    yield _space("temporary space", Path(tempfile.gettempdir()))


def _module(module: str, absent: str = "") -> Check:
    """Imports the package: an installed wheel may still not load. `absent`: said where it may be missing."""
    try:
        loaded = importlib.import_module(module)
    except Exception as error:  # whatever a package raises while it loads is the finding
        if absent and isinstance(error, ModuleNotFoundError) and error.name == module:
            return Check(module, None, absent, "package")
        return Check(module, False, f"{_first_line(error)}; reinstall this package", "package")
    return Check(module, True, str(getattr(loaded, "__version__", "loads")), "package")


LEAST_SPACE = 100_000_000
"""Bytes."""


def _space(name: str, folder: Path) -> Check:
    """Check the file system of a folder, or of the nearest one above it that exists."""
    there = next(each for each in (folder, *folder.parents) if each.is_dir())
    try:
        free, full = shutil.disk_usage(there).free, has_no_inodes(there)
    except OSError as error:
        return Check(name, False, f"{there}: {os_reason(error)}", "environment")
    if full:
        return Check(name, False, f"{there}: no file can be made: no inodes are left", "environment")
    short = "" if free > LEAST_SPACE else "; free some, or nothing can be indexed"
    return Check(name, not short, f"{byte_count(free)} free at {there}{short}", "environment")


def _network() -> Iterator[Check]:
    """Whether a hostile file may send something; what this machine does not offer is no fault of it."""
    why = why_network()
    yield Check("network", not why or None, why or "no sockets, no other programs (seccomp)", "reading files")


def _extensions() -> Iterator[Check]:
    """Loads what other packages register."""
    for group in EXTENSIONS:
        own = own_entry_points(group)
        for name, point in all_entry_points(group).items():
            if name in own:
                continue
            try:
                point.load()
            except Exception as error:  # whatever an extension raises while it loads is the finding
                message = f"{point.value}: {_first_line(error)}"
                yield Check(f"{group} {name}", False, message, "extension")
            else:
                yield Check(f"{group} {name}", True, point.value, "extension")


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _weights(session: Session) -> Iterator[Check]:
    from indexers.models.lookup import list_models
    from indexers.registry import resolve_image_encoder, resolve_text_encoder

    encoder = session.settings.encoder

    def image() -> tuple[bool | None, str]:
        found = resolve_image_encoder(encoder)
        return True if found.name else None, found.reason

    yield _checked("image encoder", image)
    yield _checked("text encoder", lambda: (True, resolve_text_encoder(encoder)))
    for row in list_models(encoder):
        if row.problem:
            yield Check(row.name, False, row.problem, "weights")
        elif row.here:
            yield Check(row.name, True, f"{row.licence}, {row.path}", "weights")


def _checked(name: str, ask: Callable[[], tuple[bool | None, str]]) -> Check:
    try:
        return Check(name, *ask(), "weights")
    except RagError as error:
        return Check(name, False, str(error), "weights")


def store_findings(session: Session) -> Iterator[Check]:
    """Check what credentials allow on an object store, and whether it keeps writers apart."""
    from rag.store.finding import find_library

    location = find_library(library=session.settings.library, storage=session.settings.storage)
    if isinstance(location, Path):
        return
    try:
        store = open_store(location.url, location.settings)
        empty = next(store.list(), None) is None
    except RagError as error:
        yield Check("reading", False, str(error), "store")
        return
    yield Check(
        "reading", True, f"{location}: {'no objects yet' if empty else 'objects are listed'}", "store"
    )
    try:
        store.require_conditional_writes()
    except ConditionsIgnored as error:
        yield Check("writing", False, str(error), "store")
    except StoreError as error:
        # Who only asks questions needs no more than to read.
        yield Check("writing", None, str(error), "store")
    else:
        yield Check("writing", True, "objects are written, conditionally, and deleted", "store")


def _repair(session: Session, *, yes: bool) -> bool:
    """Repair the library and say on stderr what was done; False where that was refused."""
    from rag.store.checking import repair
    from rag.store.finding import find_library

    location = find_library(library=session.settings.library, storage=session.settings.storage)
    with CountProgress(shown=byte_count) as progress:
        done = repair(
            location,
            confirm=lambda lines: yes or _is_confirmed(lines, progress.stop),
            exact_rows=session.settings.search.exact_rows,
            storage=session.settings.storage,
            progress=progress.update,
        )
    for line in repair_lines(done):
        echo_stderr(visible(line))
    return not done.refused


def repair_lines(done: Repair) -> Iterator[str]:
    """What a repair did, a line for each thing; what cannot be restored last."""
    yield from done.made_again
    if done.refused:
        yield "rag: nothing was erased; add --yes to continue without these"
        return
    yield from (f"{path}: is to be indexed again" for path in done.again)
    yield from (
        f"lost: {path}: the file is gone, and what was indexed of it cannot be read" for path in done.lost
    )
    if done.incomplete:
        yield "rag: run rag index with the same folders as before"
    elif not (done.made_again or done.lost):
        yield "rag: the indexes were made again; nothing else needed a repair"


def _is_confirmed(lines: Sequence[str], stop: Callable[[], None]) -> bool:
    stop()
    for line in lines:
        echo_stderr(visible(line))
    return is_confirmed("these files are gone, and the repair erases them", "nothing was erased")


def _library(session: Session) -> Iterator[Check]:
    from rag.store.finding import find_library

    folder = find_library(library=session.settings.library, storage=session.settings.storage)
    if isinstance(folder, Path):
        yield _space("library space", folder.absolute())
    try:
        with CountProgress(shown=byte_count) as progress, session.open_library() as opened:
            yield from opened.doctor(progress=progress.update)
    except LibraryNotFound as error:
        # A folder that was named must be one; the default, and a store, have none before `rag index`.
        named = session.settings.library is not None and isinstance(folder, Path)
        yield Check("library", False if named else None, str(error))
    except LibraryCorrupt as error:
        # What is damaged says more than that it cannot be opened.
        yield from [*_files_of_tables(folder)] or [Check("library", False, str(error))]
    except RagError as error:
        yield Check("library", False, str(error))


def _files_of_tables(folder: Location) -> Iterator[Check]:
    """Check the files of a library that cannot be opened."""
    from rag.checks import file_checks
    from rag.store.checking import check_files_of
    from rag.store.layout import open_layout

    layout = open_layout(folder)
    try:
        with CountProgress(shown=byte_count) as progress:
            if faults := check_files_of(layout, progress=progress.update):
                yield from file_checks(faults)
    except RagError:
        return
