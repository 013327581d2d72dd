"""A clip as a file of its own: exact to the frame, playable anywhere, whole or not there at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from corpora.errors import UsageError
from corpora.video.reader import MediaReader


def cut_clip(path: str | os.PathLike[str], start: float, end: float, out: str | os.PathLike[str]) -> None:
    """Write [start, end) seconds of `path` to `out` as MP4 (H.264, and AAC where there is sound).

    The first picture is the one on screen at `start`; pictures are upright. Written beside `out` and then
    renamed. Raises `UsageError` for an empty interval, `FileProblem` as `MediaReader` does, `OSError` if
    `out` cannot be written.
    """
    if not end > max(start, 0.0):
        raise UsageError(f"nothing lies between {start:g} and {end:g} s")
    target = Path(out)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".clip-", suffix=".mp4")
    os.close(handle)
    try:
        with MediaReader() as reader:
            reader.cut(os.fspath(path), max(start, 0.0), end, name)
        # mkstemp makes files for their owner alone; a clip is an ordinary file.
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)
