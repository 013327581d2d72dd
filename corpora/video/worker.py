"""The subprocess in which all media files are opened: `python -m corpora.video.worker PARENT_PID`.

It reads requests on stdin and answers on stdout (`corpora.video.ipc`). A crash, a hang or a memory
bomb in a media library ends this process and nothing else. Its own prints and libav's go nowhere.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from corpora.errors import FileProblem, UnreadableFile
from corpora.records import Frames
from corpora.settings import StorageSettings
from corpora.video import ipc
from corpora.video.containers import object_files
from corpora.video.decoders import open_decoder
from corpora.video.records import FrameRequest, Probe, TimedText

MOST_MEMORY = 16 * 2**30
"""Bytes of address space: a bound for headers that ask for absurd buffers, far above what decoding takes."""
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
        if ipc.readable(self._requests, 0):
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
    _die_with_parent(int(sys.argv[1]))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux" and (hard == resource.RLIM_INFINITY or hard > MOST_MEMORY):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        while True:
            request = link.next_request()
            link.send({"type": "taken"})
            _serve(link, request)
    except ipc.Closed:
        return


def _serve(link: Link, request: ipc.Message) -> None:
    stop = _start_heartbeat(link, float(request["stall_seconds"]))
    objects = object_files(StorageSettings(**request.get("storage", {})))
    objects.failure = ""
    try:
        for message, arrays in OPERATIONS[request["op"]](request, link.beat):
            if objects.failure:
                break
            link.send({"type": "part", **message}, arrays)
        if objects.failure:
            raise UnreadableFile(objects.failure)
        link.send({"type": "done"})
    except Cancelled:
        link.send({"type": "done"})
    except FileProblem as problem:
        found = UnreadableFile(objects.failure) if objects.failure else problem
        link.send({"type": "problem", "error": type(found).__name__, "reason": str(found)})
    except MemoryError:
        link.send(
            {"type": "problem", "error": "UnsupportedFile", "reason": "it takes more memory than allowed"}
        )
    except ipc.Closed:
        raise
    except Exception as error:
        if objects.failure:
            link.send({"type": "problem", "error": "UnreadableFile", "reason": objects.failure})
            return
        words = (getattr(error, "strerror", None) or str(error)).lower()
        if type(error).__module__.startswith("av."):
            reason = f"the media library gave it up: {words}"
            link.send({"type": "problem", "error": "DamagedFile", "reason": reason})
        elif isinstance(error, OSError):
            link.send({"type": "problem", "error": "UnreadableFile", "reason": f"cannot be read: {words}"})
        else:
            link.send({"type": "bug", "traceback": traceback.format_exc()})
    finally:
        stop.set()


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


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    # The parent may have gone before the line above; elsewhere there is only this look-out.
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int) -> None:
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
        request["path"], _known(request["probe"]), FrameRequest(**request["request"]), beat
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
    probe = _known(request["probe"])
    yield (
        {},
        _arrays(decoder.frames_at(request["path"], probe, request["times"], request["short_side"], beat)),
    )


def _keyframes(request: ipc.Message, beat: Callable[[], None]) -> Answer:
    from corpora.video.storyboard import keyframes_near

    probe, size = _known(request["probe"]), tuple(request["size"])
    yield {}, _arrays(keyframes_near(request["path"], probe, request["times"], size, beat))


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

    copy_streams(request["path"], _known(request["probe"]), request["out"], beat)
    yield {}, []


def _arrays(frames: Frames) -> list[ipc.Array]:
    return [frames.times, frames.images]


def _known(facts: dict[str, Any]) -> Probe:
    chapters = tuple(TimedText(**chapter) for chapter in facts["chapters"])
    return Probe(**{**facts, "tags": tuple(facts["tags"]), "chapters": chapters})


OPERATIONS: dict[str, Callable[[ipc.Message, Callable[[], None]], Answer]] = {
    "probe": _probe,
    "tracks": _tracks,
    "texts": _texts,
    "frames": _frames,
    "frames_at": _frames_at,
    "keyframes": _keyframes,
    "audio": _audio,
    "clip": _clip,
    "remux": _remux,
}

if __name__ == "__main__":
    main()
