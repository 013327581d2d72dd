"""What clips sound like, in the space of their pictures, for an image encoder that hears (ImageBind)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from corpora.records import Clip, Video
from corpora.settings import VideoSettings
from rag.indexing.clips import clip_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

AUDIO_RATE = 16000
LEAST_SOUND = AUDIO_RATE // 10


@runtime_checkable
class Hearing(Protocol):
    """An image encoder that takes sound too."""

    def encode_audio(self, waveform: NDArray[np.float32]) -> NDArray[np.float32]:
        """Mono float32 at 16 kHz to a unit vector (dim,)."""


def clip_sounds(
    encoder: Hearing, audio: Iterable[NDArray[np.float32]], video: Video, settings: VideoSettings
) -> tuple[list[Clip], list[NDArray[np.float32]]]:
    """The clips of a video that sound, and a unit vector (dim,) for each; `audio` as in `sound_vectors`."""
    spans = clip_spans(video.duration, settings.clip_seconds, settings.min_last_clip_seconds)
    found = sound_vectors(encoder, audio, spans)
    clips = [Clip(f"{video.video_id}:{k:05d}", video.video_id, *spans[k]) for k in found]
    return clips, list(found.values())


def sound_vectors(
    encoder: Hearing, audio: Iterable[NDArray[np.float32]], spans: Sequence[tuple[float, float]]
) -> dict[int, NDArray[np.float32]]:
    """Unit vectors of the clips' sound by clip index; a clip with less than a moment of it has none.

    `audio`: mono float32 at 16 kHz from time 0, in parts. At most one clip's samples are held.
    """
    found: dict[int, NDArray[np.float32]] = {}
    held, begun = np.empty(0, np.float32), 0.0
    parts = iter(audio)
    for index, (start, end) in enumerate(spans):
        while begun + len(held) / AUDIO_RATE < end and (part := next(parts, None)) is not None:
            held = np.concatenate([held, part])
        first, last = (max(0, round((t - begun) * AUDIO_RATE)) for t in (start, end))
        if last - first >= LEAST_SOUND and len(held) - first >= LEAST_SOUND:
            found[index] = encoder.encode_audio(held[first:last])
        held, begun = held[last:], begun + min(last, len(held)) / AUDIO_RATE
    return found
