"""Tasks over a frozen web: data in `web`, an index of its videos in `library`, one agent in variants."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from corpora.identity import file_sha256
from corpora.outputs import atomic_write_text
from eval.runs.records import VIDEO_MISSING, VIDEO_UNREADABLE, Query, TaskInput
from eval.task import Footage, Prepared, ProgressCallback, Solver, SolverSpec, Task, task_settings
from eval.tasks.libraries import fingerprints, indexing, rendering
from eval.tasks.published import PublishedRows, load_published, published_files, read_records, write_records
from eval.workbench.corpus import check_data_folder
from eval.workbench.seeds import stable_number
from eval.workbench.web import Upload, make_web
from indexers.settings import EncoderSettings
from rag.agents.runtime.frame_source import FrameSource, WebVideo, fetch_video
from rag.errors import FileProblem, LibraryNotFound, ReasonerUnreachable, UsageError, WebError
from rag.library import Library
from rag.reasoners.roles.searching import SELECT_CANDIDATES, SelectRequest
from rag.reasoners.wrappers import ReasonerWithCounts, judge_is_apart, part_of, with_token_counts
from rag.store.lookup import whole_file
from rag.web import SearchResult, Web, open_web
from rag.web.catalogue import read_catalogue

if TYPE_CHECKING:
    from rag.reasoners.protocol import Reasoner
    from rag.reasoners.roles.material import VideoView
    from rag.settings import Settings
    from rag.web.catalogue import Catalogue

SettingsT = TypeVar("SettingsT")
Record = TypeVar("Record")
WEB_FILES = ("web/web.jsonl", "web/pages.jsonl")


@dataclass(frozen=True)
class WebEnvironment:
    """What solvers of a web task are opened on."""

    web: Web
    reasoner: Reasoner
    frame_source: FrameSource
    library: Library
    encoder: EncoderSettings = field(default_factory=EncoderSettings)

    @cached_property
    def content_web(self) -> Web:
        """The same web, its videos searched by the indexed contents as well."""
        return open_web(self.web.catalogue.folder, encoder=self.encoder, library=self.library)

    def path_of(self, video_id: str) -> str | None:
        """A file of the video; None where the library does not hold it, or its files were changed."""
        try:
            path = self.library.path_of(video_id)
            return whole_file(self.library.engine.reader, video_id, path)
        except (KeyError, IndexError, FileProblem):
            return None


@dataclass(frozen=True, slots=True)
class Variant(Generic[SettingsT]):
    """A system by name: settings of the agent, and which procedure runs."""

    about: str
    settings: SettingsT
    mode: str = "agent"


@dataclass(frozen=True)
class Variants(Generic[SettingsT]):
    """Named systems, and points of sweeps (`axis@value`), of which any value may be named."""

    named: Mapping[str, Variant[SettingsT]]
    axes: Mapping[str, Sequence[object]]
    """Values of each axis that the paper's figure has."""
    sweep: Callable[[str, str], SettingsT]
    """From axis and value; raises `UsageError`."""
    figure: str

    @cached_property
    def abouts(self) -> Mapping[str, str]:
        """One line about each solver, by name."""
        points = {
            f"{axis}@{value}": f"{self.figure}: {axis} {value}"
            for axis, values in self.axes.items()
            for value in values
        }
        return {**{name: variant.about for name, variant in self.named.items()}, **points}

    def parse(self, name: str) -> Variant[SettingsT]:
        """Raises `UsageError` for an unknown name."""
        if name in self.named:
            return self.named[name]
        axis, at, value = name.partition("@")
        if at and axis in self.axes:
            return Variant(f"{self.figure}: {axis} {value}", self.sweep(axis, value))
        raise UsageError(f"no system {name!r}; there are {', '.join(self.abouts)}")


@dataclass(frozen=True, slots=True)
class SyntheticWeb:
    """Data that are made where they are missing: a web, and queries about uploads in it.

    Both are kept as they were drafted: with commits 34c03511, 81036854 and 0306c648.
    """

    drafted: Path
    """Folder with `uploads.jsonl` and the queries."""
    reads_screen: bool = False
    """Whether text on the screen is read while indexing (OCR), as some questions need."""


