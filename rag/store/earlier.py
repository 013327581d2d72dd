"""A table whose newest manifest can be neither read nor restored goes back to an earlier version.

What was committed since is lost, so nothing of such a table is trusted: `rag.store.repair` marks contents
first, and replaces all of its rows. Until that is done a file beside the sums says so, and no command reads
the table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rag.errors import LibraryCorrupt
from rag.store.error_mapping import read_errors, require_columns, write_errors
from rag.store.lance_module import lance_module
from rag.store.layout import Layout, LibraryLayout
from rag.store.sums import unfinished_path, version_of


def earlier_version(layout: LibraryLayout, name: str) -> Any:
    """The newest version of a table that can be opened, as a Lance dataset; None for none."""
    if not isinstance(layout, Layout):
        return None
    for path in _manifests(layout, name):
        try:
            with read_errors(layout.folder, name):
                dataset = lance_module().dataset(str(layout.table(name)), version=version_of(path.name))
                require_columns(layout.folder, name, dataset.schema.names)
                return dataset
        except LibraryCorrupt:
            continue
    return None


def go_back(layout: LibraryLayout, name: str, version: int) -> None:
    """Make a version the newest one, and the table unfinished."""
    if isinstance(layout, Layout):
        with write_errors(layout.folder):
            layout.sums.mkdir(exist_ok=True)
            unfinished_path(layout.sums, name).touch()
            for path in _manifests(layout, name):
                if version_of(path.name) > version:
                    path.unlink()


def finish(layout: LibraryLayout, name: str) -> None:
    """Once its rows were replaced."""
    if isinstance(layout, Layout):
        with write_errors(layout.folder):
            unfinished_path(layout.sums, name).unlink(missing_ok=True)


def go_back_meta(layout: LibraryLayout) -> list[str]:
    """As `go_back`, of the table that says how all others are read; a line where anything was done."""
    try:
        with read_errors(layout.folder, "meta"):
            layout.dataset("meta")
            return []
    except LibraryCorrupt:
        dataset = earlier_version(layout, "meta")
    if dataset is None:
        return []
    go_back(layout, "meta", dataset.version)
    finish(layout, "meta")
    return [went_back("meta", dataset.version)]


def went_back(name: str, version: int) -> str:
    """What a repair says of a table."""
    return f"went back to version {version} of table {name}: no newer one can be read"


def _manifests(layout: Layout, name: str) -> list[Path]:
    """The newest first."""
    return sorted((layout.table(name) / "_versions").glob("*.manifest"))
