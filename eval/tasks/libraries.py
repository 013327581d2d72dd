"""What tasks over an indexed library have in common: fingerprints, and frames of windows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from localization.sampling import midpoints

if TYPE_CHECKING:
    from corpora.records import Frames
    from eval.runs.records import ClipWindow
    from rag.library import Library


def fingerprints(library: Library) -> Mapping[str, str]:
    """Of the library's encoders, its reasoner, and the on-screen text that was read while indexing."""
    meta = library.engine.reader.meta
    assert meta is not None, "an opened library has its meta row"
    image = meta.image_encoder
    return {
        "text": meta.text_encoder.fingerprint,
        "image": image.fingerprint if image is not None else "none",
        "reasoner": library.engine.reasoner.fingerprint,
        "screen text": screen_text_hash(library),
    }


def screen_text_hash(library: Library) -> str:
    """16 hex digits over all on-screen text of the library's videos."""
    digest, reader = hashlib.sha256(), library.engine.reader
    for video in sorted(reader.videos(), key=lambda video: video.video_id):
        for text in reader.evidence(video.video_id, 0.0, float("inf")):
            if text.kind == "ocr":
                digest.update(f"{video.video_id} {text.start:.3f} {text.text}\n".encode())
    return digest.hexdigest()[:16]


def window_frames(library: Library, path: str, window: ClipWindow, count: int) -> Frames:
    """`count` frames of a window, at the middles of as many equal parts."""
    return library.engine.read_frames(path, midpoints(window.start, window.end, count))
