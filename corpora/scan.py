"""Walks folders and finds what can be indexed, without opening anything that could do harm.

Rules, in the order in which they apply to a name:

- Names that begin with a dot are left out, folders and files (a root may begin with one).
- A folder that is a library is left out, with all it holds (a root may be one).
- `exclude` globs leave files and whole folders out; `include` globs, where given, choose files.
- A link to a file is followed, and the file is found under the link's own path. A link to a
  folder is not followed, so there are no loops: silent where its target is walked anyway,
  reported where it leads elsewhere. Broken links and loops are reported.
- A folder is walked, whatever its name; one named like a video is reported as such.
- FIFOs, sockets and devices named like media are reported and never opened.
- Unreadable, empty, and incomplete files (over 256 MiB of which under 1 % is on the disk) are reported.
- A photograph that is named as a video or sound beside it is its cover, and ignored.
- Subtitles belong to the video or sound of their name; those of none are a document.
- What vanishes during the walk is skipped silently. Unknown kinds are ignored.

Below an address of an object store the same names are found, by one listing and without opening an object.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

from corpora.errors import UnreadableFile
from corpora.file_problems import EMPTY, file_problem, first_bytes, link_problem, os_problem
from corpora.globs import Globs
from corpora.kinds import (
    SUBTITLES,
    FileKind,
    is_kind_unnamed,
    is_photograph,
    is_subtitles,
    kind_of,
    kind_of_head,
    sidecar_base,
    why_unread,
)
from corpora.objects import ObjectStore, StoredObject, Unaddressable, is_url, locate
from corpora.outputs import LIBRARY_HEAD, SPARE_HEAD, is_library
from corpora.records import Problem
from corpora.sidecar_names import sidecars_among, sidecars_by_owner, spelled

if TYPE_CHECKING:
    from corpora.settings import StorageSettings

MAX_SHARD = 15
"""Characters of `K/N`."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a corpus."""

    path: str
    """Absolute, with the user's own links kept; odd bytes as surrogate escapes. Or an object's address."""
    kind: FileKind
    size: int
    mtime_ns: int
    ctime_ns: int
    """0 of an object."""
    sidecars: tuple[str, ...]
    """Paths of the subtitle and `.info.json` files that belong to it, sorted."""
    stamp: str
    """16 hex digits over sizes, mtimes and ctimes of the file and its sidecars; of objects over their ETags,
    sizes and times."""
    etag: str = ""
    """The entity tag of an object, as it was listed; empty for a file."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` shares of a corpus, `number` from 1: the same files on every machine."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse `3/20`. Raises ValueError for anything else."""
        number, slash, count = text.partition("/")
        digits = slash and number.isdecimal() and count.isdecimal() and len(text) <= MAX_SHARD
        if not (digits and 1 <= int(number) <= int(count)):
            raise ValueError(f"{text[:MAX_SHARD]!r}: a shard is K/N, with K from 1 to N, such as 3/20")
        return cls(int(number), int(count))

    def holds(self, relative: str) -> bool:
        """Whether it has the file with that path below its root."""
        digest = hashlib.blake2b(os.fsencode(relative), digest_size=8).digest()
        return int.from_bytes(digest) % self.count == self.number - 1


@dataclass(frozen=True, slots=True)
class Scan:
    """The files and problems found below the given paths."""

    files: tuple[FoundFile, ...]
    """Sorted by path, each path once."""
    problems: tuple[Problem, ...]
    """Sorted by path, at most one for a path."""
    ignored: tuple[str, ...]
    """Files of unknown kind, covers, and `.info.json` files that belong to no file; with
    `include` those that fit it; sorted."""
    outside: tuple[str, ...] = ()
    """The `files` that are links out of the given folders, sorted."""
    found: int = 0
    """Files of known kinds, those that are problems included."""
    not_included: int = 0
    """Files of known kinds that fit no glob of `include`."""
    other_shards: int = 0
    """Files of known kinds that are in the other shards."""
    empty: tuple[str, ...] = ()
    """The problems that are files or objects of 0 bytes, sorted: they lost what they held."""
    belonging: Mapping[str, str] = field(default_factory=dict)
    """By path of a sidecar or cover, that of the media file it belongs to: it is no file of its own, though
    it may have been."""


