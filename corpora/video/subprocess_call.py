"""The parent's side of the watched subprocess: starts it late, notices when it is dead or stuck, ends it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import corpora.errors as errors
from corpora.video import ipc

PIPE_BYTES = 2**20
CANCEL_SECONDS = 5.0
_ROOT = Path(__file__).resolve().parents[2]


class MediaProcess:
    """One subprocess, started at the first request and again after a crash; one request at a time."""

    def __init__(self, stall_seconds: float) -> None:
        self._stall_seconds = stall_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._busy = 0
        self._requests = 0

    @property
    def pid(self) -> int | None:
        """Of the running subprocess; None before the first request and after a crash."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def ask(self, op: str, path: str, **arguments: object) -> Iterator[tuple[ipc.Message, list[ipc.Array]]]:
        """The parts of the answer as they come. Ending the iteration early cancels the request.

        A request that is still going on when the next one is made is cancelled; going on with it then
        raises `RuntimeError`. Raises `FileProblem`, with the path.
        """
        if self._busy:
            self._cancel()
        self._requests += 1
        number = self._requests
        # The subprocess's working folder is the one of its start.
        whole = os.path.abspath(path)
        self._begin({"op": op, "path": whole, "stall_seconds": self._stall_seconds, **arguments}, path)
        self._busy = number
        try:
            while True:
                if self._busy != number:
                    raise RuntimeError(
                        "another file was opened on this reader before this one was read to its end"
                    )
                answer, arrays = self._receive(path)
                kind = answer["type"]
                if kind == "part":
                    yield answer, arrays
                elif kind == "done":
                    self._busy = 0
                    return
                elif kind == "problem":
                    self._busy = 0
                    raise _problem(path, answer)
                elif kind == "bug":
                    self._busy = 0
                    raise RuntimeError(f"{path}: the media reader failed\n{answer['traceback']}")
        finally:
            if self._busy == number:
                self._cancel()

    def close(self) -> None:
        """End the subprocess; a later request starts a new one."""
        process, self._process, self._busy = self._process, None, 0
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _begin(self, message: ipc.Message, path: str) -> None:
        """Send a request and wait until it is taken up."""
        for attempt in (1, 2):
            process = self._process
            if process is None or process.poll() is not None:
                self.close()
                process = self._process = _start()
            assert process.stdin is not None
            try:
                ipc.send(process.stdin.fileno(), message)
                self._receive(path)
                return
            except (ipc.Closed, errors.StalledFile):
                # It died between two requests: nothing is lost, so begin again, once.
                self.close()
                if attempt == 2:
                    raise errors.StalledFile(f"{path}: the media reader does not start") from None

    def _receive(self, path: str) -> tuple[ipc.Message, list[ipc.Array]]:
        process = self._process
        if process is None:
            raise RuntimeError("the media reader was closed before the file was read to its end")
        assert process.stdout is not None
        handle = process.stdout.fileno()

        def wait() -> None:
            if not ipc.readable(handle, self._stall_seconds):
                raise _Stuck

        try:
            return ipc.receive(handle, wait)
        except _Stuck:
            self.close()
            reason = f"its reader made no progress for {self._stall_seconds:g} s and was ended"
            raise errors.StalledFile(f"{path}: {reason}") from None
        except ipc.Closed:
            code = process.wait()
            self.close()
            raise errors.StalledFile(f"{path}: its reader died ({_cause(code)})") from None

    def _cancel(self) -> None:
        """Let the subprocess know, and drain what it still sends; if that takes long, end it."""
        self._busy = 0
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return
        handle = process.stdout.fileno()
        deadline = time.monotonic() + CANCEL_SECONDS

        def wait() -> None:
            if not ipc.readable(handle, deadline - time.monotonic()):
                raise _Stuck

        try:
            ipc.send(process.stdin.fileno(), {"op": "cancel"})
            while ipc.receive(handle, wait)[0]["type"] in ("part", "beat"):
                if time.monotonic() > deadline:
                    raise _Stuck
        except (_Stuck, ipc.Closed):
            self.close()


class _Stuck(Exception): ...


def _start() -> subprocess.Popen[bytes]:
    """Start it from a thread of its own, which then waits for its end: the kernel ends a subprocess whose
    parent *thread* ends, and the thread that asks first may be a short-lived one."""
    started: list[subprocess.Popen[bytes] | OSError] = []
    ready = threading.Event()

    def run() -> None:
        try:
            process = _popen()
        except OSError as error:
            started.append(error)
            ready.set()
            return
        started.append(process)
        ready.set()
        process.wait()

    threading.Thread(target=run, name="media-reader", daemon=True).start()
    ready.wait()
    if isinstance(started[0], OSError):
        raise started[0]
    return started[0]


def _popen() -> subprocess.Popen[bytes]:
    # The subprocess must find the same packages as this process, wherever that was started.
    paths = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "corpora.video.worker", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        close_fds=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    if sys.platform == "linux":
        import fcntl

        assert process.stdout is not None
        with contextlib.suppress(OSError):
            # Fewer switches between the two; where the user's pipe budget is spent, the small one does.
            fcntl.fcntl(process.stdout.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return process


def _problem(path: str, answer: ipc.Message) -> errors.FileProblem:
    kinds: dict[str, type[errors.FileProblem]] = {
        "UnreadableFile": errors.UnreadableFile,
        "UnsupportedFile": errors.UnsupportedFile,
        "DamagedFile": errors.DamagedFile,
        "StalledFile": errors.StalledFile,
    }
    return kinds.get(answer["error"], errors.FileProblem)(f"{path}: {answer['reason']}")


def _cause(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit {code}"
    except ValueError:
        return f"signal {-code}"
