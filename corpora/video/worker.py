"""The subprocess in which all files are opened: `python -P -m corpora.video.worker PARENT MEMORY NETWORK`.

PARENT: its process id. MEMORY: limit in bytes. NETWORK: 1 for addresses of a store.

It reads requests on stdin and answers on stdout (`corpora.video.ipc`). A crash, a hang or a memory
bomb in a library ends this process and nothing else, and what takes more than the limits of
`corpora.sandbox` is ended. Each request has a thread of its own, which can open the files of the request
alone. Its own prints and libav's go nowhere.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from corpora.errors import DamagedFile, FileProblem, OverLimit, UnreadableFile, reason_of
from corpora.objects import is_url
from corpora.platforms import readable
from corpora.records import Frames, Problem
from corpora.sandbox import deny_system_calls, limit_memory, limit_request, restrict_files
from corpora.text_decoding import expected_language
from corpora.video import ipc
from corpora.video.containers import choose_audio, object_files
from corpora.video.decoders import open_decoder
from corpora.video.records import FrameRequest, Probe

if TYPE_CHECKING:
    from corpora.passages.scanned_text import RecognizedPage
    from corpora.settings import StorageSettings

MEDIA_SECONDS = 1200.0
"""Processor time for each MiB of a media file: a still image of an hour is about as large."""
HEARTBEAT_SECONDS = 0.25
OPAQUE_HEARTBEATS = 10
"""A library call without signs of its own may work for so many stall limits, as long as it uses the CPU."""

Answer = Iterator[tuple[ipc.Message, list[ipc.Array]]]


class Cancelled(Exception):
    """The parent no longer wants the answer."""


class Link:
    """The two pipes to the parent."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests = requests
        self._answers = answers
        self._lock = threading.Lock()
        self._last = 0.0
        self.beats = 0

    def next_request(self) -> ipc.Message:
        """Wait for the next request of the parent process."""
        while True:
            request, _ = ipc.receive(self._requests, lambda: None)
            if request["op"] != "cancel":
                return request

    def beat(self) -> None:
        """Report progress to the parent; raises `Cancelled` if it has given up."""
        self.beats += 1
        now = time.monotonic()
        if now - self._last < HEARTBEAT_SECONDS:
            return
        self._last = now
        if readable(self._requests, 0):
            ipc.receive(self._requests, lambda: None)
            raise Cancelled
        self.send({"type": "beat"})

    def send(self, message: ipc.Message, arrays: list[ipc.Array] | None = None) -> None:
        """Send a message and its arrays, each of any shape and dtype, to the parent process."""
        with self._lock:
            ipc.send(self._answers, message, arrays or [])


def main() -> None:
    """Serve requests until the parent process ends."""
    link = Link(*_private_pipes())
    threading.Thread(target=_watch_parent, args=(int(sys.argv[1]),), daemon=True).start()
    limit_memory(int(sys.argv[2]))
    if sys.argv[3] == "0":
        with suppress(OSError):  # `rag doctor` says where it does not hold
            deny_system_calls()
    try:
        while True:
            request = link.next_request()
            link.send({"type": "taken"})
            _serve(link, request)
    except ipc.Closed:
        return


def _serve(link: Link, request: ipc.Message) -> None:
    """Answer in a thread that can open the files of this request and no others."""
    inputs = [request["path"], *request.get("beside", ())]
    outputs = [os.path.dirname(request["out"])] if "out" in request else []
    closed: list[ipc.Closed] = []

    def run() -> None:
        expected_language.set(request.get("language", ""))
        if not is_url(request["path"]):
            with suppress(OSError):
                restrict_files(inputs, outputs)
        try:
            _answer(link, request)
        except ipc.Closed as error:
            closed.append(error)

    limit_request(_cpu_seconds(request, inputs), writes=bool(outputs))
    stop = _start_heartbeat(link, float(request["stall_seconds"]))
    thread = threading.Thread(target=run, name="request")
    try:
        thread.start()
        thread.join()
    finally:
        stop.set()
    if closed:
        raise closed[0]


