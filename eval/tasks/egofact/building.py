"""One call from a corpus folder to a benchmark folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.tasks.egofact.checks import CheckReader, EmbeddedCheckReader
from eval.tasks.egofact.narrations import parse_narration
from eval.tasks.egofact.objects import CorpusObjects, ObjectPrior, WorkbenchObjects
from eval.tasks.egofact.plan import Plan, plan_queries
from eval.tasks.egofact.records import ClipRow, FactPassage, PassageRow, Segment
from eval.tasks.egofact.settings import BuildSettings, Shape
from eval.tasks.egofact.sources.ego4d import read_ego4d
from eval.tasks.egofact.sources.passages import read_passages
from eval.tasks.egofact.sources.workbench import TRUTH, read_workbench, workbench_aliases, workbench_passages
from eval.tasks.egofact.vectors import CachedEncoder
from eval.tasks.egofact.writing import write_folder
from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.tasks.egofact.language_model import BuilderRoles
    from indexers.protocol import TextEncoder


@dataclass(frozen=True, slots=True)
class Source:
    """What a benchmark is made from."""

    segments: Sequence[Segment]
    passages: Sequence[FactPassage]
    law: ObjectPrior
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What was built, in counts."""

    clips: int
    queries: Mapping[str, int]
    """By family."""
    candidates: int
    counts: Mapping[str, Mapping[str, int]]
    shortfalls: tuple[str, ...]
    """What the corpus could not fill, one line each; empty where the shape is filled."""


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
) -> BuildReport:
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
        return Source(segments, workbench_passages(), WorkbenchObjects(), workbench_aliases())
    parse = roles.parse if roles else parse_narration
    segments = read_ego4d(corpus_dir, settings.segment_seconds, parse=parse)
    passages = read_passages(corpus_dir / "passages.jsonl", roles.write if roles else None)
    return Source(segments, passages, CorpusObjects(segments))


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
) -> BuildReport:
    """Plan the queries of a source and write the folder."""
    words = CachedEncoder(encoder or default_encoder())
    judge = reader or EmbeddedCheckReader(words)
    plan = plan_queries(
        source.segments,
        source.passages,
        law=source.law,
        encoder=words,
        reader=judge,
        shape=shape,
        settings=settings,
        seed=seed,
        aliases=source.aliases,
    )
    if not plan.queries:
        raise UsageError("no question can be asked of this corpus; it needs more clips with several events")
    write_folder(
        out,
        [ClipRow(one.clip_id, one.path, one.start, one.end, one.description) for one in plan.segments],
        [
            PassageRow(one.passage_id, one.title, one.text, one.object, one.activity)
            for one in source.passages
        ],
        plan.queries,
        plan.candidates,
        _manifest(plan, source, name, split, seed, shape, settings, words, judge),
    )
    selected = dict(plan.counts["selected"])
    clips = selected.pop("clips")
    return BuildReport(clips, selected, len(plan.candidates), plan.counts, plan.shortfalls)


def _manifest(
    plan: Plan,
    source: Source,
    name: str,
    split: str,
    seed: int,
    shape: Shape,
    settings: BuildSettings,
    encoder: CachedEncoder,
    reader: CheckReader,
) -> dict[str, Any]:
    return {
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
        "settings": settings.as_dict(),
        "encoder": {"name": encoder.name, "weights": encoder.weights},
        "reader": reader.name,
        "objects": source.law.name,
        "clustering": "k-means on unit vectors, seeded k-means++, medoid of each cluster",
    }


def default_encoder() -> TextEncoder:
    """all-MiniLM-L6-v2 without torch: a build asks for one short text at a time, which is not padded here."""
    from indexers.registry import open_query_encoder
    from rag.settings import Settings

    settings = Settings()
    return open_query_encoder(settings.encoder.text, settings.encoder)
