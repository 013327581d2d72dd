"""One indexing run under the writer's lock: plan, encoders, media, passages, removal, maintenance."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from corpora.manifest import recommended_encoder
from corpora.scan import Scan
from rag.errors import LibraryError
from rag.indexing.calibrating import calibrate_scores
from rag.indexing.contents import index_contents, stage_fingerprints
from rag.indexing.measuring import unmeasured
from rag.indexing.missing import prune_refusal, remove_missing
from rag.indexing.outcomes import FileOutcomes, IndexingStats
from rag.indexing.planning import Group, Plan, limits_of, make_plan
from rag.indexing.reembed import reembed_library
from rag.indexing.report import Progress, Prune
from rag.indexing.shards import ShardedRun
from rag.settings import Settings
from rag.store.damage import damaged_index
from rag.store.layout import Location, open_layout
from rag.store.sidecars import EXCLUDED
from rag.store.writing import Writer


def run_indexing(
    folder: Location,
    scan: Scan,
    roots: Sequence[str],
    settings: Settings,
    *,
    reembed: bool,
    prune: Prune,
    progress: Progress,
    limit: int | None,
) -> IndexingStats:
    """Index what the scan found. Raises the errors of the library and of the models.

    Raises `LibraryError` where `prune` is refused; only what a killed run left has been merged then.
    """
    if not scan.files and not open_layout(folder).exists():
        return IndexingStats(problems=list(scan.problems))
    with Writer.open(folder) as writer:
        made_again = writer.check_files(settings.search.exact_rows)
        outcomes = FileOutcomes(writer, progress, settings.storage, limits_of(settings))
        stats = outcomes.stats
        for line in (*made_again, *_links(scan)):
            outcomes.note(line)
        shards = ShardedRun(writer, settings, outcomes, progress)
        earlier = shards.take_up()
        recommended = recommended_encoder({*roots, *(os.path.dirname(path) for path in writer.files())})
        plan = _planned(
            writer, scan, roots, settings, outcomes, prune=prune, limit=limit, hash_later=shards.wanted
        )
        stats.unchanged = len(plan.unchanged - earlier)
        if reembed:
            lines, problems, stats.reembedded = reembed_library(
                writer, settings, progress, recommended=recommended
            )
            stats.stages += lines
            stats.problems += problems
        fingerprints = stage_fingerprints(settings, writer.meta.image_encoder if writer.meta else None)
        outdated = unmeasured(plan.ready, writer.stage_fingerprints(), fingerprints)
        # First: a moved file's content would go with its earlier name where another file has that now.
        outcomes.publish(*plan.known)
        stats.moved += plan.arrived
        here = plan.groups
        if shards.wanted and plan.groups:
            shards.index(plan.groups, recommended=recommended)
            here = []
        if here or plan.known or reembed or outdated:
            index_contents(writer, here, outdated, settings, outcomes, progress, recommended=recommended)
        shards.close()
        stats.forgotten += remove_missing(
            writer, plan.missing, roots, outcomes, settings.storage, prune=prune
        )
        _keep_exclude(writer, plan.ready, settings.scan.exclude)
        outcomes.keep_scan_problems(plan, scan, roots)
        changed = plan.groups or plan.known or earlier or stats.forgotten or reembed or stats.backfilled
        if changed or damaged_index(folder):
            for line in writer.maintain(settings.search.exact_rows):
                outcomes.note(line)
        if line := calibrate_scores(writer, settings):
            stats.stages.append(line)
        stats.library_id = writer.meta.library_id if writer.meta else ""
    return stats


def _keep_exclude(writer: Writer, groups: Sequence[Group], exclude: Sequence[str]) -> None:
    """Keep the globs of this run with the videos of `groups`, all ready, of which it has seen every file."""
    stages, paths = writer.stage_fingerprints(), dict[str, set[str]]()
    for path, row in writer.files().items():
        paths.setdefault(row.content_id, set()).add(path)
    changed = {}
    for group in groups:
        kept = dict(stages.get(group.content_id, {}))
        earlier = kept.pop(EXCLUDED, [])
        if kept and earlier != list(exclude) and paths[group.content_id] <= {f.path for f in group.files}:
            changed[group.content_id] = {**kept, **({EXCLUDED: list(exclude)} if exclude else {})}
    if changed:
        writer.put_stages(changed)


def _links(scan: Scan) -> Iterator[str]:
    """Of links that lead out of the folders given."""
    if scan.outside:
        links, first = len(scan.outside), scan.outside[0]
        yield (
            f"{links} of the files are links out of the folders given, such as {first}; "
            "scan.within bounds where links may lead"
        )


def _planned(
    writer: Writer,
    scan: Scan,
    roots: Sequence[str],
    settings: Settings,
    outcomes: FileOutcomes,
    *,
    prune: Prune,
    limit: int | None,
    hash_later: bool,
) -> Plan:
    """The work of a run, with its problems reported, and what is beyond `limit` deferred."""
    plan = make_plan(scan, roots, writer, settings, hash_later=hash_later)
    if prune is True and (refusal := prune_refusal(writer.files(), plan.missing, plan.moved, roots)):
        raise LibraryError(refusal)
    stats = outcomes.stats
    outcomes.report(plan.problems)
    if limit is not None and len(plan.groups) > limit:
        stats.deferred = {f.path for group in plan.groups[limit:] for f in group.files}
        del plan.groups[limit:]
    return plan
