"""Damage to a library's files, by as much as is compared at each opening."""

from __future__ import annotations

from rag.store.layout import Location, open_layout
from rag.store.sums import compare_versions, read_all_sums, sums_faults, unfinished


def damaged_index(folder: Location) -> str:
    """What is wrong with the library's index files, where questions would notice it; empty for nothing."""
    indexes = open_layout(folder).indexes
    if indexes is None or not indexes.is_dir():
        return ""
    from rag.store.code_index import damaged

    return damaged(indexes)


def damaged_file(folder: Location) -> str:
    """A file of the library, of tables or indexes, that is not as it was written; empty for none.

    As much is compared as at each opening of a library.
    """
    layout = open_layout(folder)
    if faults := sums_faults(layout):
        return next(iter(faults.values()))
    for damage in unfinished(layout):
        return str(damage)
    if noted := read_all_sums(layout):
        for damage in compare_versions(layout, noted, None, seen=layout.compared).damages:
            return str(damage)
    return damaged_index(folder)
