"""Video-BrowseComp as the evaluation sees it: questions, a frozen web, and a library of its videos."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.benchmarks.browsecomp.answering import Browsing, query_of
from eval.benchmarks.browsecomp.building import FULL, MANIFEST, MINI, BrowseShape, build_browsecomp
from eval.benchmarks.browsecomp.files import file_hash, read_questions
from eval.benchmarks.browsecomp.published import load_published
from eval.benchmarks.browsecomp.records import BrowseQuestion
from eval.benchmarks.browsecomp.systems import SYSTEMS, settings_of
from eval.benchmarks.screen_text import screen_text_hash
from eval.runs.records import ClipWindow, Explanation, Query, System
from rag.agents.video_browser_sight import Eyes
from rag.config import Settings, load_settings
from rag.errors import LibraryNotFound, UsageError
from rag.records import Frames

if TYPE_CHECKING:
    from rag.library import Library
    from rag.reasoners.roles import Reasoner
    from rag.web import MockWeb

__all__ = ["BrowseCompBenchmark", "open_folder", "open_mini", "open_workbench"]


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
class BrowseCompBenchmark:
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
            build_browsecomp(self.folder, self.made, self._text_mind)
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
        meta = self.library.reader.meta
        assert meta is not None, "a library that could be opened has its meta row"
        image = meta.image_encoder
        return {
            "text": meta.text_encoder.fingerprint,
            "image": image.fingerprint if image is not None else "none",
            "reasoner": self.mind.fingerprint,
            "screen text": screen_text_hash(self.library.reader),
        }

    @cached_property
    def web(self) -> MockWeb:
        from rag.web import open_web

        return open_web(self.folder / "web", encoder=self.settings.encoder)

    @cached_property
    def library(self) -> Library:
        """Every film of the web, indexed; what was spoken in them stays with the web's transcripts."""
        from rag.library import Library

        settings = self.settings
        assert settings.library is not None, "set by `settings`"
        if not self._all_indexed(settings):
            catalogue = self.web.catalogue
            files = {entry.file for entry in catalogue.videos if entry.file}
            Library.index(sorted(str(catalogue.folder / file) for file in files), settings=settings)
        return Library.open(settings.library, settings=settings)

    @cached_property
    def mind(self) -> Reasoner:
        return self.library.reasoner

    @cached_property
    def settings(self) -> Settings:
        """The user's own, with exact search; a drawn web takes the encoder that knows it."""
        flags: dict[str, Any] = {
            "library": self.folder / "library",
            "asr.mode": "off",
            "search.index": "flat",
        }
        if self.made is not None:
            flags["ocr.mode"] = "on" if self.made.reads_screen else "off"
        chosen = load_settings(flags=flags)
        if self.made is not None and chosen.encoder.image == "auto":
            flags["encoder.image"] = "bundled"
            flags["encoder.backend"], flags["encoder.batch"] = "torch-fp32", 16
            chosen = load_settings(flags=flags)
        return chosen

    def systems(self) -> Mapping[str, str]:
        return SYSTEMS

    def open_system(self, name: str, seed: int) -> System:  # noqa: ARG002 (the protocol's)
        """Nothing here is drawn at random: every seed gives the same samples."""
        chosen = settings_of(name)
        library = self.library
        eyes = Eyes.of(self.mind, library, library.read_frames)
        return Browsing(name, chosen, self.questions, self.web, self.mind, eyes)

    def explain(self, query_id: str, windows: Sequence[ClipWindow], frames: int) -> Explanation:
        if query_id not in self.questions:
            raise UsageError(f"{self.name} has no query {query_id}")
        question = self.questions[query_id]
        library = self.library
        held = {video.video_id for video in library.reader.videos()}
        shown, paths = [], []
        for window in windows:
            if window.clip_id not in held:
                # Published questions name their videos by address: such a one has no frames here.
                shown.append(Frames(np.zeros(0), np.zeros((0, 1, 1, 3), np.uint8)))
                paths.append("")
                continue
            path = library.reader.paths(window.clip_id)[0]
            step = (window.end - window.start) / frames
            times = np.round(window.start + step * (np.arange(frames) + 0.5), 6)
            paths.append(path)
            shown.append(library.read_frames(path, times))
        nothing = np.zeros(0)
        return Explanation(nothing, nothing, tuple(windows), tuple(shown), tuple(paths), question.text)

    def _all_indexed(self, settings: Settings) -> bool:
        """Whether a library holds every film. Then nobody writes in it, and runs can go side by side."""
        from rag.library import Library

        try:
            with Library.open(settings.library, settings=settings) as library:
                held = {video.video_id for video in library.reader.videos()}
        except LibraryNotFound:
            return False
        return all(entry.content_id in held for entry in self.web.catalogue.videos if entry.file)

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
