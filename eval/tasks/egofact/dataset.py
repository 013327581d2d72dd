"""EgoFact's data: rendered or found, indexed once, and split into what a solver sees and the gold.

The benchmark's folder has JSON Lines with BEIR's ids: `videos.jsonl`, `passages.jsonl`, `queries.jsonl`, then
`manifest.json` with their hashes last: a folder without it is not finished. Same input, same bytes. Reading
is strict: the first fault is one line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from corpora.identity import file_sha256
from corpora.outputs import atomic_write_text
from eval.runs.folder import plain_name
from eval.runs.records import VIDEO_MISSING, VIDEO_UNREADABLE, Query
from eval.task import Prepared, ProgressCallback, task_settings, with_changes
from eval.tasks.egofact.records import ClipRow, EgoFact, EgoFactInput, Manifest, PassageRow
from eval.tasks.egofact.records import Query as Row
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.registry import Environment
from eval.tasks.libraries import fingerprints, render_corpus
from eval.tasks.published import read_records, validation_reason
from eval.tasks.videos import FoundVideos, IndexedVideos, index_videos
from eval.workbench.families import Families
from eval.workbench.jobs import CorpusPlan
from eval.workbench.video import Render
from rag.errors import UsageError
from rag.library import Library
from rag.settings import Settings

VIDEOS, PASSAGES, QUERIES, MANIFEST = "videos.jsonl", "passages.jsonl", "queries.jsonl", "manifest.json"
Record = TypeVar("Record")
FIXED = {"ocr.mode": "off", "asr.mode": "off"}
"""Frames and passages alone may help."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """Data that the task makes itself: the clips that are rendered, and the questions about them."""

    plan: CorpusPlan
    drafted: Path
    """Folder of the clips that are chosen, the questions, and how they were found: `manifest.json`. Commit
    81036854 has what they were made with."""
    twins: bool = False
    """Whether each passage has a twin about another object, in which its counter-facts are true."""

    def passages(self) -> list[PassageRow]:
        """Passages of the Workbench world."""
        from eval.workbench.catalogue import kind
        from eval.workbench.passages import twin_passages, world_passages

        return [
            PassageRow(
                one.passage_id,
                one.title,
                one.text,
                kind(one.kind_id).name if one.kind_id else "",
                one.activity,
            )
            for one in (twin_passages() if self.twins else world_passages())
        ]


_DRAFTED = Path(__file__).with_name("workbench")
PAPER_SIZE = Workbench(CorpusPlan(7, "test", 200), _DRAFTED / "whole")
MINI_SIZE = Workbench(CorpusPlan(7, "test", 28), _DRAFTED / "mini")
HARD = Workbench(
    CorpusPlan(7, "test", 400, Render(fps=10, kilobits=250), families=Families()), _DRAFTED / "hard", True
)
"""Clips in families: shaken, blurred, partly hidden, coarsely compressed, asked for by what is done. The
paper's questions, of twice as many clips."""
HARD_DEV = Workbench(replace(HARD.plan, seed=11, split="dev"), _DRAFTED / "hard-dev", True)
HARD_MINI = Workbench(
    replace(HARD.plan, clips=8, families=Families(size=4, longest=45.0)), _DRAFTED / "hard-mini", True
)
"""Two families of four clips of 30 or 45 seconds."""


def prepare_egofact(
    name: str, folder: Path, made: Workbench | None, settings: Settings, progress: ProgressCallback | None
) -> Prepared[Environment]:
    """`folder` holds the benchmark's files, the rendered videos in `corpus` and the index in `library`;
    what is missing of a `made` one is made. Raises `UsageError` where the data are others, or missing."""
    chosen = task_settings(name, settings, folder / "library", FIXED, synthetic=made is not None)
    if made is not None and not (folder / MANIFEST).is_file():
        render_corpus(folder, made.plan, progress)
        write_data(folder, made)
    data = load_egofact(folder)
    if made is not None and data.name != name:
        raise UsageError(f"{folder} holds {data.name}, not {name}; name another --data DIR")
    videos = _index(data, chosen, progress)

    @cache
    def indexed_with(encoder: str) -> Library:
        changed = with_changes(chosen, {"encoder.image": encoder})
        place = folder / f"library-{plain_name(encoder)}"
        return _index(data, changed.model_copy(update={"library": place}), progress).library

    corpus = Corpus(data.clips, folder, videos.library)
    unindexed = {row.clip_id: row for row in data.clips if row.clip_id not in corpus.clips}
    queries = [query_of(row) for row in data.queries]
    return Prepared(
        queries=queries,
        inputs={one.query_id: EgoFactInput(one.query_id, one.text, one.options) for one in queries},
        environment=Environment(corpus, indexed_with),
        dataset=data.hashes,
        encoders=fingerprints(corpus.library),
        skipped={
            query.query_id: _skip_reason(unindexed[query.video], videos)
            for query in queries
            if query.video in unindexed
        },
    )


def _skip_reason(row: ClipRow, videos: IndexedVideos) -> str:
    span = f"it has nothing at {row.start:g}-{row.end:g} s"
    return videos.skipped.get(row.path, f"{VIDEO_UNREADABLE}: {row.path}: {span}")


def query_of(row: Row) -> Query:
    """A row of the benchmark's files with its gold."""
    same = {one.name: getattr(row, one.name) for one in fields(row) if one.name not in {"clip_id", "seed"}}
    return Query(video=row.clip_id, cluster=row.clip_id, **same)


def write_data(folder: Path, made: Workbench) -> None:
    """The files of a benchmark, as they were drafted."""
    clips = read_records(made.drafted / VIDEOS, ClipRow)
    queries = read_records(made.drafted / QUERIES, Row)
    manifest = json.loads((made.drafted / MANIFEST).read_text(encoding="utf-8"))
    write_folder(folder, clips, made.passages(), queries, manifest)


def _index(data: EgoFact, settings: Settings, progress: ProgressCallback | None) -> IndexedVideos:
    paths = {row.path: os.path.abspath(data.folder / row.path) for row in data.clips}
    missing = {name: f"{VIDEO_MISSING}: {name}" for name, path in paths.items() if not os.path.exists(path)}
    found = FoundVideos({name: path for name, path in paths.items() if name not in missing}, missing)
    return index_videos(found, settings, progress, beside=[data.folder / PASSAGES])


def write_folder(
    out: Path,
    clips: Sequence[ClipRow],
    passages: Sequence[PassageRow],
    queries: Sequence[Row],
    manifest: Mapping[str, Any],
) -> None:
    """`manifest`: all of it but the hashes."""
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)
    rows: Mapping[str, tuple[type[Any], Sequence[Any]]] = {
        VIDEOS: (ClipRow, clips),
        PASSAGES: (PassageRow, passages),
        QUERIES: (Row, queries),
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
    queries = read_records(path, Row)
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
