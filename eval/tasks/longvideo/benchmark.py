"""Long films as the evaluation sees them: drawn or found, indexed once, and systems opened on them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from corpora.outputs import atomic_write_text
from eval.runs.records import ClipWindow, Explanation, Query
from eval.tasks.adapter import System, drawing, indexing
from eval.tasks.longvideo.building import build_questions
from eval.tasks.longvideo.records import Kind, LongQuestion, as_query
from eval.tasks.longvideo.systems import SYSTEMS, TRUTHFUL, open_system
from eval.tasks.longvideo.systems.corpus import Corpus, question_of
from eval.tasks.longvideo.tables import read_table
from eval.tasks.longvideo.videos import LabelledVideo, video_of
from eval.tasks.screen_text import screen_text_hash
from rag.agents.video_detective.features import load_video_features
from rag.agents.video_detective.settings import PAPER
from rag.errors import UsageError
from rag.library import Library
from rag.settings import Settings, load_settings

SUFFIXES = (".mp4", ".mkv", ".webm", ".mov", ".avi")


@dataclass(frozen=True, slots=True)
class Drawn:
    """Films of the Workbench world's test split, and how many questions of each kind a film."""

    minutes: tuple[float, ...]
    shape: Mapping[Kind, int]
    reads_screen: bool = True
    """Whether text on the screen is read while indexing (OCR)."""
    seed: int = 7
    fps: int = 4
    """Of the films. The library keeps two frames a second, so more would only be drawn and thrown away."""
    height: int = 360


FULL = Drawn(
    (30.0,) * 10 + (45.0, 60.0),
    {"needle": 5, "order": 5, "count": 4, "cause": 4, "text": 4, "spoken": 4},
)
MINI = Drawn((4.0, 4.0), dict.fromkeys(FULL.shape, 2), reads_screen=False)


def open_workbench(data: Path | None = None) -> LongVideoBenchmark:
    """312 questions over 12 films of 30 to 60 minutes, drawn on first use."""
    return LongVideoBenchmark("longvideo-workbench", data or Path("longvideo-workbench"), FULL)


def open_mini(data: Path | None = None) -> LongVideoBenchmark:
    """24 questions over two films of four minutes, for trying out and for tests."""
    return LongVideoBenchmark("longvideo-workbench-mini", data or Path("longvideo-workbench-mini"), MINI)


def open_tables(data: Path | None = None) -> LongVideoBenchmark:
    """One's own films: a folder with `*.tsv` and, below `videos/`, the files they name."""
    return LongVideoBenchmark("longvideo", data, None)


