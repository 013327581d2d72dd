"""`Library`: a folder of indexed videos and documents, opened once, asked many times."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from corpora.records import EvidenceKind, Problem, Shot, SoundTrack
from localization.windows import LocalizedWindow
from rag.arguments import (
    checked_filter,
    require_image,
    require_number,
    require_one_of,
    require_positive,
    require_text,
)
from rag.checks import Check, run_checks
from rag.engine import Engine
from rag.errors import LibraryError, UsageError
from rag.questions import parse_query, parse_question
from rag.records import (
    Answer,
    PassageCitation,
    PassageHit,
    ScoreCurve,
    SearchFilter,
    ShotFilter,
    UnmeasuredVideos,
    VideoCitation,
    VideoHit,
)
from rag.settings import Settings, load_settings
from rag.store.filters import at_or_below
from rag.store.finding import absolute_path, find_library, library_location, nothing_indexed, path_list
from rag.store.layout import Location
from rag.store.lookup import (
    as_named,
    find_video,
    globs_of,
    indexed_file,
    path_of,
    resolve_citation,
    stale_files,
    window_seconds,
)
from rag.store.reading import Reader
from rag.store.records import FileState, Removed, Stats
from rag.store.sidecars import is_source

if TYPE_CHECKING:
    from rag.answering import Pipeline
    from rag.indexing.report import IndexReport, Progress, Prune
    from rag.retrieval.retriever import Kind

T = TypeVar("T")


class Library:
    """A library on disk, open for questions. Made by `Library.open`; a context manager.

    It sees the library as it was when it was opened; `refresh` takes up what has been indexed since.
    Models are loaded at the first question. Times are seconds, intervals half-open [start, end).
    """

    def __init__(self, reader: Reader, settings: Settings) -> None:
        self._parts = Engine(reader, settings)
        self._closed = False
        self.settings = settings

    @property
    def _engine(self) -> Engine:
        if self._closed:
            raise LibraryError(f"{self._parts.reader.folder}: the library is closed; open it again")
        return self._parts

    @property
    def _reader(self) -> Reader:
        return self._engine.reader

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *others: str | os.PathLike[str],
        settings: Settings | None = None,
    ) -> Library:
        """Open the library in `path`, else the settings', else `.rag` here or in the nearest parent.

        `others`: libraries made with the same encoders, searched with it as one: each content counts once.
        One of several whose object store fails is left out (`left_out`). Raises `LibraryNotFound`,
        `LibraryTooNew` or `LibraryCorrupt`; `LibraryError` for other encoders.

        ```python
        with Library.open(".rag") as library:
            print(len(library.indexed_paths()), "files")
        ```
        """
        chosen = settings or load_settings()
        named = path if path is not None else chosen.library
        hidden: tuple[EvidenceKind, ...] = () if chosen.search.subtitles else ("subtitle",)
        folders = [
            find_library(library=named, storage=chosen.storage),
            *(library_location(other, chosen.storage) for other in others),
        ]
        reader = Reader.open(*folders, hidden=hidden, exact_rows=chosen.search.exact_rows)
        if reader.meta is None:
            reader.close()
            raise nothing_indexed(reader.folder)
        return cls(reader, chosen)

    @classmethod
    def index(
        cls,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        settings: Settings | None = None,
        reembed: bool = False,
        prune: Prune = False,
        dry_run: bool = False,
        progress: Progress | None = None,
        limit: int | None = None,
    ) -> IndexReport:
        """Index folders and files into the library of the settings, which is made where there is none.

        `reembed`: encode all images again with the encoder of the settings; text is kept as it is. `prune`:
        remove what is no longer on disk; `"all"` also where that is more than half of a folder's files.
        `dry_run`: write nothing and return a forecast. `limit`: most new contents to index.

        A file that cannot be read is a `Problem` of the report. Raises `UsageError` for an empty path,
        `UnreadableFile` for one that does not exist, and `LibraryError` where the library is locked, cannot
        be written or refuses the prune.

        ```python
        report = Library.index("corpus")
        for problem in report.problems:
            print(problem.path, problem.reason)
        ```
        """
        from rag.indexing import index

        return index(
            paths,
            settings=settings or load_settings(),
            reembed=reembed,
            prune=prune,
            dry_run=dry_run,
            progress=progress,
            limit=limit,
        )

    # Questions

    def ask(
        self,
        text: str,
        *,
        options: Sequence[str] = (),
        question_id: str = "",
        top_k: int | None = None,
        threshold: float | None = None,
        where: SearchFilter | ShotFilter | None = None,
        pipeline: Pipeline | None = None,
    ) -> Answer:
        """Answer one question with the windows and passages that prove it; see `rag.answering`.

        Options may also be part of the text: "... (A) a drill (B) a lamp". `top_k`: clips to retrieve;
        `threshold`: least relevance, in [0, 1], of the best clip or passage, and least confidence of an open
        answer; both default to `[search]`. Where nothing reaches the threshold, `Answer.matched` is False.
        `pipeline`: other stages than those of `rag ask`.

        Raises `QuestionError`, `UsageError` for other values than those, `LibraryError` for a filter on shots
        in a library that was not measured yet, and `ReasonerError` where a language model fails.

        ```python
        answer = library.ask("What is tightened?", options=["wheel bolts", "a belt"])
        print(answer.choice, answer.confidence)
        for citation in answer.citations:
            print(citation)
        ```
        """
        from rag.answering import answer_question
        from rag.citations import with_paths

        require_positive(top_k=top_k)
        require_number("threshold", threshold)
        if threshold is not None and not 0 <= threshold <= 1:
            raise UsageError(f"threshold: {threshold} is not in [0, 1]")
        answer = self._of_one_state(
            lambda: answer_question(
                parse_question(text, options, question_id),
                self._engine.new_retriever(),
                self._engine.reasoner,
                self.settings,
                read_frames=self._engine.read_frames,
                where=checked_filter(where),
                top_k=top_k,
                threshold=threshold,
                pipeline=pipeline,
            )
        )
        named = checked_filter(where).paths
        return with_paths(answer, lambda video: path_of(self._reader, video, named)) if named else answer

    def search(
        self,
        query: str,
        *,
        kind: Kind = "all",
        top_k: int | None = None,
        where: SearchFilter | ShotFilter | None = None,
    ) -> list[VideoHit | PassageHit]:
        """Windows and passages for a query, best first; windows alone under a filter on ids, times or shots.

        At most `top_k` hits in all, default `search.top_k`. Scores and relevance are in [0, 1].
        Raises `QuestionError` for a query without a word, `UsageError` for such a filter that applies to
        nothing searched and for values that no search has, `LibraryError` for such a filter in a library that
        was not measured yet.

        ```python
        for hit in library.search("wheel bolts", top_k=3):
            print(hit, hit.relevance)
        ```
        """
        from rag.retrieval.retriever import Kind
        from rag.retrieval.shots import check_filter

        require_one_of("kind", kind, Kind)
        require_positive(top_k=top_k)
        query, chosen = parse_query(query), checked_filter(where)
        check_filter(chosen, kind)
        hits = self._of_one_state(lambda: self._engine.new_retriever().search(query, kind, top_k, chosen))
        return as_named(self._reader, hits, chosen.paths)

    def _of_one_state(self, find: Callable[[], T]) -> T:
        """What is found; the newest versions are asked again where they were taken up on the way, for those
        that were read are gone, and with them what was found."""
        refreshes = self._reader.refreshes
        try:
            found = find()
        except KeyError:
            if self._reader.refreshes == refreshes:
                raise
            return find()
        return found if self._reader.refreshes == refreshes else find()

    def browse(self, where: SearchFilter | ShotFilter) -> list[VideoHit]:
        """Every interval of a video that meets a filter on shots, by path and time; each has score 1.

        Raises `UsageError` without such a filter, else as `search` does.
        Example: `library.browse(ShotFilter(tone="warm", min_height=720))`.
        """
        from rag.retrieval.shots import browse, resolved

        chosen = checked_filter(where)
        if chosen.shots is None or chosen.shots == ShotFilter():
            raise UsageError("a filter to browse by is missing: a tone, a style, an audio class, a height")
        # Without a text to search for, no model is opened.
        if chosen.shots.after or chosen.shots.before:
            hits = browse(self._engine.new_retriever().resolve(chosen), self._reader)
        else:
            hits = browse(resolved(chosen, self._reader, None, lambda _: ()), self._reader)
        return as_named(self._reader, hits, chosen.paths)

    def unmeasured(self, where: SearchFilter | ShotFilter) -> UnmeasuredVideos | None:
        """The videos that a filter on shots cannot decide about: not measured, or not completely.

        None without such a filter. Example: `library.unmeasured(ShotFilter(tone="warm"))`.
        """
        from rag.retrieval.shots import unmeasured

        return unmeasured(checked_filter(where), self._reader)

    def localize(
        self, video: str, query: str, *, count: int = 1, window_seconds: float | None = None
    ) -> list[LocalizedWindow]:
        """Up to `count` windows of one video that fit the query best, best first.

        `video`: its path or the last parts of it, its id or the start of it. `window_seconds`: default
        `localize.window_seconds`. The windows are found as `ask` finds those of a clip, under the settings
        of `[localize]`; none where the video has neither stored frames nor text that the query finds. Title
        and tags do not count: they hold for the whole video. No two have an IoU above `localize.overlap`.
        One whose `relevance` is below `search.threshold` is only the nearest, no match.
        Raises `QuestionError` as `search` does, `UsageError` where no video or several have that name and for
        numbers that are not above 0.

        ```python
        for window in library.localize("descale a kettle.mp4", "a kettle is filled"):
            print(f"{window.start:.1f} to {window.end:.1f} s", window.relevance)
        ```
        """
        query = parse_query(query)
        require_positive(count=count, window_seconds=window_seconds)
        settings = self.settings
        if window_seconds is not None:
            localize = settings.localize.model_copy(update={"window_seconds": window_seconds})
            settings = settings.model_copy(update={"localize": localize})
        hits = self._of_one_state(
            lambda: self._engine.new_retriever(settings).localize_video(self.video_id(video), query, count)
        )
        return [LocalizedWindow(hit.video_id, hit.start, hit.end, hit.score, hit.relevance) for hit in hits]

    def score_curve(self, video: str, query: str) -> ScoreCurve:
        """The score of a query at every stored moment of one video, by which `localize` finds its windows.

        `video`, and what is raised: as of `localize`.
        Example: `library.score_curve("descale a kettle.mp4", "a kettle is filled").scores`.
        """
        query = parse_query(query)
        return self._of_one_state(
            lambda: self._engine.new_retriever().score_curve(self.video_id(video), query)
        )

    def search_like(
        self, moment: str, *, top_k: int | None = None, where: SearchFilter | ShotFilter | None = None
    ) -> list[VideoHit]:
        """Windows whose stored frames are most like those of a moment, best first.

        `moment`: `VIDEO@SECONDS` or `VIDEO@START-END`, the video by its id or path. Nothing is decoded.
        Raises `UsageError` for another form and a time after the end, `LibraryError` where the library has no
        image embeddings. Example: `library.search_like("descale a kettle.mp4@1-3", top_k=5)`.
        """
        from rag.retrieval.shots import no_image_embeddings

        require_text("the moment", moment)
        require_positive(top_k=top_k)
        name, at, span = moment.rpartition("@")
        start, end = window_seconds(moment, span if "-" in span else f"{span}-{span}") if at else (0.0, -1.0)
        if not 0 <= start <= end < math.inf:
            raise UsageError(f"{moment}: a moment is given as VIDEO_ID@SECONDS or VIDEO_ID@START-END")
        count, chosen = top_k or self.settings.search.top_k, checked_filter(where)

        def found() -> list[VideoHit]:
            video_id = self.video_id(name)
            if self._engine.tower is None:
                raise no_image_embeddings(self._reader, "a moment")
            if start >= (seconds := self._reader.video(video_id).duration):
                raise UsageError(f"{moment}: the video is {seconds:g} s long")
            return self._engine.new_retriever().find_like(video_id, start, end, count, chosen)

        return as_named(self._reader, self._of_one_state(found), chosen.paths)

    def search_image(
        self,
        image: NDArray[np.uint8],
        *,
        top_k: int | None = None,
        where: SearchFilter | ShotFilter | None = None,
    ) -> list[VideoHit]:
        """Windows whose stored frames are most like an image, uint8 (height, width, 3) RGB, best first.

        Raises `UsageError` for another array, `LibraryError` where the library has no image embeddings,
        `ModelError` without the image encoder's weights.
        Example: `library.search_image(np.asarray(Image.open("shot.jpg").convert("RGB")))`.
        """
        from rag.retrieval.shots import no_image_embeddings

        require_image(image)
        require_positive(top_k=top_k)
        encoder = self._engine.image_encoder
        if encoder is None:
            raise no_image_embeddings(self._reader, "an image")
        vector = encoder.encode_images(image[None])[0]
        count, chosen = top_k or self.settings.search.top_k, checked_filter(where)
        hits = self._of_one_state(lambda: self._engine.new_retriever().find_near(vector, count, chosen))
        return as_named(self._reader, hits, chosen.paths)

    def highlights(self, *, against: str | None = None, top_k: int | None = None) -> list[VideoHit]:
        """The moments least like the rest of the library, as of `rag.retrieval.highlights`.

        `against`: a query; only moments that match it are looked at, and compared with one another. Raises
        `LibraryError` without image embeddings. Example: `library.highlights(against="a street", top_k=5)`.
        """
        from rag.retrieval.highlights import TOPIC, highlights

        require_positive(top_k=top_k)
        topic = None if against is None else self.search(against, kind="video", top_k=TOPIC)
        return self._of_one_state(lambda: highlights(self._engine.new_retriever(), top_k, topic))

    def resolve(self, citation: str) -> VideoCitation | PassageCitation:
        """What a citation refers to: `PATH@START-END`, `VIDEO_ID@START-END`, or a passage id.

        Raises `UsageError` for anything else, with the forms that are accepted.
        Example: `library.resolve("descale a kettle.mp4@1-3").path`.
        """
        require_text("the citation", citation)
        return resolve_citation(self._reader, citation)

    # Measurements

    def shots(self, video_id: str) -> tuple[Shot, ...]:
        """The shots of a video, in time order, [start, end) seconds each.

        Empty for an unknown id, a video without images, and one that was not measured yet.
        Example: `[shot.end for shot in library.shots(library.video_id("descale a kettle.mp4"))]`.
        """
        return self._reader.shots(video_id)

    def shot_at(self, video_id: str, time: float) -> Shot | None:
        """The shot that is on screen at `time` seconds; None where there is none."""
        return next((shot for shot in self.shots(video_id) if shot.start <= time < shot.end), None)

    def sound_track(self, video_id: str) -> SoundTrack | None:
        """Sound class and loudness of each second of a video.

        None for an unknown id, a video without sound, and one that was not measured yet.
        Example: `library.sound_track(library.video_id("descale a kettle.mp4"))`.
        """
        return self._reader.sound_track(video_id)

    def measurements(self, name: str) -> dict[str, Any]:
        """The fields of `rag.shots/1`: shots and sound of a video.

        Raises `UsageError` where no video or several have that name.
        Example: `library.measurements("descale a kettle.mp4")["sound"]`.
        """
        from rag.retrieval.shots import sound_runs

        video_id = self.video_id(name)
        video = self._reader.video(video_id)
        return {
            "path": self.path_of(video_id, name),
            "video_id": video_id,
            "width": video.width,
            "height": video.height,
            "shots": self.shots(video_id),
            "sound": sound_runs(self.sound_track(video_id), video.duration),
        }

    # The library itself

    @property
    def library_id(self) -> str:
        """A random id given when the library was made; a copy has the same."""
        return self._reader.meta.library_id if self._reader.meta else ""

    @property
    def left_out(self) -> tuple[str, ...]:
        """A line for each of several libraries that is not asked, because its object store failed when it was
        opened."""
        return self._parts.reader.left_out

    @property
    def contents(self) -> str:
        """A digest of what is indexed, 16 hex digits; another one after something was indexed, measured or
        removed, but for further paths of the same content."""
        return self._reader.contents()

    @property
    def engine(self) -> Engine:
        """The parts behind it, for agents and evaluation: snapshot, encoders, retrievers, reasoner."""
        return self._engine

    def video_id(self, name: str) -> str:
        """The id of a video given by its path, the last parts of it, its id, or the start of its id.

        Raises `UsageError` where no video or several have it, with the nearest names.
        Example: `library.video_id("descale a kettle.mp4")`.
        """
        require_text("the video", name)
        return find_video(self._reader, name)

    def path_of(self, video_id: str, name: str = "") -> str:
        """The first path of a video where the file is the one that was indexed, else the first that exists,
        else the first it had; before others one with this name. Raises KeyError for an unknown id."""
        return path_of(self._reader, video_id, globs_of(name))

    def stats(self) -> Stats:
        """Counts, hours of video and bytes of the library.

        Raises `LibraryCorrupt` where a table cannot be read, `UsageError` for several libraries open as one.
        Example: `library.stats().video_hours`.
        """
        self._one_folder()
        return self._reader.stats()

    def indexed_file(self, video_id: str, name: str = "") -> str:
        """The first path of a video where the file is the one that was indexed, by size and time of change;
        before others one with this name.

        Raises `StaleFile` where it was changed since, `UnreadableFile` where it is gone or cannot be read,
        and KeyError for an unknown id.
        """
        return indexed_file(self._reader, video_id, self.settings.storage, globs_of(name))

    def stale_files(self, paths: Iterable[str]) -> dict[str, FileState]:
        """Return the state, by path, of each cited file that is no longer the one that was indexed.

        Compared are size and time of change, and the sidecars of a video. No network is used: objects, and
        files of a library on an object store, are not looked at.
        Example: `library.stale_files(library.indexed_paths())`.
        """
        return stale_files(self._reader, paths, self.settings.scan)

    def indexed_paths(self) -> list[str]:
        """The path of every file that was indexed, sorted."""
        return self._reader.indexed_paths()

    def is_source(self, path: str | os.PathLike[str]) -> bool:
        """Whether a file is indexed, under whatever name, or is a sidecar of a video that is."""
        return is_source(self._reader, path, self.settings.scan)

    def problems(self) -> list[Problem]:
        """Every file that could not be used, or not completely, sorted by path."""
        return self._reader.problems()

    def doctor(self, *, progress: Callable[[int, int], object] = lambda *_: None) -> list[Check]:
        """Whether tables and their indexes can be read, indexed files are unchanged, and encoders installed.

        One `Check` each, in this order; a failure is a check with `ok` False, and later checks are left out
        where the tables cannot be read. All rows are read, but for those of a library on an object store;
        `progress` is called with the bytes that were read, and those that will be.
        Example: `[check.name for check in library.doctor() if not check.ok]`.
        """
        self._one_folder()
        return [*run_checks(self._engine, progress=progress)]

    def remove(self, paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Removed:
        """Remove files, or all files below folders, from the library; nothing else on disk is changed.

        Returns the removed paths, and the ids of the contents whose last path they were; paths that the
        library does not have are skipped. Raises `UsageError` for an empty path, and `LibraryBusy` or
        `LibraryReadOnly` where the library cannot be written. Example: `library.remove("corpus/old").paths`.
        """
        from rag.store.writing import Writer

        wanted = [absolute_path(path) for path in path_list(paths)]
        with Writer.open(self._one_folder(), create=False) as writer:
            known = writer.files().keys() | writer.problems().keys()
            going = at_or_below(known, wanted)
            removed = writer.remove_paths(going)
            if removed.paths:
                writer.maintain(self.settings.search.exact_rows)
        self.refresh()
        return removed

    def _one_folder(self) -> Location:
        """Raises `UsageError` where several libraries are open as one."""
        if len(self._reader.folders) > 1:
            raise UsageError("this needs one library; rag library merge makes one of several")
        return self._reader.folder

    def share_of(self, paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> tuple[int, int]:
        """How many of the library's files `remove` would remove, and how many there are.

        Raises `UsageError` for an empty path.
        """
        known = self._reader.files()
        return len(at_or_below(known, [absolute_path(path) for path in path_list(paths)])), len(known)

    def refresh(self) -> None:
        """Take up the last commit: what was indexed or removed since `open` or `refresh`."""
        self._reader.refresh()

    def reopen(self) -> Library:
        """The library as it is on disk now, as another object; this one, and who uses it, is undisturbed.

        Models that are loaded are shared by both. Raises as `open` does.
        """
        newest = Library.open(*self._reader.folders, settings=self.settings)
        newest.engine.share_models(self._engine)
        return newest

    def close(self) -> None:
        """Release the snapshot and end the decoder's process; a use afterwards raises `LibraryError`."""
        self._closed = True
        self._parts.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
