"""Contents copied out of libraries into another, rows as they are stored: what merge and export do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from corpora.records import SKIPPED, Problem, Video
from corpora.scan import FoundFile
from rag.store import schema
from rag.store.filters import path_matches
from rag.store.records import FileRow, Meta, NotedProblem, document_paths
from rag.store.schema import quoted
from rag.store.snapshot import Snapshot
from rag.store.writing import Writer


@dataclass
class CopyPlan:
    """What is to be copied."""

    paths: dict[str, list[FileRow]] = field(default_factory=dict)
    """By content: the rows of paths that the library lacks, or has with other content or times."""
    files: int = 0
    """Paths that the library lacks."""
    videos: list[Video] = field(default_factory=list)
    """Contents to copy, in the order of their first paths."""
    sources: list[FileRow] = field(default_factory=list)
    """The same of passages, each by its first path."""
    known: int = 0
    """Contents that the library has."""
    left_out: int = 0
    """Contents left out: no library that is read has finished them."""
    problems: list[NotedProblem] = field(default_factory=list)
    """Files that could not be used."""
    lost: list[str] = field(default_factory=list)
    """Paths of the library whose files cannot be used any more: their content goes."""
    conflicts: list[Problem] = field(default_factory=list)
    """Paths under which two libraries hold different contents."""
    subtitles: int = 0
    """Videos of which some subtitle files are not copied: the libraries have different ones."""
    copied: set[str] = field(default_factory=set)
    """Contents that were copied: the others were no longer there."""
    clips: int = 0
    """Clips of the videos that were copied."""
    passages: int = 0
    """Passages of the sources that were copied."""

    @property
    def contents(self) -> list[Video | FileRow]:
        """Videos, then sources."""
        return [*self.videos, *self.sources]


def chosen_files(s: Snapshot, globs: tuple[str, ...]) -> list[FileRow]:
    """The rows of the paths that match one of `globs`; of all paths without any."""
    return [row for row in s.file_rows if not globs or path_matches((row.path,), globs)]


def plan_copies(s: Snapshot, writer: Writer, globs: tuple[str, ...] = (), *, newer: bool = False) -> CopyPlan:
    """Compare the files of a snapshot with the library of `writer`.

    Of a path with several contents the library's own is kept, else the file that was changed last. `newer`:
    the snapshot was indexed after the library, so what it has takes the place of what the library has.
    """
    held, stages = writer.files(), writer.stage_fingerprints()
    documents = document_paths(held.values())
    finished = set(stages) | documents.keys()
    usable = s.video_rows.keys() | document_paths(s.file_rows).keys() | (set() if newer else finished)
    plan, chosen, left_out = CopyPlan(), dict[str, FileRow](), set[str]()
    for row in sorted(chosen_files(s, globs), key=lambda row: (row.path, -row.mtime_ns)):
        if row.content_id not in usable:
            left_out.add(row.content_id)
            continue
        kept = chosen.setdefault(row.path, row if newer else held.get(row.path, row))
        if kept.content_id != row.content_id:
            action = (
                "kept what the library has" if row.path in held else "kept the file that was changed last"
            )
            plan.conflicts.append(Problem(row.path, "another file with this path was indexed too", action))
    by_content: dict[str, list[FileRow]] = {}
    for row in chosen.values():
        by_content.setdefault(row.content_id, []).append(row)
    for content, rows in by_content.items():
        if changed := [row for row in rows if held.get(row.path) != row]:
            plan.paths[content] = changed
            plan.files += sum(row.path not in held for row in changed)
        others = s.sidecars(content) - {stages.get(content, {}).get("sidecars", "")}
        plan.subtitles += bool(others) if content in stages else len(others) > 1
        if content in finished and not (newer and _differs(s, rows, stages.get(content), documents)):
            plan.known += 1
        elif rows[0].kind == "passages":
            plan.sources.append(rows[0])
        elif content in s.video_rows:
            plan.videos.append(replace(s.video(content), path=rows[0].path))
    plan.left_out = len(left_out - by_content.keys())
    plan.problems = _problems(s, writer, globs, chosen, newer=newer)
    if newer:
        # One without a stamp is tried again: until then the library keeps what it has.
        skipped = (
            noted.problem.path for noted in plan.problems if noted.stamp and not noted.problem.was_read
        )
        plan.lost = [path for path in skipped if path in held]
    return plan


def is_other_format(files: Iterable[FoundFile | FileRow], known: Iterable[str]) -> bool:
    """Whether the suffix of each of a document's files is none of those of its `known` paths, by which it was
    read: renamed from `.txt` to `.jsonl`, it is read again."""
    return {_suffix(found.path) for found in files}.isdisjoint(map(_suffix, known))


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _differs(
    s: Snapshot,
    rows: Sequence[FileRow],
    stages: Mapping[str, Any] | None,
    documents: Mapping[str, Sequence[str]],
) -> bool:
    """Whether a content of the library, with these `stages` as a video, was indexed in another way."""
    first = rows[0]
    if first.kind == "passages":
        return is_other_format(rows, documents.get(first.content_id, ()))
    return s.stages(first.content_id) != stages


def _problems(
    s: Snapshot, writer: Writer, globs: tuple[str, ...], chosen: dict[str, FileRow], *, newer: bool
) -> list[NotedProblem]:
    """Those of paths that the library does not know, or with `newer` of all; none of a file that one of the
    libraries could read."""
    held, earlier = writer.files(), writer.problems()
    found: dict[str, NotedProblem] = {}
    for path, noted in s.noted_problems().items():
        known = not newer and (path in held or (path in earlier and path not in chosen))
        unread = path in chosen and noted.problem.action == SKIPPED
        if not (known or unread) and (not globs or path_matches((path,), globs)):
            found[path] = noted
    return [found[path] for path in sorted(found)]


def copy_contents(s: Snapshot, writer: Writer, plan: CopyPlan, group: Sequence[Video | FileRow]) -> None:
    """Copy some videos and sources of a plan with all their rows and paths, in one commit, and count them.
    One that `s` no longer has is left out."""
    videos = {
        each: s.stages(each.video_id)
        for each in group
        if isinstance(each, Video) and each.video_id in s.video_rows
    }
    ids = [video.video_id for video in videos]
    sources = [row.content_id for row in group if isinstance(row, FileRow) and row.content_id in s.sources]
    if videos:
        where = f"video_id IN {quoted(ids)}"
        rows = ((name, table) for name in video_tables(s.meta) for table in s.stream(name, where))
        writer.put_videos(videos, rows)
    if sources:
        where = f"source_id IN {quoted(sources)}"
        writer.put_passage_copies(sources, s.stream("passages", where))
        plan.passages += s.scan("passages", ["source_id"], where).num_rows
    put_paths(writer, plan, [*ids, *sources])
    writer.flush()
    plan.copied |= {*ids, *sources}
    plan.clips += sum(len(s.clips(video_id)) for video_id in ids)


def video_tables(meta: Meta | None) -> Iterator[str]:
    """The tables of a video's rows."""
    encoder = meta.image_encoder if meta else None
    if encoder is not None:
        yield schema.vectors_table(encoder)
    yield from ("evidence", *schema.MEASURED_TABLES)


def put_paths(writer: Writer, plan: CopyPlan, contents: Iterable[str]) -> None:
    """Store which paths hold these contents."""
    for content in contents:
        for row in plan.paths.get(content, ()):
            writer.put_file(row)
