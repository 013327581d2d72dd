"""The stages of indexing: encoders and readers of one run, and what each one does to a clip.

Frames are measured clip by clip out of the one decode that indexing does anyway, and sound while a speech
model reads the audio; only a video that no speech model reads is decoded for this alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpora.errors import reason_of
from corpora.records import Evidence, Shot, SoundTrack, Video
from corpora.video.reader import MediaReader
from indexers.asr import Asr, asr_line, open_asr
from indexers.models.catalogue import is_packaged
from indexers.models.lookup import readable_size, recommended_model
from indexers.ocr import Ocr, reads_text
from indexers.protocol import Disabled, ImageEncoder, TextEncoder, encode_frames
from indexers.settings import FRAME_MEASURES, SOUND_MEASURES
from indexers.shots import FrameFigures, describe_shots, joined
from indexers.soundtrack import SoundMeter
from indexers.text_tracking import text_spans
from rag.errors import FileProblem
from rag.indexing.clips import CutClip
from rag.indexing.encoders import SelectedEncoders
from rag.settings import Settings
from rag.store.records import ClipFrames, EncoderRef

OCR_SHORT_SIDE = 720


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The encoders and readers of one run; any of them but the text encoder may be absent."""

    text: TextEncoder
    image: ImageEncoder | None
    ocr: Ocr | None
    asr: Asr | None
    measures: Mapping[str, str]
    """Fingerprints of what is measured (`stage_fingerprints`)."""

    @property
    def needs_frames(self) -> bool:
        """Whether a video must be decoded at all."""
        return self.image is not None or self.ocr is not None

    @property
    def measures_frames(self) -> bool:
        """Whether shots are measured."""
        return self.measures["shots"] != "off"

    @property
    def keyframe_side(self) -> int | None:
        """Short side of the keyframes that text is read from; None where nothing reads them."""
        return OCR_SHORT_SIDE if self.ocr is not None else None

    def fingerprints(self) -> dict[str, str]:
        """Return what each stage was made with, which the video's row keeps."""
        return {
            "frames": self.image.fingerprint if self.image else "off",
            "ocr": self.ocr.fingerprint if self.ocr else "off",
            "asr": self.asr.fingerprint if self.asr else "off",
            "text": self.text.fingerprint,
            **self.measures,
        }

    def read_keyframes(self, cut: CutClip) -> list[Evidence]:
        """Read on-screen text, as spans for as long as it is there."""
        if self.ocr is None:
            return []
        readings = list(self.ocr.read_clip(keyframe.image for keyframe in cut.keyframes))
        return text_spans(cut.clip, cut.frames, [keyframe.time for keyframe in cut.keyframes], readings)

    def transcribe(self, audio: Iterable[NDArray[np.float32]], video_id: str) -> Iterator[Evidence]:
        """Speech as evidence by spans; none without a speech model. `audio`: blocks float32 (n,), 16 kHz."""
        if self.asr is not None:
            for start, end, text in self.asr.transcribe(audio):
                yield Evidence(video_id, start, end, "asr", text)


def embed_clip(encoder: ImageEncoder | None, cut: CutClip) -> ClipFrames:
    """The clip's frame vectors and their mean, a unit vector.

    An encoder of whole clips (ImageBind) gives its own clip vector instead. A clip without a frame has a
    zero one. Without an encoder it is bare. Frame vectors are float32 (n, dim), the clip's (dim,).
    """
    if encoder is None:
        return ClipFrames.bare(cut.clip)
    if not len(cut.frames.times):
        none, zero = np.empty((0, encoder.dim), np.float32), np.zeros(encoder.dim, np.float32)
        return ClipFrames(cut.clip, np.empty(0), none, zero)
    vectors = encode_frames(encoder, cut.frames)
    whole = encoder.encode_clip(cut.frames, vectors)
    return ClipFrames(cut.clip, cut.frames.times, vectors, whole)


def open_stages(
    settings: Settings, encoders: SelectedEncoders, ocr: Ocr | Disabled, measures: Mapping[str, str]
) -> tuple[Stages, list[str]]:
    """Load the models of media; with one line for each stage. Raises the errors of the models."""
    asr, image = open_asr(settings.asr, settings.encoder), encoders.open_image()
    lines = [
        reads_line(image, ocr, asr, settings.asr.model),
        *(each.reason for each in (ocr, asr) if isinstance(each, Disabled)),
        better_line(image) if encoders.new else "",
    ]
    stages = Stages(
        text=encoders.open_text(),
        image=image,
        ocr=ocr if isinstance(ocr, Ocr) else None,
        asr=asr if isinstance(asr, Asr) else None,
        measures=measures,
    )
    return stages, [line for line in lines if line]


def pinned_settings(settings: Settings) -> Settings:
    """The settings with what `auto` means on this machine for text on the screen and speech.

    Raises as opening those with `on` does.
    """
    read = reads_text(settings.ocr)
    transcribes = asr_line(settings.asr, settings.encoder).startswith("speech: on")
    ocr = settings.ocr.model_copy(update={"mode": "on" if read else "off"})
    asr = settings.asr.model_copy(update={"mode": "on" if transcribes else "off"})
    return settings.model_copy(update={"ocr": ocr, "asr": asr})


def reads_line(
    image: ImageEncoder | None, ocr: Ocr | Disabled, asr: Asr | Disabled, speech_model: str
) -> str:
    """What a run reads of media: `reads: text, images (efficientnet-lite2), text on screen, speech (X)`."""
    senses = ["text"]
    if image is not None:
        senses.append(f"images ({image.name})")
    if not isinstance(ocr, Disabled):
        senses.append("text on screen")
    if not isinstance(asr, Disabled):
        senses.append(f"speech ({speech_model})")
    return f"reads: {', '.join(senses)}"


def better_line(image: ImageEncoder | None) -> str:
    """What sees more than the encoder that comes with the installation, and how to get it; empty beside
    others. Said once, where a library is made."""
    if image is None or not is_packaged(image.name):
        return ""
    best = recommended_model("image encoder")
    size = readable_size(best.size)
    return f"sees more: rag models pull {best.name} ({size}), then rag index FOLDER --reembed"


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
