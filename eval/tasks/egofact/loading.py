"""The benchmark's folder, read: ours or anyone's, strictly, with one line for each fault."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from eval.tasks.egofact.records import ClipRow, EgoFact, PassageRow, Query
from eval.tasks.egofact.schema import Manifest, PassageLine, QueryLine, VideoLine
from eval.tasks.egofact.writing import CANDIDATES, MANIFEST, PASSAGES, QUERIES, VIDEOS
from eval.tasks.jsonl import file_hash
from rag.errors import UsageError

SHOWN = 20
"""Faults listed at once."""
Model = TypeVar("Model", bound=BaseModel)


def load_egofact(folder: Path) -> EgoFact:
    """Read and verify a benchmark; times are seconds of the video files.

    `candidates.jsonl` may be missing. Raises `UsageError` whose message has one
    line for each fault (at most 20): `file:line: what is wrong`.
    """
    manifest, whole = _manifest(folder)
    faults = list(_hash_faults(folder, manifest))
    clips = _read(folder / VIDEOS, VideoLine, faults)
    passages = _read(folder / PASSAGES, PassageLine, faults)
    queries = _read(folder / QUERIES, QueryLine, faults)
    candidates = _read(folder / CANDIDATES, QueryLine, faults) if (folder / CANDIDATES).exists() else []
    for name, ids in (
        (VIDEOS, [(at, line.id) for at, line in clips]),
        (PASSAGES, [(at, line.id) for at, line in passages]),
        (QUERIES, [(at, line.id) for at, line in queries]),
        (CANDIDATES, [(at, line.id) for at, line in candidates]),
    ):
        faults += _repeated(folder / name, ids)
    known = {line.id: line.record() for _, line in clips}
    faults += _dangling(folder / QUERIES, queries, known, {line.id for _, line in passages})
    _raise(faults)
    return EgoFact(
        name=manifest.name,
        split=manifest.split,
        seed=manifest.seed,
        folder=folder,
        clips=_records(clips, VideoLine.record),
        passages=_records(passages, PassageLine.record),
        queries=_records(queries, QueryLine.record),
        candidates=_records(candidates, QueryLine.record),
        manifest=whole,
    )


Record = TypeVar("Record", ClipRow, PassageRow, Query)


def _records(lines: Iterable[tuple[int, Model]], record: Callable[[Model], Record]) -> tuple[Record, ...]:
    return tuple(record(line) for _, line in lines)


def _manifest(folder: Path) -> tuple[Manifest, dict[str, Any]]:
    path = folder / MANIFEST
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        return Manifest.model_validate(whole), whole
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such file; this is no finished benchmark folder") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {_said(error)}") from error
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
        elif file_hash(path) != wanted:
            yield f"{path}: not the file that the manifest was written for (another SHA-256)"


def _read(path: Path, model: type[Model], faults: list[str]) -> list[tuple[int, Model]]:
    """Line numbers, from 1, and lines; an unreadable file is a fault already reported by its hash."""
    found: list[tuple[int, Model]] = []
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
            found.append((number, model.model_validate_json(line, strict=True)))
        except ValidationError as error:
            faults.append(f"{path}:{number}: {_said(error)}")
    return found


def _repeated(path: Path, ids: Iterable[tuple[int, str]]) -> Iterator[str]:
    first: dict[str, int] = {}
    for number, name in ids:
        if name in first:
            yield f"{path}:{number}: _id {name!r} is in line {first[name]} already"
        first.setdefault(name, number)


def _dangling(
    path: Path, queries: Iterable[tuple[int, QueryLine]], clips: dict[str, ClipRow], passages: set[str]
) -> Iterator[str]:
    for number, query in queries:
        clip = clips.get(query.video)
        if clip is None:
            yield f"{path}:{number}: video {query.video!r} is in no line of {VIDEOS}"
        elif not clip.start <= query.window[0] < query.window[1] <= clip.end:
            yield f"{path}:{number}: window {list(query.window)} is outside its clip"
        for passage in sorted({name for name in query.option_passages if name} - passages):
            yield f"{path}:{number}: passage {passage!r} is in no line of {PASSAGES}"


def _said(error: ValidationError) -> str:
    """The first fault, in one line."""
    fault = error.errors()[0]
    place = ".".join(map(str, fault["loc"]))
    said = " ".join(fault["msg"].removeprefix("Value error, ").split())
    return f"{place}: {said}" if place else said


def _raise(faults: list[str]) -> None:
    if not faults:
        return
    more = [f"and {len(faults) - SHOWN} faults more"] if len(faults) > SHOWN else []
    raise UsageError("\n".join(faults[:SHOWN] + more))
