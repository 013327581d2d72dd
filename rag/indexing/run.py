"""One run of `rag index`: scan, the quick path of an unchanged corpus, the run itself, the report."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.kinds import why_ignored
from corpora.manifest import recommended_encoder
from corpora.objects import is_url
from corpora.records import SKIPPED, Problem
from corpora.scan import FoundFile, Scan, Shard, scan
from indexers.settings import FRAME_MEASURES, SCANNED_PAGES, SOUND_MEASURES
from rag.errors import UnreadableFile, UsageError
from rag.indexing.missing import below, find_missing
from rag.indexing.report import IndexReport, Progress, Prune, scan_report
from rag.settings import Settings
from rag.store.finding import absolute_path, find_library, library_option, path_list, writable_library
from rag.store.head import read_head
from rag.store.layout import Location, open_layout
from rag.store.records import SCORE_MEASURES
from rag.store.scan_cache import ScanCache

if TYPE_CHECKING:
    from rag.indexing.outcomes import IndexingStats

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
    """Index folders and files, on disk or at addresses of a store; what the library has is left alone.

    `reembed`: encode all images again with the encoder that the settings ask for;
    text, OCR and speech evidence is kept. `prune`: drop what is no longer on
    disk; refused where a root is empty or more than half of its files are
    missing, unless it is `all`. `limit`: at most so many new contents.
    `dry_run`: write nothing, and give a forecast.

    Raises `UsageError` for an empty path, `UnreadableFile` for a folder that is not there, `StoreError` for
    a store that does not answer, `LibraryNotFound` where the library's folder is neither a library nor empty,
    `LibraryError` for a refused `prune`, and the errors of the library and of the models; a bad file is a
    `Problem` in the report.
    """
    started = time.monotonic()
    watch = progress or Progress()
    _require_options(prune, limit)
    roots = [absolute_path(path) for path in path_list(paths)]
    folder = find_library(library=settings.library, storage=settings.storage)
    writable_library(folder)
    found = _scan(roots, settings, folder)
    fingerprint = _settings_fingerprint(settings)
    if not (reembed or prune or dry_run or open_layout(folder).shards()):
        quick = _nothing_to_do(folder, found, roots, fingerprint, settings, started)
        if quick is not None:
            return quick
    # From here on the heavy libraries are needed: LanceDB alone takes a second to import.
    from rag.indexing.forecast import forecast
    from rag.indexing.pipeline import run_indexing

    given = folder, found, roots, settings
    if dry_run:
        return forecast(
            *given, recommended=recommended_encoder(roots), prune=prune, limit=limit, started=started
        )
    stats = run_indexing(*given, reembed=reembed, prune=prune, progress=watch, limit=limit)
    watch.done()
    if stats.library_id:
        _update_scan_cache(folder, _as_cached(found, settings), stats, fingerprint)
    return _report(folder, found, stats, started)


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
    if gone and any(path in gone or path.startswith(inside) for path in StoredRows(folder).files()):
        command = f"rag remove {shlex.quote(gone[0])}{library_option(folder)}"
        return UnreadableFile(f"{error}; the library has files from there; to remove them: {command}")
    return error


def _settings_fingerprint(settings: Settings) -> str:
    """Of the settings that decide the rows: under others no file counts as unchanged by the scan cache."""
    chosen = settings.model_dump(mode="json", include={"reading", "video", "encoder", "ocr", "asr"})
    chosen["measured"] = [FRAME_MEASURES, SOUND_MEASURES, SCORE_MEASURES]
    chosen["scanned"] = SCANNED_PAGES
    return hashlib.blake2b(json.dumps(chosen, sort_keys=True).encode(), digest_size=16).hexdigest()


def _nothing_to_do(
    folder: Location, found: Scan, roots: Sequence[str], fingerprint: str, settings: Settings, started: float
) -> IndexReport | None:
    """The report of a run with no work, from the scan cache alone; None where there may be work."""
    if not open_layout(folder).exists() or not found.files:
        return None
    indexes = open_layout(folder).indexes
    if indexes is not None and indexes.is_dir():
        from rag.store.code_index import damaged  # imports NumPy

        if damaged(indexes):
            return None
    with ScanCache(folder, read_only=True) as cache:
        if cache.changed(_as_cached(found, settings), fingerprint + _seen(folder)):
            return None
        entries = cache.entries()
    paths = {file.path for file in found.files}
    statuses = {path: status for path, (_, status) in entries.items() if path in paths}
    if any(status == "unfinished" for status in statuses.values()):
        return None
    problems = [*found.problems, *(_problem(path, status) for path, status in statuses.items() if status)]
    missing = find_missing(entries, paths, roots, settings.storage)
    if any(entries[path][1] for path in missing):
        return None  # a bad file is gone, and with it its line
    return replace(
        scan_report(folder, found),
        unchanged=sum(_usable(status) for status in statuses.values()),
        missing=len(missing),
        problems=_in_order(problems),
        seconds=time.monotonic() - started,
        bytes=open_layout(folder).size(),
    )


def _seen(folder: Location) -> str:
    """What shows that a library was changed by others, or lost files, since its cache was written: its last
    commit, and in a folder how many bytes its tables have."""
    layout = open_layout(folder)
    head, _ = read_head(layout)
    size = sum(map(layout.size, head.tables)) if isinstance(folder, Path) else 0
    return f" {head.commit} {size}"


def _usable(status: str) -> bool:
    return not status or json.loads(status)[1] != SKIPPED


def _problem(path: str, status: str) -> Problem:
    reason, action = json.loads(status)
    return Problem(path, reason, action)


def _as_cached(found: Scan, settings: Settings) -> Sequence[FoundFile]:
    """The files with stamps that `--exclude` changes too: the globs are kept with each video."""
    if not settings.scan.exclude:
        return found.files
    mark = f" {json.dumps(settings.scan.exclude)}"
    return [replace(file, stamp=f"{file.stamp}{mark}") for file in found.files]


def _update_scan_cache(
    folder: Location, files: Sequence[FoundFile], stats: IndexingStats, fingerprint: str
) -> None:
    """Fill the scan cache; the status of a file without a problem is empty, and so is the stamp of one that
    is gone."""
    troubles = {p.path: json.dumps([p.reason, p.action]) for p in stats.problems}
    rows = {
        f.path: (f.stamp, "unfinished" if f.path in stats.deferred else troubles.get(f.path, ""))
        for f in files
    }
    fingerprint += _seen(folder)
    with ScanCache(folder) as cache:
        if cache.library_id() != stats.library_id or cache.fingerprint() != fingerprint:
            cache.replace(stats.library_id, fingerprint, dict.fromkeys(stats.missing, ("", "")) | rows)
        else:
            cache.forget(stats.forgotten)
            cache.put(rows)


def _report(folder: Location, found: Scan, stats: IndexingStats, started: float) -> IndexReport:
    return replace(
        scan_report(folder, found),
        indexed=stats.indexed,
        reembedded=stats.reembedded,
        unchanged=stats.unchanged,
        moved=stats.moved,
        missing=len(stats.missing),
        removed=stats.removed,
        problems=_in_order(stats.problems),
        clips=stats.clips,
        passages=stats.passages,
        video_seconds=stats.video_seconds,
        seconds=time.monotonic() - started,
        bytes=open_layout(folder).size(),
        stages=tuple(stats.stages),
    )


def _in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: (problem.path, problem.reason)))
