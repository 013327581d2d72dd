"""What a corpus holds: frozen records without behaviour.

Times are seconds as float on the file's own clock (pts x time base, minus the
container's start time), intervals are half-open [start, end). Paths are text
with undecodable bytes as surrogate escapes (PEP 383), as `os.fsdecode` gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from corpora.kinds import is_subtitles
from corpora.languages import language_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


EvidenceKind = Literal["subtitle", "asr", "ocr", "caption", "chapter", "tag", "image"]
"""`image`: what frames look like, by their embeddings; it is not stored, and no query finds its words."""
SPOKEN: tuple[EvidenceKind, ...] = ("subtitle", "asr")
"""Kinds of what is said."""


@dataclass(frozen=True, slots=True)
class SubtitleTrack:
    """The subtitles of a file beside a video, or of a stream in it."""

    source: str
    """What the file's name has behind that of the video (`.de.sdh.srt`), or `stream 3`, counted from 0."""
    language: str = ""
    """Code of ISO 639-1, else as it is stated; empty where it is not."""
    forced: bool = False
    """Whether it has only what viewers of this language would not understand, such as signs."""
    hearing_impaired: bool = False
    unread: str = ""
    """Why it is not read; empty for one that is."""

    def __str__(self) -> str:
        """ "German, for the hearing impaired"; empty where nothing is stated."""
        marks = "forced" * self.forced, "for the hearing impaired" * self.hearing_impaired
        return ", ".join(filter(None, (language_name(self.language), *marks)))


def kind_name(kind: str, track: SubtitleTrack | None = None) -> str:
    """The kind of a text as people read it: "subtitle, German, forced" of a `track`."""
    name = "recognized speech" if kind == "asr" else kind
    return ", ".join(filter(None, (name, str(track or ""))))


Tone = Literal["warm", "cold", "neutral"]
Style = Literal["live", "2d", "3d", "graphics"]
AudioClass = Literal["speech", "music", "ambient", "silence"]


@dataclass(frozen=True, slots=True)
class Video:
    """One video by content: two paths of the same bytes are one `Video`."""

    video_id: str
    path: str
    title: str
    description: str
    tags: tuple[str, ...]
    duration: float
    fps: float
    """Mean frames a second of the chosen stream; 0.0 where there is no image."""
    width: int
    """Upright pixels, after rotation; 0 where there is no image."""
    height: int
    audio: bool
    language: str
    """BCP 47 tag of the audio stream, or empty."""
    stream: int = -1
    """Index of the chosen video stream in the container; -1 where there is none."""
    decoder: str = ""
    damage: str = ""
    """What was lost while reading, in one line; empty for a clean file."""
    subtitles: tuple[SubtitleTrack, ...] = ()
    """Those beside it and in it, also those that are not read."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A part of a video, [start, end) in seconds, about 30 s long: the unit of retrieval."""

    clip_id: str
    """`{video_id}:{index:05d}`, so that ids sort in time within a video."""
    video_id: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document, short enough for a sentence encoder, as it is retrieved and cited."""

    passage_id: str
    doc_id: str
    """The document's own id where its format has one, else the content hash of the document."""
    title: str
    text: str
    pages: tuple[int, ...] = ()
    """Numbers from 1, as viewers count, of the pages that its text is on, rising; of subtitles without a
    video, the seconds at which its cues begin. Empty where the file has none, or they were not noted
    when it was indexed."""
    page_starts: tuple[int, ...] = ()
    """For each of its pages, how many characters of the text, blanks not counted, are before it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Text that a video contains in [start, end) seconds: subtitles, speech, on-screen text, ..."""

    video_id: str
    start: float
    end: float
    kind: EvidenceKind
    text: str
    track: SubtitleTrack | None = field(default=None, compare=False)
    """The track of a subtitle line. The same line of two tracks is one."""


class HasTrack(Protocol):
    """A line of text that may be of a track."""

    @property
    def track(self) -> SubtitleTrack | None: ...


Line = TypeVar("Line", bound=HasTrack)


def one_transcript(lines: Iterable[Line]) -> list[Line]:
    """Leave out subtitles of all tracks but the one with the most lines, so that languages do not mix."""
    held = list(lines)
    counts = Counter(line.track for line in held if line.track is not None)
    kept = None, *(track for track, _ in counts.most_common(1))
    return [line for line in held if line.track in kept]


@dataclass(frozen=True, slots=True)
class Frames:
    """Sampled frames, upright, in time order.

    `times`: float64 (n,) seconds. `images`: uint8 (n, height, width, 3) RGB.
    """

    times: NDArray[np.float64]
    images: NDArray[np.uint8]


SKIPPED = "skipped"
"""The action of a problem of which nothing could be used."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One odd file, in one line: what is wrong with it and what was done."""

    path: str
    reason: str
    action: str = SKIPPED
    """`skipped`, or what was saved of it: `indexed 58 of 60 s`."""

    @property
    def was_read(self) -> bool:
        """Whether it was read but for what is damaged: `indexed ...`, or a folder that was `walked ...`."""
        return self.action.startswith(("indexed ", "walked "))


@dataclass(frozen=True, slots=True)
class Shot:
    """An unbroken run of frames, [start, end) in seconds, as measured (docs/design/measurements.md)."""

    shot_id: str
    """`{video_id}:s{index:05d}`, so that ids sort in time within a video."""
    video_id: str
    start: float
    end: float
    key_time: float
    """When the keyframe is on screen: the sampled frame most like the shot as a whole."""
    tone: Tone
    warmth: float
    """What `tone` is cut from: above 0 the light is yellow to red, below 0 it is blue."""
    style: Style


@dataclass(frozen=True, slots=True)
class SoundTrack:
    """What the sound of a video is, second by second: place k is [k, k + 1), the last up to its end."""

    video_id: str
    classes: tuple[AudioClass | None, ...]
    """None for a second that is not measured: most of it is missing from the file."""
    loudness: NDArray[np.float32]
    """float32 (seconds,), LUFS: K-weighted by ITU-R BS.1770, without gating; at least -70, NaN unheard."""


def vertical_resolution(width: int, height: int) -> int:
    """Lines of an image as "1080p" counts them: a video in scope and one held upright are no smaller."""
    short, long = sorted((width, height))
    return max(short, round(long * 9 / 16))


def page_range(pages: Sequence[int], path: str) -> str:
    """ "page 12" or "pages 12-13"; of subtitles "02:05" or "02:05-02:11"; empty without pages."""
    ends = [*dict.fromkeys([*pages[:1], *pages[-1:]])]
    if is_subtitles(path):
        return "-".join(map(clock, ends))
    return f"page{'s' * (len(ends) > 1)} {'-'.join(map(str, ends))}" if ends else ""


def clock(seconds: float) -> str:
    """`1:02:03` or `02:03`, rounded down to the second."""
    whole = max(0, int(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def cited_title(title: str, pages: Sequence[int], path: str) -> str:
    """The title of a passage of the file `path` with its pages, as it is cited: "Manual, page 12"; "Page 12"
    without a title."""
    found = page_range(pages, path)
    return f"{title}, {found}" if title and found else title or found.capitalize()


CAMERA_WEARER = "camera wearer"


@dataclass(frozen=True, slots=True)
class EventParts:
    """Who does what to what, where, and with what; an event is these and its time."""

    rewritten: str
    """"the camera wearer plugs the kettle into the wall socket"."""
    agent: str
    action: str
    patient: str
    """The object as `rewritten` names it, without its article; empty where the event has none."""
    patient_canonical: str
    patient_location: str | None
    patient_destination: str | None
    instrument: str | None
    event_location: str | None
