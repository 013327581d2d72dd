"""Audio embeddings of clips in the space of their frames, by an image encoder that takes audio."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Clip, Video
from corpora.settings import VideoSettings
from indexers.protocol import ImageEncoder
from rag.indexing.clips import clip_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

AUDIO_RATE = 16000
MIN_SAMPLES = AUDIO_RATE // 10


def clip_audio(
    encoder: ImageEncoder, audio: Iterable[NDArray[np.float32]], video: Video, settings: VideoSettings
) -> tuple[list[Clip], list[NDArray[np.float32]]]:
    """The clips of a video that have audio, and a unit float32 (dim,) for each.

    `audio` as in `audio_embeddings`.
    """
    spans = clip_spans(video.duration, settings.clip_seconds, settings.min_last_clip_seconds)
    found = audio_embeddings(encoder, audio, spans)
    clips = [Clip(f"{video.video_id}:{k:05d}", video.video_id, *spans[k]) for k in found]
    return clips, list(found.values())


def audio_embeddings(
    encoder: ImageEncoder, audio: Iterable[NDArray[np.float32]], spans: Sequence[tuple[float, float]]
) -> dict[int, NDArray[np.float32]]:
    """Unit float32 (dim,) by clip index; a clip with less than 0.1 s of audio has none.

    `audio`: blocks of mono float32 (n,) at 16 kHz from time 0. `spans`: half-open, in seconds, ascending.
    At most one clip's samples are held.
    """
    found: dict[int, NDArray[np.float32]] = {}
    held, begun = np.empty(0, np.float32), 0.0
    parts = iter(audio)
    for index, (start, end) in enumerate(spans):
        while begun + len(held) / AUDIO_RATE < end and (part := next(parts, None)) is not None:
            held = np.concatenate([held, part])
        first, last = (max(0, round((t - begun) * AUDIO_RATE)) for t in (start, end))
        if last - first >= MIN_SAMPLES and len(held) - first >= MIN_SAMPLES:
            found[index] = encoder.encode_audio(held[first:last])
        held, begun = held[last:], begun + min(last, len(held)) / AUDIO_RATE
    return found
