"""The benchmark's folder: JSON Lines with BEIR's ids, and a manifest with their hashes.

`videos.jsonl`, `passages.jsonl`, `queries.jsonl`, `candidates.jsonl` (queries
before the non-triviality filter), then `manifest.json` last: a folder without
it is not finished. Same input, same bytes. Reading is strict, with one line for each fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from corpora.identity import file_sha256
from corpora.outputs import atomic_write_text
from eval.tasks.egofact.records import ClipRow, EgoFact, Manifest, PassageRow, Query
from rag.errors import UsageError

VIDEOS, PASSAGES, QUERIES = "videos.jsonl", "passages.jsonl", "queries.jsonl"
CANDIDATES, MANIFEST = "candidates.jsonl", "manifest.json"
SHOWN = 20
"""Faults listed at once."""
Record = TypeVar("Record")
Numbered = list[tuple[int, Record]]
"""Records with their line numbers, from 1."""


def write_folder(
    out: Path,
    clips: Sequence[ClipRow],
    passages: Sequence[PassageRow],
    queries: Sequence[Query],
    candidates: Sequence[Query],
    manifest: Mapping[str, Any],
) -> None:
    """`manifest`: all of it but the hashes."""
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)
    rows: Mapping[str, tuple[type[Any], Sequence[Any]]] = {
        VIDEOS: (ClipRow, clips),
        PASSAGES: (PassageRow, passages),
        QUERIES: (Query, queries),
        CANDIDATES: (Query, candidates),
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
    """Read and verify a benchmark; times are seconds of the video files.

    `candidates.jsonl` may be missing. Raises `UsageError` whose message has one
    line for each fault (at most 20): `file:line: what is wrong`.
    """
    manifest, whole = _manifest(folder)
    faults = list(_hash_faults(folder, manifest))
    clips = _read(folder / VIDEOS, ClipRow, faults)
    passages = _read(folder / PASSAGES, PassageRow, faults)
    queries = _read(folder / QUERIES, Query, faults)
    candidates = _read(folder / CANDIDATES, Query, faults) if (folder / CANDIDATES).exists() else []
    faults += _repeated(folder / VIDEOS, [(at, clip.clip_id) for at, clip in clips])
    faults += _repeated(folder / PASSAGES, [(at, passage.passage_id) for at, passage in passages])
    for name, rows in ((QUERIES, queries), (CANDIDATES, candidates)):
        faults += _repeated(folder / name, [(at, query.query_id) for at, query in rows])
    faults += _dangling(folder / QUERIES, queries, clips, passages)
    if faults:
        more = [f"and {len(faults) - SHOWN} faults more"] if len(faults) > SHOWN else []
        raise UsageError("\n".join(faults[:SHOWN] + more))
    return EgoFact(
        name=manifest.name,
        split=manifest.split,
        seed=manifest.seed,
        folder=folder,
        clips=tuple(clip for _, clip in clips),
        passages=tuple(passage for _, passage in passages),
        queries=tuple(query for _, query in queries),
        candidates=tuple(query for _, query in candidates),
        manifest=whole,
    )


def _manifest(folder: Path) -> tuple[Manifest, dict[str, Any]]:
    path = folder / MANIFEST
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        return TypeAdapter(Manifest).validate_python(whole), whole
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such file; this is no finished benchmark folder") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {_first_fault(error)}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error


def _hash_faults(folder: Path, manifest: Manifest) -> Iterator[str]:
    for name in (VIDEOS, PASSAGES, QUERIES):
        if name not in manifest.hashes:
            yield f"{folder / MANIFEST}: names no hash of {name}"
    for name, wanted in sorted(manifest.hashes.items()):
        path = folder / name
        if "/" in name or "\\" in name:
            yield f"{folder / MANIFEST}: {name!r} is no file of this folder"
        elif not path.is_file():
            yield f"{path}: no such file"
        elif file_sha256(path) != wanted:
            yield f"{path}: not the file that the manifest was written for (another SHA-256)"


def _read(path: Path, kind: type[Record], faults: list[str]) -> Numbered[Record]:
    """An unreadable file is a fault already reported by its hash."""
    found: Numbered[Record] = []
    adapter = TypeAdapter(kind)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return found
    except UnicodeDecodeError as error:
        faults.append(f"{path}: not UTF-8 at byte {error.start}")
        return found
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append((number, adapter.validate_json(line, strict=True)))
        except ValidationError as error:
            faults.append(f"{path}:{number}: {_first_fault(error)}")
    return found


def _repeated(path: Path, ids: Iterable[tuple[int, str]]) -> Iterator[str]:
    first: dict[str, int] = {}
    for number, name in ids:
        if name in first:
            yield f"{path}:{number}: _id {name!r} is in line {first[name]} already"
        first.setdefault(name, number)


def _dangling(
    path: Path, queries: Numbered[Query], clips: Numbered[ClipRow], passages: Numbered[PassageRow]
) -> Iterator[str]:
    clip_of = {clip.clip_id: clip for _, clip in clips}
    known = {passage.passage_id for _, passage in passages}
    for number, query in queries:
        clip = clip_of.get(query.clip_id)
        if clip is None:
            yield f"{path}:{number}: video {query.clip_id!r} is in no line of {VIDEOS}"
        elif not clip.start <= query.window[0] < query.window[1] <= clip.end:
            yield f"{path}:{number}: window {list(query.window)} is outside its clip"
        for passage in sorted({name for name in query.option_passages if name} - known):
            yield f"{path}:{number}: passage {passage!r} is in no line of {PASSAGES}"


def _first_fault(error: ValidationError) -> str:
    """The first fault, in one line."""
    fault = error.errors()[0]
    place = ".".join(map(str, fault["loc"]))
    extra = fault["type"] == "unexpected_keyword_argument"
    reason = "Extra inputs are not permitted" if extra else fault["msg"].removeprefix("Value error, ")
    reason = " ".join(reason.split())
    return f"{place}: {reason}" if place else reason
