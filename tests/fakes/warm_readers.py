"""Subprocesses that read media, as forks of one that has imported what they import.

Tests wait for hundreds of them; by itself each takes a third of a second to start, as in tests/faults.
"""

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from io import FileIO

from corpora.platforms import readable
from corpora.settings import ReadingSettings

FORKS = """
import json, os, signal, socket, sys

import av, corpora.video.audio, corpora.video.clipping, corpora.video.pyav_decoder
from corpora.video import worker

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
asked = socket.socket(fileno=0)
while True:
    message, handles, _, _ = socket.recv_fds(asked, 2**17, 3)
    if not message:
        sys.exit()
    requests, answers, status = handles
    if os.fork() == 0:  # it lives as long as the one that reads, and says how that ended
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        asked.close()
        pid = os.fork()
        if pid == 0:
            folder, limits, environment = json.loads(message)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            paths = environment.get("PYTHONPATH", "").split(":")
            sys.path[:0] = [path for path in paths if path and path not in sys.path]
            sys.argv[1:] = [str(os.getppid()), *limits]
            os.dup2(requests, 0)
            os.dup2(answers, 1)
            for handle in handles:
                os.close(handle)
            worker.main()
            os._exit(0)
        os.close(requests)
        os.close(answers)
        os.write(status, pid.to_bytes(8, "little"))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(status, code.to_bytes(8, "little", signed=True))
        os._exit(0)
    for handle in handles:
        os.close(handle)
"""
_STARTING = threading.Lock()


@functools.cache
def _server() -> socket.socket:
    """Where forks are asked for, to the end of this process."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with there:
        command = [sys.executable, "-P", "-X", "utf8", "-c", FORKS]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(command, stdin=there, stderr=subprocess.DEVNULL, env=environment)
    atexit.register(process.wait)
    atexit.register(here.close)
    return here


class WarmReader:
    """In place of the `subprocess.Popen` of a `MediaProcess`."""

    def __init__(self, limits: ReadingSettings, *, network: bool) -> None:
        (requests, given), (got, answers), (self._status, status) = os.pipe(), os.pipe(), os.pipe()
        given_limits = str(round(limits.memory_gib * 2**30)), str(int(network))
        message = json.dumps([os.getcwd(), given_limits, {**os.environ}]).encode()
        with _STARTING:
            socket.send_fds(_server(), [message], [requests, answers, status])
        for handle in (requests, answers, status):
            os.close(handle)
        self.stdin, self.stdout = FileIO(given, "w"), FileIO(got)
        self.pid = int.from_bytes(os.read(self._status, 8), "little")
        assert self.pid, "no fork was made"
        self._code: int | None = None

    def wait(self) -> int:
        if self._code is None:
            self._code = int.from_bytes(os.read(self._status, 8), "little", signed=True)
            os.close(self._status)
        return self._code

    def poll(self) -> int | None:
        return self.wait() if self._code is not None or readable(self._status, 0) else None

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