class WebTask(Task[WebEnvironment], Generic[SettingsT, Record]):
    """`shape`: of the synthetic data; None for published rows."""

    benchmark: ClassVar[str]
    """Name of the published benchmark."""
    variants: ClassVar[Variants[Any]]
    record_type: ClassVar[type]
    records_file: ClassVar[str]
    """The file of records of the synthetic data."""
    row_files: ClassVar[tuple[str, ...]] = (".jsonl", ".json", ".parquet")
    """Endings of files of published rows."""
    quota: ClassVar[Mapping[str, int]] = {}
    """Queries of each family in the paper's choice for further analysis."""

    def __init__(
        self,
        name: str,
        about: str,
        folder: Path | None,
        shape: SyntheticWeb | None = None,
        *,
        balanced: str = "",
    ) -> None:
        """`balanced`: a seed, for a choice of the queries by `quota`; empty for all of them."""
        if balanced and not balanced.isdecimal():
            raise UsageError(f"{name}: balanced is a seed, a whole number, not {balanced!r}")
        self.name = f"{name}-balanced{balanced}" if balanced else name
        self.about, self.folder, self.shape, self._balanced = about, folder, shape, balanced

    @property
    def fixed_settings(self) -> Mapping[str, Any]:
        """Dotted names to values that the questions rest on: speech of rendered videos is read from the web's
        transcripts; other videos are as the user indexes them."""
        if self.shape is None:
            return {}
        return {"asr.mode": "off", "ocr.mode": "on" if self.shape.reads_screen else "off"}

    @abstractmethod
    def parse_row(self, fields: Any, fallback: str, /) -> Any:
        """The record of a published row; `fallback`: its id where it has none. Raises `ValueError`."""

    def load_rows(self, paths: Sequence[Path]) -> PublishedRows[Record]:
        """The published rows of all files. Raises `UsageError` where no row can be used."""
        return load_published(
            paths, self.benchmark, self.parse_row, lambda record: self.query_of(record).query_id
        )

    @abstractmethod
    def addresses(self, record: Any, /) -> Sequence[str]:
        """List all uploads that show what a record asks for; empty where they are unknown."""

    @abstractmethod
    def with_contents(self, record: Any, catalogue: Catalogue, /) -> Any:
        """A drafted record with what only the rendered videos tell: their content ids."""

    def build(self, folder: Path, shape: SyntheticWeb, progress: ProgressCallback | None) -> None:
        """Render the web in `folder/web`, and write the queries; resumed by the same call.

        Raises `UsageError` for a folder with other files, or `RagError`.
        """
        check_data_folder(folder, "web")
        uploads = read_records(shape.drafted / "uploads.jsonl", Upload)
        make_web(folder / "web", uploads, say=rendering(progress))
        catalogue = read_catalogue(folder / "web")
        drafted: list[Record] = read_records(shape.drafted / self.records_file, self.record_type)
        records = [self.with_contents(record, catalogue) for record in drafted]
        write_records(folder / self.records_file, records)
        # Written last: it marks complete data.
        hashes = {name: file_sha256(folder / name) for name in (self.records_file, *WEB_FILES)}
        manifest = {"benchmark": self.name, "queries": len(records), "hashes": hashes}
        atomic_write_text(folder / "manifest.json", json.dumps(manifest, indent=1) + "\n")

    def load(
        self, folder: Path, progress: ProgressCallback | None
    ) -> tuple[Sequence[Path], PublishedRows[Record]]:
        """Files of the rows, and the gold records by query id; makes synthetic data that are missing."""
        if self.shape is None:
            paths = published_files(folder, self.benchmark, *self.row_files)
            return paths, self.load_rows(paths)
        if not (folder / "manifest.json").is_file():
            self.build(folder, self.shape, progress)
        path = folder / self.records_file
        records: list[Record] = read_records(path, self.record_type)
        return [path], PublishedRows({self.query_of(record).query_id: record for record in records})

    @abstractmethod
    def query_of(self, record: Any, /) -> Query:
        """The query of a record."""

    @abstractmethod
    def input_of(self, record: Any, /) -> TaskInput:
        """What a solver sees of a record."""

    def stratum(self, record: Any, /) -> tuple[str, str]:  # noqa: ARG002 (of a subclass)
        """What a choice of queries is spread over: what is asked for, and the topic."""
        return "", ""

    @abstractmethod
    def open_solver(self, variant: Variant[SettingsT], environment: WebEnvironment, seed: int) -> Solver:
        """The solver of a variant."""

    def given(self, variant: Variant[SettingsT]) -> Callable[[Query, TaskInput], TaskInput] | None:  # noqa: ARG002 (of a subclass)
        """A function that adds an oracle's part of the gold to an input; None for other systems."""
        return None

    @property
    def solvers(self) -> Mapping[str, SolverSpec[WebEnvironment]]:
        return {name: self.solver(name) for name in self.variants.abouts}

    def solver(self, name: str) -> SolverSpec[WebEnvironment]:
        variant = self.variants.parse(name)
        return SolverSpec(variant.about, partial(self.open_solver, variant), self.given(variant))

    def prepare(
        self, settings: Settings, progress: ProgressCallback | None = None
    ) -> Prepared[WebEnvironment]:
        folder = self.folder
        if folder is None:
            raise UsageError(
                f"{self.name} needs --data DIR, with rows of {self.benchmark} and a web in DIR/web"
            )
        chosen = task_settings(
            self.name, settings, folder / "library", self.fixed_settings, synthetic=self.shape is not None
        )
        files, rows = self.load(folder, progress)
        gold = self.choose(rows.records)
        environment = open_environment(folder, chosen, progress)
        hashed = [*files, *(folder / name for name in WEB_FILES)]
        return Prepared(
            queries=[self.query_of(record) for record in gold.values()],
            inputs={name: self.input_of(record) for name, record in gold.items()},
            environment=environment,
            dataset={os.path.relpath(path, folder): file_sha256(path) for path in hashed if path.is_file()},
            encoders=fingerprints(environment.library),
            gold=gold,
            skipped={} if self.shape is not None else self._skipped(gold, environment),
            unusable=rows.unusable,
        )

    def choose(self, gold: Mapping[str, Record]) -> Mapping[str, Record]:
        """All queries; where `balanced`, `quota` of each family: of all values alike, and of their topics."""
        if not self._balanced:
            return gold
        order = sorted(gold, key=lambda name: stable_number("balanced", self._balanced, name))
        for depth in (3, 2, 1):
            # First by rank within a family, value and topic; last within a family.
            seen: Counter[tuple[str, ...]] = Counter()
            ranks = {}
            for name in order:
                part = (self.query_of(gold[name]).family, *self.stratum(gold[name]))[:depth]
                ranks[name] = seen[part]
                seen[part] += 1
            order = sorted(order, key=ranks.__getitem__)
        families = {name: self.query_of(record).family for name, record in gold.items()}
        kept = {name for name in order if ranks[name] < self.quota.get(families[name], 0)}
        return {name: record for name, record in gold.items() if name in kept}

    def _skipped(self, gold: Mapping[str, Record], environment: WebEnvironment) -> dict[str, str]:
        """The queries of which the web has no upload with a video that can be read, and why."""
        catalogue, found = environment.web.catalogue, {}
        held = {video.video_id for video in environment.library.engine.reader.videos()}
        reasons = {problem.path: problem.reason for problem in environment.library.problems()}
        for name, record in gold.items():
            addresses = list(self.addresses(record))
            files = [entry for url in addresses if (entry := catalogue.video(url)) is not None and entry.file]
            if not addresses or any(entry.content_id in held for entry in files):
                continue
            if not files:
                found[name] = f"{VIDEO_MISSING}: {addresses[-1]}"
                continue
            path = os.path.abspath(catalogue.folder / files[-1].file)
            found[name] = (
                f"{VIDEO_UNREADABLE}: {addresses[-1]}: {reasons.get(path, 'it could not be indexed')}"
            )
        return found

    def footage(self, prepared: Prepared[WebEnvironment], name: str) -> Footage | None:
        held = prepared.environment.path_of(name) is not None
        return Footage(prepared.environment.library, name) if held else None


