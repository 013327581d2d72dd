"""Videos whose speech or on-screen text was not read when they were indexed, and what would read it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from corpora.records import SPOKEN
from indexers.asr import asr_line
from indexers.ocr import ocr_line
from rag.errors import RagError
from rag.settings import Settings
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
        if video.audio and stages.get("asr") == "off" and held.isdisjoint(SPOKEN):
            speech.append(video.video_id)
        if video.width and stages.get("ocr") == "off" and "ocr" not in held:
            screen.append(video.video_id)
    return Unread(tuple(speech), tuple(screen))


@dataclass(frozen=True, slots=True)
class UnreadText:
    """Text of videos that no search finds."""

    what: str
    """`speech` or `on-screen text`."""
    video_ids: tuple[str, ...]
    advice: str
    """What to do about it; its last steps are `rag remove` and `rag index`."""


def unread_text(
    reader: Reader, settings: Settings, video_ids: Collection[str] | None = None
) -> Iterator[UnreadText]:
    """Speech, then on-screen text, where they were not read in these videos (default: all)."""
    found = unread(reader, video_ids)
    if found.speech:
        state = _state(lambda: asr_line(settings.asr, settings.encoder))
        yield UnreadText("speech", found.speech, _advice(state, "asr.mode"))
    if found.screen:
        yield UnreadText(
            "on-screen text", found.screen, _advice(_state(lambda: ocr_line(settings.ocr)), "ocr.mode")
        )


def _state(look: Callable[[], str]) -> str:
    """The present state of a stage, without its name."""
    try:
        return look().partition(": ")[2]
    except RagError as error:
        return f"off, {error}"


def _advice(state: str, setting: str) -> str:
    if state == "off by the settings":
        way = f'set {setting} = "auto", then'
    elif state.startswith("off, "):
        way = f"{state.removeprefix('off, ')}; then"
    else:
        way = "it can be read now:"
    return f"{way} remove what lacks it (rag remove PATH) and index it again (rag index PATH)"