def scan(
    roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    within: Iterable[str | os.PathLike[str]] = (),
    subtitles: Iterable[str | os.PathLike[str]] = (),
    shard: Shard | None = None,
    storage: StorageSettings | None = None,
) -> Scan:
    """Find the media files and passages below `roots` (folders, single files, or addresses of either).

    Globs (`corpora.globs`) go by the path below the root; for a root that is a file, by its name. `within`:
    folders; links to files outside all of them are reported and not followed. Empty: no such bound.
    `subtitles`: folders whose files belong to any video or sound of their name, as those beside it do.
    `shard`: only its share of the files. `storage`: how addresses are reached.
    Raises `UnreadableFile` if a root does not exist or cannot be listed, `StoreError` for an address.
    """
    named = [roots] if isinstance(roots, str | os.PathLike) else list(roots)
    paths = [path_or_address(root) for root in named]
    bounds = set(map(_real, within))
    walk = _Walk(Globs(include), Globs(exclude), paths, bounds, shard, _subtitle_files(subtitles))
    for root in paths:
        if is_url(root):
            from corpora.settings import LOCAL  # which knows shards

            walk.address(root, *locate(root, storage or LOCAL))
            continue
        try:
            status = os.stat(root)
        except OSError as error:
            raise UnreadableFile(f"{root}: {os_problem(error)}") from error
        if stat.S_ISDIR(status.st_mode):
            walk.folder(root)
        else:
            walk.single(root)
    for path in walk.belonging:
        walk.files.pop(path, None)
    files = sorted(walk.files.values(), key=lambda file: file.path)
    problems = sorted(walk.problems.values(), key=lambda problem: problem.path)
    outside = sorted(walk.outside & walk.files.keys())
    ignored = tuple(sorted(walk.ignored - walk.files.keys()))
    found = len(walk.files.keys() | (walk.known & walk.problems.keys()))
    return Scan(
        tuple(files),
        tuple(problems),
        ignored,
        tuple(outside),
        found,
        walk.not_included,
        walk.other_shards,
        empty=tuple(problem.path for problem in problems if problem.reason == EMPTY),
        belonging=walk.belonging,
    )


def path_or_address(path: str | os.PathLike[str]) -> str:
    """The path from the root, normalized, with its links kept; an address without a slash at its end."""
    text = os.fspath(path)
    return text.rstrip("/") if is_url(text) else os.path.abspath(text)


