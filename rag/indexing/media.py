"""What is known of a media file without decoding it, and its frames into rows, clip by clip.

A video is written as a whole. Until then what was made of its frames is in `progress/<video_id>.jsonl`, one
line a clip: a killed run continues from it, and it is deleted once the video is committed. Losing it costs
time, never rows.
"""

from __future__ import annotations

import base64
import io
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from corpora.errors import reason_of
from corpora.file_names import words_of_name
from corpora.records import Clip, Evidence, Video
from corpora.scan import FoundFile
from corpora.settings import SHORT_SIDE, VideoSettings
from corpora.video.reader import MediaReader
from corpora.video.records import FrameBatch, Probe, TimedText
from corpora.video.sidecars import Sidecars
from indexers.protocol import TextEncoder
from indexers.shots import FrameFigures, measure_frames
from rag.errors import FileProblem
from rag.indexing.clips import BATCHES_AHEAD, CutClip, cut_clips, prefetched
from rag.indexing.report import Progress
from rag.indexing.stages import Stages, embed_clip
from rag.store.error_mapping import write_errors
from rag.store.records import ClipFrames, clip_id, clips_of_video
from rag.store.writing import Writer


class FrameIndexer:
    """The clips of one video: cut, embedded, read and measured, each once."""

    def __init__(
        self,
        reader: MediaReader,
        stages: Stages,
        settings: VideoSettings,
        progress: Progress,
        video: Video,
        last_end: float,
        log: ProgressLog,
    ) -> None:
        """`last_end`: where the last timed text ends, in seconds; the video lasts at least as long. `log`: of
        this video and these stages."""
        self._reader = reader
        self._stages = stages
        self._settings = settings
        self._progress = progress
        self._video = video
        self._last_end = last_end
        self._log = log
        self.sensed: list[SensedClip] = []
        """The clips, in order of time."""
        self.duration = 0.0
        self.damage = ""
        self.lost = 0.0
        self.decoder = ""

    def store_times(self, path: str, probe: Probe) -> None:
        """Clips of a file without frames, or whose frames no stage uses: times only."""
        settings = self._settings
        self.duration = probe.duration
        if probe.stream >= 0:
            report = self._reader.packets(path)
            self.damage = report.damage
            if report.damage:
                self.duration = max(report.end, self._last_end)
        length, least = settings.clip_seconds, settings.min_last_clip_seconds
        clips = clips_of_video(self._video.video_id, self.duration, length, least)
        self.sensed = [SensedClip(ClipFrames.bare(clip)) for clip in clips]
        self._progress.advance(self.duration)

    def decode(self, path: str) -> None:
        """Decode, from the last clip of the log where the decoder lands on the very same pixels."""
        logged = [] if self._log.damaged else list(self._logged())
        if not logged or not self._pass(path, logged, verify=True):
            self._pass(path, [], verify=False)

    def _logged(self) -> Iterator[SensedClip]:
        """The clips of the log up to the first that it lacks."""
        for index in range(len(self._log.clips)):
            if (sensed := self._log.clips.get(clip_id(self._video.video_id, index))) is None:
                return
            yield sensed

    def _pass(self, path: str, logged: list[SensedClip], *, verify: bool) -> bool:
        """One pass, from the last of the clips that are logged, to the end; False if its pixels are others
        now."""
        settings, first = self._settings, max(0, len(logged) - 1)
        stream = self._reader.frames(
            path,
            rate=settings.rate,
            short_side=settings.short_side or SHORT_SIDE,
            start=first * settings.clip_seconds,
            seek=first > 0,
            keyframe_side=self._stages.keyframe_side,
            keyframe_reset=settings.clip_seconds,
        )
        self.sensed = logged[:first]
        with prefetched(stream, BATCHES_AHEAD) as batches:
            cuts = cut_clips(
                self._noting_damage(batches),
                self._video.video_id,
                settings.clip_seconds,
                settings.min_last_clip_seconds,
                lambda: max(stream.report.end, self._last_end),
                first=first,
            )
            try:
                for cut in cuts:
                    if verify:
                        if cut.pixels != logged[-1].pixels:
                            return False
                        verify = False
                        self._progress.advance(cut.clip.start)
                    self._take(cut)
                self.damage, self.decoder = stream.report.damage, stream.report.decoder
                self.lost = stream.report.lost
            except FileProblem as problem:
                if verify:
                    return False  # it was read further before: from its beginning
                if not self.sensed:
                    raise
                self.damage = f"{reason_of(problem, path)}; what came before {self.duration:.0f} s is kept"
                self.decoder = settings.decoder
        return True

    def _noting_damage(self, batches: Iterable[FrameBatch]) -> Iterator[FrameBatch]:
        for batch in batches:
            if batch.salvaged:
                self._log.note_damage()
            yield batch

    def _take(self, cut: CutClip) -> None:
        """Read, measure and embed a clip, unless the log has it of these very pixels."""
        stages, sensed = self._stages, self._log.clips.get(cut.clip.clip_id)
        if sensed is None or sensed.pixels != cut.pixels:
            figures = measure_frames(cut.frames) if stages.measures_frames else None
            texts = tuple(stages.read_keyframes(cut))
            sensed = self._log.add(SensedClip(embed_clip(stages.image, cut), cut.pixels, texts, figures))
        self.sensed.append(replace(sensed, frames=replace(sensed.frames, clip=cut.clip)))
        self.duration = cut.clip.end
        self._progress.advance(cut.clip.end - cut.clip.start)


