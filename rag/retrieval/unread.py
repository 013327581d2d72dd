"""What videos hold that nobody read when they were indexed: their speech, and the text on their screens."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rag.store.reading import Reader


@dataclass(frozen=True, slots=True)
class Unread:
    """Ids of ready videos, in the order of their paths."""

    speech: tuple[str, ...]
    """They have sound, no speech was recognized in it, and no subtitles stand for it."""
    screen: tuple[str, ...]
    """They have pictures, and no text was read off them."""


def unread(reader: Reader, video_ids: Collection[str] | None = None) -> Unread:
    """Of these videos, or of all, those that were indexed with a reader of words off.

    One that was read and held no words is none of them.
    """
    videos = [v for v in reader.videos() if video_ids is None or v.video_id in video_ids]
    kinds = reader.evidence_kinds()
    speech, screen = [], []
    for video in videos:
        stages, held = reader.stages(video.video_id), kinds.get(video.video_id, frozenset())
        if video.audio and stages.get("asr") == "off" and not held & {"subtitle", "asr"}:
            speech.append(video.video_id)
        if video.width and stages.get("ocr") == "off" and "ocr" not in held:
            screen.append(video.video_id)
    return Unread(tuple(speech), tuple(screen))
