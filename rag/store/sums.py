"""Sums of the files of tables, by which damage is found that Lance reads without an error.

Lance keeps no sums of what it stores: a flipped bit is another word, or another vector. So a writer that
closes notes, in `sums/<table>.json`, size and sums (`block_sum` of each `SUM_BLOCK` bytes) of the files of
the newest version: manifest, rows, rows that are deleted, indexes. No file is ever written again under its
name, so its sums hold as long as it is there. The manifests, and all of `meta`, are kept in full: they say
what the rest is.

A file that came after the last note has no sums yet. None are kept on an object store, which has its own.
"""

from __future__ import annotations

import base64
import errno
import json
import logging
import os
import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from corpora.errors import os_reason
from corpora.outputs import atomic_file
from rag.errors import RagError
from rag.store.error_mapping import require_access, require_as_written
from rag.store.layout import Layout, LibraryLayout

log = logging.getLogger(__name__)

FORMAT = 1
SUM_BLOCK = 4 * 2**20
"""Bytes that one sum is of."""
CHECKED_BYTES = 64 * 2**20
"""Compared each time a library is opened, in 15 ms of CPU: whole files, the smallest first."""

Part = Literal["manifest", "index", "rows"]
"""What a file of a table belongs to."""
MISSING = os.strerror(errno.ENOENT).lower()
PARTS: tuple[Part, ...] = ("manifest", "index", "rows")


def block_sum(block: bytes | memoryview) -> str:
    """The sum of the 64-bit words of a block, little endian, the last filled up by zeros, modulo 2**64."""
    import numpy as np

    whole = len(block) // 8 * 8
    total = int(np.frombuffer(block[:whole], "<u8").sum(dtype=np.uint64))
    rest = int.from_bytes(block[whole:], "little")
    return f"{(total + rest) % 2**64:016x}"


@dataclass(frozen=True, slots=True)
class FileSums:
    """Size and sums of a file as it was written."""

    bytes: int
    sums: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableSums:
    """The files of one version of a table, by their path below its folder."""

    version: int = 0
    files: Mapping[str, FileSums] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)
    """Content in base 85 of those that are kept in full."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A file of a table that is not as it was written."""

    table: str
    file: str
    reason: str

    @property
    def part(self) -> Part:
        """What the file belongs to."""
        return part_of(self.file)

    @property
    def missing(self) -> bool:
        """Whether the file is not there: gone, or cleaned away under a reader."""
        return self.reason == MISSING

    def __str__(self) -> str:
        return f"{self.table}.lance/{self.file}: {self.reason}"


class SumsDamaged(Exception):
    """The noted sums of a table cannot be read; they are noted again by the next writer."""


def unfinished(layout: LibraryLayout) -> list[Damage]:
    """Tables whose rows a repair had not replaced when it was ended (`rag.store.earlier`)."""
    names = (path.stem for path in layout.sums.glob("*.unfinished")) if isinstance(layout, Layout) else ()
    return [Damage(name, "_versions", "its repair was not finished") for name in sorted(names)]


def part_of(file: str) -> Part:
    """By the path of a file below its table's folder."""
    if file.startswith("_versions/"):
        return "manifest"
    return "index" if file.startswith("_indices/") else "rows"


def manifest_name(version: int) -> str:
    """Lance counts down, so that the newest comes first by name."""
    return f"_versions/{2**64 - 1 - version:020d}.manifest"


def version_of(manifest: str) -> int:
    """The version that a manifest's file name says."""
    return 2**64 - 1 - int(manifest.partition(".")[0])


def index_folders(dataset: Any) -> dict[str, list[str]]:
    """The folders of the index of each column that has one."""
    found: dict[str, list[str]] = {}
    for index in dataset.describe_indices():
        folders = [f"_indices/{segment.uuid}/" for segment in index.segments]
        found.setdefault(index.field_names[0], []).extend(folders)
    return found