def last_end(texts: Iterable[TimedText]) -> float:
    """Where the last timed text ends, in seconds; 0 without any."""
    return max((text.end for text in texts), default=0.0)


def describe(found: FoundFile, video_id: str, probe: Probe, sidecars: Sidecars) -> Video:
    """The video's record before decoding; a sidecar's value takes precedence over the container's."""
    return Video(
        video_id=video_id,
        path=found.path,
        title=sidecars.title or probe.title or _title_of(Path(found.path).stem),
        description=sidecars.description or probe.description,
        tags=sidecars.tags or probe.tags,
        duration=probe.duration,
        fps=probe.fps,
        width=probe.width,
        height=probe.height,
        audio=probe.audio,
        language=probe.language or sidecars.language,
        stream=probe.stream,
        subtitles=sidecars.tracks + probe.subtitles,
    )


def texts_of_video(texts: Iterable[TimedText], video: Video) -> list[Evidence]:
    """Timed texts, cut at the video's end, each once; and title, description and tags, of the whole video."""
    spans = {
        Evidence(
            video.video_id,
            max(text.start, 0.0),
            min(text.end, video.duration),
            text.kind,
            text.text,
            text.track,
        )
        for text in texts
    }
    found = [span for span in spans if span.end > span.start and span.text.strip()]
    if whole := text_of_whole(video):
        found.append(Evidence(video.video_id, 0.0, video.duration, "tag", whole))
    return found


def text_of_whole(video: Video) -> str:
    """Title, description and tags; empty without any, and for a video that lasts no time."""
    parts = [video.title, video.description, ", ".join(video.tags)]
    whole = ". ".join(part.strip().rstrip(".") for part in parts if part.strip())
    return whole if video.duration else ""


def rename_videos(writer: Writer, renamed: Mapping[str, str], open_text: Callable[[], TextEncoder]) -> None:
    """Store new paths of videos, by id, and titles of their names where those are of the old ones."""
    videos = []
    for old in writer.videos(renamed):
        path = renamed[old.video_id]
        of_name = old.title == _title_of(Path(old.path).stem)
        title = _title_of(Path(path).stem) if of_name else old.title
        videos.append(replace(old, path=path, title=title))
        before, after = text_of_whole(old), text_of_whole(videos[-1])
        if before != after:
            writer.replace_tag(old, before, after, open_text().encode_text([after])[0])
    writer.rename_videos(videos)


def beyond_subtitles(spoken: Sequence[Evidence], others: Sequence[Evidence]) -> list[Evidence]:
    """The recognized lines of which subtitles, among `others`, cover less than half. A person wrote those."""
    written = [(text.start, text.end) for text in others if text.kind == "subtitle"]

    def covered(line: Evidence) -> float:
        return sum(max(0.0, min(line.end, end) - max(line.start, start)) for start, end in written)

    return [line for line in spoken if covered(line) < (line.end - line.start) / 2]


def late_cues(texts: Iterable[TimedText], duration: float) -> str:
    """How many subtitles begin after the end of the video, in words; empty for none."""
    late = sum(text.kind == "subtitle" and text.start >= duration for text in texts)
    return (
        f"{late} subtitle{'s' * (late > 1)} after the end of the video at {duration:g} s skipped"
        if late
        else ""
    )