@dataclass(frozen=True)
class WebSolver(Generic[SettingsT]):
    """A variant of an agent."""

    variant: Variant[SettingsT]
    environment: WebEnvironment
    seed: int = 0

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        chosen: Any = self.variant.settings
        return {
            **asdict(chosen),
            **self.web_settings,
            "reasoner": self.environment.reasoner.fingerprint,
            "tokens": self.counted.method,
        }

    @property
    def web_settings(self) -> Mapping[str, Any]:
        """The part of `settings` that is the web's."""
        return {"web": f"{self.environment.web.catalogue.fingerprint}-hybrid"}

    @cached_property
    def counted(self) -> ReasonerWithCounts:
        """The reasoner with its tokens counted, and how they are."""
        return with_token_counts(self.environment.reasoner)


def open_environment(
    folder: Path, settings: Settings, progress: ProgressCallback | None = None
) -> WebEnvironment:
    """The web in `folder/web`, and the library of its videos; indexes those that the library lacks."""
    web = open_web(folder / "web", encoder=settings.encoder)
    if not _holds_all(web, settings):
        files = {entry.file for entry in web.catalogue.videos if entry.file}
        paths = sorted(str(web.catalogue.folder / file) for file in files)
        Library.index(paths, settings=settings, progress=indexing(progress))
    library = Library.open(settings.library, settings=settings)
    reasoner = library.engine.reasoner
    engine = library.engine
    frame_source = FrameSource(library, engine.read_frames, engine.read_audio)
    return WebEnvironment(web, reasoner, frame_source, library, settings.encoder)


