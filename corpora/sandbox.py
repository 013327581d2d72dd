"""Limits of the subprocess that reads files: on what it uses, its system calls, and the files it opens.

Memory, processor time, open files and the size of written files are limits of POSIX (`resource`). Linux
denies sockets and other programs to the whole process (seccomp), and to the thread that reads a file every
other file (Landlock, by the extra `sandbox`). Each holds where this machine offers it; `protections` says
which do.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from corpora.errors import os_reason

HAS_LIMITS = importlib.util.find_spec("resource") is not None
"""Whether the system limits what a process uses."""
OPEN_FILES = 512
DENIED_CALLS = (
    *("socket", "connect", "bind", "io_uring_setup", "execve", "execveat", "kill", "ptrace", "bpf"),
    *("process_vm_readv", "process_vm_writev"),
)
"""With these nothing is sent, no other program starts, and no other process is touched."""
SYSTEM_FOLDERS = (
    *("/usr", "/lib", "/lib64", "/opt", "/nix", "/etc/ld.so.cache", "/etc/localtime"),
    *("/dev/null", "/dev/urandom", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system"),
)
"""Read by libraries when they load, beside the folders of Python's packages."""
_ROOT = str(Path(__file__).resolve().parents[1])


@dataclass(frozen=True, slots=True)
class Protection:
    """One protection, and whether it holds on this machine."""

    name: str
    holds: bool
    message: str


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


def restrict_files(readable: Iterable[str], writable: Iterable[str] = ()) -> None:
    """Deny this thread, and those it starts, all files but these, and what libraries read when they load.

    `writable`: folders in which files may be made. What does not exist is left out. Raises `OSError` where
    the kernel has no Landlock, or the extra `sandbox` is not installed.
    """
    import ctypes

    try:
        import landlock
    except ImportError as error:
        raise OSError(errno.ENOSYS, "install it with: pip install 'offline-video-rag[sandbox]'") from error
    ctypes.set_errno(0)  # the package takes an older error of this thread for its own
    access = landlock.FSAccess
    rules = landlock.Ruleset()
    try:
        python = {sys.prefix, sys.base_prefix, *filter(os.path.isabs, sys.path)}
        for paths, folder, file in (
            ((*SYSTEM_FOLDERS, *python, *readable), access.READ_FILE | access.READ_DIR, access.READ_FILE),
            (writable, access.all(), access.all_file()),
        ):
            for path in paths:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                    rules.allow(path, rules=folder if os.path.isdir(path) else file)
                ctypes.set_errno(0)
        rules.apply()
    finally:
        os.close(rules._fd)


def protections(memory: int) -> list[Protection]:
    """What holds for subprocesses on this machine, each tried in one. `memory`: their limit in bytes."""
    linux = sys.platform == "linux"
    size = f"at most {memory / 2**30:g} GiB" if linux else "no limit, for want of Linux"
    command = [sys.executable, "-P", "-m", "corpora.sandbox"]
    paths = os.pathsep.join([_ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        tried = json.loads(
            subprocess.run(
                command, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": paths}
            ).stdout
        )
    except (OSError, ValueError, subprocess.CalledProcessError):
        tried = {}
    unknown = "no subprocess can be started to try it"
    network, files = (tried.get(name, unknown) for name in ("network", "files"))
    return [
        Protection("memory", linux, size),
        Protection("processor time", HAS_LIMITS, "limited for each file" if HAS_LIMITS else "no limit"),
        Protection("network", not network, network or "no sockets, no other programs (seccomp)"),
        Protection("files", not files, files or "the input and installed packages alone (Landlock)"),
    ]


def _try() -> dict[str, str]:
    """Why each of the two does not hold in this process; empty where it does."""
    import socket

    reasons = {}
    for name, restrict, forbidden in (
        ("network", deny_system_calls, lambda: socket.socket().close()),
        ("files", lambda: restrict_files(()), lambda: os.listdir("/")),
    ):
        try:
            restrict()
            forbidden()
            reasons[name] = "the kernel does not observe it"
        except PermissionError:
            reasons[name] = ""
        except OSError as error:
            reasons[name] = os_reason(error)
    return reasons


if __name__ == "__main__":
    print(json.dumps(_try()))
