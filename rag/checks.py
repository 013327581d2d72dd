"""The checks of `rag doctor` on a library: its tables, indexed files and encoders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from corpora.kinds import SIDECARS
from corpora.objects import is_url
from rag.engine import Engine
from rag.errors import LibraryCorrupt, RagError
from rag.rendering.terminal import taken_out_line
from rag.store.lookup import file_states
from rag.store.records import FileState
from rag.store.sidecars import other_sidecars


@dataclass(frozen=True, slots=True)
class Check:
    """One check of `rag doctor`; those of `Library.doctor` are of the area `library`."""

    name: str
    ok: bool | None
    """None: for information; nothing is broken."""
    message: str
    area: str = "library"


def file_checks(faults: Mapping[str, str]) -> Iterable[Check]:
    """The checks of a library's files, by what is wrong (`rag.store.checking.check_files_of`)."""
    if not faults:
        yield Check("files of tables", True, "all can be read")
    yield from (Check(name, False, fault) for name, fault in faults.items())


def run_checks(engine: Engine, *, progress: Callable[[int, int], object]) -> Iterable[Check]:
    """All checks; the first one alone where the tables cannot be read."""
    try:
        stats = engine.reader.stats()
        held = f"{stats.videos} videos, {stats.clips} clips, {stats.passages} passages"
        if stats.taken_out:
            held += f"; {taken_out_line(stats.taken_out)}"
        yield Check("tables", True, held)
    except LibraryCorrupt as error:
        yield Check("tables", False, str(error))
        return
    yield from file_checks(engine.reader.check_files(progress=progress))
    yield _check_indexed_files(engine)
    for name in ("text_encoder", "tower"):
        label = "text encoder" if name == "text_encoder" else "image encoder"
        try:
            encoder = getattr(engine, name)
        except RagError as error:
            yield Check(label, False, str(error))
            continue
        yield Check(label, True, encoder.name if encoder is not None else "none: images are not searched")


def _check_indexed_files(engine: Engine) -> Check:
    """Whether the files exist, with the size, time of change and sidecars that they were indexed with."""
    from rag.indexing.missing import find_gone

    storage = engine.settings.storage
    states = file_states(engine.reader.file_rows(), storage)
    absent = [path for path, state in states.items() if state in ("missing", "unreadable")]
    found = []
    elsewhere = {path for path in absent if states[path] == "missing" and engine.reader.is_pulled}
    absent = [path for path in absent if path not in elsewhere]
    if gone := find_gone(absent, storage):
        found.append(f"{len(gone)} are missing, such as {gone[0]}; rag index FOLDER --prune removes them")
    elif remote := list(filter(is_url, absent)):
        found.append(
            f"{len(remote)} are on a store that does not answer, such as {remote[0]}; check the network, the "
            "credentials and [storage]: questions are answered without them, frames are not shown"
        )
    elif absent:
        found.append(
            f"{len(absent)} cannot be read, such as {absent[0]}; check permissions, links and mounts"
        )
    if changed := [path for path, state in states.items() if state == "changed"]:
        found.append(
            f"{len(changed)} changed since they were indexed, such as {changed[0]}; "
            "run rag index on their folders"
        )
    if beside := _with_other_sidecars(engine, states):
        found.append(
            f"{len(beside)} with other files beside them ({', '.join(SIDECARS)}) than when they were "
            f"indexed, such as {beside[0]}; run rag index on their folders"
        )
    fine = f"{len(elsewhere)} are not on this machine: no frames of them are shown"
    message = "; ".join(found) or (fine if elsewhere else "all exist and are unchanged")
    return Check("indexed files", not found, message)


def _with_other_sidecars(engine: Engine, states: Mapping[str, FileState]) -> list[str]:
    """The paths of unchanged videos that have other sidecars than they were indexed with, sorted."""
    rows = engine.reader.file_rows()
    others = other_sidecars(engine.reader, rows, engine.settings.scan)
    return [row.path for row in rows if row.content_id in others and states[row.path] == "ok"]
