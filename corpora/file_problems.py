"""What keeps a file from being read, without opening anything that could do harm."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from corpora.errors import UnreadableFile, os_reason
from corpora.identity import plain_file
from corpora.kinds import HEAD_BYTES
from corpora.platforms import LOOK

INCOMPLETE_SIZE = 256 * 2**20
"""A file of at least so many bytes may be incomplete."""
INCOMPLETE_SHARE = 0.01
"""A file is incomplete if less than this share of its bytes is on the disk."""
EMPTY = "empty, 0 bytes"
"""The problem of a file without content."""


def file_problem(path: str, status: os.stat_result) -> str | None:
    """What keeps a file from being read, in words; empty if nothing does, None if it is gone."""
    if not stat.S_ISREG(status.st_mode):
        return f"{_special(status.st_mode)}, not a file; it was not opened"
    if not os.access(path, os.R_OK):
        return "permission denied" if os.path.lexists(path) else None
    if status.st_size == 0:
        return EMPTY
    held = 512 * getattr(status, "st_blocks", status.st_size)
    # Some mounts report no blocks of files that are whole.
    if (
        status.st_size > INCOMPLETE_SIZE
        and held < status.st_size * INCOMPLETE_SHARE
        and (held or _all_hole(path))
    ):
        return f"incomplete: {held:,} of its {status.st_size:,} bytes are on the disk"
    return ""


def link_problem(path: str, error: OSError) -> str:
    """Why a link cannot be followed, in words."""
    if error.errno == errno.ELOOP:
        return "a link that leads in a circle"
    if error.errno != errno.ENOENT:
        return f"a link: {os_problem(error)}"
    try:
        return f"a broken link to {Path(path).readlink()}"
    except OSError:
        return "a broken link"


def os_problem(error: OSError) -> str:
    """What an error of the system says, in words."""
    if error.errno == errno.ENOENT:
        return "no such file or folder"
    return os_reason(error)


def first_bytes(path: str) -> bytes:
    """The first bytes of a plain file; none of what cannot be read, or would block."""
    try:
        with plain_file(path) as file:
            return file.read(HEAD_BYTES)
    except UnreadableFile:
        return b""


def _all_hole(path: str) -> bool:
    """Whether the file system says that no byte of a file is on the disk; False where it does not know."""
    try:
        handle = os.open(path, LOOK)
    except OSError:
        return False
    try:
        os.lseek(handle, 0, os.SEEK_DATA)
    except OSError as error:
        return error.errno == errno.ENXIO
    finally:
        os.close(handle)
    return False


def _special(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