def _cpu_seconds(request: ipc.Message, inputs: list[str]) -> float:
    size = 0
    for path in inputs:
        with suppress(OSError, ValueError):
            size += 2**40 if is_url(path) else os.stat(path).st_size
    return float(request.get("cpu_seconds", MEDIA_SECONDS)) * max(1.0, size / 2**20)


def _answer(link: Link, request: ipc.Message) -> None:
    objects = object_files(_storage(request))
    objects.failure = ""
    choose_audio(request["audio_track"])
    try:
        for message, arrays in OPERATIONS[request["op"]](request, link.beat):
            if objects.failure:
                break
            link.send({"type": "part", **message}, arrays)
        if objects.failure:
            raise UnreadableFile(objects.failure)
    except Cancelled:
        pass
    except ipc.Closed:
        raise
    except Exception as error:
        problem = _problem_of(error, objects.failure)
        if problem is None:
            link.send({"type": "bug", "traceback": traceback.format_exc()})
            return
        reason = reason_of(problem, request["path"])
        link.send({"type": "problem", "error": type(problem).__name__, "reason": reason})
        return
    link.send({"type": "done"})


def _problem_of(error: Exception, failure: str) -> FileProblem | None:
    """What is wrong with a file; None where the reader is wrong. `failure`: why an object was not read."""
    words = (getattr(error, "strerror", None) or str(error)).lower()
    if isinstance(error, MemoryError):
        return OverLimit(ipc.TOO_MUCH_MEMORY)
    if failure:
        return UnreadableFile(failure)
    if isinstance(error, FileProblem):
        return error
    if type(error).__module__.startswith("av."):
        return DamagedFile(f"the media library gave it up: {words}")
    return UnreadableFile(f"cannot be read: {words}") if isinstance(error, OSError) else None


def _storage(request: ipc.Message) -> StorageSettings | None:
    if not is_url(request["path"]):
        return None
    # Half of the time in which this subprocess starts.
    from corpora.settings import StorageSettings

    return StorageSettings(**request.get("storage", {}))


def _start_heartbeat(link: Link, stall_seconds: float) -> threading.Event:
    """Beat for library calls that cannot: while one runs and uses the CPU, for a bounded time."""
    stop = threading.Event()

    def watch() -> None:
        beats, cpu, since = link.beats, time.process_time(), time.monotonic()
        while not stop.wait(max(HEARTBEAT_SECONDS, min(1.0, stall_seconds / 4))):
            worked = time.process_time() - cpu
            cpu += worked
            if link.beats != beats:
                beats, since = link.beats, time.monotonic()
            elif worked > 0.05 and time.monotonic() - since < OPAQUE_HEARTBEATS * stall_seconds:
                try:
                    link.send({"type": "beat"})
                except ipc.Closed:
                    return

    threading.Thread(target=watch, daemon=True).start()
    return stop


def _private_pipes() -> tuple[int, int]:
    """Move the pipes away from the standard numbers, so that no library prints into them."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    return requests, answers


def _watch_parent(parent: int) -> None:
    """End this process within a second of the end of its parent."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _probe(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.probe import probe_file

    yield {"probe": asdict(probe_file(request["path"], beat))}, []


