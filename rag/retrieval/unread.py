"""Videos whose speech or on-screen text was not read when they were indexed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rag.store.reading import Reader


@dataclass(frozen=True, slots=True)
class Unread:
    """Ids of ready videos, in the order of their paths."""

    speech: tuple[str, ...]
    """With sound, without recognized speech and without subtitles."""
    screen: tuple[str, ...]
    """With frames, without text recognized in them."""


def unread(reader: Reader, video_ids: Collection[str] | None = None) -> Unread:
    """Of these videos, or of all, those that were indexed with speech recognition or OCR off.

    A video that was read and contains no text is not among them.
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