def row_files(fragment: Any) -> list[str]:
    """The files of the rows of a fragment, and of those of them that are deleted."""
    metadata = fragment.metadata
    found = [f"data/{file.path}" for file in metadata.files]
    if metadata.deletion_file is not None:
        found.append(metadata.deletion_file.path(metadata.id).lstrip("/"))
    return found


def files_of(dataset: Any) -> tuple[list[str], tuple[str, ...]]:
    """The manifest and the files of rows of a version, then the folders of its indexes; by their paths below
    the table's folder."""
    files = [manifest_name(dataset.version)]
    files += (file for fragment in dataset.get_fragments() for file in row_files(fragment))
    return files, tuple(folder for each in index_folders(dataset).values() for folder in each)


def sums_path(folder: Path, table: str) -> Path:
    """The file that has the sums of a table."""
    return folder / f"{table}.json"


def unfinished_path(folder: Path, table: str) -> Path:
    """The file that is there while a repair replaces the rows of a table (`rag.store.earlier`)."""
    return folder / f"{table}.unfinished"


def read_sums(folder: Path, table: str) -> TableSums:
    """Empty where none are noted. Raises `SumsDamaged`."""
    path = sums_path(folder, table)
    try:
        own, _, content = path.read_bytes().partition(b"\n")
        if block_sum(content) != own.decode("ascii"):
            raise SumsDamaged(f"{path}: is not as it was written")
        held = json.loads(content)
        if held["format"] != FORMAT:
            return TableSums()
        files = {name: FileSums(each["bytes"], tuple(each["sums"])) for name, each in held["files"].items()}
        return TableSums(held["version"], files, held["copies"])
    except FileNotFoundError:
        return TableSums()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SumsDamaged(f"{path}: cannot be read") from error


def _readable_sums(folder: Path, table: str) -> TableSums:
    """Empty also where they are damaged."""
    try:
        return read_sums(folder, table)
    except SumsDamaged:
        return TableSums()


def read_all_sums(layout: LibraryLayout) -> dict[str, TableSums]:
    """The noted sums of each table that has some; those that cannot be read are left out."""
    if not isinstance(layout, Layout):
        return {}
    names = [path.stem for path in sorted(layout.sums.glob("[!.]*.json"))]
    return {name: sums for name in names if (sums := _readable_sums(layout.sums, name)).version}


def sums_faults(layout: LibraryLayout) -> dict[str, str]:
    """Why the sums of tables cannot be used, in a library that has some; a writer notes them again."""
    found: dict[str, str] = {}
    if not isinstance(layout, Layout) or not layout.sums.is_dir():
        return found
    for name in layout.table_names():
        try:
            if not read_sums(layout.sums, name).version:
                found[name] = f"{sums_path(layout.sums, name)}: {MISSING}"
        except SumsDamaged as error:
            found[name] = str(error)
    return found


def note_sums(layout: LibraryLayout) -> None:
    """Note the sums of the newest version of each table; what was noted before is not read again.

    Sums are derived: where they cannot be written, there is a warning.
    """
    if not isinstance(layout, Layout):
        return
    folder = layout.sums
    try:
        folder.mkdir(exist_ok=True)
        names = layout.table_names()
        for path in folder.glob("*.json"):
            if path.stem not in names:
                path.unlink()
        for name in names:
            _note(folder, name, layout.table(name), layout.dataset(name))
    except (OSError, ValueError, RuntimeError, RagError) as error:
        log.warning("%s: sums of what was written are not noted: %s", folder, error)


def _note(folder: Path, table: str, files: Path, dataset: Any) -> None:
    held = _readable_sums(folder, table)
    if held.version == dataset.version:
        return
    names, folders = files_of(dataset)
    kept = names[:1]
    for each in folders:
        names += (f"{each}{path.name}" for path in sorted((files / each).iterdir()))
    sums = {name: held.files.get(name) or _sums_of(files / name) for name in names}
    if table == "meta":
        kept = names
    copies = {name: base64.b85encode((files / name).read_bytes()).decode("ascii") for name in kept}
    content = json.dumps({"format": FORMAT, **asdict(TableSums(dataset.version, sums, copies))}).encode(
        "ascii"
    )
    with atomic_file(sums_path(folder, table)) as draft:
        draft.write_bytes(block_sum(content).encode("ascii") + b"\n" + content)


