"""The object a user holds: one library, opened once, asked many times."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from corpora.records import (
    Frames,
    Problem,
    Shot,
    SoundTrack,
)
from localization.records import Window
from rag.errors import EncoderMismatch, LibraryCorrupt, LibraryNotFound, RagError, UsageError
from rag.questions import parse_question
from rag.records import (
    Answer,
    NearDuplicate,
    PassageCitation,
    PassageHit,
    ShotFilter,
    UnmeasuredVideos,
    VideoCitation,
    VideoHit,
)
from rag.settings import Settings, load_settings
from rag.store.filters import path_matches
from rag.store.layout import absolute_path, find_library
from rag.store.names import nearest_names
from rag.store.reading import Reader
from rag.store.records import Removed, SearchFilter, Stats
from rag.store.scan_cache import ScanCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.video.reader import MediaReader
    from indexers.protocol import TextEncoder, TextTower
    from rag.indexing.report import IndexReport, Progress, Prune
    from rag.reasoners.roles import Reasoner
    from rag.retrieval import Retriever
    from rag.retrieval.retriever import Kind


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that `doctor` looked at."""

    name: str
    ok: bool
    message: str


class Library:
    """A library on disk, open for questions. Made by `Library.open`; a context manager.

    It sees the library as it was when it was opened; `refresh` takes up what
    has been indexed since. Models are loaded at the first question.
    """

    def __init__(self, reader: Reader, settings: Settings) -> None:
        self._reader = reader
        self._media: MediaReader | None = None
        self.settings = settings

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, *, settings: Settings | None = None) -> Library:
        """Open the library in `path`, else the settings', else `.rag` here or in the nearest parent.

        Raises `LibraryNotFound`, `LibraryTooNew` or `LibraryCorrupt`.
        """
        chosen = settings or load_settings()
        named = Path(absolute_path(path)) if path is not None else chosen.library
        reader = Reader.open(find_library(library=named), index=chosen.search.index)
        if reader.meta is None:
            reader.close()
            raise LibraryNotFound(f"{reader.folder}: nothing is indexed here yet; run: rag index FOLDER")
        return cls(reader, chosen)

    @classmethod
    def index(
        cls,
        paths: Iterable[str | os.PathLike[str]],
        *,
        settings: Settings | None = None,
        reembed: bool = False,
        prune: Prune = False,
        dry_run: bool = False,
        progress: Progress | None = None,
        limit: int | None = None,
    ) -> IndexReport:
        """Bring folders and files into the library of the settings; see `rag.indexing.index`."""
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

    def indexed_paths(self) -> list[str]:
        """The path of every file that was indexed, sorted."""
        return self._reader.indexed_paths()

    # Asking

    def search(
        self,
        query: str,
        *,
        kind: Kind = "all",
        top_k: int | None = None,
        where: SearchFilter | ShotFilter | None = None,
    ) -> list[VideoHit | PassageHit]:
        """Windows and passages for words, best first; under a filter on shots, windows alone.

        Raises `QuestionError` for a query without a word, `UsageError` for a filter on shots that holds for
        nothing asked, `LibraryError` for one in a library that was not measured yet.
        """
        from rag.retrieval.shots import check_filter

        parse_question(query)
        chosen = _where(where)
        check_filter(chosen.shots or ShotFilter(), kind)
        return self.retriever.search(query, kind, top_k, chosen)

    def browse(self, where: SearchFilter | ShotFilter) -> list[VideoHit]:
        """Every stretch of a video that meets a filter on shots, by path and time; each has score 1.

        Raises `UsageError` without such a filter, else as `search` does.
        """
        from rag.retrieval.shots import browse, resolved

        chosen = _where(where)
        if chosen.shots is None or chosen.shots == ShotFilter():
            raise UsageError("what to browse for is missing: a tone, a style, an audio class, a height")
        # Without words to look for no model is opened.
        looks = bool(chosen.shots.after or chosen.shots.before)
        spans = (
            self.retriever.resolve(chosen) if looks else resolved(chosen, self._reader, None, lambda _: ())
        )
        return browse(spans, self._reader)

    def unjudged(self, where: SearchFilter | ShotFilter) -> UnmeasuredVideos | None:
        """The videos that a filter on shots cannot be held against: not measured, or not wholly.

        None without such a filter.
        """
        from rag.retrieval.shots import unjudged

        return unjudged(_where(where), self._reader)

    def ask(
        self,
        text: str,
        *,
        options: Sequence[str] = (),
        question_id: str = "",
        top_k: int | None = None,
        threshold: float | None = None,
        where: SearchFilter | None = None,
    ) -> Answer:
        """Answer one question with the windows and passages that prove it.

        Options may also stand in the text: "... (A) a drill (B) a lamp".
        Raises `QuestionError`, and `ReasonerError` where a language model fails.
        """
        from rag.answering import answer_question

        return answer_question(
            parse_question(text, options, question_id),
            self.retriever,
            self.reasoner,
            self.settings,
            read_frames=self.read_frames,
            where=where or SearchFilter(),
            top_k=top_k,
            threshold=threshold,
        )

    def localize(
        self, video: str, query: str, *, count: int = 1, window_seconds: float | None = None
    ) -> list[Window]:
        """The best windows of one video, given by path or its last parts, or by its id or how that begins."""
        video_id = self.video_id(video)
        retriever = self.retriever
        if window_seconds is not None:
            localize = self.settings.localize.model_copy(update={"window_seconds": window_seconds})
            changed = self.settings.model_copy(update={"localize": localize})
            retriever = self.retriever_with(changed)
        hits = retriever.localize_video(video_id, query, count)
        return [Window(hit.video_id, hit.start, hit.end, hit.score) for hit in hits]

    def resolve(self, citation: str) -> VideoCitation | PassageCitation:
        """What a citation stands for: `PATH@START-END`, `VIDEO_ID@START-END`, or a passage id.

        Raises `UsageError` for anything else, with the forms that work.
        """
        name, at, span = citation.rpartition("@")
        if at:
            start, end = _span(citation, span)
            video = self._reader.video(self.video_id(name))
            if end <= start:
                raise UsageError(f"{citation}: a window ends after it starts")
            if not 0 <= start < video.duration:
                raise UsageError(f"{citation}: the video is {video.duration:g} s long")
            end = min(end, video.duration)
            evidence = tuple(self._reader.evidence(video.video_id, start, end))
            return VideoCitation(self.path_of(video.video_id), video.video_id, start, end, 1.0, evidence)
        try:
            (passage,) = self._reader.passages([citation])
        except KeyError:
            raise UsageError(
                f"{citation}: no such passage; a window is cited as PATH@START-END, a passage by its id"
            ) from None
        path = self._reader.passage_paths([citation])[0]
        return PassageCitation(path, passage.passage_id, passage.title, passage.text, 1.0)

    # What was measured

    def shots(self, video_id: str) -> tuple[Shot, ...]:
        """The shots of a video, in time order; none where it has no pictures or was not measured yet."""
        return self._reader.shots(video_id)

    def shot_at(self, video_id: str, time: float) -> Shot | None:
        """The shot that is on screen at `time` seconds; None where there is none."""
        return next((shot for shot in self.shots(video_id) if shot.start <= time < shot.end), None)

    def sound_track(self, video_id: str) -> SoundTrack | None:
        """What the sound of a video is by seconds; None where it has none or was not measured yet."""
        return self._reader.sound_track(video_id)

    def copies_of(self, video_id: str) -> tuple[NearDuplicate, ...]:
        """Other videos that show the same: uploaded again, cropped, graded or re-timed; most alike first.

        Known by a fingerprint stored at indexing time; nothing is decoded. Raises KeyError for an unknown id.
        """
        from rag.retrieval.near_duplicates import copies_of

        return copies_of(self._reader, video_id)

    def without_fingerprint(self) -> frozenset[str]:
        """The videos with pictures that `copies_of` cannot know, since nothing was measured on them."""
        from rag.retrieval.near_duplicates import videos_without_fingerprint

        return videos_without_fingerprint(self._reader)

    # Keeping

    @property
    def library_id(self) -> str:
        return self._reader.meta.library_id if self._reader.meta else ""

    @property
    def reader(self) -> Reader:
        """The pinned snapshot beneath, for code that needs vectors and rows themselves."""
        return self._reader

    def stats(self) -> Stats:
        return self._reader.stats()

    def problems(self) -> list[Problem]:
        """Every odd file met so far, sorted by path."""
        return self._reader.problems()

    def doctor(self) -> list[Check]:
        """Whether tables can be read, files are still there, and the encoders are on this machine."""
        return [*_run_checks(self)]

    def remove(self, paths: Iterable[str | os.PathLike[str]]) -> Removed:
        """Take files, or all files below folders, out of the library; nothing else on disk is touched.

        Raises `UsageError` for an empty path.
        """
        from rag.store.writing import Writer

        wanted = [absolute_path(path) for path in paths]
        with Writer.open(self._reader.folder, create=False) as writer:
            known = writer.files().keys() | writer.problems().keys()
            going = _at_or_below(known, wanted)
            # What the cache still called unchanged would never be taken in again.
            with ScanCache(self._reader.folder) as cache:
                cache.forget(going)
            removed = writer.remove_paths(going)
            if removed.paths:
                writer.maintain()
        self.refresh()
        return removed

    def share_of(self, paths: Iterable[str | os.PathLike[str]]) -> tuple[int, int]:
        """How many of the library's files `remove` would take out, and how many there are.

        Raises `UsageError` for an empty path.
        """
        known = self._reader.files()
        return len(_at_or_below(known, [absolute_path(path) for path in paths])), len(known)

    def refresh(self) -> None:
        """Take up what has been indexed since the library was opened."""
        self._reader.refresh()
        self.__dict__.pop("retriever", None)

    def close(self) -> None:
        if self._media is not None:
            self._media.close()
        self._reader.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # What questions need, made at the first one

    @cached_property
    def tower(self) -> TextTower | None:
        """Words into the space of the stored picture vectors; None where the library has no pictures."""
        meta = self._reader.meta
        if meta is None or meta.image_encoder is None:
            return None
        from indexers.cached_text import CachedTextEncoder
        from indexers.registry import open_text_tower

        tower = open_text_tower(meta.image_encoder.name, self.settings.encoder)
        _expect_weights("image", meta.image_encoder.weights, tower)
        return CachedTextEncoder(tower)

    @cached_property
    def text_encoder(self) -> TextEncoder:
        """Questions into the space of passages and spans."""
        from indexers.cached_text import CachedTextEncoder
        from indexers.registry import open_query_encoder

        meta = self._reader.meta
        assert meta is not None  # `open` refuses a library without
        encoder = open_query_encoder(meta.text_encoder.name, self.settings.encoder)
        _expect_weights("text", meta.text_encoder.weights, encoder)
        return CachedTextEncoder(encoder)

    @cached_property
    def retriever(self) -> Retriever:
        """What finds and localizes, for code that takes the road apart."""
        return self.retriever_with(self.settings)

    def retriever_with(self, settings: Settings) -> Retriever:
        """A retriever over this library under other settings of search and localization."""
        from rag.retrieval import Retriever

        return Retriever(self._reader, self.tower, self.text_encoder, settings)

    @cached_property
    def reasoner(self) -> Reasoner:
        """The mind of the settings."""
        from rag.reasoners import open_reasoner

        return open_reasoner(self.settings, self.text_encoder, self.tower)

    def read_frames(self, path: str, times: NDArray[np.float64]) -> Frames:
        """The frame on screen at each time of a video file, upright. Raises `FileProblem`."""
        if self._media is None:
            from corpora.video.reader import MediaReader

            self._media = MediaReader(self.settings.video.decoder, self.settings.video.stall_seconds)
        return self._media.frames_at(path, times.tolist(), short_side=self.settings.reasoner.image_short_side)

    def video_id(self, name: str) -> str:
        """The id of a video given by path or its last parts, or by its id or how that begins.

        Raises `UsageError` where none or several are meant; it names what is like a name that nothing has.
        """
        path = os.path.abspath(name)
        videos = [video.video_id for video in self._reader.videos()]
        by_path = [video_id for video_id in videos if path in self._reader.paths(video_id)]
        named = by_path or [video_id for video_id in videos if len(name) >= 4 and video_id.startswith(name)]
        named = named or [v for v in videos if path_matches(self._reader.paths(v), (glob.escape(name),))]
        if len(named) == 1:
            return named[0]
        if named:
            raise UsageError(f"{name}: {len(named)} videos have a path or an id like this; give more of it")
        near = nearest_names(name, (path for video_id in videos for path in self._reader.paths(video_id)))
        meant = f"did you mean {' or '.join(near)}? Else index" if near else "index"
        raise UsageError(f"{name}: no such video in the library; {meant} it first with: rag index {name}")

    def path_of(self, video_id: str) -> str:
        """The first path of a content that is still there, else the first that was. KeyError if unknown."""
        paths = self._reader.paths(video_id)
        return next((path for path in paths if os.path.exists(path)), paths[0])


