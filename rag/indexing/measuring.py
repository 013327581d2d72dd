"""What indexing measures on frames and audio, beside what it encodes: shots and sound.

Frames are measured clip by clip out of the one decode that indexing does anyway, and sound while a
speech model reads the audio; only a video that no speech model reads is decoded for this alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpora.errors import reason_of
from corpora.records import Shot, SoundTrack, Video
from corpora.video.reader import MediaReader
from indexers.ocr import reads_text
from indexers.settings import FRAME_MEASURES, SOUND_MEASURES
from indexers.shots import FrameFigures, describe_shots, joined
from indexers.soundtrack import SoundMeter
from rag.errors import FileProblem
from rag.settings import Settings
from rag.store.records import EncoderRef


def stage_fingerprints(settings: Settings, encoder: EncoderRef | None) -> dict[str, str]:
    """The fingerprints of the stages `shots` and `sound`, for a library's image encoder.

    `shots` is `off` where no other stage decodes frames.
    """
    decodes = encoder is not None or reads_text(settings.ocr)
    return {"shots": FRAME_MEASURES if decodes else "off", "sound": SOUND_MEASURES}


def measure_sound(meter: SoundMeter, reader: MediaReader, path: str) -> str:
    """Decode a video's audio into `meter`; returns what went wrong, or an empty line."""
    try:
        for block in reader.audio(path, gaps=True):
            meter.feed(block)
    except FileProblem as problem:
        return f"sound not measured to its end: {reason_of(problem, path)}"
    return ""


def shots_of(video: Video, parts: Sequence[FrameFigures]) -> list[Shot]:
    """The shots of a video by the figures of its clips, in order of time; none without frames."""
    return describe_shots(video.video_id, joined(parts), video.duration) if parts else []


def lost_sound(track: SoundTrack) -> str:
    """One line on audio that is missing; empty where none is."""
    lost = track.classes.count(None)
    return f"{lost} s of its sound are missing or damaged, and count as not measured" if lost else ""
