"""EgoFact's data: rendered or found, indexed once, and split into what a solver sees and the gold."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from eval.runs.folder import plain_name
from eval.runs.records import VIDEO_MISSING, VIDEO_UNREADABLE, Query
from eval.task import Prepared, ProgressCallback, task_settings, with_changes
from eval.tasks.egofact.construction.build import default_encoder, workbench_source, write_benchmark
from eval.tasks.egofact.construction.plan import Source
from eval.tasks.egofact.construction.records import MINI, PAPER, BuildSettings, Shape
from eval.tasks.egofact.construction.segments import CachedEncoder
from eval.tasks.egofact.construction.sources import read_workbench, segments_of_stories
from eval.tasks.egofact.files import CANDIDATES, MANIFEST, PASSAGES, QUERIES, VIDEOS, load_egofact
from eval.tasks.egofact.records import ClipRow, EgoFact, EgoFactInput
from eval.tasks.egofact.records import Query as Row
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.tasks.egofact.solvers.registry import Environment
from eval.tasks.libraries import fingerprints, rendering
from eval.tasks.videos import FoundVideos, IndexedVideos, index_videos
from eval.workbench.families import Families
from rag.errors import UsageError
from rag.library import Library
from rag.settings import Settings

if TYPE_CHECKING:
    from eval.workbench.catalogue import Split

WORLDS = 5
"""Seeds whose questions before the non-triviality filter are pooled."""
HASHED = (VIDEOS, PASSAGES, QUERIES, CANDIDATES)
FIXED = {"ocr.mode": "off", "asr.mode": "off"}
"""Frames and passages alone may help."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """Data that the task makes itself: how many clips are rendered, and what is chosen from them."""

    clips: int
    shape: Shape
    seed: int = 7
    split: Split = "test"
    fps: int = 15
    """Of the videos; the library samples two frames a second."""
    kilobits: int | None = None
    """Of the videos a second; None: a constant quality."""
    families: Families | None = None
    """Of which the clips are; None: each has a stage of its own."""
    build: BuildSettings = field(default_factory=BuildSettings)
    """Numbers of the construction."""


HARD_DESCRIBED = 2
"""Events that a clip's description names: with one most clips of a family fit it too."""
PAPER_SIZE = Workbench(200, PAPER)
MINI_SIZE = Workbench(28, MINI)
HARD = Workbench(
    400,
    Shape(240, 113, 73, 119, 91),
    fps=10,
    kilobits=250,
    families=Families(),
    build=BuildSettings(
        min_events=HARD_DESCRIBED + 2,
        every_clip=True,
        described_by=HARD_DESCRIBED,
        templates=4,
        twin_passages=True,
    ),
)
"""Clips in families: shaken, blurred, partly hidden, coarsely compressed, asked for by what is done. The
paper's questions, of twice as many clips."""
HARD_DEV = replace(HARD, seed=11, split="dev")
HARD_MINI = replace(HARD, clips=8, shape=Shape(12, 6, 3, 6, 3), families=Families(size=4, longest=45.0))
"""Two families of four clips of 30 or 45 seconds."""


def prepare_egofact(
    name: str, folder: Path, made: Workbench | None, settings: Settings, progress: ProgressCallback | None
) -> Prepared[Environment]:
    """`folder` holds the benchmark's files, the rendered videos in `corpus` and the index in `library`;
    what is missing of a `made` one is made. Raises `UsageError` where the data are others, or missing."""
    from eval.workbench.corpus import check_data_folder

    chosen = task_settings(name, settings, folder / "library", FIXED, synthetic=made is not None)
    if made is not None and not (folder / MANIFEST).is_file():
        check_data_folder(folder, "corpus")
        _render(name, folder, made, progress)
    data = load_egofact(folder)
    if made is not None and data.name != name:
        raise UsageError(f"{folder} holds {data.name}, not {name}; name another --data DIR")
    videos = _index(data, chosen, progress)

    @cache
    def indexed_with(encoder: str) -> Library:
        changed = with_changes(chosen, {"encoder.image": encoder})
        place = folder / f"library-{plain_name(encoder)}"
        return _index(data, changed.model_copy(update={"library": place}), progress).library

    corpus = Corpus(data.clips, folder, videos.library)
    unindexed = {row.clip_id: row for row in data.clips if row.clip_id not in corpus.clips}
    hashes = data.manifest.get("hashes", {})
    queries = [query_of(row) for row in data.queries]
    return Prepared(
        queries=queries,
        inputs=inputs_of(queries),
        environment=Environment(corpus, indexed_with),
        dataset={each: str(hashes[each]) for each in HASHED if each in hashes},
        encoders=fingerprints(corpus.library),
        skipped={
            query.query_id: _skip_reason(unindexed[query.video], videos)
            for query in queries
            if query.video in unindexed
        },
    )


def _skip_reason(row: ClipRow, videos: IndexedVideos) -> str:
    span = f"it has nothing at {row.start:g}-{row.end:g} s"
    return videos.skipped.get(row.path, f"{VIDEO_UNREADABLE}: {row.path}: {span}")


def inputs_of(queries: list[Query]) -> dict[str, EgoFactInput]:
    """What a solver sees of each query, by id."""
    return {query.query_id: EgoFactInput(query.query_id, query.text, query.options) for query in queries}


def query_of(row: Row) -> Query:
    """A row of the benchmark's files with its gold."""
    same = {one.name: getattr(row, one.name) for one in fields(row) if one.name not in {"clip_id", "seed"}}
    return Query(video=row.clip_id, cluster=row.clip_id, **same)


def _render(name: str, folder: Path, made: Workbench, progress: ProgressCallback | None) -> None:
    from eval.workbench.corpus import make_corpus
    from eval.workbench.jobs import CorpusPlan
    from eval.workbench.passages import twin_passages
    from eval.workbench.video import Render

    corpus = folder / "corpus"
    render = Render(fps=made.fps, kilobits=made.kilobits)
    plan = CorpusPlan(made.seed, made.split, made.clips, render, families=made.families)
    world = twin_passages() if made.build.twin_passages else None
    make_corpus(corpus, plan, progress=rendering(progress), world=world)
    # Paths of a benchmark start at its own folder.
    segments = [
        replace(one, path=f"{corpus.name}/{one.path}")
        for one in read_workbench(corpus, made.build.segment_seconds)
    ]
    write_benchmark(
        workbench_source(segments, made.build),
        folder,
        seed=made.seed,
        shape=made.shape,
        name=name,
        split=made.split,
        settings=made.build,
    )


def _index(data: EgoFact, settings: Settings, progress: ProgressCallback | None) -> IndexedVideos:
    paths = {row.path: os.path.abspath(data.folder / row.path) for row in data.clips}
    missing = {name: f"{VIDEO_MISSING}: {name}" for name, path in paths.items() if not os.path.exists(path)}
    found = FoundVideos({name: path for name, path in paths.items() if name not in missing}, missing)
    return index_videos(found, settings, progress, beside=[data.folder / PASSAGES])


def prepare_unfiltered(
    name: str, folder: Path, made: Workbench, settings: Settings, worlds: int = WORLDS
) -> Prepared[Environment]:
    """Questions before the non-triviality filter, which removes what a blind reader gets right.

    The controls need no video, so none is rendered; each world is planned, built and kept as `seed-N/`.
    All candidates of `worlds` seeds from `made.seed` on; ids and clips begin with their
    world's seed.
    """
    chosen = task_settings(name, settings, folder / "library", {"encoder.image": "none"}, synthetic=True)
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
    return workbench_source(segments_of_stories([(job.name, job.clip()) for job in jobs], segment_seconds))
