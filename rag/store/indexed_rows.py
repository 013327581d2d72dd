"""The rows of index files, as a snapshot of the tables shows them: pending and removed ones are masked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from rag.records import SearchFilter
from rag.store.code_index import ClipTimes, IndexDamaged, Manifest, Segment, open_segments, read_manifest
from rag.store.filters import row_mask
from rag.store.layout import LibraryLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass
class IndexedRows:
    """The rows of a segment that a snapshot shows."""

    segment: Segment
    shown: Collection[str]
    """Owners whose rows are there."""
    live: NDArray[np.uint64] | None = None
    """Ids of the rows that the table has, rising; None where it has all of the segment's."""
    first_id: int = 0
    """What is added to the table's row ids in a snapshot of several libraries."""
    damaged: set[str] = field(default_factory=set)
    """What of the segment's own files was not as it was written: its vectors, clips or rows of text."""

    @cached_property
    def visible(self) -> NDArray[np.bool_] | None:
        """bool (n,): rows of shown owners that the table still has; None where it is all of them."""
        owners, masks = self.segment.owners, []
        if not all(map(self.shown.__contains__, owners.names)):
            masks.append(owners.among(self.shown))
        if self.live is not None:
            place = np.searchsorted(self.live, self.segment.row_ids)
            place[place == len(self.live)] = 0
            found = self.live[place] == self.segment.row_ids if len(self.live) else place < 0
            masks.append(found)
        return np.logical_and.reduce(masks) if masks else None

    def mask(self, owners: Collection[str] | None, where: SearchFilter) -> NDArray[np.bool_] | None:
        """bool (n,): visible rows that pass a filter; None where all do."""
        keep = row_mask(self.segment, owners, where, self.segment.spans)
        if keep is None or self.visible is None:
            return self.visible if keep is None else keep
        return keep & self.visible

    def row_ids(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The snapshot's row ids of rows, int64 (m,)."""
        return self.segment.row_ids[positions].astype(np.int64) + self.first_id

    def places(self, row_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of rows by the snapshot's row ids, int64 (m,); -1 for one that is not here."""
        return self.segment.positions(row_ids - self.first_id)

    def vectors(self, positions: NDArray[np.int64]) -> NDArray[np.float16] | None:
        """float16 (m, dim) of rows, int64 (m,); None where they must be read from the table."""
        return self._checked(self.segment.vectors, positions)

    def clips(self, positions: NDArray[np.int64]) -> ClipTimes | None:
        """As `Segment.clips`, of rows int64 (m,); None where they must be read from the table."""
        return self._checked(self.segment.clips, positions)

    def rows_of(self, owner: str) -> NDArray[np.int64]:
        """Positions of the visible rows of an owner, int64 (m,)."""
        positions = self.segment.owners.rows_of(owner)
        return positions if self.visible is None else positions[self.visible[positions]]

    def rows(self, positions: NDArray[np.int64]) -> list[dict[str, Any]] | None:
        """As `Segment.rows`, of rows int64 (m,); None where they must be read from the table."""
        return self._checked(self.segment.rows, positions)

    def _checked(
        self, read: Callable[[NDArray[np.int64]], T | None], positions: NDArray[np.int64]
    ) -> T | None:
        if read.__name__ in self.damaged:
            return None
        try:
            return read(positions)
        except IndexDamaged as error:
            log.warning(
                "%s; the table is read instead, slowly, until rag doctor --full names the file", error
            )
            self.damaged.add(read.__name__)
            return None


class RowSource(Protocol):
    """What a snapshot reads of a table, by its name."""

    def scan(self, name: str, columns: list[str], where: str | None = None, *, row_ids: bool = False) -> Any:
        """Rows that an SQL condition selects."""
        ...

    def take(self, name: str, columns: list[str], wanted: Sequence[int], *, row_ids: bool = False) -> Any:
        """Rows by row id, in no particular order."""
        ...


def open_index(layout: LibraryLayout, name: str) -> tuple[Manifest, list[Segment]] | None:
    """The index files of a table; None without any, or with damaged ones, with a warning."""
    folder = layout.indexes
    if folder is None:
        log.warning(
            "%s: table %s is searched exactly, slowly and in memory: a store keeps no index; ask a copy: "
            "rag library pull",
            layout.folder,
            name,
        )
        return None
    reason, made_by = "it has no index yet", "rag index that adds or removes files"
    for _ in range(2):
        # A writer may replace the files between the reading of their names and their opening.
        try:
            manifest = read_manifest(folder, name)
            if manifest is None:
                break
            return manifest, open_segments(folder, manifest)
        except IndexDamaged as error:
            reason, made_by = str(error), "rag index"
    log.warning(
        "%s: table %s is searched exactly, slowly and in memory: %s; its index is made by the next %s",
        layout.folder,
        name,
        reason,
        "rag library pull" if layout.copy_note() else made_by,
    )
    return None


def indexed_rows(
    source: RowSource,
    name: str,
    rows: int,
    manifest: Manifest,
    segments: Sequence[Segment],
    shown: Collection[str],
) -> tuple[list[IndexedRows], str]:
    """The rows of a table of `rows` rows that segments hold, and an SQL condition that selects the others.

    `shown`: owners whose rows are there.
    """
    last, live = manifest.last_row_id, None
    later = f"_rowid > {last}"
    held = source.scan(name, [], f"_rowid >= {last}", row_ids=True)["_rowid"].to_numpy()
    newer = int(np.count_nonzero(held > last))
    if len(held) == newer or rows - newer != manifest.rows:
        live = np.sort(source.scan(name, [], row_ids=True)["_rowid"].to_numpy())
        # An index of a later version lacks what was removed since this one.
        known = np.concatenate([segment.row_ids for segment in segments])
        lacking = np.setdiff1d(live[live <= last], known)
        if len(lacking):
            later += f" OR _rowid IN ({','.join(map(str, lacking.tolist()))})"
    return [IndexedRows(segment, shown, live) for segment in segments], later
