"""What was read off the screen, as one hash: a library made with another reading answers otherwise."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.store.reading import Reader


def screen_text_hash(reader: Reader) -> str:
    """16 hex digits over all on-screen text of a library's videos; the same for the same text."""
    digest = hashlib.sha256()
    for video in sorted(reader.videos(), key=lambda video: video.video_id):
        for text in reader.evidence(video.video_id, 0.0, float("inf")):
            if text.kind == "ocr":
                digest.update(f"{video.video_id} {text.start:.3f} {text.text}\n".encode())
    return digest.hexdigest()[:16]
