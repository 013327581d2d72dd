"""One run of `rag index`: scan, the run itself, the report."""

from __future__ import annotations

import logging
import os
import shlex
import time
from collections.abc import Iterable, Sequence

from corpora.kinds import why_ignored
from corpora.objects import is_url
from corpora.scan import Scan, Shard, scan
from rag.errors import UnreadableFile, UsageError
from rag.indexing.missing import below
from rag.indexing.report import IndexReport, Progress, Prune, scan_report
from rag.settings import Settings
from rag.store.finding import absolute_path, find_library, library_option, path_list, writable_library
from rag.store.layout import Location, open_layout

log = logging.getLogger(__name__)


def index(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    settings: Settings,
    reembed: bool = False,
    prune: Prune = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    limit: int | None = None,
) -> IndexReport:
    """Index as `rag.library.Library.index`. Raises also `StoreError` for a store that does not answer,
    `LibraryNotFound` where the library's folder is neither a library nor empty, and the errors of the models.
    """
    started = time.monotonic()
    watch = progress or Progress()
    _require_options(prune, limit)
    roots = [absolute_path(path) for path in path_list(paths)]
    folder = find_library(library=settings.library, storage=settings.storage)
    writable_library(folder)
    found = _scan(roots, settings, folder)
    from rag.indexing.forecast import forecast
    from rag.indexing.pipeline import run_indexing

    given = folder, found, roots, settings
    if dry_run:
        return forecast(*given, prune=prune, limit=limit, started=started)
    report = scan_report(folder, found)
    run_indexing(*given, reembed=reembed, prune=prune, progress=watch, limit=limit, report=report)
    watch.done()
    report.problems.sort(key=lambda problem: (problem.path, problem.reason))
    report.seconds, report.bytes = time.monotonic() - started, open_layout(folder).size()
    return report


def _require_options(prune: object, limit: object) -> None:
    """Raises `UsageError` for values that would index, or remove, others than asked for."""
    if prune not in (False, True, "all"):
        raise UsageError(f"prune: {prune!r} is none of False, True, 'all'")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise UsageError(f"limit: {limit!r} is no whole number above 0")


def _scan(roots: Sequence[str], settings: Settings, folder: Location) -> Scan:
    chosen = settings.scan
    try:
        found = scan(
            roots,
            include=chosen.include,
            exclude=chosen.exclude,
            within=chosen.within,
            subtitles=chosen.subtitles,
            shard=Shard.parse(chosen.shard) if chosen.shard else None,
            storage=settings.storage,
        )
    except UnreadableFile as error:
        raise _with_removal(error, roots, folder) from error
    for path in found.ignored:
        log.info("%s: ignored: %s", path, why_ignored(path))
    return found


def _with_removal(error: UnreadableFile, roots: Sequence[str], folder: Location) -> UnreadableFile:
    """The error of an address without objects, with the command that removes what the library has of it."""
    from rag.indexing.planning import StoredRows

    gone = [root for root in roots if is_url(root) and str(error).startswith(f"{root}: ")]
    inside = below(gone)
    if gone and any(path in gone or path.startswith(inside) for path in StoredRows.read(folder).files):
        command = f"rag remove {shlex.quote(gone[0])}{library_option(folder)}"
        return UnreadableFile(f"{error}; the library has files from there; to remove them: {command}")
    return error
