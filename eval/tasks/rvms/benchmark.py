"""RVMS-Bench as the evaluation sees it: queries by memory, a frozen web, and a library of its videos."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from eval.reports.failures import Failure
from eval.runs.records import ClipWindow, Explanation, Query, Sample
from eval.tasks.adapter import System, drawing
from eval.tasks.browsecomp.files import file_hash
from eval.tasks.indexed_web import IndexedWeb
from eval.tasks.rvms.building import (
    FULL,
    MANIFEST,
    MINI,
    SAMPLES,
    build_rvms,
    read_samples,
)
from eval.tasks.rvms.errors import failure_of
from eval.tasks.rvms.published import load_published
from eval.tasks.rvms.records import RvmsSample
from eval.tasks.rvms.solvers import RacloSolver, query_of
from eval.tasks.rvms.systems import SYSTEMS, named
from eval.tasks.rvms.target_insertion import RvmsShape
from rag.agents.raclo.verification import second_judge
from rag.agents.runtime.frame_source import FrameSource
from rag.errors import UsageError


def open_workbench(data: Path | None = None) -> RvmsBenchmark:
    """432 queries over 48 moments of 16 films; drawn and indexed on first use."""
    return RvmsBenchmark("rvms-workbench", data or Path("rvms-workbench"), FULL)


def open_mini(data: Path | None = None) -> RvmsBenchmark:
    """18 queries over two short films, for trying out and for tests."""
    return RvmsBenchmark("rvms-workbench-mini", data or Path("rvms-workbench-mini"), MINI)


def open_folder(data: Path | None = None) -> RvmsBenchmark:
    """The published rows (`*.jsonl`, `*.json`) beside a `web` folder and, for stored vectors, a `library`."""
    return RvmsBenchmark("rvms", data, None)


@dataclass
class RvmsBenchmark(IndexedWeb):
    """Reads nothing until it is asked for queries, hashes or a system."""

    name: str
    place: Path | None
    made: RvmsShape | None

    @property
    def folder(self) -> Path:
        """Raises `UsageError` where none was given."""
        if self.place is None:
            raise UsageError(f"{self.name} needs --data DIR, with RVMS-Bench's rows and a web in DIR/web")
        return self.place

    @cached_property
    def samples(self) -> Mapping[str, RvmsSample]:
        if self.made is not None:
            if not (self.folder / MANIFEST).is_file():
                build_rvms(self.folder, self.made, progress=drawing())
            return {sample.sample_id: sample for sample in read_samples(self.folder / SAMPLES)}
        return {sample.sample_id: sample for sample in load_published(self._rows())}

    @cached_property
    def queries(self) -> Sequence[Query]:
        return [query_of(sample) for sample in self.samples.values()]

    @property
    def dataset(self) -> Mapping[str, str]:
        assert self.samples, "asked for first, so that the files are there"
        rows = self._rows() if self.made is None else [self.folder / SAMPLES]
        paths = [*rows, self.folder / "web" / "web.jsonl"]
        return {os.path.relpath(path, self.folder): file_hash(path) for path in paths if path.is_file()}

    @property
    def encoders(self) -> Mapping[str, str]:
        return {**self.encoder_prints(), "reasoner": self.reasoner.name}

    @property
    def drawn(self) -> bool:
        return self.made is not None

    @property
    def flags(self) -> Mapping[str, Any]:
        """What is said stays with the web's transcripts; no text is read off a drawn screen."""
        return {"asr.mode": "off", **({"ocr.mode": "off"} if self.drawn else {})}

    def systems(self) -> Mapping[str, str]:
        return SYSTEMS

    def open_system(self, name: str, seed: int) -> System:
        """Only `chance-moment` draws anything at random."""
        chosen, way = named(name)
        library = self.library
        frame_source = FrameSource.of(self.reasoner, library, library.engine.read_frames)
        second = second_judge(self.reasoner)
        web = self.indexed_web if way == "contents" else self.web
        return RacloSolver(name, chosen, way, self.samples, web, self.reasoner, second, frame_source, seed)

    def explain(self, query_id: str, windows: Sequence[ClipWindow], frames: int) -> Explanation:
        if query_id not in self.samples:
            raise UsageError(f"{self.name} has no query {query_id}")
        return self.explained(query_of(self.samples[query_id]).text, windows, frames)

    def failure(self, query: Query, sample: Sample) -> Failure | None:
        """Where the sample went wrong, what it asked and found, and the true frame beside the one found."""
        stage = str(sample.evidence.get("error_stage", ""))
        if not stage:
            return None
        asked = self.samples[query.query_id]
        return failure_of(asked, sample, stage, self._file_of)

    def _file_of(self, url: str) -> str:
        """The file that stands at an address; empty where there is none."""
        entry = self.web.catalogue.video(url)
        path = None if entry is None else self.web.catalogue.path(entry)
        return "" if path is None else str(path)

    def _rows(self) -> list[Path]:
        found = sorted([*self.folder.glob("*.jsonl"), *self.folder.glob("*.json")])
        if not found:
            raise UsageError(f"{self.folder}: no *.jsonl or *.json of RVMS-Bench lies here")
        return found
