"""The subprocess that reads files, as a fork of a process that has imported it: 0.7 s of CPU less a command.

    command -- spawner -- one keeper for each subprocess -- the subprocess

The spawner is forked while the command has one thread. Each ends with its parent, as the subprocess itself
does. A keeper sends the command the process id of the subprocess and, once it ended, its exit status.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from typing import Any, cast

from corpora.settings import ReadingSettings

NUMBER = struct.Struct("i")
ARROW = "ARROW_DEFAULT_MEMORY_POOL"


class ForkedProcess:
    """What `corpora.video.ipc` uses of `subprocess.Popen`."""

    def __init__(self, spawner: socket.socket, arguments: str) -> None:
        requests, answers, news = os.pipe(), os.pipe(), os.pipe()
        socket.send_fds(spawner, [arguments.encode()], [requests[0], answers[1], news[1]])
        for handle in (requests[0], answers[1], news[1]):
            os.close(handle)
        self.stdin = os.fdopen(requests[1], "wb", buffering=0)
        self.stdout = os.fdopen(answers[0], "rb", buffering=0)
        self._news = news[0]
        self.returncode: int | None = None
        found = self._next()
        if found is None:
            raise OSError("the reader of files was not forked")
        self.pid = found

    def _next(self) -> int | None:
        data = os.read(self._news, NUMBER.size)
        return NUMBER.unpack(data)[0] if data else None

    def poll(self) -> int | None:
        """Its exit status, or None while it runs."""
        if self.returncode is None and select.select([self._news], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self) -> int:
        """Its exit status once it has ended; -9 where it was never sent."""
        while self.returncode is None:
            select.select([self._news], [], [])
            if self.returncode is None and select.select([self._news], [], [], 0)[0]:
                status = self._next()
                self.returncode = -signal.SIGKILL if status is None else status
        return self.returncode

    def kill(self) -> None:
        """End it."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def install() -> None:
    """Fork the spawner, and let `corpora.video.ipc` start its subprocesses by it."""
    from corpora.video import ipc

    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        _end_with_parent()
        _spawn(its)
    its.close()

    def start(limits: ReadingSettings, *, network: bool) -> subprocess.Popen[bytes]:
        arguments = f"{round(limits.memory_gib * 2**30)} {int(network)}"
        return cast("subprocess.Popen[bytes]", ForkedProcess(ours, arguments))

    setattr(ipc, "_start", start)  # noqa: B010 (a private name)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def _spawn(requests: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers need no waiting for
    while True:
        words, handles, *_ = socket.recv_fds(requests, 64, 3)
        if not words:
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _end_with_parent()
            requests.close()
            _keep(words.decode(), *handles)
        for handle in handles:
            os.close(handle)


def _keep(arguments: str, requests: int, answers: int, news: int) -> None:
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(news)
        _work([str(keeper), *arguments.split()], requests, answers)
    os.close(requests)
    os.close(answers)
    os.write(news, NUMBER.pack(child))
    os.write(news, NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
    os._exit(0)


def _work(words: list[str], requests: int, answers: int) -> Any:
    from lancedb.background_loop import LOOP

    from corpora.video import worker

    # LanceDB starts its thread in each fork; without its files it would end with a traceback.
    LOOP.loop.call_soon_threadsafe(LOOP.loop.stop)
    LOOP.thread.join()
    os.dup2(requests, 0)
    os.dup2(answers, 1)
    os.closerange(3, 256)
    os.environ[ARROW] = "system"
    sys.argv = ["corpora.video.worker", *words]
    try:
        worker.main()
    finally:
        os._exit(0)
