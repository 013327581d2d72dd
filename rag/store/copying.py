"""Contents copied out of libraries into another, rows as they are stored: what merge and export do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from corpora.records import SKIPPED, Problem, Video
from rag.store import schema
from rag.store.database import quoted
from rag.store.filters import path_matches
from rag.store.records import FileRow, Meta, NotedProblem
from rag.store.snapshot import Snapshot
from rag.store.writing import Writer


@dataclass
class CopyPlan:
    """What is to be copied. What the library has stays as it is."""

    paths: dict[str, list[FileRow]] = field(default_factory=dict)
    """By content: the rows of paths that the library lacks."""
    videos: list[Video] = field(default_factory=list)
    """Contents that the library lacks, in the order of their first paths."""
    sources: list[FileRow] = field(default_factory=list)
    """The same of passages, each by its first path."""
    known: int = 0
    """Contents that the library has."""
    unfinished: int = 0
    """Contents left out: no library that is read has finished them."""
    problems: list[NotedProblem] = field(default_factory=list)
    """Files that could not be used."""
    conflicts: list[Problem] = field(default_factory=list)
    """Paths under which two libraries hold different contents."""
    subtitles: int = 0
    """Videos of which some subtitle files are not copied: the libraries have different ones."""


def chosen_files(s: Snapshot, globs: tuple[str, ...]) -> list[FileRow]:
    """The rows of the paths that match one of `globs`; of all paths without any."""
    return [row for row in s.file_rows if not globs or path_matches((row.path,), globs)]


def plan_copies(s: Snapshot, writer: Writer, globs: tuple[str, ...] = ()) -> CopyPlan:
    """Compare the files of a snapshot with the library of `writer`.

    Of a path with several contents the library's own is kept, else the file that was changed last.
    """
    held, stages = writer.files(), writer.stage_fingerprints()
    finished = set(stages)
    finished |= {row.content_id for row in held.values() if row.kind == "passages"}
    plan, chosen, unfinished = CopyPlan(), dict[str, FileRow](), set[str]()
    for row in sorted(chosen_files(s, globs), key=lambda row: (row.path, -row.mtime_ns)):
        if row.kind != "passages" and row.content_id not in s.ready and row.content_id not in finished:
            unfinished.add(row.content_id)
            continue
        kept = chosen.setdefault(row.path, held.get(row.path, row))
        if kept.content_id != row.content_id:
            action = (
                "kept what the library has" if row.path in held else "kept the file that was changed last"
            )
            plan.conflicts.append(Problem(row.path, "another file with this path was indexed too", action))
    first: dict[str, FileRow] = {}
    for row in chosen.values():
        first.setdefault(row.content_id, row)
        if row.path not in held:
            plan.paths.setdefault(row.content_id, []).append(row)
    for content, row in first.items():
        others = s.sidecars(content) - {stages.get(content, {}).get("sidecars", "")}
        plan.subtitles += bool(others) if content in stages else len(others) > 1
        if content in finished:
            plan.known += 1
        elif row.kind == "passages":
            plan.sources.append(row)
        elif content in s.ready:
            plan.videos.append(replace(s.videos[content], path=row.path))
    plan.unfinished = len(unfinished - first.keys())
    plan.problems = _problems(s, writer, globs, chosen)
    return plan


def _problems(
    s: Snapshot, writer: Writer, globs: tuple[str, ...], chosen: dict[str, FileRow]
) -> list[NotedProblem]:
    """Those of paths that the library does not know; none of a file that one of the libraries could read."""
    held, earlier = writer.files(), writer.problems()
    found: dict[str, NotedProblem] = {}
    for row in s.scan("problems", schema.column_names("problems")).to_pylist():
        noted = schema.problem_of(row)
        path = noted.problem.path
        known = path in held or (path in earlier and path not in chosen)
        unread = path in chosen and noted.problem.action == SKIPPED
        if not (known or unread) and (not globs or path_matches((path,), globs)):
            found.setdefault(path, noted)
    return [found[path] for path in sorted(found)]


def copy_videos(s: Snapshot, writer: Writer, videos: Sequence[Video]) -> list[str]:
    """Copy videos with all their rows; returns their ids. One that `s` no longer has is left out."""
    there = [video for video in videos if video.video_id in s.ready]
    if there:
        where = f"video_id IN {quoted(video.video_id for video in there)}"
        stages = {video: s.stages(video.video_id) for video in there}
        writer.put_copies(
            stages, ((name, rows) for name in video_tables(s.meta) for rows in s.stream(name, where))
        )
    return [video.video_id for video in there]


def video_tables(meta: Meta | None) -> Iterator[str]:
    """The tables of a video's rows; clips last, as indexing writes them."""
    encoder = meta.image_encoder if meta else None
    if encoder is not None:
        yield from (schema.vectors_table(encoder), schema.sounds_table(encoder))
    yield from ("evidence", *schema.MEASURED_TABLES, "clips")


def copy_passages(s: Snapshot, writer: Writer, sources: Sequence[FileRow]) -> list[str]:
    """Copy the passages of sources; they are seen once `Writer.put_file` has their paths.

    Returns the ids of the sources that were copied. One that `s` no longer has is left out.
    """
    there = [row.content_id for row in sources if row.content_id in s.sources]
    if there:
        writer.put_passage_copies(there, s.stream("passages", f"source_id IN {quoted(there)}"))
    return there