def _sums_of(path: Path) -> FileSums:
    sums, size = [], 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(SUM_BLOCK):
            sums.append(block_sum(block))
            size += len(block)
        return FileSums(size, tuple(sums))


def copied(sums: TableSums, file: str) -> bytes | None:
    """The content of a file that is kept in full; None for another one."""
    return base64.b85decode(sums.copies[file]) if file in sums.copies else None


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison of files with their sums showed."""

    bytes: int
    """How many were compared."""
    of: int
    damages: tuple[Damage, ...]


def compare_versions(
    layout: LibraryLayout, noted: Mapping[str, TableSums], datasets: Mapping[str, Any] | None, **options: Any
) -> Compared:
    """As `compare`, of what was noted of versions of tables, as they are open; `noted` was read before that.

    A table that is not among `datasets`, for it cannot be opened, is compared by its newest manifest. None:
    all that was noted is compared.
    """
    tables = []
    if isinstance(layout, Layout):
        for name, own in noted.items():
            folder, files = layout.table(name), own.files
            if datasets is not None:
                files = _sums_of_version(folder, own, datasets.get(name))
            tables.append((name, folder, files))
    return compare(tables, **options)


def covers(noted: TableSums, dataset: Any) -> bool:
    """Whether all files of rows of a version have sums."""
    return all(file in noted.files for file in files_of(dataset)[0])


class SumsAtOpening:
    """What is compared each time a library is opened; made before its tables are opened."""

    def __init__(self, layout: LibraryLayout) -> None:
        """Raises `LibraryCorrupt` for a manifest, of which Lance would write a stack trace to stderr."""
        self._layout = layout
        self._noted = read_all_sums(layout)
        self._damaged: dict[str, Damage] = {}
        found = compare_versions(layout, self._noted, {}, seen=layout.compared)
        require_as_written(layout.folder, [*unfinished(layout), *found.damages])

    def require_rows(self, datasets: Mapping[str, Any]) -> tuple[Damage, ...]:
        """Raise `LibraryCorrupt` for a damaged file of rows of open versions; else the files of indexes."""
        noted = {name: self._noted[name] for name in datasets if name in self._noted}
        found = compare_versions(self._layout, noted, datasets, seen=self._layout.compared).damages
        require_as_written(self._layout.folder, [each for each in found if each.part != "index"])
        self._damaged |= {each.table: each for each in found}
        return found

    def damaged_index(self, table: str) -> bool:
        """Whether a file of an index is damaged: keys are then looked up without it."""
        return table in self._damaged

    def require_index(self, table: str) -> None:
        """Raise `LibraryCorrupt` for one: words are not searched without theirs."""
        if table in self._damaged:
            require_as_written(self._layout.folder, [self._damaged[table]])


def compare_fragments(layout: LibraryLayout, name: str, fragments: Iterable[Any]) -> Compared:
    """As `compare`, of all that was noted of some fragments of a table."""
    if not isinstance(layout, Layout):
        return compare(())
    held = _readable_sums(layout.sums, name).files
    own = {file: held[file] for each in fragments for file in row_files(each) if file in held}
    return compare([(name, layout.table(name), own)], budget=None, seen=layout.compared)


def _sums_of_version(folder: Path, noted: TableSums, dataset: Any) -> dict[str, FileSums]:
    """The noted sums of the files of an open version, and those of the manifest that was newest then."""
    newest = manifest_name(noted.version)
    files, folders = files_of(dataset) if dataset is not None else ([], ())
    own = set(files)
    if os.path.exists(folder / newest) or not has_later(folder, newest):
        own.add(newest)
    return {name: each for name, each in noted.files.items() if name in own or name.startswith(folders)}


def has_later(folder: Path, newest: str) -> bool:
    """Whether a table has a manifest that came after another one."""
    last = os.path.basename(newest)
    try:
        return any(name < last for name in os.listdir(folder / "_versions") if name.endswith(".manifest"))
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of a file, to be compared with its sum."""

    path: Path
    number: int
    sum: str
    wrong: Damage
    """Of the file, where the block has another sum."""

    def read(self) -> tuple[str, int]:
        """The sum of the block as it is now, empty where it cannot be read, and its size."""
        try:
            with self.path.open("rb", buffering=0) as file:
                file.seek(self.number * SUM_BLOCK)
                block = file.read(SUM_BLOCK)
        except OSError as error:
            require_access(error, self.path)
            return "", 0
        return block_sum(block), len(block)


