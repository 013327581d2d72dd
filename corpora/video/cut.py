"""A clip as a file of its own: exact to the frame, playable anywhere, whole or not there at all."""

from __future__ import annotations

import os

from corpora.errors import UsageError
from corpora.outputs import MP4, OverwritePolicy, replace_file
from corpora.video.reader import MediaReader


def cut_clip(
    path: str | os.PathLike[str],
    start: float,
    end: float,
    out: str | os.PathLike[str],
    policy: OverwritePolicy | None = None,
) -> None:
    """Write [start, end) seconds of `path` to `out` as MP4 (H.264, and AAC where there is sound).

    The first image is the one on screen at `start`; images are upright. Written beside `out` and then
    renamed; `path` counts as an input of `policy`. Raises `UsageError` for an empty interval or an `out`
    that must not be replaced, `FileProblem` as `MediaReader` does, `OSError` if `out` cannot be written.
    """
    if not end > max(start, 0.0):
        raise UsageError(f"nothing lies between {start:g} and {end:g} s")
    allowed = (policy or OverwritePolicy()).with_inputs(path)
    with replace_file(out, MP4, allowed) as draft, MediaReader() as reader:
        reader.cut(os.fspath(path), max(start, 0.0), end, os.fspath(draft))
