"""`rag stats`: what the library holds, its size and health, and the files it could not use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rag._cli.options import Config, Json, Library, Seed, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start

if TYPE_CHECKING:
    from rag.store.records import Stats

__all__ = ["stats", "stats_lines"]


def stats(
    problems: Annotated[
        bool, typer.Option("--problems", help="The files with problems, one line each, instead.")
    ] = False,
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """Say what the library holds: counts, sizes, and what maintenance would win."""
    session = start(library, config, as_json, verbose, seed)
    from rag.rendering.shapes import report_shape
    from rag.rendering.terminal import problem_line

    with session.open_library() as shelf:
        if problems:
            found = shelf.problems()
            if session.as_json:
                print_json(report_shape("rag.problems/1", {"problems": found}))
            else:
                print_lines(problem_line(problem) for problem in found)
            return 0
        held = shelf.stats()
    if session.as_json:
        print_json(report_shape("rag.stats/1", held))
    else:
        print_lines(stats_lines(held))
    return 0


def stats_lines(held: Stats) -> Iterator[str]:
    from rag.rendering.terminal import byte_count, table_lines

    yield (
        f"{held.files} files: {held.videos} videos with {held.video_hours:.1f} h in {held.clips} clips, "
        f"{held.documents} documents in {held.passages} passages, {held.evidence} spans of evidence"
    )
    if held.pending_videos:
        yield f"{held.pending_videos} videos are not finished; 'rag index' goes on with them"
    if held.problems:
        yield f"{held.problems} files with problems; 'rag stats --problems' names them"
    yield (
        f"{byte_count(held.bytes)} on disk; {held.unindexed_rows} rows not in the full-text index, "
        f"{held.compactable_fragments} fragments to merge, {held.removable_versions} old versions to drop"
    )
    if held.tables:
        yield ""
        rows = [["table", "rows", "size", "fragments", "versions", "unindexed"]]
        for name, table in held.tables.items():
            counts = (table.fragments, table.versions, table.unindexed_rows)
            rows.append([name, str(table.rows), byte_count(table.bytes), *map(str, counts)])
        yield from table_lines(rows)
