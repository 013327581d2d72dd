"""`rag doctor --repair`: restore what copies, indexes and the indexed files themselves can give again.

Manifests and `meta` are restored from the copies that are kept beside the sums. Rows are in fragments; those
of a fragment with a damaged file cannot be trusted. Whose file is there is marked as removed, which the next
writer finishes, and is indexed again by the next `rag index`; measurements alone are measured again. Of a
content whose file is gone all rows that can be read are kept, with a problem that says so. What would be
deleted and cannot be made again is asked for first.

The order bears a kill at any moment: problems are noted and contents marked before the damaged rows go, and
those go in the commit that puts the readable ones in their place.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from corpora.objects import StoreError, is_url, object_states
from corpora.outputs import atomic_file
from corpora.records import Problem, Video
from corpora.settings import StorageSettings
from rag.errors import LibraryCorrupt, LibraryReadOnly
from rag.settings import EXACT_ROWS
from rag.store import schema
from rag.store.code_index import drop_damaged
from rag.store.database import Database, quoted
from rag.store.earlier import finish, go_back, go_back_meta, went_back
from rag.store.error_mapping import read_errors, write_errors
from rag.store.examined_tables import OWNERS, examine, without_stderr
from rag.store.lance_module import lance_module
from rag.store.layout import Layout, LibraryLayout, Location, open_layout
from rag.store.migrations import MetaRows, pages_of_passages, read_meta, refuse_newer, refuse_older
from rag.store.records import SCHEMA, NotedProblem
from rag.store.sums import copied, has_later, manifest_name, read_all_sums, version_of
from rag.store.tables import problem_table
from rag.store.writing import Writer

LOCAL = StorageSettings()
MAGIC = b"LANC"
"""The end of each manifest."""


@dataclass
class Repair:
    """What a repair did, or would do."""

    restored: list[str] = field(default_factory=list)
    """Files that were put back from their copies."""
    made_again: list[str] = field(default_factory=list)
    """A line for each index, each old version that was removed, and each table that went back to one."""
    again: list[str] = field(default_factory=list)
    """Paths whose content the next `rag index` indexes again."""
    measured_again: list[str] = field(default_factory=list)
    """Paths whose shots and sound the next `rag index` measures again."""
    damaged: list[str] = field(default_factory=list)
    """Paths of files that are gone, of whose rows what can be read is kept."""
    lost: list[str] = field(default_factory=list)
    """A line for each thing that is deleted and cannot be made again."""
    notes: list[str] = field(default_factory=list)
    """A line for each index that the disk has no room for."""
    refused: bool = False
    """Whether no row was deleted or marked, for the sake of `lost`."""


def repair(
    location: Location,
    *,
    confirm: Callable[[Sequence[str]], bool],
    exact_rows: int = EXACT_ROWS,
    storage: StorageSettings = LOCAL,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> Repair:
    """Repair the library in a folder or on a store.

    `confirm`: asked once, with a line for each thing that would be deleted and cannot be made again; where it
    answers False no row is deleted or marked, while files were restored and versions that cannot be read are
    gone. Raises `LibraryCorrupt` where the table `meta` is lost, which says how
    all others are read, `LibraryReadOnly` for a copy, `LibraryBusy`, `StoreError` where it cannot be seen
    whether indexed objects are still there, and the errors of a library.
    """
    layout = open_layout(location)
    if (note := layout.copy_note()) is not None:
        raise LibraryReadOnly(
            f"{location}: a copy of {note.of}; remove the folder and pull the library again"
        )
    report = Repair()
    with write_errors(layout.folder):
        lock = layout.writer_lock()
    lock.acquire()
    try:
        report.restored = restore_copies(layout)
        report.made_again = [*go_back_meta(layout), *remove_unreadable_versions(layout)]
        work = _Work(Database(layout, lock), storage, progress)
        report.lost = work.lost()
        if report.lost and not confirm(report.lost):
            report.refused = True
            return report
        work.apply(report)
    finally:
        lock.release()
    with Writer.open(location, create=False) as writer:
        writer.drop_vectors_without_clips()
        report.made_again += writer.check_files(exact_rows)
        if layout.indexes is not None:
            with write_errors(layout.folder):
                report.made_again += drop_damaged(layout.indexes, layout.table_names())
        report.notes = writer.maintain(exact_rows)
    return report


def restore_copies(layout: LibraryLayout) -> list[str]:
    """Put back the files that are kept in full and are not as they were; their paths."""
    restored: list[str] = []
    if not isinstance(layout, Layout):
        return restored
    for name, noted in read_all_sums(layout).items():
        folder = layout.table(name)
        if has_later(folder, manifest_name(noted.version)):
            continue
        for file in noted.copies:
            content, path = copied(noted, file), folder / file
            try:
                same = path.read_bytes() == content
            except OSError:
                same = False
            if not same and content is not None:
                with write_errors(layout.folder):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with atomic_file(path) as draft:
                        draft.write_bytes(content)
                restored.append(f"{name}.lance/{file}")
    return restored


def remove_unreadable_versions(layout: LibraryLayout) -> list[str]:
    """Remove older manifests that cannot be read, beside which Lance cleans nothing away; a line for each."""
    removed: list[str] = []
    if not isinstance(layout, Layout):
        return removed
    for name in layout.table_names():
        for path in sorted((layout.table(name) / "_versions").glob("*.manifest"))[1:]:
            try:
                with without_stderr(), read_errors(layout.folder, name):
                    lance_module().dataset(str(layout.table(name)), version=version_of(path.name))
                    if not path.read_bytes().endswith(MAGIC):
                        # Which Lance looks at where it cleans, and not where it opens a version.
                        raise ValueError("not the end of a manifest")
            except LibraryCorrupt:
                with write_errors(layout.folder):
                    path.unlink()
                removed.append(f"removed an old version of table {name} that could not be read")
    return removed


class _Work:
    """The damaged tables of a library, and what each content loses by them."""

    def __init__(
        self, db: Database, storage: StorageSettings, progress: Callable[[int, int], object]
    ) -> None:
        self._db = db
        self._storage = storage
        self._layout = layout = db.layout
        self._meta = _meta_of(layout)
        self._tables = examine(db, self._meta, progress)
        self._paths: dict[str, list[str]] = defaultdict(list)
        self._kinds: dict[str, str] = {}
        for row in self._tables["files"].all_rows():
            self._paths[row["content_id"]].append(os.fsdecode(row["path"]))
            self._kinds[row["content_id"]] = row["kind"]
        self._leave_out_removed()
        self._videos = {row["video_id"]: row for row in self._tables["videos"].all_rows()}
        for video_id, row in self._videos.items():
            self._paths[video_id] = self._paths[video_id] or [os.fsdecode(row["path"])]
        passages = self._tables.get("passages")
        self._sources = passages.values_of("source_id") if passages is not None else set()
        self._stored = frozenset(self._sources)
        self._sources |= {content for content, kind in self._kinds.items() if kind != "video"}
        content = [table for name, table in self._tables.items() if name not in {*OWNERS, "videos"}]
        self._unknown = set().union(*(table.values_of("video_id") for table in content))
        self._unknown |= {content for content, kind in self._kinds.items() if kind == "video"}
        self._unknown -= self._videos.keys()

    def _leave_out_removed(self) -> None:
        """Of earlier versions: contents without a path, which were removed since, and videos that were not
        finished, of which nothing is known."""
        import pyarrow as pa

        if self._tables["files"].damaged:
            return
        known = pa.array(self._kinds, pa.string())
        for name, column in (("videos", "video_id"), ("passages", "source_id")):
            table = self._tables[name]
            if table.reverted and table.rows is not None:
                table.rows = table.rows.filter(pa.compute.is_in(table.rows[column], known))
                if name == "videos":
                    table.rows = table.rows.filter(pa.compute.equal(table.rows["status"], "ready"))

    def _affected(self, *, measured: bool) -> set[str]:
        """Contents with rows in damaged fragments: of measurements, or of anything else."""
        found = set[str]()
        videos = {*self._videos}
        known = videos | self._unknown if self._tables["videos"].damaged else videos
        for name, table in self._tables.items():
            if table.damaged and name not in {"files", "problems"}:
                if (name in schema.MEASURED_TABLES) != measured:
                    continue
                every, held = (self._sources, self._kinds) if name == "passages" else (videos, known)
                owners = table.owners
                if owners is None or not owners <= {*held}:
                    owners = every  # An id that no content has is damaged, and says not whose row it was.
                found |= owners
        return found & {*self._videos, *self._sources, *self._paths}

    def _there(self, contents: Iterable[str]) -> set[str]:
        """Those with a file or an object. Raises `StoreError` where that cannot be seen."""
        paths = {content: self._paths.get(content, []) for content in contents}
        objects = object_states(filter(is_url, itertools.chain(*paths.values())), self._storage)
        for state in objects.values():
            if isinstance(state, StoreError):
                raise state
        exists = {path: state is not None for path, state in objects.items()}
        return {
            content
            for content, own in paths.items()
            if any(exists[path] if path in exists else os.path.exists(path) for path in own)
        }

    def lost(self) -> list[str]:
        """A line for each thing that is deleted, and cannot be made again."""
        lines = []
        if self._tables["videos"].damaged:
            lines += [
                f"{self._paths.get(content, [content])[0]}: its row of table videos is lost, its file gone"
                for content in sorted(self._unknown - self._there(self._unknown))
            ]
        if self._tables["files"].damaged and (nameless := self._stored - self._kinds.keys()):
            lines.append(
                f"{len(nameless)} documents have lost their paths; those that are indexed again come back"
            )
        return lines

    def apply(self, report: Repair) -> None:
        """Mark what is to be made again, then replace the damaged rows by those that can be read."""
        everything = self._affected(measured=False)
        measured = self._affected(measured=True) - everything
        again = self._there(everything)
        self._describe(report, everything, measured, again)
        self._prepare(again)
        self._replace("problems")
        self._note(report.damaged)
        for name in ("videos", "files"):
            self._replace(name)
        self._mark(again, measured)
        for name in self._tables:
            if name not in {"problems", "videos", "files"}:
                self._replace(name)
        if self._meta.schema == SCHEMA:
            pages_of_passages(self._db)  # A table that went back may be of an earlier schema.
        if isinstance(self._layout, Layout):
            # Else a file of what was marked counts as unchanged.
            self._layout.scan_cache.unlink(missing_ok=True)

    def _describe(self, report: Repair, everything: set[str], measured: set[str], again: set[str]) -> None:
        """What becomes of each content: of those that lose `everything`, some are indexed `again`."""
        report.again = self._first_paths(again | self._there(self._unknown))
        kept = measured - self._there(measured)
        files = self._tables["files"]
        # Their paths may be damaged.
        nowhere = set() if files.rows is None else set(files.rows["content_id"].to_pylist())
        nowhere -= self._there(nowhere)
        report.damaged = self._first_paths((everything - again | kept | nowhere) - self._unknown)
        report.measured_again = self._first_paths(measured - kept)
        reverted = {name: table.dataset.version for name, table in self._tables.items() if table.reverted}
        report.made_again += [went_back(name, version) for name, version in reverted.items()]

    def _prepare(self, again: set[str]) -> None:
        """Change the rows that could be read before they replace the damaged fragments: of videos that are
        indexed `again` the status, of all the stages where they are damaged, of files the stamp; rows of no
        known video are left out."""
        videos, files = self._tables["videos"], self._tables["files"]
        if videos.rows is not None:
            rows = videos.rows.to_pylist()
            states = ["removing" if row["video_id"] in again else row["status"] for row in rows]
            stages = [json.dumps(schema.stages_of(row), sort_keys=True) for row in rows]
            videos.rows = _with_column(_with_column(videos.rows, "status", states), "stages", stages)
        if videos.damaged and self._unknown:
            videos.rows = _joined(videos.rows, [_without_facts(video_id) for video_id in self._unknown])
        if not videos.damaged:
            # Rows whose video is not named as it was: nothing would ever remove them.
            for name, table in self._tables.items():
                if table.rows is not None and name not in {*OWNERS, "videos"}:
                    table.rows = _of_owners(table.rows, self._videos, table.key)
        if files.rows is not None:
            # A file without its stamp is hashed again.
            files.rows = _with_column(files.rows, "stamp", [""] * files.rows.num_rows)

    def _note(self, damaged: Iterable[str]) -> None:
        problems = problem_table(self._db)
        for path in damaged:
            reason = "a part of what was indexed of it was damaged, and the file is gone"
            problems.put(path, NotedProblem(Problem(path, reason, "kept what could be read"), ""))
        problems.flush()

    def _mark(self, again: set[str], measured: set[str]) -> None:
        if videos := sorted(again & self._videos.keys()):
            self._db.update("videos", f"video_id IN {quoted(videos)}", {"status": "removing"})
        if sources := sorted(again & self._sources):
            self._db.delete("files", f"content_id IN {quoted(sources)}")
        for video_id in sorted(measured & self._videos.keys()):
            stages = schema.stages_of(self._videos[video_id])
            left = {name: value for name, value in stages.items() if name not in {"shots", "sound"}}
            self._db.update("videos", f"video_id IN {quoted([video_id])}", {"stages": json.dumps(left)})

    def _first_paths(self, contents: Iterable[str]) -> list[str]:
        return sorted(self._paths[content][0] for content in contents if self._paths.get(content))

    def _replace(self, name: str) -> None:
        """In one commit, the readable rows of damaged fragments in place of these."""
        table = self._tables[name]
        if table.dataset is None:
            self._db.drop(name)
            if (made := _schema_of(name, self._meta)) is not None:
                self._db.create(name, made, table.rows)
            return
        if not table.damaged:
            return
        if table.reverted:
            go_back(self._layout, name, table.dataset.version)
        import lance
        from lance.fragment import write_fragments

        # What was marked meanwhile was committed on top of what was examined.
        dataset = self._db.lance(name)
        bad = {fragment.fragment_id for fragment in table.bad}
        rows = table.rows is not None and table.rows.num_rows
        with self._db.commit(name):
            new = []
            if rows:
                new = write_fragments(table.rows, dataset.uri, schema=dataset.schema, mode="append")
            change = lance.LanceOperation.Update(
                removed_fragment_ids=sorted(bad), updated_fragments=[], new_fragments=list(new)
            )
            if bad or rows:
                lance.LanceDataset.commit(dataset, change, read_version=dataset.version, max_retries=0)
        self._db.refresh(name)
        if table.reverted:
            finish(self._layout, name)


def _meta_of(layout: LibraryLayout) -> MetaRows:
    """What the tables were made with. Raises `LibraryCorrupt` where it is lost."""
    try:
        with read_errors(layout.folder, "meta"):
            layout.require_whole("meta")
            rows = layout.dataset("meta").to_table().to_pylist()
        found = read_meta(layout.folder, rows)
    except LibraryCorrupt as error:
        raise LibraryCorrupt(
            f"{layout.folder}: table meta is lost, and with it what the others were made with; "
            "move the library's folder away and index again with: rag index FOLDER"
        ) from error
    refuse_newer(layout.folder, found.schema)
    refuse_older(layout.folder, found.schema)
    return found


def _without_facts(video_id: str) -> Any:
    """The row of a video whose own is lost: the next writer removes all that is left of it."""
    unknown = Video(video_id, "", "", "", (), 0.0, 0.0, 0, 0, False, "")
    return schema.video_rows(unknown, "removing", {}, 0)


def _joined(rows: Any, others: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables([*([] if rows is None else [rows.select(others[0].column_names)]), *others])


def _of_owners(rows: Any, videos: Iterable[str], key: str | None) -> Any:
    """Rows of these videos, whose keys begin with the same video, where they have a `key`."""
    import pyarrow as pa

    rows = rows.filter(pa.compute.is_in(rows["video_id"], pa.array(videos, pa.string())))
    if key is None:
        return rows
    pairs = zip(rows["video_id"].to_pylist(), rows[key].to_pylist(), strict=True)
    return rows.filter(pa.array([named.startswith(f"{video}:") for video, named in pairs], pa.bool_()))


def _with_column(rows: Any, name: str, values: Sequence[str]) -> Any:
    import pyarrow as pa

    at = rows.column_names.index(name)
    return rows.set_column(at, rows.schema.field(name), pa.array(values, rows.schema.field(name).type))


def _schema_of(name: str, held: MetaRows) -> Any:
    """The schema of a table that a library has; None for one that it can be without."""
    if name not in held.tables:
        return None
    plain = name not in schema.FULL_TEXT_TABLES and not schema.is_clip_vectors(name)
    if held.meta is None or plain:
        return schema.arrow_schema(name)
    if schema.is_clip_vectors(name):
        encoder = held.meta.image_encoder
        return schema.arrow_schema("vectors", encoder.dim if encoder else 0)
    return schema.arrow_schema(name, held.meta.text_encoder.dim)
