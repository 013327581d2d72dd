"""The stages of indexing: which are on, why the others are off, and what each one does to a clip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Evidence
from indexers.asr import Asr
from indexers.frame_dedup import encode_frames
from indexers.ocr import Ocr
from indexers.protocol import ImageEncoder, TextEncoder, unit_rows
from rag.indexing.clips import CutClip
from rag.indexing.measuring import Measuring
from rag.indexing.sounds import Hearing
from rag.store.records import ClipFrames

if TYPE_CHECKING:
    from numpy.typing import NDArray

OCR_SHORT_SIDE = 720
TEXTS_PER_CALL = 256


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
    def sees(self) -> bool:
        """Whether frames become vectors."""
        return self._image is not None

    @property
    def hears(self) -> bool:
        return self._asr is not None

    def fingerprints(self) -> dict[str, str]:
        """What each stage was made with, kept in the video's `ready` row."""
        return {
            "frames": self._image.fingerprint if self._image else "off",
            "ocr": self._ocr.fingerprint if self._ocr else "off",
            "asr": self._asr.fingerprint if self._asr else "off",
            "text": self._text.fingerprint,
            **self.measuring.prints,
        }

    def embed(self, cut: CutClip) -> ClipFrames:
        """The clip with its vectors; see `embed_clip`."""
        return embed_clip(self._image, cut, reuse=self._reuse)

    def read_keyframes(self, cut: CutClip) -> list[Evidence]:
        """What is written in the picture, one span per keyframe up to the next, equal texts joined."""
        if self._ocr is None:
            return []
        spans: list[Evidence] = []
        ends = [k.time for k in cut.keyframes[1:]] + [cut.clip.end]
        texts = self._ocr.read_clip(keyframe.image for keyframe in cut.keyframes)
        for keyframe, end, text in zip(cut.keyframes, ends, texts, strict=True):
            if spans and spans[-1].text == text and spans[-1].end == keyframe.time:
                spans[-1] = Evidence(cut.clip.video_id, spans[-1].start, end, "ocr", text)
            elif text:
                spans.append(Evidence(cut.clip.video_id, keyframe.time, end, "ocr", text))
        return spans

    @property
    def hearing(self) -> Hearing | None:
        """The image encoder, where it takes sound too (ImageBind)."""
        return self._image if isinstance(self._image, Hearing) else None

    def listen(self, audio: Iterable[NDArray[np.float32]], video_id: str) -> Iterator[Evidence]:
        """What is said, by spans; nothing without a speech model."""
        if self._asr is not None:
            for start, end, text in self._asr.transcribe(audio):
                yield Evidence(video_id, start, end, "asr", text)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, d), one for each text."""
        if not texts:
            return np.empty((0, self._text.dim), np.float32)
        parts = [
            self._text.encode_text(texts[k : k + TEXTS_PER_CALL])
            for k in range(0, len(texts), TEXTS_PER_CALL)
        ]
        return np.concatenate(parts)


def embed_clip(encoder: ImageEncoder | None, cut: CutClip, *, reuse: bool) -> ClipFrames:
    """The clip's frame vectors and their mean, a unit vector.

    An encoder of whole clips (ImageBind) gives its own clip vector instead. A
    clip without a frame has a zero one. Without an encoder every array is empty.
    """
    if encoder is None or not len(cut.frames.times):
        dim = encoder.dim if encoder else 0
        nothing = np.empty(0, np.float64)
        return ClipFrames(
            cut.clip, nothing, np.empty((0, dim), np.float32), np.zeros(dim, np.float32), cut.pixels
        )
    vectors = encode_frames(encoder, cut.frames, reuse=reuse)
    whole = getattr(encoder, "encode_clip", None)
    mean = whole(cut.frames) if whole is not None else unit_rows(vectors.mean(axis=0))
    return ClipFrames(cut.clip, cut.frames.times, vectors, mean, cut.pixels)
