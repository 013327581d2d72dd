"""The watched subprocess as its parent sees it, and the messages between the two.

It is started at the first request, ended when it is stuck, and started again after a crash. Messages hold no
pickle: the length of a text (little-endian, u32), the text, which is JSON, and the bytes of its arrays, one
after another. In the JSON a record is an object that names its kind under `record`; of an array it has the
dtype and the shape.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Generator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import corpora.errors as errors
from corpora.passages.document import Document, PageStart
from corpora.passages.page_layout import RecognizedPage, ScannedPage, TextLine
from corpora.platforms import read_into, readable
from corpora.records import Frames, Passage, Problem, SubtitleTrack
from corpora.scan import path_or_address
from corpora.video.records import DecodeReport, FrameBatch, FrameRequest, Keyframe, Probe, TimedText
from corpora.video.sidecars import Sidecars

if TYPE_CHECKING:  # pydantic, which the subprocess does without
    from corpora.settings import ReadingSettings, StorageSettings

_HEAD = struct.Struct("<I")
_MOST_HEADER = 256 * 2**20
_DTYPES = ("|u1", "<f4", "<f8")
_RECORDS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        *(DecodeReport, Document, FrameBatch, FrameRequest, Frames, Keyframe, PageStart, Passage, Probe),
        *(Problem, RecognizedPage, ScannedPage, Sidecars, SubtitleTrack, TextLine, TimedText),
    )
}
"""What a message may hold beside JSON, arrays and fractions. Sequences in records are tuples."""

Message = dict[str, Any]


class Closed(Exception):
    """The other end is gone."""


def send(handle: int, message: Message) -> None:
    """Write one message; blocks while the pipe is full, which is what holds a fast decoder back."""
    arrays: list[NDArray[Any]] = []

    def described(value: Any) -> Message:
        if isinstance(value, np.ndarray):
            arrays.append(np.ascontiguousarray(value))
            return {"record": "array", "dtype": value.dtype.str, "shape": value.shape}
        if isinstance(value, Fraction):
            return {"record": "Fraction", "text": str(value)}
        name = type(value).__name__
        return {"record": name, **{each: getattr(value, each) for each in value.__dataclass_fields__}}

    # ASCII JSON carries names that are not UTF-8 as lone surrogates, and back.
    words = json.dumps(message, default=described).encode("ascii")
    _write(handle, memoryview(_HEAD.pack(len(words)) + words))
    for array in arrays:
        if array.nbytes:
            _write(handle, array.data.cast("B"))


def _write(handle: int, data: memoryview) -> None:
    while data:
        try:
            data = data[os.write(handle, data) :]
        except BrokenPipeError as error:
            raise Closed from error


def receive(handle: int, wait: Callable[[], None]) -> Message:
    """Read one message. `wait` is called before every read, and may raise.

    Raises `Closed` at the end of the stream, and if what comes is no message.
    """
    arrays: list[NDArray[Any]] = []

    def made(fields: Message) -> Any:
        name = fields.pop("record", None)
        if name is None:
            return fields
        if name == "Fraction":
            return Fraction(fields["text"])
        if name in _RECORDS:
            held = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
            return _RECORDS[name](**held)
        if fields["dtype"] not in _DTYPES:
            raise Closed
        arrays.append(np.empty(fields["shape"], fields["dtype"]))
        return arrays[-1]

    (size,) = _HEAD.unpack(_read(handle, bytearray(_HEAD.size), wait))
    if size > _MOST_HEADER:
        raise Closed
    header = _read(handle, bytearray(size), wait)
    try:
        message: Message = json.loads(header, object_hook=made)
    except (ValueError, KeyError, TypeError) as error:
        raise Closed from error
    for array in arrays:
        if array.nbytes:
            _fill(handle, array.data.cast("B"), wait)
    return message


def _read(handle: int, held: bytearray, wait: Callable[[], None]) -> bytearray:
    _fill(handle, memoryview(held), wait)
    return held


def _fill(handle: int, data: memoryview, wait: Callable[[], None]) -> None:
    while data:
        wait()
        count = read_into(handle, data)
        if count == 0:
            raise Closed
        data = data[count:]


TOO_MUCH_MEMORY = "reading it takes more memory than reading.memory_gib allows"
CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP")
"""Signals by which a library ends itself over a file; any other came from outside."""
DIED = "its reader died"
OF_MEMORY = (TOO_MUCH_MEMORY, DIED)
"""Reasons that may be those of a file before: a library that gets no more memory may also crash."""
MEDIA_SECONDS = 1200.0
"""Processor time for each MiB of a media file: a still image of an hour is about as large."""
START_SECONDS = 60.0
"""How long a subprocess may take to start, at least: that is no stall of its file."""
BUSY, BUSY_STALLS = 0.05, 10
"""A library call without signs of its own may take so many stall limits, as long as it uses that share of a
processor."""
_ROOT = Path(__file__).resolve().parents[2]


class MediaProcess:
    """One subprocess, started at the first request and again after a crash; one request at a time."""

    def __init__(
        self,
        stall_seconds: float,
        limits: ReadingSettings,
        storage: StorageSettings | None = None,
        audio_track: str = "",
    ) -> None:
        """`storage`: how objects are reached; with it the network can be used. `audio_track`: as the setting
        `video.audio_track`."""
        self._audio_track = audio_track
        self._stall_seconds = stall_seconds
        self._limits = limits
        self._storage = storage
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] = lambda: None
        self._busy = 0
        self._requests = 0

    @property
    def pid(self) -> int | None:
        """Id of the running subprocess; None before the first request and after a crash."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def ask(
        self, function: Callable[..., Any], path: str, cpu_seconds: float = MEDIA_SECONDS, **arguments: Any
    ) -> Generator[Any, None, None]:
        """What `function` gives for a file, as it comes; ending the iteration early ends the subprocess.

        The function gets `path` and `arguments`, of which `out` is a file that it
        may write. `cpu_seconds`: its processor time for each MiB of the file.
        A request that is still going on when the next one is made is given up; going on with it then
        raises `RuntimeError`. Raises `FileProblem`, with the path.
        """
        request = {
            "function": f"{function.__module__}:{function.__qualname__}",
            # The subprocess's working folder is the one of its start.
            "path": path_or_address(path),
            "arguments": arguments,
            "cpu_seconds": cpu_seconds,
            "audio_track": self._audio_track,
            "language": self._limits.language,
            "storage": self._storage.model_dump(mode="json") if self._storage is not None else None,
        }
        used, parts = self.pid is not None, 0
        try:
            with contextlib.closing(self._answer(request, path)) as answer:
                for part in answer:
                    parts += 1
                    yield part
            return
        except errors.OverLimit as problem:
            reasons = (TOO_MUCH_MEMORY,) if parts else OF_MEMORY
            if not used or not any(reason in str(problem) for reason in reasons):
                raise
        # What earlier files left in the process counts against none.
        self.close()
        yield from islice(self._answer(request, path), parts, None)

    def _answer(self, request: Message, path: str) -> Generator[Any, None, None]:
        if self._busy:
            self.close()
        self._requests += 1
        number = self._requests
        self._begin(request, path)
        self._busy = number
        try:
            while True:
                if self._busy != number:
                    raise RuntimeError(
                        "another file was opened on this reader before this one was read to its end"
                    )
                answer = self._receive(path, self._stall_seconds)
                kind = answer["type"]
                if kind == "part":
                    yield answer["value"]
                elif kind == "done":
                    self._busy = 0
                    return
                elif kind == "problem":
                    self._busy = 0
                    if answer["error"] == "OverLimit":
                        self.close()  # the next file gets a process that holds nothing of this one
                    raise _problem(path, answer)
                elif kind == "bug":
                    self._busy = 0
                    # One file must not end the run: it is named, and the traceback is kept as the cause.
                    words = answer["traceback"].strip().rpartition("\n")[2][:200]
                    cause = RuntimeError(answer["traceback"])
                    raise errors.DamagedFile(f"{path}: its reader failed: {words}") from cause
        finally:
            if self._busy == number:
                self.close()

    def close(self) -> None:
        """End the subprocess; a later request starts a new one."""
        self._process, self._busy = None, 0
        self._end()

    def _begin(self, message: Message, path: str) -> None:
        """Send a request and wait until it is taken up."""
        for attempt in (1, 2):
            process = self._process
            if process is None or process.poll() is not None:
                self.close()
                process = self._process = start_reader(self._limits, network=self._storage is not None)
                finalizer = self._end = weakref.finalize(self, _end, process, os.getpid())
                finalizer.atexit = False
            assert process.stdin is not None
            try:
                send(process.stdin.fileno(), message)
                self._receive(path, max(START_SECONDS, self._stall_seconds))
                return
            except (Closed, errors.StalledFile):
                # It died between two requests: nothing is lost, so begin again, once.
                self.close()
                if attempt == 2:
                    raise errors.StalledFile(f"{path}: the media reader does not start") from None

    def _receive(self, path: str, stall_seconds: float) -> Message:
        process = self._process
        if process is None:
            raise RuntimeError("the media reader was closed before the file was read to its end")
        assert process.stdout is not None
        handle = process.stdout.fileno()

        def wait() -> None:
            # The processor time is looked at where nothing came at once.
            if readable(handle, min(1.0, stall_seconds / 4)):
                return
            since, used = time.monotonic(), _cpu_seconds(process.pid)
            while not readable(handle, stall_seconds):
                before, used = used, _cpu_seconds(process.pid)
                # One that was busy all the time is held by the file, any other by the disk or the machine.
                if used - before < BUSY * stall_seconds:
                    raise errors.StalledFile
                if time.monotonic() - since > BUSY_STALLS * stall_seconds:
                    raise errors.StalledFile if math.isnan(used) else errors.OverLimit

        try:
            return receive(handle, wait)
        except errors.StalledFile as stalled:
            self.close()
            reason = f"its reader made no progress for {stall_seconds:g} s and was ended"
            raise type(stalled)(f"{path}: {reason}") from None
        except Closed:
            cause = _cause(process.wait())
            self.close()
            if cause == "SIGXCPU":
                reason = "reading it takes more processor time than a file of its size may take"
                raise errors.OverLimit(f"{path}: {reason}") from None
            kind = errors.OverLimit if cause in CRASHES else errors.StalledFile
            hint = "; it may need more memory than reading.memory_gib allows" if cause == "SIGABRT" else ""
            raise kind(f"{path}: {DIED} ({cause}){hint}") from None


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a subprocess that is closed or forgotten; in a fork of the process that started it, leave it."""
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _cpu_seconds(pid: int | None) -> float:
    """Processor time of a process; NaN where that cannot be read, and it may be busy."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_reader(limits: ReadingSettings, *, network: bool) -> subprocess.Popen[bytes]:
    """Start the subprocess that reads files."""
    # It must find the same packages as this process, wherever that was started; without -P it
    # would import any that the working folder holds, which may be a corpus.
    paths = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [
            *(sys.executable, "-P", "-X", "utf8", "-m", "corpora.video.worker"),
            *(str(os.getpid()), str(round(limits.memory_gib * 2**30)), str(int(network))),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        close_fds=True,
        # Arrow's own allocator asks for more than it needs, ahead; OpenBLAS for 40 MB a processor, unused.
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "OPENBLAS_NUM_THREADS": "1",
        },
    )


def _problem(path: str, answer: Message) -> errors.FileProblem:
    known = (errors.UnreadableFile, errors.UnsupportedFile, errors.DamagedFile, errors.OverLimit)
    kinds: dict[str, type[errors.FileProblem]] = {kind.__name__: kind for kind in known}
    return kinds.get(answer["error"], errors.FileProblem)(f"{path}: {answer['reason']}")


def _cause(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit {code}"
    except ValueError:
        return f"signal {-code}"
