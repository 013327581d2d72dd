"""What benchmarks over a frozen web have in common: the web, the library of its films, and the mind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Frames
from eval.runs.records import ClipWindow, Explanation
from eval.tasks.adapter import indexing
from localization.sampling import midpoints
from rag.errors import LibraryNotFound
from rag.settings import Settings, load_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library
    from rag.reasoners.roles import Reasoner
    from rag.web import MockWeb


class IndexedWeb(ABC):
    """To be inherited from. The web lies in `folder/web`, the library in `folder/library`; both are opened
    on first use, and the library is made where it lacks a film."""

    @property
    @abstractmethod
    def folder(self) -> Path:
        """The benchmark's own."""

    @property
    @abstractmethod
    def drawn(self) -> bool:
        """Whether the films are the Workbench's."""

    @property
    @abstractmethod
    def flags(self) -> Mapping[str, Any]:
        """Settings that the benchmark asks for."""

    @cached_property
    def settings(self) -> Settings:
        """The user's own, with exact search and `flags`; a drawn web takes the encoder that knows it."""
        flags = {"library": self.folder / "library", "search.index": "flat", **self.flags}
        chosen = load_settings(flags=flags)
        if self.drawn and chosen.encoder.image == "auto":
            flags["encoder.image"] = "bundled"
            flags["encoder.backend"], flags["encoder.batch"] = "torch-fp32", 16
            chosen = load_settings(flags=flags)
        return chosen

    @cached_property
    def web(self) -> MockWeb:
        from rag.web import open_web

        return open_web(self.folder / "web", encoder=self.settings.encoder)

    @cached_property
    def indexed_web(self) -> MockWeb:
        """The same web, its videos searched by what the library holds of them."""
        from rag.web import open_web

        return open_web(self.folder / "web", encoder=self.settings.encoder, library=self.library)

    @cached_property
    def library(self) -> Library:
        """Every film of the web, indexed."""
        from rag.library import Library

        settings = self.settings
        if not self._all_indexed(settings):
            catalogue = self.web.catalogue
            files = {entry.file for entry in catalogue.videos if entry.file}
            paths = sorted(str(catalogue.folder / file) for file in files)
            Library.index(paths, settings=settings, progress=indexing())
        return Library.open(settings.library, settings=settings)

    @cached_property
    def reasoner(self) -> Reasoner:
        return self.library.engine.reasoner

    def encoder_prints(self) -> dict[str, str]:
        """Fingerprints of the library's encoders, for `Benchmark.encoders`."""
        meta = self.library.engine.reader.meta
        assert meta is not None, "a library that could be opened has its meta row"
        image = meta.image_encoder
        return {
            "text": meta.text_encoder.fingerprint,
            "image": image.fingerprint if image is not None else "none",
        }

    def read_frames(self, path: str, times: NDArray[np.float64]) -> Frames:
        return self.library.engine.read_frames(path, times)

    def explained(self, text: str, windows: Sequence[ClipWindow], frames: int) -> Explanation:
        """Pictures of the windows; of the score over a video there is nothing to show.

        A window of a video that is known by its address alone, as published rows know theirs, has none.
        """
        held = {video.video_id for video in self.library.engine.reader.videos()}
        shown, paths = [], []
        for window in windows:
            if window.clip_id not in held:
                shown.append(Frames(np.zeros(0), np.zeros((0, 1, 1, 3), np.uint8)))
                paths.append("")
                continue
            path = self.library.engine.reader.paths(window.clip_id)[0]
            times = midpoints(window.start, window.end, frames)
            shown.append(self.read_frames(path, times))
            paths.append(path)
        nothing = np.zeros(0)
        return Explanation(nothing, nothing, tuple(windows), tuple(shown), tuple(paths), text)

    def _all_indexed(self, settings: Settings) -> bool:
        """Whether a library holds every film. Then nobody writes in it, and runs can go side by side."""
        from rag.library import Library

        try:
            with Library.open(settings.library, settings=settings) as library:
                held = {video.video_id for video in library.engine.reader.videos()}
        except LibraryNotFound:
            return False
        return all(entry.content_id in held for entry in self.web.catalogue.videos if entry.file)
