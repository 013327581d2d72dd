"""The benchmark's folder, written: JSON Lines with BEIR's ids, and a manifest that seals them by hashes.

`videos.jsonl`, `passages.jsonl`, `queries.jsonl`, `candidates.jsonl` (queries
before the non-triviality filter), then `manifest.json` last: a folder without
it is not finished. Same input, same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpora.outputs import atomic_write_text
from eval.tasks.egofact.records import ClipRow, PassageRow, Query
from eval.tasks.jsonl import file_hash

VIDEOS, PASSAGES, QUERIES = "videos.jsonl", "passages.jsonl", "queries.jsonl"
CANDIDATES, MANIFEST = "candidates.jsonl", "manifest.json"


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
    rows: dict[str, Iterable[dict[str, Any]]] = {
        VIDEOS: map(_video_line, clips),
        PASSAGES: map(_passage_line, passages),
        QUERIES: map(query_line, queries),
        CANDIDATES: map(query_line, candidates),
    }
    for name, lines in rows.items():
        atomic_write_text(out / name, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    hashes = {name: file_hash(out / name) for name in rows}
    atomic_write_text(
        out / MANIFEST, json.dumps({**manifest, "hashes": hashes}, ensure_ascii=False, indent=2) + "\n"
    )


def query_line(query: Query) -> dict[str, Any]:
    """A query as it is written."""
    return {
        "_id": query.query_id,
        "text": query.text,
        "options": list(query.options),
        "answer": query.answer,
        "family": query.family,
        "video": query.clip_id,
        "window": list(query.window),
        "seen": list(query.seen) if query.seen else None,
        "anchor": list(query.anchor) if query.anchor else None,
        "position": query.position,
        "passage": query.passage,
        "option_passages": list(query.option_passages),
        "truth": list(query.truth),
        "order": list(query.order),
        "seed": query.seed,
    }


def _video_line(clip: ClipRow) -> dict[str, Any]:
    return {
        "_id": clip.clip_id,
        "path": clip.path,
        "start": clip.start,
        "end": clip.end,
        "description": clip.description,
    }


def _passage_line(passage: PassageRow) -> dict[str, Any]:
    return {
        "_id": passage.passage_id,
        "title": passage.title,
        "text": passage.text,
        "object": passage.object,
        "activity": passage.activity,
    }
