"""The subprocess in which all files are opened: `python -P -m corpora.video.worker PARENT MEMORY NETWORK`.

PARENT: its process id. MEMORY: limit in bytes. NETWORK: 1 for addresses of a store.

It reads requests on stdin and answers on stdout (`corpora.video.ipc`). A crash, a hang or a memory
bomb in a library ends this process and nothing else, and what takes more than the limits of
`corpora.sandbox` is ended. Its own prints and libav's go nowhere.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from corpora.errors import DamagedFile, FileProblem, OverLimit, UnreadableFile, reason_of
from corpora.heartbeat import on_beat
from corpora.objects import is_url
from corpora.sandbox import deny_system_calls, limit_memory, limit_request
from corpora.text_decoding import expected_language
from corpora.video import ipc
from corpora.video.containers import choose_audio, object_files

if TYPE_CHECKING:
    from corpora.settings import StorageSettings

HEARTBEAT_SECONDS = 0.25


class Link:
    """The pipe to the parent."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._last = 0.0

    def beat(self) -> None:
        """Report progress to the parent."""
        now = time.monotonic()
        if now - self._last >= HEARTBEAT_SECONDS:
            self._last = now
            self.send({"type": "beat"})

    def send(self, message: ipc.Message) -> None:
        """Send a message to the parent process."""
        ipc.send(self._answers, message)


def main() -> None:
    """Serve requests until the parent process ends."""
    # Ctrl-C reaches all processes of a terminal: the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _private_pipes()
    link = Link(answers)
    on_beat(link.beat)
    threading.Thread(target=_watch_parent, args=(int(sys.argv[1]),), daemon=True).start()
    limit_memory(int(sys.argv[2]))
    if sys.argv[3] == "0":
        with suppress(OSError):  # `rag doctor` says where it does not hold
            deny_system_calls()
    try:
        while True:
            request = ipc.receive(requests, lambda: None)
            link.send({"type": "taken"})
            _serve(link, request)
    except ipc.Closed:
        return


def _serve(link: Link, request: ipc.Message) -> None:
    expected_language.set(request["language"])
    limit_request(_cpu_seconds(request), writes="out" in request["arguments"])
    _answer(link, request)


def _cpu_seconds(request: ipc.Message) -> float:
    size = 0
    with suppress(OSError, ValueError):
        size = 2**40 if is_url(request["path"]) else os.stat(request["path"]).st_size
    return float(request["cpu_seconds"]) * max(1.0, size / 2**20)


def _answer(link: Link, request: ipc.Message) -> None:
    objects = object_files(_storage(request))
    objects.failure = ""
    choose_audio(request["audio_track"])
    try:
        for value in _values(request, link):
            if objects.failure:
                break
            link.send({"type": "part", "value": value})
        if objects.failure:
            raise UnreadableFile(objects.failure)
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


def _values(request: ipc.Message, link: Link) -> Iterator[Any]:
    """What the function of a request gives: one value, or one after the other."""
    module, _, name = request["function"].partition(":")
    function, arguments = getattr(import_module(module), name), request["arguments"]
    found = function(request["path"], **arguments)
    if not isinstance(found, Iterator):
        yield found
        return
    for value in found:
        link.beat()
        yield value


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
    if request["storage"] is None:
        return None
    # Half of the time in which this subprocess starts.
    from corpora.settings import StorageSettings

    return StorageSettings(**request["storage"])


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


if __name__ == "__main__":
    main()
