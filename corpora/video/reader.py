"""Reads files in a watched subprocess: of media facts, frames, text, audio, and clips cut out of them; of
documents their passages."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.errors import FileProblem, StalledFile, UsageError, reason_of
from corpora.objects import StoreError, is_url, locate
from corpora.outputs import OverwritePolicy, replace_file
from corpora.passages import read_documents, read_passages
from corpora.passages.document import Document, scanned_pages_of
from corpora.passages.page_layout import RecognizedPage, ScannedPage, TextLine
from corpora.records import Frames, Passage, Problem
from corpora.settings import ReadingSettings, StorageSettings
from corpora.video.audio import read_audio
from corpora.video.clipping import copy_streams, encode_clip
from corpora.video.decoders import check_decoder, decode, decode_at
from corpora.video.ipc import MediaProcess
from corpora.video.probe import probe_file
from corpora.video.pyav_decoder import read_packets
from corpora.video.records import DecodeReport, FrameBatch, FrameRequest, Probe, TimedText
from corpora.video.sampling import EPSILON, Batcher, Sampler, Selector
from corpora.video.sidecars import Sidecars, merge_sidecars, read_sidecar
from corpora.video.subtitles import read_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray


AUDIO_RATE = 16_000
"""Samples a second that audio is read at."""
SOUND_PADDING = 0.1
"""Seconds; sound that ends so little after the last image is what its codec fills its last packet with."""

PageReader = Callable[[ScannedPage], Sequence[TextLine] | None]
"""The lines of a scanned page; None where there is no OCR after all."""


class FrameStream:
    """Iterate once over the batches; then `report` says how it went."""

    def __init__(self, batches: Generator[FrameBatch, None, DecodeReport]) -> None:
        self._batches = batches
        self._report: DecodeReport | None = None

    def __iter__(self) -> Iterator[FrameBatch]:
        return self

    def __next__(self) -> FrameBatch:
        try:
            return next(self._batches)
        except StopIteration as stop:
            self._report = self._report or stop.value
            raise

    @property
    def report(self) -> DecodeReport:
        """Known when all batches were read; raises `RuntimeError` before."""
        if self._report is None:
            raise RuntimeError("the report is known when all batches were read")
        return self._report

    def close(self) -> None:
        """Stop early."""
        self._batches.close()


class MediaReader:
    """Context manager. Its subprocess starts at the first file, serves many, and is restarted after a crash.

    One file at a time: asking for the next thing ends an unfinished stream. Not to be shared between
    threads at the same time. All methods raise `UnreadableFile`, `UnsupportedFile`, `DamagedFile`, or
    `StalledFile` when there is no sign of progress for `stall_seconds`, or the subprocess dies; one that is
    slow but goes on is never given up. Times are seconds on the file's clock: pts x time base, minus the
    container's start time.

    A path may be the address of an object, which is read by ranges. Other decoders than PyAV want files: of
    an object PyAV decodes, and the report says so.
    """

    def __init__(
        self,
        decoder: str = "pyav",
        stall_seconds: float = 60.0,
        storage: StorageSettings | None = None,
        limits: ReadingSettings | None = None,
        audio_track: str = "",
    ) -> None:
        """`storage`: how objects are reached; default: as the environment says. `limits`: of each file.
        `audio_track`: which of several is heard, as `video.audio_track`."""
        self.decoder = check_decoder(decoder)
        self._storage = storage or StorageSettings()
        self._limits = limits or ReadingSettings()
        self._files = MediaProcess(stall_seconds, self._limits, audio_track=audio_track)
        # Only this one has the network.
        self._objects = MediaProcess(stall_seconds, self._limits, self._storage, audio_track)
        # Other decoders have an FFmpeg of their own, which cannot share a process with PyAV's.
        self._frames = self._files if decoder == "pyav" else MediaProcess(stall_seconds, self._limits)
        self._probed: tuple[str, object, Probe] | None = None

    def __enter__(self) -> MediaReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the subprocesses."""
        for child in (self._files, self._objects, self._frames):
            child.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the children that run now."""
        children = {self._files, self._objects, self._frames}
        return tuple(child.pid for child in children if child.pid is not None)

    def probe(self, path: str) -> Probe:
        """The facts of a file; packets are counted where the container's word cannot be right."""
        probe: Probe = self._one(probe_file, path)
        self._probed = path, self._stamp(path), probe
        return probe

    def texts(self, path: str) -> tuple[TimedText, ...]:
        """Embedded text subtitles, sorted by time, of the streams among `Probe.subtitles` that are read."""
        return tuple(self._one(read_texts, path))

    def frames(
        self,
        path: str,
        *,
        rate: float = 2.0,
        short_side: int = 224,
        start: float = 0.0,
        seek: bool = False,
        keyframe_side: int | None = None,
        keyframe_reset: float = 30.0,
    ) -> FrameStream:
        """Sampled frames with `time >= start`, by the rule of `corpora.video.sampling`.

        rate: grid steps a second. short_side: pixels; even sides, never enlarged. seek: enter shortly before
        `start` where that gives the very same samples (mp4, mov, mkv, webm), else decode from the
        beginning. keyframe_side: short side of the larger images of frames that look new, and of the
        first at every multiple of `keyframe_reset` seconds; None for none.
        Where the sound goes on after the last image, that image stays. A file that is damaged or cut off
        yields what is there; `report.damage` says what is lost, and then no image stays.
        """
        request = FrameRequest(rate, short_side, start, seek, keyframe_side, keyframe_reset)
        return FrameStream(self._batches(path, self._facts(path), request))

    def _batches(
        self, path: str, probe: Probe, request: FrameRequest
    ) -> Generator[FrameBatch, None, DecodeReport]:
        with closing(self._decoded(decode, path, probe=probe, request=request)) as parts:
            for part in parts:
                if isinstance(part, DecodeReport):
                    report = part
                else:
                    yield part
        if not probe.audio or probe.duration <= report.end + SOUND_PADDING:
            return report
        end = self.packets(path).end
        if end <= report.end + SOUND_PADDING:
            return report
        batcher = Batcher()
        if not report.damage:
            yield from self._held(path, request, batcher, report.end, end)
        return replace(report, end=end, frames=report.frames + batcher.taken)

    def _held(
        self, path: str, request: FrameRequest, batcher: Batcher, since: float, until: float
    ) -> Iterator[FrameBatch]:
        """Samples of the last image, on screen from `since` to `until` seconds."""

        def last(short_side: int) -> NDArray[np.uint8]:
            image: NDArray[np.uint8] = self.frames_at(path, [since], short_side=short_side).images[0]
            return image

        sampler: Sampler[NDArray[np.uint8]] = Sampler(request.rate)
        sampler.push(since - 2 * EPSILON, last(request.short_side))
        selector, enlarge = Selector(request), cache(last)
        for time, image in sampler.finish(until):
            sample = selector.sample(time, image, enlarge)
            if sample is not None:
                yield from batcher.add(sample)
        yield from batcher.flush()

    def frames_at(self, path: str, times: Sequence[float], *, short_side: int) -> Frames:
        """The frame on screen at each of `times`, in ascending order, one for each.

        `times` of the result: when these frames came on screen. Before the first frame and after the last,
        that one is given. Enters by seeking where that is exact, else reads from the beginning.
        """
        asked = {"times": sorted(map(float, times)), "short_side": short_side}
        # To its end, or the subprocess would be ended.
        [found] = list(self._decoded(decode_at, path, probe=self._facts(path), **asked))
        frames: Frames = found
        return frames

    def packets(self, path: str) -> DecodeReport:
        """Report when the last packet of a video ends, of image or sound, and whether that is before the end
        that the container states. No frame is decoded."""
        found: DecodeReport = self._one(read_packets, path, probe=self._facts(path))
        return found

    def audio(
        self, path: str, *, gaps: bool = False, start: float = 0.0, until: float = 1e9
    ) -> Iterator[NDArray[np.float32]]:
        """Mono float32 (n,) blocks in [-1, 1] at 16,000 Hz; the first sample is at `start`. Late starts,
        gaps and damaged packets are silence; with `gaps` all but a late start are NaN. `start`: entered by
        seeking where the container has an index; samples may then differ in their last bits. `until`:
        it ends there or a little later."""
        yield from self._media(path).ask(
            read_audio, path, rate=AUDIO_RATE, gaps=gaps, start=start, until=until
        )

    def audio_between(self, path: str, start: float, end: float) -> NDArray[np.float32]:
        """Mono float32 (n,) at 16,000 Hz of [start, end) seconds, cut at the end of the track; empty without
        one."""
        if not self._facts(path).audio:
            return np.zeros(0, np.float32)
        first, last = (max(0, round(time * AUDIO_RATE)) for time in (start, end))
        # A file is read from its beginning, sample for sample as it was indexed; of an object a part.
        begin = first if is_url(path) else 0
        blocks, read = [np.zeros(0, np.float32)], begin
        for block in self.audio(path, start=begin / AUDIO_RATE, until=last / AUDIO_RATE):
            blocks.append(block[max(0, first - read) : max(0, last - read)])
            read += len(block)
        return np.concatenate(blocks)

    def passages(self, path: str, read_page: PageReader | None = None) -> Iterator[Passage | Problem]:
        """The passages of a document, each content once, as they are read; what is wrong with parts of it is
        one `Problem` each. Raises `FileProblem`, as `corpora.passages.read_documents` does.

        `read_page`: gives the lines of each scanned page of a PDF, page by page before the first passage; at
        None from it no page is read.
        """
        pages = None if read_page is None else self._recognized(path, read_page)
        yield from self._documents_of(read_passages, path, recognized=pages)

    def _recognized(self, path: str, read_page: PageReader) -> list[RecognizedPage] | None:
        pages = list[RecognizedPage]()
        for found in self._documents_of(scanned_pages_of, path):
            if isinstance(found, ScannedPage):
                lines = read_page(found)
                if lines is None:
                    return None
                found = RecognizedPage(found.number, tuple(lines))
            pages.append(found)
        return pages

    def documents(self, path: str) -> Iterator[Document | Problem]:
        """Read the documents of a file, before they are cut into passages."""
        return self._documents_of(read_documents, path)

    def _documents_of(self, function: Callable[..., Any], path: str, **arguments: Any) -> Iterator[Any]:
        asked = self._files.ask(function, path, self._limits.document_seconds, **arguments)
        with closing(asked):
            for found in asked:
                yield replace(found, path=path) if isinstance(found, Problem) else found

    def sidecars(self, paths: Sequence[str], media: Iterable[str] = ()) -> Sidecars:
        """Texts and facts of the files beside a video. A bad file is a line in `notes`, never an error.
        `media`: paths of the video, to know what their names have behind that of the video."""
        names = [part for path in media for part in (os.path.basename(path), Path(path).stem)]
        return merge_sidecars([self._sidecar(path, names) for path in sorted(paths)])

    def _sidecar(self, path: str, media: Sequence[str]) -> Sidecars:
        try:
            [found] = list(self._documents_of(read_sidecar, path, media=media))
        except FileProblem as problem:
            found = Sidecars(notes=(f"{os.path.basename(path)}: {reason_of(problem, path)}",))
        sidecars: Sidecars = found
        return sidecars

    def cut(self, path: str, start: float, end: float, out: str) -> None:
        """Encode [start, end) to the MP4 file `out`; what to call is `corpora.video.reader.cut_clip`."""
        self._one(encode_clip, path, start=start, end=end, out=out)

    def remux(self, path: str, out: str) -> None:
        """Copy images and sound, nothing encoded again, into the MP4 file `out`, for players that read no
        other container. Raises `UnsupportedFile` where MP4 cannot hold them."""
        self._one(copy_streams, path, probe=self._facts(path), out=out)

    def _media(self, path: str) -> MediaProcess:
        return self._objects if is_url(path) else self._files

    def _facts(self, path: str) -> Probe:
        """The probe of `path`, made again if another file was probed last or this one has changed."""
        if self._probed is None or self._probed[:2] != (path, self._stamp(path)):
            return self.probe(path)
        return self._probed[2]

    def _stamp(self, path: str) -> object:
        """Changes with a file or object; (-1, -1) where that cannot be seen, which the subprocess reports."""
        try:
            if is_url(path):
                store, key = locate(path, self._storage)
                return store.head(key)
            status = os.stat(path)
        except (OSError, StoreError):
            return -1, -1
        return status.st_size, status.st_mtime_ns

    def _one(self, function: Callable[..., Any], path: str, **arguments: Any) -> Any:
        [found] = list(self._media(path).ask(function, path, **arguments))
        return found

    def _decoded(
        self, function: Callable[..., Any], path: str, **arguments: Any
    ) -> Generator[Any, None, None]:
        """A stall or crash of another decoder than the default is most likely its own fault."""
        child, decoder = (self._objects, "pyav") if is_url(path) else (self._frames, self.decoder)
        try:
            yield from child.ask(function, path, decoder=decoder, **arguments)
        except StalledFile as error:
            if self.decoder == "pyav":
                raise
            problem: FileProblem = StalledFile(
                f"{error}; {self.decoder} is known for this, try RAG_VIDEO__DECODER=pyav"
            )
            raise problem from error


def cut_clip(
    path: str | os.PathLike[str],
    start: float,
    end: float,
    out: str | os.PathLike[str],
    policy: OverwritePolicy | None = None,
    storage: StorageSettings | None = None,
    audio_track: str = "",
) -> None:
    """Write [start, end) seconds of `path` to `out` as MP4 (H.264, and AAC where there is sound).

    The first image is the one on screen at `start`; images are upright. Written beside `out` and then
    renamed; `path` counts as an input of `policy`. Raises `UsageError` for an empty interval or an `out`
    that must not be replaced, `FileProblem` as `MediaReader` does, `OSError` if `out` cannot be written.
    `storage` and `audio_track`: as of `MediaReader`.
    """
    if not end > max(start, 0.0):
        raise UsageError(f"nothing is between {start:g} and {end:g} s")
    allowed = (policy or OverwritePolicy()).with_inputs(path)
    with replace_file(out, allowed) as draft, MediaReader(storage=storage, audio_track=audio_track) as reader:
        reader.cut(os.fspath(path), max(start, 0.0), end, os.fspath(draft))
