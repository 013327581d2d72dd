"""What is known of a media file without decoding it, and its frames into rows, clip by clip.

Clips are committed in groups, but a video's evidence and its shots only as a whole. The OCR text of the
committed clips, and the figures of their frames, are in `progress/<video_id>.jsonl`, one line a clip each,
written before the clips are: a killed run goes on with it, and it is deleted when the video is ready.
Losing it costs time, never rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from corpora.errors import reason_of
from corpora.file_names import words_of_name
from corpora.records import Clip, Evidence, Video
from corpora.scan import FoundFile
from corpora.settings import SHORT_SIDE, VideoSettings
from corpora.video.reader import MediaReader
from corpora.video.records import FrameBatch, Probe, TimedText
from corpora.video.sidecars import Sidecars
from indexers.shots import FrameFigures, measure_frames
from rag.errors import FileProblem
from rag.indexing.clips import BATCHES_AHEAD, CLIPS_PER_COMMIT, CutClip, clip_spans, cut_clips, prefetched
from rag.indexing.measuring import packed, unpacked
from rag.indexing.report import Progress
from rag.indexing.stages import Stages, embed_clip
from rag.store.records import ClipFrames
from rag.store.writing import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RENAMED_TOGETHER = 64
"""Videos whose texts are read and written together."""


class FrameIndexer:
    """The clips of one video: cut, embedded, read and committed in groups."""

    def __init__(
        self,
        writer: Writer,
        reader: MediaReader,
        stages: Stages,
        settings: VideoSettings,
        progress: Progress,
        video: Video,
        last_end: float,
    ) -> None:
        """`last_end`: where the last timed text ends, in seconds; the video lasts at least as long."""
        self._writer = writer
        self._reader = reader
        self._stages = stages
        self._settings = settings
        self._progress = progress
        self._video = video
        self._last_end = last_end
        made = stages.fingerprints()
        self.log = ProgressLog(writer.cache, video.video_id, f"{made['ocr']} {made['shots']}")
        """To be closed when the video is ready."""
        self._committed = {c.clip.clip_id: c for c in writer.committed_clips(video.video_id)}
        self._rows: list[ClipFrames] = []
        self._unlogged: dict[str, SensedClip] = {}
        self.figures: dict[str, FrameFigures] = {}
        self.screen_text: list[Evidence] = []
        self.clips = 0
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
        spans = clip_spans(self.duration, settings.clip_seconds, settings.min_last_clip_seconds)
        clips = (Clip(self._clip_id(k), self._video.video_id, *span) for k, span in enumerate(spans))
        self._writer.add_clips(list(map(ClipFrames.bare, clips)))
        self.clips = len(spans)
        self._progress.advance(self.duration)

    def decode(self, path: str) -> None:
        """Decode, from the last committed clip where the decoder lands on the very same pixels."""
        last = None if self.log.damaged else self._resumable()
        if last is None or not self._pass(path, first=last, verify=True):
            self._pass(path, first=0, verify=False)
        ids = map(self._clip_id, range(self.clips))
        sensed = {clip_id: self.log.clips[clip_id] for clip_id in ids if clip_id in self.log.clips}
        self.screen_text = [span for clip in sensed.values() for span in clip.spans]
        self.figures = {clip_id: clip.figures for clip_id, clip in sensed.items() if clip.figures}

    def _clip_id(self, index: int) -> str:
        return f"{self._video.video_id}:{index:05d}"

    def _resumable(self) -> int | None:
        """Index of the last clip up to which everything is committed."""
        count = 0
        while True:
            committed = self._committed.get(self._clip_id(count))
            if committed is None or not self._is_sensed(committed.clip.clip_id, committed.pixels):
                return count - 1 if count else None
            count += 1

    def _is_sensed(self, clip_id: str, pixels: str) -> bool:
        """Whether these very pixels were read and measured, as far as that is asked for."""
        if self._stages.keyframe_side is None and not self._stages.measures_frames:
            return True
        sensed = self.log.clips.get(clip_id)
        return sensed is not None and sensed.pixels == pixels

    def _pass(self, path: str, *, first: int, verify: bool) -> bool:
        """One pass from clip `first` to the end; False if its pixels are not those of the first run."""
        settings = self._settings
        stream = self._reader.frames(
            path,
            rate=settings.rate,
            short_side=settings.short_side or SHORT_SIDE,
            start=first * settings.clip_seconds,
            seek=first > 0,
            keyframe_side=self._stages.keyframe_side,
            keyframe_reset=settings.clip_seconds,
        )
        self.clips, self._rows, self._unlogged = first, [], {}
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
                    if verify and cut.pixels != self._committed[cut.clip.clip_id].pixels:
                        return False
                    verify = False
                    self._take(cut)
                self.damage, self.decoder = stream.report.damage, stream.report.decoder
                self.lost = stream.report.lost
            except FileProblem as problem:
                if not self.clips:
                    raise
                self.damage = f"{reason_of(problem, path)}; what came before {self.duration:.0f} s is kept"
                self.decoder = settings.decoder
        self._flush()
        return True

    def _noting_damage(self, batches: Iterable[FrameBatch]) -> Iterator[FrameBatch]:
        for batch in batches:
            if batch.salvaged:
                self.log.note_damage()
            yield batch

    def _take(self, cut: CutClip) -> None:
        """Read and embed a clip, clip by clip so that the progress moves; its images are then released."""
        clip_id, stages = cut.clip.clip_id, self._stages
        if not self._is_sensed(clip_id, cut.pixels):
            figures = measure_frames(cut.frames) if stages.measures_frames else None
            self._unlogged[clip_id] = SensedClip(cut.pixels, tuple(stages.read_keyframes(cut)), figures)
        committed = self._committed.get(clip_id)
        if committed is None or committed.pixels != cut.pixels or committed.clip != cut.clip:
            self._rows.append(embed_clip(stages.image, cut))
        self.clips += 1
        self.duration = cut.clip.end
        self._progress.advance(cut.clip.end - cut.clip.start)
        if self.clips % CLIPS_PER_COMMIT == 0:
            self._flush()

    def _flush(self) -> None:
        """Commit the group: the log first, then the clips; a committed clip stays as it is."""
        if self._unlogged:
            self.log.append(self._unlogged)
        self._writer.add_clips(self._rows)
        self._rows, self._unlogged = [], {}


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


def rename_videos(
    writer: Writer, renamed: Mapping[str, str], encode: Callable[[Sequence[str]], NDArray[np.float32]]
) -> None:
    """Store new paths of videos, by id, and titles of their names where those are of the old ones.

    `encode`: texts as unit rows, float32 (n, dim).
    """
    ids = list(renamed)
    for at in range(0, len(ids), RENAMED_TOGETHER):
        texts: dict[Video, tuple[str, str]] = {}
        for video_id in ids[at : at + RENAMED_TOGETHER]:
            old = writer.video(video_id)
            of_name = old.title == _title_of(Path(old.path).stem)
            title = _title_of(Path(renamed[video_id]).stem) if of_name else old.title
            new = replace(old, path=renamed[video_id], title=title)
            texts[new] = (text_of_whole(old), text_of_whole(new))
        writer.rename_videos(texts, encode([text for _, text in texts.values()]))


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
    """What was read and measured on the frames of a clip, whose hash is `pixels`."""

    pixels: str
    spans: tuple[Evidence, ...] = ()
    figures: FrameFigures | None = None


class ProgressLog:
    """The log of one video. What was made by other stages than those of `fingerprint` is ignored."""

    def __init__(self, folder: Path, video_id: str, fingerprint: str) -> None:
        self._path = folder / "progress" / f"{video_id}.jsonl"
        self._fingerprint = fingerprint
        self.damaged = False
        """Whether the file is damaged: then a resumed run decodes it from its beginning."""
        self.clips: dict[str, SensedClip] = {}
        """By clip id."""
        self._load()

    def note_damage(self) -> None:
        """Store that the file is damaged."""
        if not self.damaged:
            self.damaged = True
            self._write([{"damaged": True}])

    def append(self, clips: Mapping[str, SensedClip]) -> None:
        """Store what these clips have, by clip id."""
        self._write(
            [
                {
                    "clip": clip_id,
                    "by": self._fingerprint,
                    "pixels": sensed.pixels,
                    "spans": [asdict(span) for span in sensed.spans],
                    "figures": packed(sensed.figures) if sensed.figures else "",
                }
                for clip_id, sensed in clips.items()
            ]
        )
        self.clips.update(clips)

    def _write(self, rows: Sequence[Mapping[str, object]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    def close(self) -> None:
        """Delete the log: the video is ready."""
        self._path.unlink(missing_ok=True)

    def _load(self) -> None:
        try:
            for line in self._path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if "damaged" in row:
                    self.damaged = True
                elif row["by"] == self._fingerprint:
                    spans = tuple(Evidence(**span) for span in row["spans"])
                    figures = unpacked(row["figures"]) if row["figures"] else None
                    self.clips[row["clip"]] = SensedClip(row["pixels"], spans, figures)
        except (FileNotFoundError, ValueError, LookupError, TypeError, BadZipFile):
            return  # a line that a kill cut short, or damage: nothing behind it is taken