@dataclass
class LongVideoBenchmark:
    """Reads nothing until it is asked for queries, hashes or a system.

    In `place`: the drawn `corpus` or the tables and `videos`, the `library`, and `questions.jsonl`
    for people to read.
    """

    name: str
    place: Path | None
    drawn: Drawn | None

    @property
    def folder(self) -> Path:
        """Raises `UsageError` where none was given."""
        if self.place is None:
            raise UsageError(f"{self.name} needs --data DIR, the folder with *.tsv and videos/")
        return self.place

    @cached_property
    def questions(self) -> Sequence[LongQuestion]:
        if self.drawn is not None:
            return build_questions(list(self.videos.values()), seed=self.drawn.seed, shape=self.drawn.shape)
        tables = sorted(self.folder.glob("*.tsv"))
        if not tables:
            raise UsageError(f"{self.folder}: no *.tsv lies here")
        found = [question for table in tables for question in read_table(table)]
        return [
            question if len(tables) == 1 else _renamed(question, number)
            for number, question in enumerate(found, start=1)
        ]

    @cached_property
    def queries(self) -> Sequence[Query]:
        return [as_query(question) for question in self.questions]

    @cached_property
    def videos(self) -> Mapping[str, LabelledVideo]:
        """What happens in each drawn film, from its plan; empty for films from elsewhere."""
        if self.drawn is None:
            return {}
        from eval.workbench.jobs import truth, video_jobs

        videos, _ = video_jobs(self._plan(self.drawn))
        told = (video_of(truth(job)) for job in videos)
        return {video.video: video for video in told}

    @property
    def dataset(self) -> Mapping[str, str]:
        lines = "".join(json.dumps(asdict(question)) + "\n" for question in self.questions)
        return {"questions": hashlib.sha256(lines.encode()).hexdigest()}

    @property
    def encoders(self) -> Mapping[str, str]:
        library = self.corpus.library
        meta = library.engine.reader.meta
        assert meta is not None, "a library that could be opened has its meta row"
        image = meta.image_encoder
        return {
            "text": meta.text_encoder.fingerprint,
            "image": image.fingerprint if image is not None else "none",
            "reasoner": library.engine.reasoner.fingerprint,
            "screen text": screen_text_hash(library.engine.reader),
        }

    @cached_property
    def corpus(self) -> Corpus:
        if self.drawn is not None:
            self._draw(self.drawn)
        paths = {name: self._path(name) for name in sorted({query.video for query in self.queries})}
        settings = self._settings()
        Library.index(sorted(paths.values()), settings=settings, progress=indexing())
        return Corpus(Library.open(settings.library, settings=settings), paths, self.videos)

    def systems(self) -> Mapping[str, str]:
        known = dict(SYSTEMS)
        if self.drawn is None:
            known = {name: told for name, told in known.items() if name not in TRUTHFUL}
        return known

    def open_system(self, name: str, seed: int) -> System:
        return open_system(name, self.corpus, seed)

    def explain(self, query_id: str, windows: Sequence[ClipWindow], frames: int) -> Explanation:
        """The similarity of every stored frame with the question, and pictures of the windows."""
        by_id = {query.query_id: query for query in self.queries}
        if query_id not in by_id:
            raise UsageError(f"{self.name} has no query {query_id}")
        query, library = by_id[query_id], self.corpus.library
        material = load_video_features(library, self.corpus.video_id(query), PAPER)
        event = question_of(query).text
        fits = np.zeros(len(material.times))
        if library.engine.tower is not None and material.vectors.shape[1]:
            wanted = library.engine.tower.encode_text([event])[0].astype(np.float64)
            fits = material.vectors.astype(np.float64) @ wanted
        shown = []
        for window in windows:
            step = (window.end - window.start) / frames
            times = np.round(window.start + step * (np.arange(frames) + 0.5), 6)
            shown.append(library.engine.read_frames(material.path, times))
        paths = tuple(material.path for _ in windows)
        return Explanation(material.times, fits.round(6), tuple(windows), tuple(shown), paths, event)

    def _plan(self, drawn: Drawn) -> Any:
        from eval.workbench.jobs import CorpusPlan
        from eval.workbench.video import Render

        render = Render(drawn.height, drawn.fps)
        return CorpusPlan(seed=drawn.seed, split="test", clips=0, render=render, long_minutes=drawn.minutes)

    def _draw(self, drawn: Drawn) -> None:
        from eval.workbench.corpus import check_data_folder, make_corpus

        check_data_folder(self.folder, "corpus")
        make_corpus(self.folder / "corpus", self._plan(drawn), progress=drawing())
        lines = "".join(json.dumps(asdict(question)) + "\n" for question in self.questions)
        atomic_write_text(self.folder / "questions.jsonl", lines)

    def _path(self, name: str) -> str:
        folder = self.folder / ("corpus/videos" if self.drawn is not None else "videos")
        tried = [folder / name, *(folder / f"{name}{suffix}" for suffix in SUFFIXES)]
        found = next((path for path in tried if os.path.isfile(path)), None)
        if found is None:
            raise UsageError(f"{folder / name} is missing")
        return os.path.abspath(found)

    def _settings(self) -> Settings:
        """The user's own; a drawn film is seen by the bundled encoder, and its lines are in its subtitles."""
        flags: dict[str, Any] = {"library": self.folder / "library", "search.index": "flat"}
        if self.drawn is None:
            return load_settings(flags=flags)
        flags |= {"asr.mode": "off", "ocr.mode": "on" if self.drawn.reads_screen else "off"}
        if load_settings(flags=flags).encoder.image == "auto":
            flags |= {"encoder.image": "bundled", "encoder.backend": "torch-fp32", "encoder.batch": 16}
        return load_settings(flags=flags)


def _renamed(question: LongQuestion, number: int) -> LongQuestion:
    return LongQuestion(**{**asdict(question), "question_id": f"q{number:05d}"})
