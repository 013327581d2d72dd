"""`rag stats`: counts and sizes of the library, and the files that could not be used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rag._cli.options import Config, Json, Library, Seed, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start

if TYPE_CHECKING:
    from rag.store.records import Stats


def stats(
    problems: Annotated[
        bool, typer.Option("--problems", help="List the files with problems instead.")
    ] = False,
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """Show library statistics: counts, sizes, and what maintenance would free."""
    session = start(library, config, as_json, verbose, seed)
    from rag.rendering.shapes import report_shape
    from rag.rendering.terminal import problem_line

    with session.open_library() as opened:
        if problems:
            found = opened.problems()
            if session.as_json:
                print_json(report_shape("rag.problems/1", {"problems": found}))
            else:
                print_lines(problem_line(problem) for problem in found)
            return 0
        held = opened.stats()
    if session.as_json:
        print_json(report_shape("rag.stats/1", held))
    else:
        print_lines(stats_lines(held))
    return 0


def stats_lines(held: Stats) -> Iterator[str]:
    """The statistics as text, tables last."""
    from rag.rendering.terminal import byte_count, counted, duration, table_lines

    yield (
        f"{counted(held.files, 'file')}: {counted(held.videos, 'video')} "
        f"of {duration(held.video_hours * 3600)} in {counted(held.clips, 'clip')}, "
        f"{counted(held.documents, 'document')} in {counted(held.passages, 'passage')}, "
        f"{held.evidence} spans of evidence"
    )
    if held.pending_videos:
        yield f"{counted(held.pending_videos, 'video')} not finished; 'rag index' resumes them"
    if held.problems:
        yield f"{counted(held.problems, 'file')} with problems; list them with 'rag stats --problems'"
    yield (
        f"{byte_count(held.bytes)} on disk; "
        f"{counted(held.unindexed_rows, 'row')} not in the full-text index, "
        f"{counted(held.compactable_fragments, 'fragment')} to merge, "
        f"{counted(held.removable_versions, 'old version')} to remove"
    )
    if held.tables:
        yield ""
        rows = [["table", "rows", "size", "fragments", "versions", "unindexed"]]
        for name, table in held.tables.items():
            counts = (table.fragments, table.versions, table.unindexed_rows)
            rows.append([name, str(table.rows), byte_count(table.bytes), *map(str, counts)])
        yield from table_lines(rows)
