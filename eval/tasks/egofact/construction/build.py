"""One call from a corpus folder to a benchmark folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from eval.tasks.egofact.construction.narrations import parse_narration
from eval.tasks.egofact.construction.options import corpus_prior, workbench_prior
from eval.tasks.egofact.construction.plan import CheckReader, EmbeddedCheckReader, Plan, Source, plan_queries
from eval.tasks.egofact.construction.records import BuildSettings, Segment, Shape
from eval.tasks.egofact.construction.segments import CachedEncoder
from eval.tasks.egofact.construction.sources import (
    TRUTH,
    read_ego4d,
    read_passages,
    read_workbench,
    workbench_aliases,
    workbench_passages,
)
from eval.tasks.egofact.files import write_folder
from eval.tasks.egofact.records import ClipRow, PassageRow
from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.tasks.egofact.construction.language_model import BuilderRoles
    from indexers.protocol import TextEncoder


def build_egofact(
    corpus_dir: Path,
    out: Path,
    *,
    seed: int,
    shape: Shape,
    name: str = "egofact",
    split: str = "test",
    settings: BuildSettings | None = None,
    encoder: TextEncoder | None = None,
    reader: CheckReader | None = None,
    roles: BuilderRoles | None = None,
) -> Plan:
    """Build the benchmark of a corpus and write its folder; same corpus, seed and settings: same bytes.

    `encoder`: of sentences; default all-MiniLM-L6-v2. `reader`: of the checks;
    default the language model of `roles` where given, else the embedded reasoner.
    Raises `UsageError` where the corpus has no readable event list, or nothing can be asked of it.
    """
    numbers = settings or BuildSettings()
    source = read_source(corpus_dir, numbers, roles)
    # Paths of a benchmark start at its own folder, wherever the corpus is.
    below = os.path.relpath(corpus_dir, out)
    segments = [replace(one, path=os.path.normpath(f"{below}/{one.path}")) for one in source.segments]
    return write_benchmark(
        replace(source, segments=segments),
        out,
        seed=seed,
        shape=shape,
        name=name,
        split=split,
        settings=numbers,
        encoder=encoder,
        reader=reader or (roles.reader if roles else None),
    )


def read_source(corpus_dir: Path, settings: BuildSettings, roles: BuilderRoles | None = None) -> Source:
    """A Workbench corpus where it says so, else Ego4DSounds or Ego4D files with `passages.jsonl`."""
    if (corpus_dir / TRUTH).is_file():
        segments = read_workbench(corpus_dir, settings.segment_seconds)
        return workbench_source(segments)
    parse = roles.parse if roles else parse_narration
    segments = read_ego4d(corpus_dir, settings.segment_seconds, parse=parse)
    passages = read_passages(corpus_dir / "passages.jsonl", roles.write if roles else None)
    return Source(segments, passages, corpus_prior(segments))


def workbench_source(segments: Sequence[Segment]) -> Source:
    """Clips of a Workbench world, with its passages and objects."""
    return Source(segments, workbench_passages(), workbench_prior(), workbench_aliases())


def write_benchmark(
    source: Source,
    out: Path,
    *,
    seed: int,
    shape: Shape,
    name: str,
    split: str,
    settings: BuildSettings,
    encoder: TextEncoder | None = None,
    reader: CheckReader | None = None,
) -> Plan:
    """Plan the queries of a source and write the folder."""
    cached = CachedEncoder(encoder or default_encoder())
    judge = reader or EmbeddedCheckReader(cached)
    plan = plan_queries(source, encoder=cached, reader=judge, shape=shape, settings=settings, seed=seed)
    if not plan.queries:
        raise UsageError("no question can be asked of this corpus; it needs more clips with several events")
    manifest = {
        "name": name,
        "split": split,
        "seed": seed,
        "shape": asdict(shape),
        "counts": {
            "clips": len(plan.segments),
            "passages": len(source.passages),
            "queries": len(plan.queries),
            "candidates": len(plan.candidates),
        },
        "steps": plan.counts,
        "shortfalls": list(plan.shortfalls),
        "settings": asdict(settings),
        "encoder": {"name": cached.name, "weights": cached.weights},
        "reader": judge.name,
        "objects": source.prior.name,
        "clustering": "k-means on unit vectors, seeded k-means++, medoid of each cluster",
    }
    clips = [ClipRow(one.clip_id, one.path, one.start, one.end, one.description) for one in plan.segments]
    passages = [
        PassageRow(one.passage_id, one.title, one.text, one.object, one.activity) for one in source.passages
    ]
    write_folder(out, clips, passages, plan.queries, plan.candidates, manifest)
    return plan


def default_encoder() -> TextEncoder:
    """all-MiniLM-L6-v2 without torch: a build asks for one short text at a time, which is not padded here."""
    from indexers.registry import open_query_encoder
    from rag.settings import Settings

    settings = Settings()
    return open_query_encoder(settings.encoder.text, settings.encoder)
