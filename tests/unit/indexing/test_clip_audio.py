"""The sound of clips: cut at the clips' times from a stream of any parts, encoded, found again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Clip, Video
from indexers.protocol import ImageEncoder
from rag.indexing.clips import AUDIO_RATE, audio_embeddings
from rag.store.reading import Reader
from rag.store.records import ClipFrames, EncoderRef, Meta
from rag.store.writing import Writer

SPANS = [(0.0, 2.0), (2.0, 4.0), (4.0, 5.5), (5.5, 9.0)]


class Hearing(ImageEncoder):
    """Its vector of a sound says how long it is and how loud."""

    name, dim, fingerprint, batch, backend, weights = "hearing", 2, "0" * 32, 1, "", ""
    takes_audio = True

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.ones((len(images), 2), np.float32)

    def encode_audio(self, waveform: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.array([len(waveform), waveform.mean()], np.float32)


@pytest.mark.parametrize("part", [1000, 16000, 70001])
def test_every_clip_hears_its_own_seconds(part: int) -> None:
    levels = np.repeat(
        np.arange(6, dtype=np.float32), AUDIO_RATE
    )  # second k has level k; the sound ends at 6 s
    parts = (levels[k : k + part] for k in range(0, len(levels), part))
    found = audio_embeddings(Hearing(), parts, SPANS)
    assert {k: v.tolist() for k, v in found.items()} == {
        0: [2 * AUDIO_RATE, 0.5],
        1: [2 * AUDIO_RATE, 2.5],
        2: [1.5 * AUDIO_RATE, pytest.approx((4 + 4 + 5) / 3)],
        3: [0.5 * AUDIO_RATE, 5.0],
    }


def test_a_clip_is_found_by_its_sound_and_goes_with_its_video(tmp_path: Path) -> None:
    image = EncoderRef("hearing", "a" * 32, 2)
    clips = [Clip(f"v:0000{k}", "v", 30.0 * k, 30.0 * k + 30) for k in range(2)]
    video = Video("v", "/v.mp4", "v", "", (), 60.0, 25.0, 64, 48, True, "")
    seen, audio = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    with Writer.open(tmp_path) as writer:
        writer.set_meta(Meta(image, EncoderRef("words", "b" * 32, 2)))
        writer.begin_video(video)
        writer.add_clips([ClipFrames(c, np.zeros(1), seen[None], seen) for c in clips])
        for _ in range(2):
            writer.put_sounds("v", clips[1:], [audio])
        writer.finish_video(video, {})
    with Reader.open(tmp_path) as reader:
        assert [(h.key, h.score) for h in reader.search_clips(audio, 5)] == [
            ("v:00001", 1.0),
            ("v:00000", 0.0),
        ]
        assert [h.key for h in reader.search_clips(seen, 1)] == ["v:00000"]
    with Writer.open(tmp_path) as writer:
        writer.begin_video(video)
        assert [c.clip for c in writer.committed_clips("v")] == clips
        writer.erase({"v"})
    with Reader.open(tmp_path) as reader:
        assert reader.search_clips(audio, 5) == []