def _at_or_below(known: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """The paths of `known` that are one of `wanted` or lie below it."""
    prefixes = tuple(os.path.join(path, "") for path in wanted)
    return [path for path in known if path in wanted or path.startswith(prefixes)]


def _where(where: SearchFilter | ShotFilter | None) -> SearchFilter:
    return SearchFilter(shots=where) if isinstance(where, ShotFilter) else where or SearchFilter()


def _span(citation: str, text: str) -> tuple[float, float]:
    start, _, end = text.partition("-")
    try:
        return float(start), float(end)
    except ValueError:
        raise UsageError(f"{citation}: a window is cited as PATH@START-END, in seconds") from None


def _expect_weights(role: str, held: str, encoder: object) -> None:
    """The light half of an encoder has no batch or backend, so its weights are what is compared."""
    here = getattr(encoder, "weights", "")
    if held and here and held != here:
        raise EncoderMismatch(
            f"the {role} encoder's weights are not those that this library was made with: put the old "
            f"ones back, or encode everything again with rag index --reembed"
        )


def _run_checks(library: Library) -> Iterable[Check]:
    try:
        held = library.stats()
        yield Check("tables", True, f"{held.videos} videos, {held.clips} clips, {held.passages} passages")
    except LibraryCorrupt as error:
        yield Check("tables", False, str(error))
        return
    from rag.indexing.missing import is_gone

    absent = [
        path
        for video in library.reader.videos()
        for path in library.reader.paths(video.video_id)
        if not os.path.exists(path)
    ]
    words = "all are there"
    if gone := [path for path in absent if is_gone(path)]:
        words = f"{len(gone)} are gone, such as {gone[0]}; rag index --prune drops them"
    elif absent:
        words = f"{len(absent)} cannot be read, such as {absent[0]}; check permissions, links and mounts"
    yield Check("video files", not absent, words)
    for name in ("text_encoder", "tower"):
        label = "text encoder" if name == "text_encoder" else "image encoder"
        try:
            encoder = getattr(library, name)
        except RagError as error:
            yield Check(label, False, str(error))
            continue
        yield Check(label, True, encoder.name if encoder is not None else "none: pictures are not searched")