def _holds_all(web: Web, settings: Settings) -> bool:
    """Whether the library holds every video: then nothing is written, and runs can go side by side."""
    try:
        with Library.open(settings.library, settings=settings) as library:
            held = {video.video_id for video in library.engine.reader.videos()}
    except LibraryNotFound:
        return False
    return all(entry.content_id in held for entry in web.catalogue.videos if entry.file)


@dataclass(frozen=True)
class JudgedVideos:
    """The videos of a web as the judge of frames sees them, which is not the model that located them."""

    environment: WebEnvironment
    _held: dict[str, WebVideo | None] = field(default_factory=dict)

    @cached_property
    def judge(self) -> Reasoner:
        """Part `judge` of the reasoner."""
        return part_of(self.environment.reasoner, "judge")

    def video(self, url: str) -> WebVideo | None:
        """Opened once; None where the web does not have it."""
        if url not in self._held:
            self._held[url] = self._open(url)
        return self._held[url]

    def frame(self, url: str, time: float | None, around: float = 0.0, **shown: bool) -> VideoView | None:
        """One frame without speech, with what is `shown` of the seconds `around` it; None where it cannot be
        had."""
        video = self.video(url)
        if video is None or time is None:
            return None
        try:
            start, end = max(0.0, time - around), time + around
            view = video.view(start, end, np.array([time]), transcript=False, **shown)
        except (FileProblem, ValueError):
            return None
        return view if view.times else None

    def _open(self, url: str) -> WebVideo | None:
        web, source = self.environment.web, self.environment.frame_source
        entry = web.catalogue.video(url)
        if entry is None:
            return None
        result = SearchResult(entry.url, entry.title, duration=entry.duration)
        try:
            return fetch_video(web, result, source, transcript=True).seen_by(self.judge)
        except (WebError, FileProblem):
            return None


def judge_settings(reasoner: Reasoner) -> dict[str, Any]:
    """JSON for a scorer's `settings`: the model of the judge, where that is none of those tested."""
    apart = {"judge_model": part_of(reasoner, "judge").name} if judge_is_apart(reasoner) else {}
    return {"judge": "reasoner", **apart}


def likeliest(reasoner: Reasoner, results: Sequence[SearchResult], wanted: str) -> int:
    """The place of the result that is most likely wanted, by its metadata alone."""
    request = SelectRequest(wanted, wanted, tuple(results), 1)
    chosen = reasoner.run(SELECT_CANDIDATES, request).selected
    return chosen[0] if chosen else 0


def require_reachable(failure: str, query_id: str) -> None:
    """An outage of the reasoner is no wrong answer: raises `ReasonerUnreachable`, and the run is resumed
    at this query."""
    if failure == ReasonerUnreachable.__name__:
        raise ReasonerUnreachable(
            f"{query_id}: the reasoner is unreachable, so this query has no answer; run the same command "
            "to resume here"
        )
