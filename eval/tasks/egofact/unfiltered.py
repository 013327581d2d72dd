"""The controls before the non-triviality filter, which removes what a blind reader gets right.

Questions of several worlds, pooled: for the controls need no picture, nothing is drawn. Each world
is planned, built and kept as `seed-N/` in the benchmark's folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from eval.runs.records import ClipWindow, Explanation, Query, System
from eval.tasks.egofact.benchmark import PAPER_SIZE, Workbench, query_of
from eval.tasks.egofact.building import Source, default_encoder, write_benchmark
from eval.tasks.egofact.loading import load_egofact
from eval.tasks.egofact.objects import WorkbenchObjects
from eval.tasks.egofact.records import EgoFact
from eval.tasks.egofact.settings import BuildSettings
from eval.tasks.egofact.sources.workbench import segments_of_stories, workbench_aliases, workbench_passages
from eval.tasks.egofact.systems import CONTROLS, SYSTEMS, open_system
from eval.tasks.egofact.systems.captions import Captioner
from eval.tasks.egofact.systems.corpus import Corpus
from eval.tasks.egofact.vectors import CachedEncoder
from eval.tasks.egofact.writing import CANDIDATES, MANIFEST, PASSAGES
from rag.errors import UsageError
from rag.library import Library
from rag.settings import load_settings


def open_unfiltered(data: Path | None = None) -> Unfiltered:
    """All candidates of five worlds of the paper's size."""
    return Unfiltered(data or Path("egofact-workbench-unfiltered"))


@dataclass
class Unfiltered:
    """Reads nothing until it is asked for queries, hashes or a system."""

    folder: Path
    made: Workbench = PAPER_SIZE
    worlds: int = 5
    name: str = "egofact-workbench-unfiltered"

    @cached_property
    def data(self) -> tuple[EgoFact, ...]:
        return tuple(self._world(self.made.seed + step) for step in range(self.worlds))

    @cached_property
    def queries(self) -> Sequence[Query]:
        """Of all worlds; ids and clips begin with their world's seed."""
        return [
            replace(
                query_of(row), query_id=f"{world.seed}-{row.query_id}", cluster=f"{world.seed}-{row.clip_id}"
            )
            for world in self.data
            for row in world.candidates
        ]

    @property
    def dataset(self) -> Mapping[str, str]:
        return {
            f"seed-{world.seed}/{name}": str(world.manifest["hashes"][name])
            for world in self.data
            for name in (CANDIDATES, PASSAGES)
        }

    @property
    def encoders(self) -> Mapping[str, str]:
        meta = self.corpus.library.reader.meta
        assert meta is not None, "a library that could be opened has its meta row"
        return {"text": meta.text_encoder.fingerprint, "reasoner": self.corpus.library.reasoner.name}

    @cached_property
    def corpus(self) -> Corpus:
        """The passages, which are the same in all worlds."""
        flags = {"library": self.folder / "library", "encoder.image": "none", "search.index": "flat"}
        settings = load_settings(flags=flags)
        assert settings.library is not None, "set just above"
        Library.index([self.data[0].folder / PASSAGES], settings=settings)
        return Corpus(self.data[0], Library.open(settings.library, settings=settings))

    def systems(self) -> Mapping[str, str]:
        return {name: SYSTEMS[name] for name in CONTROLS}

    def open_system(self, name: str, seed: int) -> System:
        if name not in CONTROLS:
            raise UsageError(f"{self.name} draws no pictures; it has {', '.join(CONTROLS)}")
        return open_system(name, self.corpus, Captioner(self.corpus), seed)

    def explain(
        self,
        query_id: str,
        windows: Sequence[ClipWindow],  # noqa: ARG002 (the protocol's own argument)
        frames: int,  # noqa: ARG002 (the protocol's own argument)
    ) -> Explanation:
        """Raises `UsageError`: there is nothing to be seen."""
        raise UsageError(f"{self.name} draws no pictures, so {query_id} cannot be shown")

    @cached_property
    def _words(self) -> CachedEncoder:
        """One for all worlds: they share their passages and most of their wording."""
        return CachedEncoder(default_encoder())

    def _world(self, seed: int) -> EgoFact:
        place = self.folder / f"seed-{seed}"
        if not (place / MANIFEST).is_file():
            numbers = BuildSettings()
            write_benchmark(
                self._source(seed, numbers.segment_seconds),
                place,
                seed=seed,
                shape=self.made.shape,
                name=self.name,
                split=self.made.split,
                settings=numbers,
                encoder=self._words,
            )
        return load_egofact(place)

    def _source(self, seed: int, segment_seconds: float) -> Source:
        from eval.workbench.jobs import CorpusPlan, film_jobs

        films, _ = film_jobs(CorpusPlan(seed=seed, split=self.made.split, clips=self.made.clips))
        stories = [(job.name, job.clip()) for job in films]
        return Source(
            segments_of_stories(stories, segment_seconds),
            workbench_passages(),
            WorkbenchObjects(),
            workbench_aliases(),
        )
