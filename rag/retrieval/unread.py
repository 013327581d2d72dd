"""What no search finds in videos: images, speech and on-screen text that were not read, and what reads it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from corpora.records import SPOKEN, Video
from indexers.asr import asr_line
from indexers.models.lookup import recommended_model
from indexers.ocr import ocr_line
from indexers.registry import resolve_image_encoder
from indexers.settings import EncoderSettings
from rag.errors import RagError
from rag.settings import Settings
from rag.store.reading import Reader


@dataclass(frozen=True, slots=True)
class Unsearched:
    """What videos have that no search finds."""

    what: str
    """`images`, `speech` or `on-screen text`."""
    video_ids: tuple[str, ...]
    advice: str
    """What to do about it: a command, or few."""


def unsearched(
    reader: Reader, settings: Settings, video_ids: Collection[str] | None = None
) -> Iterator[Unsearched]:
    """Images, speech and on-screen text, where these videos (default: all) have some that was not read.

    A video that was read and contains no text is not among them.
    """
    videos = [v for v in reader.videos() if video_ids is None or v.video_id in video_ids]
    held = reader.evidence_kinds()

    def unread(stage: str, kinds: Collection[str], has_some: Callable[[Video], object]) -> tuple[str, ...]:
        """Find videos that have some and were indexed with this stage off, without text of these kinds."""
        ids = (v.video_id for v in videos if has_some(v) and reader.stages(v.video_id).get(stage) == "off")
        return tuple(v for v in ids if held.get(v, frozenset()).isdisjoint(kinds))

    seen = tuple(video.video_id for video in videos if video.width)
    if seen and (reader.meta is None or reader.meta.image_encoder is None):
        yield Unsearched("images", seen, _image_advice(settings.encoder))
    if speech := unread("asr", SPOKEN, lambda video: video.audio):
        advice = _text_advice(lambda: asr_line(settings.asr, settings.encoder), "asr.mode")
        yield Unsearched("speech", speech, advice)
    if screen := unread("ocr", {"ocr"}, lambda video: video.width):
        advice = _text_advice(lambda: ocr_line(settings.ocr), "ocr.mode")
        yield Unsearched("on-screen text", screen, advice)


def _image_advice(settings: EncoderSettings) -> str:
    """The next step; `rag index` without `--reembed` says what follows on another."""
    if settings.image == "none":
        return 'set encoder.image = "auto", rag index FOLDER --reembed'
    with contextlib.suppress(RagError):
        if resolve_image_encoder(settings).name is not None:
            return "rag index FOLDER --reembed"
    return f"rag models pull {recommended_model('image encoder').name}"


def _text_advice(look: Callable[[], str], setting: str) -> str:
    """`look`: one line on the present state of a stage, which ends with the command that installs it."""
    try:
        state = look().partition(": ")[2]
    except RagError as error:
        state = f"off, {error}"
    steps = "rag remove, rag index"
    if state == "off by the settings":
        return f'set {setting} = "auto", {steps}'
    if state.startswith("off, "):
        missing = state.removeprefix("off, ").rpartition("with: ")[2]
        return f"{missing.partition(' (')[0]}, {steps}"
    return steps
