"""The error of still-frame reuse on images that really went through a video codec."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Frames
from indexers.frame_dedup import encode_frames, representative_frames
from indexers.registry import open_image_encoder
from indexers.settings import EncoderSettings
from indexers.testing import probe_images
from tests.fakes.tiny_models import save_clip

# Loads PyTorch.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


def slides(path: Path) -> NDArray[np.uint8]:
    """Four images held for 4 s each, through H.264, sampled twice a second."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 398, 224, "yuv420p"
        stream.options = {"crf": "28", "threads": "1"}
        for image in probe_images(4):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            for _ in range(40):
                out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    with av.open(str(path)) as video:
        decoded = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    return np.stack(decoded[::5])


def test_reused_vectors_are_close_to_the_true_ones(tmp_path: Path) -> None:
    images = slides(tmp_path / "slides.mp4")
    encoder = open_image_encoder(f"hf:{save_clip(tmp_path / 'clip')}", EncoderSettings(), batch=8)
    true = encoder.encode_images(images)
    taken = encode_frames(encoder, Frames(np.arange(len(images)) / 2, images))
    chosen = representative_frames(images)
    assert np.mean(chosen != np.arange(len(images))) > 0.6
    # No slide is taken for another one.
    assert np.array_equal(chosen // 8, np.arange(len(images)) // 8)
    assert (true * taken).sum(axis=1).min() > 0.999
