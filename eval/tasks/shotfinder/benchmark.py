"""ShotFinder as the evaluation sees it: shots to find, a frozen web, and a library of its videos."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.reports.failures import Failure
from eval.runs.records import ClipWindow, Explanation, Query, Sample
from eval.tasks.adapter import System, drawing
from eval.tasks.indexed_web import IndexedWeb
from eval.tasks.shotfinder.building import MANIFEST, build_shotfinder, file_hash
from eval.tasks.shotfinder.controls import MetadataControl
from eval.tasks.shotfinder.errors import failure_of
from eval.tasks.shotfinder.files import read_shot_queries
from eval.tasks.shotfinder.published import load_published
from eval.tasks.shotfinder.records import ShotQuery
from eval.tasks.shotfinder.scorer import FrameShelf
from eval.tasks.shotfinder.solvers import ShotFinderSolver, query_of
from eval.tasks.shotfinder.systems import METADATA, SYSTEMS, settings_of
from eval.tasks.shotfinder.workbench.families import FULL, MINI, ShotShape
from rag.agents.runtime.frame_source import FrameSource
from rag.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def open_workbench(data: Path | None = None) -> ShotFinderBenchmark:
    """240 queries over a drawn web of short films; drawn and indexed on first use."""
    return ShotFinderBenchmark("shotfinder-workbench", data or Path("shotfinder-workbench"), FULL)


def open_mini(data: Path | None = None) -> ShotFinderBenchmark:
    """A handful of them, for trying out and for tests."""
    return ShotFinderBenchmark("shotfinder-workbench-mini", data or Path("shotfinder-workbench-mini"), MINI)


def open_folder(data: Path | None = None) -> ShotFinderBenchmark:
    """The published rows (`*.json`, `*.jsonl`) with `images`, beside a `web` folder and a `library`."""
    return ShotFinderBenchmark("shotfinder", data, None)


@dataclass
class ShotFinderBenchmark(IndexedWeb):
    """Reads nothing until it is asked for queries, hashes or a system."""

    name: str
    place: Path | None
    made: ShotShape | None

    @property
    def folder(self) -> Path:
        """Raises `UsageError` where none was given."""
        if self.place is None:
            raise UsageError(
                f"{self.name} needs --data DIR, with ShotFinder's rows, images and a web built in DIR/web"
            )
        return self.place

    @cached_property
    def shots(self) -> Mapping[str, ShotQuery]:
        if self.made is None:
            return {query.query_id: query for query in load_published(self._files(), self.folder)}
        if not (self.folder / MANIFEST).is_file():
            build_shotfinder(self.folder, self.made, progress=drawing())
        return {query.query_id: query for query in read_shot_queries(self.folder / "queries.jsonl")}

    @cached_property
    def queries(self) -> Sequence[Query]:
        return [query_of(query) for query in self.shots.values()]

    @property
    def dataset(self) -> Mapping[str, str]:
        assert self.shots, "asked for first, so that the files are there"
        paths = [*self._files(), self.folder / "web" / "web.jsonl", self.folder / "web" / "pages.jsonl"]
        return {os.path.relpath(path, self.folder): file_hash(path) for path in paths if path.is_file()}

    @property
    def encoders(self) -> Mapping[str, str]:
        return {**self.encoder_prints(), "reasoner": self.reasoner.name}

    @property
    def drawn(self) -> bool:
        return self.made is not None

    @property
    def flags(self) -> Mapping[str, Any]:
        """A drawn web has no words."""
        return {"asr.mode": "off", "ocr.mode": "off"} if self.drawn else {}

    def systems(self) -> Mapping[str, str]:
        return SYSTEMS

    def open_system(self, name: str, seed: int) -> System:  # noqa: ARG002 (the protocol's)
        """Nothing here is drawn at random: every seed gives the same samples."""
        chosen = settings_of(name)
        library = self.library
        if name == METADATA:
            return MetadataControl(name, chosen, self.shots, self.web, self.reasoner)
        frame_source = FrameSource.of(self.reasoner, library, library.engine.read_frames)
        shelf = FrameShelf(library, self.reasoner.reads_pixels, self._encode)
        return ShotFinderSolver(
            name, chosen, self.shots, self.web, self.reasoner, frame_source, shelf, self.folder
        )

    def explain(self, query_id: str, windows: Sequence[ClipWindow], frames: int) -> Explanation:
        if query_id not in self.shots:
            raise UsageError(f"{self.name} has no query {query_id}")
        return self.explained(self.shots[query_id].description, windows, frames)

    def failure(self, query: Query, sample: Sample) -> Failure | None:
        """For `rag eval failures`."""

        def file_of(video_id: str) -> str | None:
            try:
                return self.library.path_of(video_id)
            except (KeyError, IndexError):
                return None

        return failure_of(self.shots[query.query_id], sample, file_of)

    def _encode(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Pictures from elsewhere into the library's picture space; (n, 0) where it has none."""
        from indexers.registry import open_image_encoder

        meta = self.library.engine.reader.meta
        if meta is None or meta.image_encoder is None:
            return np.zeros((len(images), 0), np.float32)
        encoder = open_image_encoder(meta.image_encoder.name, self.settings.encoder)
        return np.asarray(encoder.encode_images(images), np.float32)

    def _files(self) -> list[Path]:
        if self.made is not None:
            return [self.folder / "queries.jsonl"]
        found = sorted([*self.folder.glob("*.jsonl"), *self.folder.glob("*.json")])
        if not found:
            raise UsageError(f"{self.folder}: no *.json or *.jsonl of ShotFinder lies here")
        return found
