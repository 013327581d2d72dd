"""The stages of indexing: encoders and readers of one run, and what each one does to a clip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from corpora.records import Evidence
from indexers.asr import Asr
from indexers.frame_dedup import encode_frames
from indexers.ocr import Ocr
from indexers.protocol import ImageEncoder, TextEncoder
from indexers.text_tracking import text_spans
from rag.indexing.clips import CutClip
from rag.indexing.measuring import Measuring
from rag.store.records import ClipFrames

OCR_SHORT_SIDE = 720


class Stages:
    """The encoders and readers of one run; any of them but the text encoder may be absent."""

    def __init__(
        self,
        *,
        text: TextEncoder,
        image: ImageEncoder | None,
        ocr: Ocr | None,
        asr: Asr | None,
        reuse_still_frames: bool,
        measuring: Measuring,
    ) -> None:
        self.measuring = measuring
        self._text = text
        self._image = image
        self._ocr = ocr
        self._asr = asr
        self._reuse = reuse_still_frames

    @property
    def needs_frames(self) -> bool:
        """Whether a video must be decoded at all."""
        return self._image is not None or self._ocr is not None

    @property
    def keyframe_side(self) -> int | None:
        """Short side of the keyframes that text is read from; None where nothing reads them."""
        return OCR_SHORT_SIDE if self._ocr is not None else None

    @property
    def embeds_frames(self) -> bool:
        """Whether there is an image encoder."""
        return self._image is not None

    @property
    def transcribes(self) -> bool:
        """Whether there is a speech model."""
        return self._asr is not None

    def fingerprints(self) -> dict[str, str]:
        """By stage: what it was made with, kept in the video's `ready` row."""
        return {
            "frames": self._image.fingerprint if self._image else "off",
            "ocr": self._ocr.fingerprint if self._ocr else "off",
            "asr": self._asr.fingerprint if self._asr else "off",
            "text": self._text.fingerprint,
            **self.measuring.fingerprints,
        }

    def embed(self, cut: CutClip) -> ClipFrames:
        """The clip with its vectors; see `embed_clip`."""
        return embed_clip(self._image, cut, reuse=self._reuse)

    def read_keyframes(self, cut: CutClip) -> list[Evidence]:
        """On-screen text, as spans for as long as it is there."""
        if self._ocr is None:
            return []
        readings = list(self._ocr.read_clip(keyframe.image for keyframe in cut.keyframes))
        return text_spans(cut.clip, cut.frames, [keyframe.time for keyframe in cut.keyframes], readings)

    @property
    def audio_encoder(self) -> ImageEncoder | None:
        """The image encoder, where it takes audio too (ImageBind)."""
        return self._image if self._image is not None and self._image.takes_audio else None

    def transcribe(self, audio: Iterable[NDArray[np.float32]], video_id: str) -> Iterator[Evidence]:
        """Speech as evidence by spans; none without a speech model. `audio`: blocks float32 (n,), 16 kHz."""
        if self._asr is not None:
            for start, end, text in self._asr.transcribe(audio):
                yield Evidence(video_id, start, end, "asr", text)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), one for each text; equal texts are encoded once.

        All in one call: an encoder pads its last batch of each length.
        """
        if not texts:
            return np.empty((0, self._text.dim), np.float32)
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        return self._text.encode_text(list(places))[[places[text] for text in texts]]


def embed_clip(encoder: ImageEncoder | None, cut: CutClip, *, reuse: bool) -> ClipFrames:
    """The clip's frame vectors and their mean, a unit vector.

    An encoder of whole clips (ImageBind) gives its own clip vector instead. A clip without a frame has a
    zero one. Without an encoder every array is empty. Frame vectors are float32 (n, dim), the clip's (dim,).
    """
    if encoder is None or not len(cut.frames.times):
        dim = encoder.dim if encoder else 0
        no_times = np.empty(0, np.float64)
        return ClipFrames(
            cut.clip, no_times, np.empty((0, dim), np.float32), np.zeros(dim, np.float32), cut.pixels
        )
    vectors = encode_frames(encoder, cut.frames, reuse=reuse)
    whole = encoder.encode_clip(cut.frames, vectors)
    return ClipFrames(cut.clip, cut.frames.times, vectors, whole, cut.pixels)