def _tracks(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.tracks import read_tracks

    facts = asdict(read_tracks(request["path"], beat))
    yield {"tracks": {**facts, "rate": str(facts["rate"])}}, []


def _texts(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.subtitles import read_texts

    yield {"texts": [asdict(text) for text in read_texts(request["path"], beat)]}, []


def _frames(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    decoder = open_decoder(request["decoder"])
    batches = decoder.frames(
        request["path"], Probe.of(request["probe"]), FrameRequest(**request["request"]), beat
    )
    while True:
        try:
            batch = next(batches)
        except StopIteration as stop:
            yield {"report": asdict(stop.value)}, []
            return
        large = [key.image for key in batch.keyframes]
        facts = {"keyframes": [key.time for key in batch.keyframes], "salvaged": batch.salvaged}
        yield facts, [*_arrays(batch.frames), *large]


def _frames_at(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    decoder = open_decoder(request["decoder"])
    probe = Probe.of(request["probe"])
    yield (
        {},
        _arrays(decoder.frames_at(request["path"], probe, request["times"], request["short_side"], beat)),
    )


def _keyframes(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.storyboard import keyframes_near

    probe, size = Probe.of(request["probe"]), tuple(request["size"])
    yield {}, _arrays(keyframes_near(request["path"], probe, request["times"], size, beat))


def _packets(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.pyav_decoder import read_packets

    yield {"report": asdict(read_packets(request["path"], Probe.of(request["probe"]), beat))}, []


def _audio(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.audio import read_audio

    for block in read_audio(request["path"], request["rate"], beat, request["start"], gaps=request["gaps"]):
        yield {}, [block]


def _clip(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.clipping import encode_clip

    encode_clip(request["path"], request["start"], request["end"], request["out"], beat)
    yield {}, []


def _remux(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.clipping import copy_streams

    copy_streams(request["path"], Probe.of(request["probe"]), request["out"], beat)
    yield {}, []


PART_CHARACTERS = 2**20
PART_TEXTS = 10_000


def _passages(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.passages import read_passages

    recognized = request.get("recognized")
    if request.get("scans"):
        some = False
        for part in _scans(request["path"], beat):
            some = True
            yield part
        if some:
            return
        recognized = []
    pages = None if recognized is None else [_recognized(facts) for facts in recognized]
    yield from _batches(read_passages(request["path"], pages), beat)


def _scans(path: str, beat: Callable[[], None]) -> Answer:
    from corpora.passages.document import format_of
    from corpora.passages.scanned_text import ScannedPage

    pages = format_of(path).scanned_pages
    for page in pages(path, beat) if pages else ():
        if isinstance(page, ScannedPage):
            yield {"scan": {"number": page.number, "pages": page.pages}}, [page.image]
        else:
            yield {"unread": asdict(page)}, []


def _recognized(facts: dict[str, Any]) -> RecognizedPage:
    from corpora.passages.scanned_text import RecognizedPage, TextLine

    return RecognizedPage(**{**facts, "lines": tuple(TextLine(**line) for line in facts["lines"])})


def _documents(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.passages import read_documents

    return _batches(read_documents(request["path"]), beat)


def _batches(found: Iterator[Any], beat: Callable[[], None]) -> Answer:
    """Records in parts of bounded size; a `Problem`, which has no text, under its own name."""
    held: list[dict[str, Any]] = []
    size = 0
    for each in found:
        beat()
        if isinstance(each, Problem):
            yield {"problem": asdict(each)}, []
            continue
        held.append(asdict(each))
        size += len(each.text)
        if size >= PART_CHARACTERS:
            yield {"records": held}, []
            held, size = [], 0
    if held:
        yield {"records": held}, []


def _sidecars(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.sidecars import read_sidecars

    found = asdict(read_sidecars(request["beside"]))
    texts = found.pop("texts")
    for start in range(0, len(texts), PART_TEXTS):
        beat()
        yield {"texts": texts[start : start + PART_TEXTS]}, []
    yield {"sidecars": found}, []


def _arrays(frames: Frames) -> list[ipc.Array]:
    return [frames.times, frames.images]


OPERATIONS: dict[str, Callable[[ipc.Message, Callable[[], None]], Answer]] = {
    "probe": _probe,
    "tracks": _tracks,
    "texts": _texts,
    "frames": _frames,
    "frames_at": _frames_at,
    "keyframes": _keyframes,
    "packets": _packets,
    "audio": _audio,
    "clip": _clip,
    "remux": _remux,
    "passages": _passages,
    "documents": _documents,
    "sidecars": _sidecars,
}

if __name__ == "__main__":
    main()
