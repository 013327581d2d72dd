"""What indexing measures on frames and audio, beside what it encodes: shots and sound.

Frames are measured clip by clip out of the one decode that indexing does anyway, and sound while a
speech model reads the audio; only a video that no speech model reads is decoded for this alone.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping

import numpy as np

from corpora.errors import reason_of
from corpora.records import Shot, Video
from corpora.video.reader import MediaReader
from indexers.ocr import reads_text
from indexers.settings import FRAME_MEASURES, SOUND_MEASURES
from indexers.shots import FrameFigures, describe_shots, joined
from indexers.soundtrack import SoundMeter
from rag.errors import FileProblem
from rag.settings import Settings
from rag.store.records import EncoderRef
from rag.store.writing import Writer


def stage_fingerprints(settings: Settings, encoder: EncoderRef | None) -> dict[str, str]:
    """The fingerprints of the stages `shots` and `sound`, for a library's image encoder.

    `shots` is `off` where no other stage decodes frames.
    """
    decodes = encoder is not None or reads_text(settings.ocr)
    return {"shots": FRAME_MEASURES if decodes else "off", "sound": SOUND_MEASURES}


ARRAYS = ("times", "figures", "thumbs")
"""Of `FrameFigures`."""


def measure_sound(meter: SoundMeter, reader: MediaReader, path: str) -> str:
    """Decode a video's audio into `meter`; returns what went wrong, or an empty line."""
    try:
        for block in reader.audio(path, gaps=True):
            meter.feed(block)
    except FileProblem as problem:
        return f"sound not measured to its end: {reason_of(problem, path)}"
    return ""


def store_measures(
    writer: Writer, video: Video, parts: Mapping[str, FrameFigures] | None, meter: SoundMeter | None
) -> str:
    """Store what was measured. `parts`: by clip id; None where no frames are measured. What is None leaves
    what the video has.

    Returns one line on audio that is missing, or an empty one.
    """
    shots: list[Shot] | None = None if parts is None else []
    if parts:
        frames = joined([parts[key] for key in sorted(parts)])
        shots = describe_shots(video.video_id, frames, video.duration) if len(frames.times) else []
    track = meter.track(video.video_id, video.duration) if meter is not None else None
    writer.put_measures(video.video_id, shots, track)
    lost = track.classes.count(None) if track is not None else 0
    return f"{lost} s of its sound are missing or damaged, and count as not measured" if lost else ""


def packed(figures: FrameFigures) -> str:
    """The arrays as a line of text, for the progress log."""
    held = io.BytesIO()
    np.savez_compressed(held, **{name: getattr(figures, name) for name in ARRAYS})
    return base64.b85encode(held.getvalue()).decode()


def unpacked(text: str) -> FrameFigures:
    """What `packed` made. Raises `ValueError`, `KeyError` or `BadZipFile` for what it did not make."""
    with np.load(io.BytesIO(base64.b85decode(text))) as held:
        return FrameFigures(*(held[name] for name in ARRAYS))
