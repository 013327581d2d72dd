"""Video-BrowseComp as the evaluation sees it: questions, a frozen web, and a library of its videos."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.runs.records import ClipWindow, Explanation, Query
from eval.tasks.adapter import System, drawing
from eval.tasks.browsecomp.building import (
    FULL,
    MANIFEST,
    MINI,
    BrowseShape,
    build_browsecomp,
)
from eval.tasks.browsecomp.files import file_hash, read_questions
from eval.tasks.browsecomp.published import load_published
from eval.tasks.browsecomp.records import BrowseQuestion
from eval.tasks.browsecomp.solvers import VideoBrowserSolver, query_of
from eval.tasks.browsecomp.systems import SYSTEMS, settings_of
from eval.tasks.indexed_web import IndexedWeb
from eval.tasks.screen_text import screen_text_hash
from rag.agents.runtime.frame_source import FrameSource
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.reasoners.roles import Reasoner


def open_workbench(data: Path | None = None) -> BrowseCompBenchmark:
    """At least 150 questions over a drawn web; drawn, checked and indexed on first use."""
    return BrowseCompBenchmark("browsecomp-workbench", data or Path("browsecomp-workbench"), FULL)


def open_mini(data: Path | None = None) -> BrowseCompBenchmark:
    """A handful of them, for trying out and for tests."""
    return BrowseCompBenchmark("browsecomp-workbench-mini", data or Path("browsecomp-workbench-mini"), MINI)


def open_folder(data: Path | None = None) -> BrowseCompBenchmark:
    """The published questions (`*.jsonl`) beside a `web` folder and, for stored vectors, a `library`."""
    return BrowseCompBenchmark("browsecomp", data, None)


@dataclass
class BrowseCompBenchmark(IndexedWeb):
    """Reads nothing until it is asked for queries, hashes or a system."""

    name: str
    place: Path | None
    made: BrowseShape | None

    @property
    def folder(self) -> Path:
        """Raises `UsageError` where none was given."""
        if self.place is None:
            raise UsageError(
                f"{self.name} needs --data DIR, with Video-BrowseComp's *.jsonl and a web built in DIR/web"
            )
        return self.place

    @cached_property
    def questions(self) -> Mapping[str, BrowseQuestion]:
        if self.made is not None and not (self.folder / MANIFEST).is_file():
            build_browsecomp(self.folder, self.made, self._text_mind, progress=drawing())
        return {question.question_id: question for question in self._read()}

    @cached_property
    def queries(self) -> Sequence[Query]:
        return [query_of(question) for question in self.questions.values()]

    @property
    def dataset(self) -> Mapping[str, str]:
        assert self.questions, "asked for first, so that the files are there"
        paths = [*self._files(), self.folder / "web" / "web.jsonl", self.folder / "web" / "pages.jsonl"]
        return {os.path.relpath(path, self.folder): file_hash(path) for path in paths if path.is_file()}

    @property
    def encoders(self) -> Mapping[str, str]:
        screen = screen_text_hash(self.library.engine.reader)
        return {**self.encoder_prints(), "reasoner": self.reasoner.fingerprint, "screen text": screen}

    @property
    def drawn(self) -> bool:
        return self.made is not None

    @property
    def flags(self) -> Mapping[str, Any]:
        """What was spoken stays with the web's transcripts."""
        read = {} if self.made is None else {"ocr.mode": "on" if self.made.reads_screen else "off"}
        return {"asr.mode": "off", **read}

    def systems(self) -> Mapping[str, str]:
        return SYSTEMS

    def open_system(self, name: str, seed: int) -> System:  # noqa: ARG002 (the protocol's)
        """Nothing here is drawn at random: every seed gives the same samples."""
        chosen = settings_of(name)
        library = self.library
        frame_source = FrameSource.of(self.reasoner, library, library.engine.read_frames)
        return VideoBrowserSolver(name, chosen, self.questions, self.web, self.reasoner, frame_source)

    def explain(self, query_id: str, windows: Sequence[ClipWindow], frames: int) -> Explanation:
        if query_id not in self.questions:
            raise UsageError(f"{self.name} has no query {query_id}")
        return self.explained(self.questions[query_id].text, windows, frames)

    def _read(self) -> list[BrowseQuestion]:
        if self.made is not None:
            return read_questions(self.folder / "questions.jsonl")
        return load_published(self._files())

    def _files(self) -> list[Path]:
        if self.made is not None:
            return [self.folder / "questions.jsonl"]
        found = sorted(self.folder.glob("*.jsonl"))
        if not found:
            raise UsageError(f"{self.folder}: no *.jsonl of Video-BrowseComp lies here")
        return found

    def _text_mind(self) -> Reasoner:
        """The embedded reasoner without pictures: what the controls are asked with, whatever the settings."""
        from indexers.registry import open_query_encoder
        from rag.reasoners.embedded import EmbeddedReasoner

        encoder = self.settings.encoder
        return EmbeddedReasoner(open_query_encoder(encoder.text, encoder))