@dataclass
class _Chosen:
    """What of some files is to be read, and what is seen of them before."""

    blocks: list[_Block] = field(default_factory=list)
    whole: dict[Path, tuple[object, ...]] = field(default_factory=dict)
    """Files of which all blocks are read: path to the path, size and times, as in `seen`."""
    damages: list[Damage] = field(default_factory=list)
    """Of files that are gone or have another size."""
    total: int = 0
    """Bytes of all files."""


def _choose(
    tables: Iterable[tuple[str, Path, Mapping[str, FileSums]]],
    budget: int | None,
    seen: Collection[tuple[object, ...]],
    *,
    sample: bool,
) -> _Chosen:
    """What `compare` reads of these files; the arguments are its own."""
    chosen, rest = _Chosen(), list[_Block]()
    left = 2**63 if budget is None else budget
    files = [
        (table, folder / name, name, each) for table, folder, own in tables for name, each in own.items()
    ]
    for table, path, name, each in sorted(files, key=lambda file: (file[3].bytes, file[1])):
        chosen.total += each.bytes
        try:
            facts = path.stat()
        except OSError as error:
            require_access(error, path)
            chosen.damages.append(Damage(table, name, os_reason(error)))
            continue
        if facts.st_size != each.bytes:
            reason = f"has {facts.st_size} bytes, not {each.bytes}"
            chosen.damages.append(Damage(table, name, reason))
            continue
        state = (path, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
        if state in seen:
            continue
        wrong = Damage(table, name, "is not as it was written")
        blocks = [_Block(path, number, own, wrong) for number, own in enumerate(each.sums)]
        if each.bytes <= left:
            left -= each.bytes
            chosen.whole[path] = state
            chosen.blocks += blocks
        else:
            rest += blocks
    if sample:
        chosen.blocks += random.sample(rest, min(len(rest), left // SUM_BLOCK))
    return chosen


def compare(
    tables: Iterable[tuple[str, Path, Mapping[str, FileSums]]],
    *,
    budget: int | None = CHECKED_BYTES,
    sample: bool = False,
    seen: set[tuple[object, ...]] | None = None,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> Compared:
    """Compare files with their sums; `tables` are names, folders, and sums of files.

    The size of each file; the content of at most `budget` bytes, of all with None: whole files, the smallest
    first, and with `sample` blocks of the others, chosen at random. `seen`: files that were compared before,
    which are not compared again while size and times are the same, and are added. `progress`: called with the
    bytes that were compared, and those that will be. Raises `LibraryReadOnly` for a file without permission.
    """
    chosen = _choose(tables, budget, seen or set(), sample=sample)
    done = 0
    for block in chosen.blocks:
        found, size = block.read()
        done += size
        progress(done, len(chosen.blocks) * SUM_BLOCK)
        if found != block.sum:
            chosen.damages.append(block.wrong)
            chosen.whole.pop(block.path, None)
    if seen is not None:
        seen.update(chosen.whole.values())
    order = sorted(set(chosen.damages), key=lambda d: (PARTS.index(d.part), d.table, d.file))
    return Compared(done, chosen.total, tuple(order))