@dataclass
class _Walk:
    include: Globs
    exclude: Globs
    roots: list[str]
    bounds: set[str]
    shard: Shard | None
    subtitles: Mapping[str, str]
    """Path by name, of those that are not beside their videos."""
    files: dict[str, FoundFile] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    """Those of known kinds."""
    not_included: int = 0
    other_shards: int = 0
    outside: set[str] = field(default_factory=set)
    belonging: dict[str, str] = field(default_factory=dict)
    """By path of a sidecar or cover, that of the media file it belongs to."""
    beside: dict[str, tuple[dict[str, str], Mapping[str, list[str]]]] = field(default_factory=dict)
    """For folders of roots that are single files, paths by name, and names of sidecars by media file."""
    objects: dict[str, StoredObject] = field(default_factory=dict)
    """Objects that were listed, by address."""

    @cached_property
    def real_roots(self) -> set[str]:
        """The roots without links; most files are none, and need it not."""
        return set(map(_real, self.roots))

    def address(self, root: str, store: ObjectStore, key: str) -> None:
        """The objects below an address, as the files below a folder; or the one object there."""
        folders: dict[str, list[tuple[str, str]]] = {}
        heads, tables = set[str](), set[str]()
        left_out: dict[str, list[str]] = {}
        listed = False
        for found in store.list_addressable(key, partial(self._unaddressable, store)):
            listed = True
            relative = found.key[len(key) :].lstrip("/")
            names = relative.split("/")
            if any(name.startswith(".") for name in names):
                continue
            folder = "/".join(names[:-1])
            if names[-1] in (LIBRARY_HEAD, SPARE_HEAD) and folder:
                heads.add(folder)
            if "tables" in names[1:-1]:
                tables.add("/".join(names[: names.index("tables", 1)]))
            if self.exclude and self.exclude.match(relative):
                left_out.setdefault(folder, []).append(names[-1])
            else:
                folders.setdefault(folder, []).append((self._noted(store, found), relative))
        if not listed and key:
            self._single_object(root, store, key)
        for folder, entries in folders.items():
            if _inside(folder, heads & tables):
                continue
            # Consoles make an empty object in place of a folder.
            self._folder_files(
                [
                    (path, relative)
                    for path, relative in entries
                    if self.objects[path].size or relative not in folders
                ],
                left_out.get(folder, ()),
            )

    def _unaddressable(self, store: ObjectStore, error: Unaddressable) -> None:
        reason = "its key has an empty part, '.' or '..' as one, or a control character: it cannot be read"
        action = "skipped with all of its folder; rename it"
        self._report(f"{store.url}/{error.key}", reason, action)

    def _noted(self, store: ObjectStore, found: StoredObject) -> str:
        """The address of an object that was listed."""
        path = f"{store.url}/{found.key}"
        self.objects[path] = found
        return path

    def _single_object(self, root: str, store: ObjectStore, key: str) -> None:
        if store.head(key) is None:
            raise UnreadableFile(f"{root}: no such object, and none below it")
        folder, _, _ = root.rpartition("/")
        beside = [self._noted(store, found) for found in store.list_folder(key.rpartition("/")[0])]
        self._note_sidecars(folder, [path.rpartition("/")[2] for path in beside])
        self.single(root)

    def folder(self, root: str) -> None:
        pending = [(root, "")]
        while pending:
            folder, below = pending.pop()
            try:
                with os.scandir(folder) as listing:
                    entries = [entry for entry in listing if not entry.name.startswith(".")]
            except FileNotFoundError:
                continue
            except OSError as error:
                if folder == root:
                    raise UnreadableFile(f"{root}: {os_problem(error)}") from error
                self._report(folder, f"folder: {os_problem(error)}", "skipped with all it holds")
                continue
            held = {entry.name for entry in entries}
            if folder != root and "tables" in held and is_library(folder):
                continue
            files, left_out = [], list[str]()
            for entry in entries:
                relative = below + entry.name
                if self.exclude and self.exclude.match(relative):
                    left_out.append(entry.name)
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if kind_of(entry.name) in ("video", "audio"):
                        self._report(entry.path, "a folder named like a file", "walked as a folder")
                    pending.append((entry.path, relative + "/"))
                else:
                    files.append((entry.path, relative))
            self._folder_files(files, left_out)

    def single(self, path: str) -> None:
        """A root that is no folder: it is taken even if hidden, with its sidecars."""
        name = os.path.basename(path)
        if self.exclude and self.exclude.match(name):
            return
        if not self._takes(name):
            return
        kind = kind_of(name)
        if kind is None and not is_url(path):
            kind = kind_of_head(first_bytes(path))
        if kind is None:
            self._report(path, why_unread(path))
            return
        sidecars = self._sidecars_beside(path)
        folder = path.rpartition("/")[0]
        owner = next((owner for owner, owned in self.beside[folder][1].items() if name in owned), None)
        if owner is None:
            self._file(path, kind, sidecars)
            self.belonging |= dict.fromkeys(sidecars, path)
        elif f"{folder}/{owner}" not in self.roots:
            self._report(path, f"belongs to {owner} beside it", "not indexed by itself; name that file")

    def _sidecars_beside(self, path: str) -> list[str]:
        folder, _, name = path.rpartition("/")
        if folder not in self.beside:
            try:
                self._note_sidecars(folder, os.listdir(folder or "/"))
            except OSError:
                self._note_sidecars(folder, [name])
        near, sidecars = self.beside[folder]
        return [near[each] for each in sidecars.get(name, ())]

    def _note_sidecars(self, folder: str, names: Sequence[str]) -> None:
        near = {**self.subtitles, **{name: f"{folder}/{name}" for name in names}}
        self.beside[folder] = near, sidecars_among(tuple(near))

    def _folder_files(self, entries: Sequence[tuple[str, str]], left_out: Collection[str]) -> None:
        """`entries`: the path or address of each file, and its path below the root. `left_out`: names that a
        glob excludes; sidecars of such media belong to them nevertheless."""
        named = {path.rpartition("/")[2]: (path, relative) for path, relative in entries}
        covers = _covers(named)
        beside = {**self.subtitles, **{name: path for name, (path, _) in named.items()}}
        sidecars = owned = sidecars_by_owner({*named, *left_out}.difference(covers), beside)
        if self.include or left_out:
            # A video that is left out takes no subtitles from a sound of its name that is not.
            included = {name for name, (_, relative) in named.items() if self._is_included(relative)}
            sidecars = sidecars_by_owner(included.difference(covers), beside)
        belonging = set(chain.from_iterable(owned.values()))
        chosen: dict[str, FileKind] = {}
        for name, (path, relative) in named.items():
            kind = None if name in covers or path in belonging else kind_of(name)
            if kind is None and is_kind_unnamed(name) and not is_url(path):
                kind = kind_of_head(first_bytes(path))
            if kind is None:
                self._unknown(path, relative)
            elif self._takes(relative):
                chosen[name] = kind
        for name, kind in chosen.items():
            self._file(named[name][0], kind, sidecars.get(name, []))
        unread = {name for name in chosen if named[name][0] not in self.files}
        folder = entries[0][0].rpartition("/")[0] if entries else ""
        taken = [(path, owner) for owner, paths in owned.items() for path in paths]
        taken += [(named[name][0], owner) for name, owner in covers.items()]
        owners = {path: f"{folder}/{owner}" for path, owner in taken if owner not in unread}
        # What belongs to a file that cannot be read stands by itself.
        for name, (path, relative) in named.items():
            alone = name in covers or (path in belonging and is_subtitles(name))
            if alone and path not in owners and self._takes(relative):
                self._file(path, "video" if name in covers else "passages", [])
        self.ignored.difference_update(belonging)
        self.belonging |= owners

    def _is_included(self, relative: str) -> bool:
        return not self.include or self.include.match(relative)

    def _takes(self, relative: str) -> bool:
        """Whether the globs and the shard have a file with that path below its root; counts it where not."""
        if not self._is_included(relative):
            self.not_included += 1
        elif self.shard and not self.shard.holds(relative):
            self.other_shards += 1
        else:
            return True
        return False

    def _unknown(self, path: str, relative: str) -> None:
        """Links are looked at even without a known suffix: they may stand for a lost folder."""
        if path not in self.objects and os.path.islink(path) and not self._link_leads_to_file(path):
            return
        if self._is_included(relative):
            self.ignored.add(path)

    def _link_leads_to_file(self, path: str) -> bool:
        try:
            status = os.stat(path)
        except OSError as error:
            self._report(path, link_problem(path, error))
            return False
        if stat.S_ISDIR(status.st_mode):
            self._folder_link(path)
        return not stat.S_ISDIR(status.st_mode)

    def _folder_link(self, path: str) -> None:
        target = os.path.realpath(path)
        if _inside(os.path.realpath(os.path.dirname(path)), [target.rstrip("/")]):
            self._report(path, "a link to a folder that contains it", "not followed")
        elif not _inside(target, self.real_roots):
            self._report(path, f"a link to the folder {target}", "not followed; name that folder to index it")

    def _in_bounds(self, path: str) -> bool:
        real = os.path.realpath(path) if self.bounds else path
        return not self.bounds or _inside(real, self.bounds)

    def _file(self, path: str, kind: FileKind, sidecars: list[str]) -> None:
        self.known.add(path)
        if path in self.objects:
            self._object(path, kind, sidecars)
            return
        if not self._in_bounds(path):
            self._report(path, "a link to a file outside of the folders in scan.within")
            return
        sidecars = [sidecar for sidecar in sidecars if self._in_bounds(sidecar)]
        try:
            if os.path.islink(path):
                if not self._link_leads_to_file(path):
                    return
                real = os.path.realpath(path)
                if not _inside(real, self.real_roots):
                    self.outside.add(path)
            status = os.stat(path)
        except FileNotFoundError:
            return
        except OSError as error:
            self._report(path, os_problem(error))
            return
        trouble = file_problem(path, status)
        if trouble is None:
            return
        if trouble:
            self._report(path, trouble)
            return
        # TypeScript and MPEG transport streams share `.ts`; a stream's packets are never plain text.
        if path.lower().endswith(".ts") and b"\0" not in first_bytes(path):
            self.ignored.add(path)
            return
        beside = list(_readable(sidecars))
        stamp = _stamp(_facts(status), [(os.path.basename(each), facts) for each, facts in beside])
        kept = tuple(each for each, _ in beside)
        self.files[path] = FoundFile(
            path, kind, status.st_size, mtime_ns(status), status.st_ctime_ns, kept, stamp
        )

    def _object(self, path: str, kind: FileKind, sidecars: list[str]) -> None:
        found = self.objects[path]
        if found.size == 0:
            self._report(path, EMPTY)
            return
        beside = [(os.path.basename(each), _object_facts(self.objects[each])) for each in sidecars]
        stamp = _stamp(_object_facts(found), beside)
        self.files[path] = FoundFile(
            path, kind, found.size, found.modified_ns, 0, tuple(sidecars), stamp, found.etag
        )

    def _report(self, path: str, reason: str, action: str = "skipped") -> None:
        self.problems[path] = Problem(path, reason, action)


