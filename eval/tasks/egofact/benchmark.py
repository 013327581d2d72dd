"""EgoFact as the evaluation sees it: data made or found, indexed once, and its systems opened on them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.runs.progress import drawing, indexing
from eval.runs.records import ClipWindow, Explanation, Query, System
from eval.tasks.egofact.building import build_egofact
from eval.tasks.egofact.loading import load_egofact
from eval.tasks.egofact.records import EgoFact
from eval.tasks.egofact.records import Query as Row
from eval.tasks.egofact.settings import MINI, PAPER, Shape
from eval.tasks.egofact.systems import SYSTEMS, open_system
from eval.tasks.egofact.systems.captions import Captioner
from eval.tasks.egofact.systems.corpus import Corpus
from eval.tasks.egofact.systems.finding import Asked
from rag.errors import UsageError
from rag.library import Library
from rag.settings import Settings, load_settings

if TYPE_CHECKING:
    from corpora.records import Frames
    from eval.workbench.catalogue import Split

MANIFEST = "manifest.json"
HASHED = ("videos.jsonl", "passages.jsonl", "queries.jsonl", "candidates.jsonl")


@dataclass(frozen=True, slots=True)
class Workbench:
    """A benchmark that makes its own data: how many clips are drawn, and what is chosen from them."""

    name: str
    clips: int
    shape: Shape
    seed: int = 7
    split: Split = "test"


PAPER_SIZE = Workbench("egofact-workbench", 200, PAPER)
MINI_SIZE = Workbench("egofact-workbench-mini", 28, MINI)


def open_workbench(data: Path | None = None) -> EgoFactBenchmark:
    """127 clips and 396 queries of the Workbench world's test split, drawn on first use."""
    return EgoFactBenchmark("egofact-workbench", data or Path("egofact-workbench"), PAPER_SIZE)


def open_mini(data: Path | None = None) -> EgoFactBenchmark:
    """A tenth of it, for trying out and for tests."""
    return EgoFactBenchmark("egofact-workbench-mini", data or Path("egofact-workbench-mini"), MINI_SIZE)


def open_folder(data: Path | None = None) -> EgoFactBenchmark:
    """Files of the same format from outside: Ego4D clips and WikiHow passages of one's own."""
    return EgoFactBenchmark("egofact", data, None)


@dataclass
class EgoFactBenchmark:
    """Reads nothing until it is asked for queries, hashes or a system.

    `place` holds the benchmark's files, `corpus` in it the drawn videos, `library` the index;
    the last two are made where they are missing.
    """

    name: str
    place: Path | None
    made: Workbench | None

    @property
    def folder(self) -> Path:
        """Raises `UsageError` where none was given."""
        if self.place is None:
            raise UsageError(f"{self.name} needs --data DIR, the folder with videos.jsonl and queries.jsonl")
        return self.place

    @cached_property
    def data(self) -> EgoFact:
        if self.made is not None and not (self.folder / MANIFEST).is_file():
            self._require_room()
            self._make(self.made)
        data = load_egofact(self.folder)
        if self.made is not None and data.name != self.name:
            raise UsageError(f"{self.folder} holds {data.name}, not {self.name}; name another --data DIR")
        return data

    @cached_property
    def queries(self) -> Sequence[Query]:
        return [query_of(row) for row in self.data.queries]

    @property
    def dataset(self) -> Mapping[str, str]:
        hashes = self.data.manifest.get("hashes", {})
        return {name: str(hashes[name]) for name in HASHED if name in hashes}

    @property
    def encoders(self) -> Mapping[str, str]:
        meta = self.corpus.library.reader.meta
        assert meta is not None, "a library that could be opened has its meta row"
        image = meta.image_encoder
        return {
            "text": meta.text_encoder.fingerprint,
            "image": image.fingerprint if image is not None else "none",
            "reasoner": self.corpus.library.reasoner.name,
        }

    @cached_property
    def corpus(self) -> Corpus:
        return Corpus(self.data, self._library())

    @cached_property
    def captioner(self) -> Captioner:
        return Captioner(self.corpus)

    def systems(self) -> Mapping[str, str]:
        return SYSTEMS

    def open_system(self, name: str, seed: int) -> System:
        return open_system(name, self.corpus, self.captioner, seed)

    def explain(self, query_id: str, windows: Sequence[ClipWindow], frames: int) -> Explanation:
        by_id = {query.query_id: query for query in self.queries}
        if query_id not in by_id:
            raise UsageError(f"{self.name} has no query {query_id}")
        query = by_id[query_id]
        asked = Asked.of(self.corpus, query)
        stored = self.corpus.frames[query.video]
        fits = stored.vectors.astype(np.float64) @ self.corpus.vector(asked.event).astype(np.float64)
        shown, paths = [], []
        for window in windows:
            path = self.corpus.path(self.corpus.clips[window.clip_id])
            paths.append(path)
            shown.append(self._pictures(path, window, frames))
        return Explanation(
            stored.times, fits.round(6), tuple(windows), tuple(shown), tuple(paths), asked.event
        )

    def _pictures(self, path: str, window: ClipWindow, count: int) -> Frames:
        step = (window.end - window.start) / count
        times = np.round(window.start + step * (np.arange(count) + 0.5), 6)
        return self.corpus.library.read_frames(path, times)

    def _require_room(self) -> None:
        """A folder of somebody else's files is no place to draw films into."""
        from eval.workbench.corpus import check_data_folder

        check_data_folder(self.folder, "corpus")

    def _make(self, wanted: Workbench) -> None:
        from eval.workbench.corpus import make_corpus
        from eval.workbench.jobs import CorpusPlan

        drawn = self.folder / "corpus"
        plan = CorpusPlan(seed=wanted.seed, split="test", clips=wanted.clips)
        make_corpus(drawn, plan, progress=drawing())
        build_egofact(
            drawn, self.folder, seed=wanted.seed, shape=wanted.shape, name=wanted.name, split=wanted.split
        )

    def _library(self) -> Library:
        settings = self._settings()
        assert settings.library is not None, "set just above"
        films = sorted({os.fspath(self.folder / row.path) for row in self.data.clips})
        missing = [path for path in films if not os.path.exists(path)]
        if missing:
            raise UsageError(f"{missing[0]} is missing ({len(missing)} of {len(films)} videos are)")
        Library.index([*films, self.folder / "passages.jsonl"], settings=settings, progress=indexing())
        return Library.open(settings.library, settings=settings)

    def _settings(self) -> Settings:
        """The user's own, but pictures and passages alone may help, and search is exact."""
        flags: dict[str, Any] = {
            "library": self.folder / "library",
            "ocr.mode": "off",
            "asr.mode": "off",
            "search.index": "flat",
        }
        chosen = load_settings(flags=flags)
        if self.made is not None and chosen.encoder.image == "auto":
            flags["encoder.image"] = "bundled"
            flags["encoder.backend"], flags["encoder.batch"] = "torch-fp32", 16
            chosen = load_settings(flags=flags)
        return chosen


def query_of(row: Row) -> Query:
    """A row of the benchmark's files as the evaluation asks it."""
    return Query(
        query_id=row.query_id,
        text=row.text,
        options=row.options,
        answer=row.answer,
        family=row.family,
        video=row.clip_id,
        cluster=row.clip_id,
        window=row.window,
        order=row.order,
        passage=row.passage,
        option_passages=row.option_passages,
        truth=row.truth,
        seen=row.seen,
        anchor=row.anchor,
        position=row.position,
    )
