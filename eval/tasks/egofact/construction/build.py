"""From clips and passages to a benchmark folder, by rules; clips and passages of the Workbench."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from corpora.records import EventParts
from eval.task import SYNTHETIC_TEXT
from eval.tasks.egofact.construction.options import Drafter, PassageIndex, workbench_prior
from eval.tasks.egofact.construction.plan import (
    CheckReader,
    EmbeddedCheckReader,
    Plan,
    Source,
    choose_representatives,
    plan_over,
)
from eval.tasks.egofact.construction.questions import described_by
from eval.tasks.egofact.construction.records import (
    BuildSettings,
    EventStructure,
    FactPassage,
    Segment,
    Shape,
    Statement,
)
from eval.tasks.egofact.construction.segments import CachedEncoder, cut_segments
from eval.tasks.egofact.files import write_folder
from eval.tasks.egofact.records import ClipRow, PassageRow
from eval.workbench.recording import recorded_fields
from indexers.settings import EncoderSettings
from rag.errors import UsageError
from rag.settings import Settings

if TYPE_CHECKING:
    from eval.workbench.story import ClipStory
    from indexers.protocol import TextEncoder


def workbench_aliases() -> dict[str, tuple[str, ...]]:
    """Every other name of each kind, by its name."""
    from eval.workbench.catalogue import KINDS

    return {found.name: tuple(found.aliases.values()) for found in KINDS}


def workbench_passages(twins: bool = False) -> list[FactPassage]:
    """The passages of the Workbench world with their facts and counter-facts; `twins`: those that have one
    and their twins, each with the other's facts for counter-facts."""
    from eval.workbench.catalogue import kind
    from eval.workbench.passages import twin_passages, world_passages

    return [
        FactPassage(
            passage_id=passage.passage_id,
            title=passage.title,
            text=passage.text,
            object=kind(passage.kind_id).name if passage.kind_id else "",
            activity=passage.activity,
            statements=tuple(Statement(one.fact, tuple(one.counterfacts)) for one in passage.statements),
        )
        for passage in (twin_passages() if twins else world_passages())
    ]


def workbench_segments(
    stories: Iterable[tuple[str, ClipStory]], seconds: float, folder: str = "videos"
) -> list[Segment]:
    """The clips of videos, by file name and story: none need be rendered. `folder`: of the videos."""
    from eval.workbench.catalogue import kind

    return [
        segment
        for name, story in stories
        for segment in cut_segments(
            PurePosixPath(name).stem,
            f"{folder}/{name}",
            [
                EventStructure(
                    **{one.name: getattr(event, one.name) for one in fields(EventParts)},
                    start=event.start,
                    end=event.end,
                    seen=(event.seen_from, event.seen_until),
                    paraphrase=event.paraphrase,
                )
                for event in story.events
            ],
            seconds=seconds,
            duration=story.duration,
            description=story.description,
            clutter=[kind(thing.kind_id).name for thing in story.clutter],
        )
    ]


def workbench_source(segments: Sequence[Segment], settings: BuildSettings | None = None) -> Source:
    """Clips of a Workbench world, with its passages and objects."""
    numbers = settings or BuildSettings()
    if numbers.described_by:
        segments = [described_by(segment, numbers.described_by) for segment in segments]
    passages = workbench_passages(twins=True) if numbers.twin_passages else workbench_passages()
    return Source(segments, passages, workbench_prior(), workbench_aliases())


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
    """Plan the queries of a source by rules and write the folder: same arguments, same bytes.

    `encoder`: of sentences; default all-MiniLM-L6-v2. Raises `UsageError` where nothing can be asked.
    """
    cached = CachedEncoder(encoder or default_encoder())
    judge = reader or EmbeddedCheckReader(cached)
    kept = choose_representatives(source.segments, cached, shape.clips, settings, seed)
    passages = PassageIndex(source.passages, cached, settings)
    drafter = Drafter(source.prior, passages, cached, settings, seed, source.aliases)
    held = {passage.passage_id: passage for passage in source.passages}
    plan = plan_over(kept, drafter, held, judge, shape, {"segments": {"clips": len(source.segments)}})
    made = {"name": name, "split": split, "seed": seed, "reader": judge.name, "objects": source.prior.name}
    write_plan(plan, source.passages, out, cached, settings, shape, made)
    return plan


def write_plan(
    plan: Plan,
    passages: Sequence[FactPassage],
    out: Path,
    encoder: CachedEncoder,
    settings: BuildSettings,
    shape: Shape,
    made: Mapping[str, Any],
) -> None:
    """Write the folder of a plan; `made`: `name`, `split`, `seed`, `reader`, and more of its manifest.

    Raises `UsageError` for a plan without queries.
    """
    if not plan.queries:
        raise UsageError("no question can be asked of this corpus; it needs more clips with several events")
    first = ("name", "split", "seed")
    manifest = {
        **{key: made[key] for key in first},
        "shape": asdict(shape),
        "counts": {"clips": len(plan.segments), "passages": len(passages), "queries": len(plan.queries)},
        "steps": plan.counts,
        "shortfalls": list(plan.shortfalls),
        "settings": recorded_fields(settings),
        "encoder": {"name": encoder.name, "weights": encoder.weights},
        **{key: value for key, value in made.items() if key not in first},
        "clustering": "k-means on unit vectors, seeded k-means++, medoid of each cluster",
    }
    clips = [ClipRow(one.clip_id, one.path, one.start, one.end, one.description) for one in plan.segments]
    rows = [PassageRow(one.passage_id, one.title, one.text, one.object, one.activity) for one in passages]
    write_folder(out, clips, rows, plan.queries, manifest)


def default_encoder(settings: Settings | None = None) -> TextEncoder:
    """The text encoder that the settings name, by default that of the reports (`eval.task.SYNTHETIC_TEXT`):
    the thresholds of construction are of its cosines."""
    from indexers.registry import open_query_encoder

    encoder = settings.encoder if settings else EncoderSettings()
    if "text" not in encoder.model_fields_set:
        encoder = encoder.model_copy(update={"text": SYNTHETIC_TEXT})
    return open_query_encoder(encoder.text, encoder)
