"""What reading a media file gives: frozen records, times in seconds on the file's own clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from corpora.records import EvidenceKind, Frames, SubtitleTrack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TimedText:
    """Half-open [start, end) in seconds on the file's own clock; `text` is plain, without markup."""

    start: float
    end: float
    kind: EvidenceKind
    text: str
    track: SubtitleTrack | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Probe:
    """What a media file holds, with false claims of its container corrected."""

    container: str
    """FFmpeg's name of the demuxer: `mov,mp4,m4a,3gp,3g2,mj2`."""
    duration: float
    """Seconds from the start of the file's clock to the end of its last packet."""
    fps: float
    """Mean frames a second of the chosen video stream; 0.0 where there is no image."""
    width: int
    """Pixels as a player shows them: upright, after rotation, and square; 0 where there is no image."""
    height: int
    stream: int
    """Index in the container of the chosen video stream; -1 where there is none."""
    video_streams: int
    """How many there are, attached images (cover art) not counted."""
    audio: bool
    language: str
    """The language of the chosen audio stream as the container writes it (`eng`); empty where unknown."""
    title: str
    description: str
    tags: tuple[str, ...]
    chapters: tuple[TimedText, ...]
    start: float
    """The container's start time: what is taken off pts x time base."""
    codec: str = ""
    """FFmpeg's name of the video codec; empty where there is no image."""
    audio_codec: str = ""
    """FFmpeg's name of the audio codec; empty where there is no sound."""
    pixel_format: str = ""
    """FFmpeg's name of it: `yuv420p`; empty where there is no image."""
    video_start: float = 0.0
    """Time of the first video packet."""
    pixel_aspect: float = 1.0
    """Width of a stored pixel, its height being 1; not 1 in anamorphic video."""
    rate: Fraction = Fraction(0)
    """Frames a second of the chosen video stream: the container's mean, exact."""
    variable: bool = False
    """Whether frames are shown for different lengths of time."""
    frames: int = 0
    """Number of frames by the container; 0 where it does not say."""
    timecode: str = ""
    """Timecode of the first frame as the file writes it: `01:00:00:00`, `01:00:00;00`; empty without one."""
    channels: int = 0
    """The channels of the chosen audio stream; 0 without one."""
    sample_rate: int = 0
    """Samples a second of the chosen audio stream; 0 without one."""
    subtitles: tuple[SubtitleTrack, ...] = ()
    """Each subtitle stream, also those that are not read."""


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """How frames are sampled; see `corpora.video.reader.MediaReader.frames`."""

    rate: float = 2.0
    short_side: int = 224
    start: float = 0.0
    seek: bool = False
    keyframe_side: int | None = None
    keyframe_reset: float = 30.0

    @property
    def origin(self) -> float:
        """Where sampling must begin so that all after `start` is as in an undisturbed run."""
        if self.keyframe_side is None:
            return self.start
        return self.start // self.keyframe_reset * self.keyframe_reset


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A sampled frame that looks new, larger: for reading text off it."""

    time: float
    image: NDArray[np.uint8]
    """uint8 (height, width, 3) RGB, upright."""


@dataclass(frozen=True, slots=True)
class FrameBatch:
    """At most 32 sampled frames of one size, and those keyframes that fall among them."""

    frames: Frames
    keyframes: tuple[Keyframe, ...] = ()
    salvaged: bool = False
    """True once the file has proved to be damaged: a later run may not seek in it."""


@dataclass(frozen=True, slots=True)
class DecodeReport:
    """What was decoded of a stream."""

    decoder: str
    end: float
    """When the last image leaves the screen, in seconds; from `MediaReader` when the recording ends, its
    sound too."""
    frames: int
    """Sampled frames given out."""
    damage: str
    """What was lost, in one line; empty for a clean file. After a seek it covers only what was decoded."""
    lost: float = 0.0
    """About how many seconds before `end` have no frame, for it is damaged; as in `damage`."""
