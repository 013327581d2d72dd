"""Limits of the subprocess that reads files: on what it uses, and its system calls.

Memory, processor time, open files and the size of written files are limits of POSIX (`resource`). Linux
denies sockets and other programs to the process (seccomp). Each holds where this machine offers it.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import subprocess
import sys
import time

from corpora.errors import os_reason

HAS_LIMITS = importlib.util.find_spec("resource") is not None
"""Whether the system limits what a process uses."""
OPEN_FILES = 512
DENIED_CALLS = (
    *("socket", "connect", "bind", "io_uring_setup", "execve", "execveat", "kill", "ptrace", "bpf"),
    *("process_vm_readv", "process_vm_writev"),
)
"""With these nothing is sent, no other program starts, and no other process is touched."""


def limit_memory(size: int) -> None:
    """Let this process write to at most `size` bytes of memory of its own; without core dumps.

    Counted are pages that may be written, not addresses: allocators and threads reserve far more of those.
    """
    if not HAS_LIMITS:
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if sys.platform == "linux" and (hard == resource.RLIM_INFINITY or hard > size):
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, most))


def limit_request(cpu_seconds: float, *, writes: bool) -> None:
    """End this process (SIGXCPU) after so many more seconds of processor time; `writes`: files may grow."""
    if not HAS_LIMITS:
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    until = int(time.process_time() + cpu_seconds) + 1
    if hard == resource.RLIM_INFINITY or until < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))
    _, largest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest if writes else 0, largest))


def deny_system_calls() -> None:
    """Deny this process `DENIED_CALLS`, now and for its threads; raises `OSError` where the kernel cannot."""
    try:
        import pyseccomp
    except (ImportError, RuntimeError, OSError) as error:  # it raises either without the C library
        raise OSError(errno.ENOSYS, "libseccomp is not installed") from error
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for call in DENIED_CALLS:
        with contextlib.suppress(OSError, ValueError):  # not a call of this architecture
            rules.add_rule(pyseccomp.ERRNO(errno.EPERM), call)
    rules.load()


def why_network() -> str:
    """Why subprocesses have the network on this machine, tried in one; empty where they have none."""
    command = [sys.executable, "-P", "-c", "from corpora.sandbox import _why_here; print(_why_here())"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        tried = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)
    except (OSError, subprocess.CalledProcessError):
        return "no subprocess can be started to try it"
    return tried.stdout.strip()


def _why_here() -> str:
    """Why this process still has the network; empty where it has none."""
    import socket

    try:
        deny_system_calls()
        socket.socket().close()
    except PermissionError:
        return ""
    except OSError as error:
        return os_reason(error)
    return "the kernel does not observe it"
