"""Questions before the non-triviality filter, which removes what a blind reader gets right.

Those of several worlds, pooled: for the controls need no video, none is rendered. Each world is planned,
built and kept as `seed-N/` in the task's folder.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from eval.settings import task_settings
from eval.task import Prepared
from eval.tasks.egofact.building import Source, default_encoder, write_benchmark
from eval.tasks.egofact.dataset import Workbench, inputs_of, query_of
from eval.tasks.egofact.loading import load_egofact
from eval.tasks.egofact.objects import WorkbenchObjects
from eval.tasks.egofact.records import EgoFact
from eval.tasks.egofact.settings import BuildSettings
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.registry import Environment
from eval.tasks.egofact.sources.workbench import segments_of_stories, workbench_aliases, workbench_passages
from eval.tasks.egofact.vectors import CachedEncoder
from eval.tasks.egofact.writing import CANDIDATES, MANIFEST, PASSAGES
from eval.tasks.libraries import fingerprints
from rag.library import Library
from rag.settings import Settings

WORLDS = 5


def prepare_unfiltered(
    name: str, folder: Path, made: Workbench, settings: Settings, worlds: int = WORLDS
) -> Prepared[Environment]:
    """All candidates of `worlds` seeds from `made.seed` on; ids and clips begin with their world's seed."""
    chosen = task_settings(name, settings, folder / "library", {"encoder.image": "none"})
    data = read_worlds(name, folder, made, worlds)
    Library.index([data[0].folder / PASSAGES], settings=chosen)
    # The passages are the same in all worlds.
    corpus = Corpus(data[0].clips, data[0].folder, Library.open(chosen.library, settings=chosen))
    queries = [
        replace(query_of(row), query_id=f"{world.seed}-{row.query_id}", cluster=f"{world.seed}-{row.clip_id}")
        for world in data
        for row in world.candidates
    ]
    return Prepared(
        queries=queries,
        inputs=inputs_of(queries),
        environment=Environment(corpus),
        dataset={
            f"seed-{world.seed}/{file}": str(world.manifest["hashes"][file])
            for world in data
            for file in (CANDIDATES, PASSAGES)
        },
        encoders=fingerprints(corpus.library),
    )


def read_worlds(name: str, folder: Path, made: Workbench, worlds: int = WORLDS) -> list[EgoFact]:
    """Built where they are missing. One encoder for all: they share passages and most of their wording."""
    encoder = CachedEncoder(default_encoder())
    found = []
    for seed in range(made.seed, made.seed + worlds):
        place = folder / f"seed-{seed}"
        if not (place / MANIFEST).is_file():
            numbers = BuildSettings()
            write_benchmark(
                _source(made, seed, numbers.segment_seconds),
                place,
                seed=seed,
                shape=made.shape,
                name=name,
                split=made.split,
                settings=numbers,
                encoder=encoder,
            )
        found.append(load_egofact(place))
    return found


def _source(made: Workbench, seed: int, segment_seconds: float) -> Source:
    from eval.workbench.jobs import CorpusPlan, video_jobs

    jobs, _ = video_jobs(CorpusPlan(seed=seed, split=made.split, clips=made.clips))
    stories = [(job.name, job.clip()) for job in jobs]
    return Source(
        segments_of_stories(stories, segment_seconds),
        workbench_passages(),
        WorkbenchObjects(),
        workbench_aliases(),
    )