def _covers(names: Iterable[str]) -> dict[str, str]:
    """By name of a photograph, the video or sound beside it that it is the cover of."""
    stems = {
        name: spelled(os.path.splitext(name)[0]) for name in names if kind_of(name) in ("video", "audio")
    }
    covered = {stem: name for name, stem in stems.items() if not is_photograph(name)}
    return {name: covered[stem] for name, stem in stems.items() if is_photograph(name) and stem in covered}


def _subtitle_files(folders: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """Path by name; of one name in several folders that of the first. Raises `UnreadableFile`."""
    found: dict[str, str] = {}
    for folder in folders:
        place = os.path.abspath(folder)
        try:
            names = sorted(os.listdir(place))
        except OSError as error:
            raise UnreadableFile(f"scan.subtitles: {place}: {os_problem(error)}") from error
        for name in names:
            if sidecar_base(name, SUBTITLES) is not None:
                found.setdefault(name, os.path.join(place, name))
    return found


def _readable(sidecars: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The sidecars that are readable files, each with its facts."""
    for path in sidecars:
        try:
            beside = os.stat(path)
        except OSError:
            continue
        if stat.S_ISREG(beside.st_mode) and os.access(path, os.R_OK):
            yield path, _facts(beside)


def mtime_ns(status: os.stat_result) -> int:
    """When a file was changed, ns since 1970; the nearest that 64 bits hold, which end with the year 2262."""
    return max(-(2**63), min(status.st_mtime_ns, 2**63 - 1))


def _facts(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


def _object_facts(found: StoredObject) -> str:
    return f"{found.etag}:{found.size}:{found.modified_ns}"


def _stamp(facts: str, beside: Iterable[tuple[str, str]]) -> str:
    """Over the facts of a file, and names and facts of its sidecars."""
    stamp = hashlib.blake2b(facts.encode(), digest_size=8)
    for name, more in beside:
        stamp.update(os.fsencode(name))
        stamp.update(f":{more}".encode())
    return stamp.hexdigest()


def _inside(path: str, folders: Collection[str]) -> bool:
    """Whether a path is one of the folders, named without a slash at their ends, or below one."""
    while path not in folders:
        if not path:
            return False
        path = path.rpartition("/")[0]
    return True


def _real(path: str | os.PathLike[str]) -> str:
    return os.path.realpath(path).rstrip("/")
