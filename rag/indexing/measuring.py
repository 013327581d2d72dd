"""What indexing measures on pictures and sound, beside what it encodes: shots, sound, a fingerprint.

Frames are measured clip by clip out of the one decode that indexing does anyway, and sound while a
speech model or the encoder listens; only a video whose sound nothing else wants is heard for this alone.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Frames, Video
from corpora.settings import VideoSettings
from indexers.models.lookup import WORKBENCH_ONLY
from indexers.shots import FrameFigures, describe_shots, joined, measure_frames, pictures_of
from indexers.soundtrack import SoundMeter
from indexers.stages import PICTURES, SOUND
from indexers.style import StylePrompts
from rag.errors import FileProblem
from rag.indexing.report import reason_of
from rag.store.measures import Fingerprint
from rag.store.records import EncoderRef
from rag.store.writing import Writer

if TYPE_CHECKING:
    from corpora.video.reader import MediaReader
    from indexers.protocol import ImageEncoder

MEASURED = ("shots", "sound")
"""Stages of a video that a later run can fill in without doing the others again."""


def measure_prints(settings: VideoSettings, encoder: EncoderRef | None, *, decodes: bool) -> dict[str, str]:
    """What the stages `shots` and `sound` are made with. `decodes`: whether a run looks at pictures."""
    style = encoder.fingerprint[:24] if encoder is not None else "none"
    return {
        "shots": f"{PICTURES}+{style}" if settings.shots and decodes else "off",
        "sound": SOUND if settings.sound else "off",
    }


def off_lines(settings: VideoSettings, prints: Mapping[str, str]) -> list[str]:
    """One line for each of the two stages that is off, and what brings it."""
    lines = []
    if prints["shots"] == "off":
        why = "video.shots is false"
        if settings.shots:
            why = "nothing looks at pictures here: no image encoder, and text on the screen is not read"
        lines.append(f"shots: off ({why}); tone, style and copies are not measured")
    if prints["sound"] == "off":
        lines.append("sound by seconds: off (video.sound is false)")
    return lines


class Measuring:
    """The measurements of one run. `open_image` is asked for the encoder's words at the first shot."""

    def __init__(
        self,
        settings: VideoSettings,
        prints: Mapping[str, str],
        open_image: Callable[[], ImageEncoder | None],
    ) -> None:
        self.prints = dict(prints)
        self.sees = prints["shots"] != "off"
        self.hears = settings.sound
        self.on = {stage: made for stage, made in self.prints.items() if made != "off"}
        """Of `prints` those that are measured at all; what the others made earlier stays."""
        self._open_image = open_image
        self._prompts: StylePrompts | None = None
        self._asked = False

    def frames(self, frames: Frames) -> FrameFigures:
        return measure_frames(frames)

    def listen(self, meter: SoundMeter, reader: MediaReader, path: str) -> str:
        """Hear a video for its measurements alone; what went wrong, or nothing. What was heard counts."""
        try:
            for block in reader.audio(path, gaps=True):
                meter.feed(block)
        except FileProblem as problem:
            return f"sound not measured to its end: {reason_of(problem, path)}"
        return ""

    def put(
        self, writer: Writer, video: Video, parts: Mapping[str, FrameFigures], meter: SoundMeter | None
    ) -> str:
        """Write what was measured of a pending video; what is off is left as it is. `parts`: by clip id.

        Gives one line on sound that is missing, or nothing.
        """
        pictures = joined([parts[key] for key in sorted(parts)]) if parts else None
        shots, mark = [], None
        if pictures is not None and len(pictures.times):
            vectors = writer.frame_vectors(video.video_id)
            seen = vectors if len(vectors[0]) else None
            prompts = self._words() if seen is not None else None
            shots = describe_shots(video.video_id, pictures, video.duration, vectors=seen, prompts=prompts)
            mark = Fingerprint(video.video_id, *pictures_of(pictures))
        track = meter.track(video.video_id, video.duration) if meter is not None else None
        writer.put_measures(video.video_id, shots, track, mark, stages=self.on)
        lost = track.classes.count(None) if track is not None else 0
        return f"{lost} s of its sound are missing or damaged, and count as not measured" if lost else ""

    def _words(self) -> StylePrompts | None:
        """None for the bundled encoder: it was taught the Workbench's things, not how they are drawn."""
        if not self._asked:
            self._asked = True
            encoder = self._open_image()
            if encoder is not None and encoder.name != WORKBENCH_ONLY:
                self._prompts = StylePrompts(encoder)
        return self._prompts


def packed(figures: FrameFigures) -> dict[str, Any]:
    """As JSON values, for the progress log."""
    return {
        "count": len(figures.times),
        "data": [
            base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 1)).decode()
            for array in (figures.times, figures.figures, figures.thumbs)
        ],
    }


def unpacked(value: Mapping[str, Any]) -> FrameFigures:
    """What `packed` made. Raises ValueError or `zlib.error` for what it did not make."""
    count = int(value["count"])
    times, figures, thumbs = (zlib.decompress(base64.b85decode(part)) for part in value["data"])
    return FrameFigures(
        np.frombuffer(times, np.float64).copy(),
        np.frombuffer(figures, np.float32).reshape(count, -1).copy(),
        np.frombuffer(thumbs, np.uint8).reshape(count, 18, 32, 3).copy(),
    )
