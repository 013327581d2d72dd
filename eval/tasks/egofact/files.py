"""The benchmark's folder: JSON Lines with BEIR's ids, and a manifest with their hashes.

`videos.jsonl`, `passages.jsonl`, `queries.jsonl`, then `manifest.json` last: a folder without it is not
finished. Same input, same bytes. Reading is strict: the first fault is one line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from corpora.identity import file_sha256
from corpora.outputs import atomic_write_text
from eval.tasks.egofact.records import ClipRow, EgoFact, Manifest, PassageRow, Query
from eval.tasks.published import read_records, validation_reason
from rag.errors import UsageError

VIDEOS, PASSAGES, QUERIES, MANIFEST = "videos.jsonl", "passages.jsonl", "queries.jsonl", "manifest.json"
Record = TypeVar("Record")


def write_folder(
    out: Path,
    clips: Sequence[ClipRow],
    passages: Sequence[PassageRow],
    queries: Sequence[Query],
    manifest: Mapping[str, Any],
) -> None:
    """`manifest`: all of it but the hashes."""
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)
    rows: Mapping[str, tuple[type[Any], Sequence[Any]]] = {
        VIDEOS: (ClipRow, clips),
        PASSAGES: (PassageRow, passages),
        QUERIES: (Query, queries),
    }
    for name, (kind, records) in rows.items():
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        lines = (adapter.dump_python(one, by_alias=True, mode="json") for one in records)
        atomic_write_text(out / name, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    hashes = {name: file_sha256(out / name) for name in rows}
    atomic_write_text(
        out / MANIFEST, json.dumps({**manifest, "hashes": hashes}, ensure_ascii=False, indent=2) + "\n"
    )


def load_egofact(folder: Path) -> EgoFact:
    """Read and verify a benchmark; times are seconds of the video files. Raises `UsageError`."""
    manifest, path = _manifest(folder), folder / QUERIES
    _check_hashes(folder, manifest)
    clips = read_records(folder / VIDEOS, ClipRow)
    passages = read_records(folder / PASSAGES, PassageRow)
    queries = read_records(path, Query)
    clip_of = _by_id(folder / VIDEOS, [(clip.clip_id, clip) for clip in clips])
    known = _by_id(folder / PASSAGES, [(passage.passage_id, passage) for passage in passages])
    for name, query in _by_id(path, [(query.query_id, query) for query in queries]).items():
        clip = clip_of.get(query.clip_id)
        if clip is None:
            raise UsageError(f"{path}: {name}: video {query.clip_id!r} is in no line of {VIDEOS}")
        if not clip.start <= query.window[0] < query.window[1] <= clip.end:
            raise UsageError(f"{path}: {name}: window {list(query.window)} is outside its clip")
        for passage in filter(None, query.option_passages):
            if passage not in known:
                raise UsageError(f"{path}: {name}: passage {passage!r} is in no line of {PASSAGES}")
    return EgoFact(manifest.name, folder, tuple(clips), tuple(passages), tuple(queries), manifest.hashes)


def _manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        return TypeAdapter(Manifest).validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such file; this is no finished benchmark folder") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {validation_reason(error)}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error


def _check_hashes(folder: Path, manifest: Manifest) -> None:
    for path in (folder / name for name in (VIDEOS, PASSAGES, QUERIES)):
        if not path.is_file():
            raise UsageError(f"{path}: no such file")
        if file_sha256(path) != manifest.hashes.get(path.name):
            raise UsageError(f"{path}: not the file that the manifest was written for (another SHA-256)")


def _by_id(path: Path, rows: Sequence[tuple[str, Record]]) -> dict[str, Record]:
    found = dict(rows)
    if len(found) < len(rows):
        names = [name for name, _ in rows]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"{path}: two lines have the _id {twice!r}")
    return found