def _title_of(stem: str) -> str:
    """The words of a file name; empty for one that is only a number or a hash, which would match anything."""
    words = " ".join(words_of_name(stem))
    opaque = re.fullmatch(r"[0-9a-f]{8,}|[\d ]+", words.casefold()) is not None
    return "" if opaque else words


@dataclass(frozen=True, slots=True)
class SensedClip:
    """What was made of the frames of a clip, whose hash is `pixels`."""

    frames: ClipFrames
    pixels: str = ""
    texts: tuple[Evidence, ...] = ()
    figures: FrameFigures | None = None


class ProgressLog:
    """The log of one video. What was made by other stages than those of `fingerprint` is ignored, and so is
    a damaged line."""

    def __init__(self, folder: Path, video_id: str, fingerprint: str) -> None:
        self.path = folder / "progress" / f"{video_id}.jsonl"
        """Deleted once the video is committed."""
        self._fingerprint = fingerprint
        self.damaged = False
        """Whether the file is damaged: then a resumed run decodes it from its beginning."""
        self.clips: dict[str, SensedClip] = {}
        """Clips of the log, by id."""
        self._load()

    def note_damage(self) -> None:
        """Store that the file is damaged."""
        if not self.damaged:
            self.damaged = True
            self._write({"damaged": True})

    def add(self, sensed: SensedClip) -> SensedClip:
        """Store a clip, and give it back with its vectors rounded as a library stores them."""
        frames, figures = sensed.frames, sensed.figures
        half = replace(
            frames, rows=frames.rows.astype("float16"), clip_vector=frames.clip_vector.astype("float16")
        )
        arrays = {name: getattr(half, name) for name in FRAMES}
        arrays |= {f"of_{name}": getattr(figures, name) for name in FIGURES} if figures else {}
        self._write(
            {
                "by": self._fingerprint,
                "clip": asdict(frames.clip),
                "pixels": sensed.pixels,
                "texts": [asdict(span) for span in sensed.texts],
                "arrays": packed(arrays),
            }
        )
        rounded = self.clips[frames.clip.clip_id] = replace(sensed, frames=half)
        return rounded

    def _write(self, row: Mapping[str, object]) -> None:
        with write_errors(self.path.parent.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(row))  # behind a line that a kill cut short, too

    def _load(self) -> None:
        with suppress(FileNotFoundError), self.path.open("rb") as lines:
            for line in lines:
                # Of damaged arrays NumPy, zipfile and zlib raise errors of many kinds.
                with suppress(Exception):
                    row = json.loads(line)
                    if "damaged" in row:
                        self.damaged = True
                    elif row["by"] == self._fingerprint:
                        self.clips[row["clip"]["clip_id"]] = _sensed(row)


LOG_DAYS = 30
"""A log that nothing was added to for so long is of a video that was deleted or changed."""


def remove_old_logs(folder: Path) -> None:
    """Delete the logs of videos that no run continued from; `folder`: as of `ProgressLog`."""
    oldest = time.time() - LOG_DAYS * 86400
    for log in (folder / "progress").glob("*.jsonl"):
        with suppress(OSError):
            if log.stat().st_mtime < oldest:
                log.unlink()


FRAMES = ("times", "rows", "clip_vector")
"""Arrays of `ClipFrames`."""
FIGURES = ("times", "figures", "thumbs")
"""Arrays of `FrameFigures`."""


def _sensed(row: Mapping[str, Any]) -> SensedClip:
    """A clip from its line. Whatever it raises `ProgressLog` takes for damage."""
    import numpy as np

    with np.load(io.BytesIO(base64.b85decode(row["arrays"]))) as held:
        frames = ClipFrames(Clip(**row["clip"]), *(held[name] for name in FRAMES))
        of_figures = [held[f"of_{name}"] for name in FIGURES if f"of_{name}" in held]
    figures = FrameFigures(*of_figures) if of_figures else None
    return SensedClip(frames, row["pixels"], tuple(Evidence(**span) for span in row["texts"]), figures)


def packed(arrays: Mapping[str, Any]) -> str:
    """Arrays as a line of text."""
    import numpy as np

    held = io.BytesIO()
    np.savez_compressed(held, **arrays)
    return base64.b85encode(held.getvalue()).decode()
