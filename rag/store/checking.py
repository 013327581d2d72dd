"""The state of a library's files, for `rag doctor`: what is wrong with them, and how to go back.

A check reads what `head.json` names. `--repair` goes back to the last commit that reads whole, or gives up
what cannot be read. A commit before the last one is there while a reader may have it open, and until the end
of a run of indexing: it helps against what a power failure does to files that were written last. Where no
commit reads whole, the fragments that cannot be read are taken out of their tables, and all contents that had
rows in them are erased. Either way `rag index` with the same folders makes again what is missing, from the
files.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from corpora.objects import StoreError, is_url, object_states
from corpora.settings import LOCAL, StorageSettings
from rag.errors import LibraryCorrupt
from rag.settings import EXACT_ROWS
from rag.store import schema
from rag.store.database import Database
from rag.store.error_mapping import read_errors, require_columns, write_errors
from rag.store.head import Head, lost_head, parse_head, read_head
from rag.store.layout import Layout, Location, open_layout
from rag.store.maintenance import VECTOR, index_faults, require_whole
from rag.store.schema import FULL_TEXT, is_clip_vectors
from rag.store.writing import Writer

NAMES = {FULL_TEXT: "full text of {}", VECTOR: "vectors of {}"}
"""Names of the checks of indexes, by their columns; others have that of `OTHER_INDEX`."""
OTHER_INDEX = "keys of {}"

Read = Callable[[int, int], object]
"""Called with how many bytes were read, and how many will be."""


@dataclass
class ReadTable:
    """A version of a table, as far as it can be read."""

    name: str
    dataset: Any = None
    """None where it cannot be opened."""
    fault: str = ""
    """What is wrong first; empty for nothing."""
    bad: list[Any] = field(default_factory=list)
    """Fragments that cannot be read."""


def read_tables(
    layout: Layout,
    versions: Mapping[str, int],
    *,
    rows: bool = True,
    progress: Read = lambda *_: None,
    seen: dict[object, str] | None = None,
) -> Iterator[ReadTable]:
    """Open these versions of tables, and read all `rows`. `seen`: what was found of fragments before, which
    are not read again."""
    seen = {} if seen is None else seen
    tables = [open_table(layout, name, version) for name, version in sorted(versions.items())]
    fragments = [t.dataset.get_fragments() if rows and t.dataset is not None else [] for t in tables]
    done, total = 0, sum(_size(each) for own in fragments for each in own)
    for table, own in zip(tables, fragments, strict=True):
        for fragment in own:
            files = (
                table.name,
                *(file.path for file in fragment.metadata.files),
                fragment.metadata.num_deletions,
            )
            if files not in seen:
                seen[files] = _unreadable(layout, table, fragment)
            if fault := seen[files]:
                table.bad.append(fragment)
                table.fault = table.fault or fault
            done += _size(fragment)
            progress(done, total)
        yield table


def _size(fragment: Any) -> int:
    return sum(file.file_size_bytes or 0 for file in fragment.metadata.files)


def open_table(layout: Layout, name: str, version: int) -> ReadTable:
    """A version of a table, of which no row is read yet."""
    table = ReadTable(name)
    try:
        with without_stderr(), read_errors(layout.folder, name):
            dataset = layout.dataset(name, version)
            require_columns(layout.folder, name, dataset.schema.names)
            table.dataset = dataset
            require_whole(layout, name, dataset)
    except LibraryCorrupt as error:
        table.fault = str(error)
    return table


def _unreadable(layout: Layout, table: ReadTable, fragment: Any) -> str:
    """Why the rows of a fragment cannot be read; empty where they can."""
    try:
        with without_stderr(), read_errors(layout.folder, table.name):
            if cut := layout.cut_file(table.name, [fragment]):
                raise OSError(f"data/{cut} is gone or has not the size that it was written with")
            scanner = table.dataset.scanner(fragments=[fragment], batch_size=1024, use_scalar_index=False)
            for batch in scanner.to_batches():
                batch.validate(full=True)
    except LibraryCorrupt as error:
        return str(error)
    return ""


def check_files_of(layout: Layout, *, progress: Read = lambda *_: None) -> dict[str, str]:
    """What is wrong, by the name of the check: `table files`, `full text of evidence`, `keys of passages`.

    Opens every table and index of a library, compares the sizes of all files, and reads all rows; on a store,
    which keeps an object as a whole or not at all, no rows. Raises as `read_head`.
    """
    faults: dict[str, str] = {}
    head, _ = read_head(layout)
    for table in read_tables(layout, head.tables, rows=layout.is_locked, progress=progress):
        if table.fault:
            faults[f"table {table.name}"] = table.fault
            continue
        for column, fault in index_faults(layout, table.name, table.dataset).items():
            faults[NAMES.get(column, OTHER_INDEX).format(table.name)] = fault
    return faults


@contextmanager
def without_stderr() -> Iterator[None]:
    """Lance writes a stack trace there for what it finds in a damaged file."""
    sys.stderr.flush()
    held, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(held, 2)
        os.close(nowhere)
        os.close(held)


@dataclass
class Repair:
    """What a repair did, or would do."""

    made_again: list[str] = field(default_factory=list)
    """A line for each table and index that was made again, and one for the commit that the repair went back
    to."""
    again: list[str] = field(default_factory=list)
    """Paths whose content the next `rag index` indexes again."""
    lost: list[str] = field(default_factory=list)
    """Paths of files that are gone, whose content is erased."""
    incomplete: bool = False
    """Whether the next `rag index` makes again what is missing, from the files."""
    refused: bool = False
    """Whether nothing was erased, for the sake of `lost`."""


def repair(
    location: Location,
    *,
    confirm: Callable[[Sequence[str]], bool],
    exact_rows: int = EXACT_ROWS,
    storage: StorageSettings = LOCAL,
    progress: Read = lambda *_: None,
) -> Repair:
    """Repair the library in a folder or on a store.

    `confirm`: asked once, with the paths of files that are gone and whose content would be erased; where it
    answers False nothing is changed. Raises `LibraryCorrupt` where no head can be read, `LibraryBusy`,
    `StoreError` where it cannot be seen whether indexed objects are still there, and the errors of a library.
    """
    layout = open_layout(location)
    report = Repair()
    with write_errors(layout.folder):
        lock = layout.writer_lock()
    with lock:
        tables = _go_back(layout, progress, report)
        damage = _Damage(layout, tables, storage)
        report.lost = damage.paths(damage.gone)
        if report.lost and not confirm(report.lost):
            report.refused = True
            return report
        report.again = damage.paths(damage.contents - damage.gone)
        remade = {"problems", *schema.MEASURED_TABLES}.intersection(table.name for table in tables)
        report.incomplete |= bool(report.again or damage.nameless or remade)
        db = Database(layout, without=damage.unopened)
        for table in tables:
            if table.name not in damage.unopened:
                db.remove_fragments(table.name, [each.fragment_id for each in table.bad])
        with Writer(layout, db) as writer:
            writer.create_tables()
            writer.erase(damage.contents)
            writer.remove_paths(damage.gone_paths())
            writer.flush()
            report.made_again += [f"table {each.name}: took out what could not be read" for each in tables]
            if count := len(damage.nameless):
                report.made_again.append(f"took out {count} contents of which no path can be read")
            if any(each.name in schema.MEASURED_TABLES for each in tables):
                report.made_again.append("shots and sound are measured again by rag remove and rag index")
            report.made_again += writer.check_files(exact_rows, afresh=True)
            writer.maintain(exact_rows)
    return report


def _go_back(layout: Layout, progress: Read, report: Repair) -> list[ReadTable]:
    """Make the last commit that reads whole the head, if it is not; else return the damaged tables of the
    newest."""
    found = layout.read_head()
    etag = "" if found is None else found[1]
    seen: dict[object, str] = {}
    readings = []
    for head, torn in _newest(layout, None if found is None else found[0]):
        tables = [*read_tables(layout, head.tables, progress=progress, seen=seen)]
        readings.append((head, torn, [table for table in tables if table.fault]))
    head, torn, damaged = min(readings, key=lambda reading: bool(reading[2]))
    back = head
    for earlier in head.earlier if damaged else ():
        if all(not table.fault for table in read_tables(layout, earlier.tables, seen=seen)):
            until = datetime.fromtimestamp(earlier.until).isoformat(" ", "seconds")
            report.made_again.append(f"went back to the state of {until}; what was indexed later is missing")
            back, damaged = replace(head.next(earlier.tables, head.meta), earlier=()), []
            report.incomplete = True
            break
    for name, version in back.tables.items():
        # The copy may be of an earlier commit.
        report.incomplete |= torn and max(layout.versions(name), default=version) > version
        _delete_unreadable(layout, name, version)
    if torn:
        report.made_again.append("put head.json back from its copy")
    if torn or back is not head:
        with write_errors(layout.folder):
            layout.write_head(back.to_bytes(), etag)
    return damaged


def _newest(layout: Layout, content: bytes | None) -> list[tuple[Head, bool]]:
    """What `head.json` says, and its copy where that says otherwise of the same commit or `head.json` cannot
    be read; with whether it is the copy."""
    found: list[tuple[Head, bool]] = []
    for each, torn in ((content, False), (layout.read_spare_head(), True)):
        with contextlib.suppress(LibraryCorrupt):
            if each is not None:
                head = parse_head(layout.folder, each)
                if all(other.commit == head.commit and other.tables != head.tables for other, _ in found):
                    found.append((head, torn))
    if found:
        return found
    raise lost_head(layout.folder)


def _delete_unreadable(layout: Layout, name: str, version: int) -> None:
    """Delete the versions behind that of the head that cannot be opened."""
    for later in layout.versions(name):
        if later <= version:
            return
        try:
            with without_stderr(), read_errors(layout.folder, name):
                layout.dataset(name, later)
        except LibraryCorrupt:
            with write_errors(layout.folder):
                layout.delete_version(name, later)


class _Damage:
    """What the contents of a library lose by tables that cannot be read whole."""

    def __init__(self, layout: Layout, damaged: Sequence[ReadTable], storage: StorageSettings) -> None:
        self._damaged = damaged
        self.unopened = {table.name for table in damaged if table.dataset is None}
        """Tables that cannot be opened at all; they are made again, empty."""
        self.contents: set[str] = set()
        """Videos and sources that are erased."""
        self.gone: set[str] = set()
        """Those of them that have no file any more."""
        self._paths: dict[str, list[str]] = {}
        if not damaged:
            return
        head, _ = read_head(layout)
        bad = {table.name: table for table in damaged}
        opened = {name: bad.get(name) or open_table(layout, name, head.tables[name]) for name in head.tables}
        for row in _rows(opened["files"], ["content_id", "path"]):
            self._paths.setdefault(row["content_id"], []).append(os.fsdecode(row["path"]))
        videos = {row["video_id"]: row for row in _rows(opened["videos"], ["video_id", "path"])}
        for video_id, row in videos.items():
            self._paths.setdefault(video_id, [os.fsdecode(row["path"])])
        sources = {row["source_id"] for row in _rows(opened.get("passages"), ["source_id"])}
        for table in damaged:
            every = sources | self._paths.keys() - videos.keys() if table.name == "passages" else {*videos}
            owners = _owners(table, every)
            if table.name == "files":
                self.contents |= sources - self._paths.keys()
            elif table.name == "videos":
                held = [each for name, each in opened.items() if name == "evidence" or is_clip_vectors(name)]
                rows = (row for each in held for row in _rows(each, ["video_id"]))
                self.contents |= {row["video_id"] for row in rows} - videos.keys()
            elif table.name not in ("problems", *schema.MEASURED_TABLES):
                self.contents |= owners
        self.gone = self.contents - self._there(storage)

    def paths(self, contents: Iterable[str]) -> list[str]:
        """The first path of each, sorted."""
        return sorted(self._paths[content][0] for content in contents if content in self._paths)

    def gone_paths(self) -> list[str]:
        """All paths of the contents that have no file any more."""
        return [path for content in self.gone for path in self._paths.get(content, ())]

    @property
    def nameless(self) -> set[str]:
        """The contents that are erased and of which no path is known."""
        return self.contents - self._paths.keys()

    def _there(self, storage: StorageSettings) -> set[str]:
        """Those with a file or an object. Raises `StoreError` where that cannot be seen."""
        paths = {content: self._paths.get(content, []) for content in self.contents}
        objects = object_states(filter(is_url, itertools.chain(*paths.values())), storage)
        for state in objects.values():
            if isinstance(state, StoreError):
                raise state
        exists = {path: state is not None for path, state in objects.items()}
        return {
            content
            for content, own in paths.items()
            if any(exists[path] if path in exists else os.path.exists(path) for path in own)
        }


def _rows(table: ReadTable | None, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of the fragments that can be read."""
    if table is not None and table.dataset is not None:
        bad = {fragment.fragment_id for fragment in table.bad}
        whole = [each for each in table.dataset.get_fragments() if each.fragment_id not in bad]
        if whole:
            yield from table.dataset.scanner(columns=columns, fragments=whole).to_table().to_pylist()


def _owners(table: ReadTable, every: set[str]) -> set[str]:
    """Contents with rows in the fragments that cannot be read; `every` one where that is not known."""
    if table.dataset is None:
        return every
    column, found = schema.owner_column(table.name), set[str]()
    try:
        with without_stderr(), read_errors(Path(), table.name):
            rows = table.dataset.scanner(columns=[column], fragments=table.bad).to_table()
            found = {*rows[column].to_pylist()}
    except LibraryCorrupt:
        return every
    return found if found <= every else every
