"""One media file into the library: frames, words, sounds, and `ready` written last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpora.records import Clip, Evidence, Video
from corpora.scan import FoundFile
from corpora.video.reader import MediaReader
from corpora.video.records import FrameBatch, Probe
from corpora.video.sidecars import Sidecars, read_sidecars
from corpora.video.timed_text import TimedText
from indexers.shots import FrameFigures
from indexers.soundtrack import SoundMeter
from rag.errors import FileProblem
from rag.indexing.clips import CutClip, clip_spans, cut_clips
from rag.indexing.planning import sidecar_hash
from rag.indexing.prefetch import Prefetcher
from rag.indexing.progress_log import ProgressLog
from rag.indexing.report import Progress
from rag.indexing.sounds import clip_sounds
from rag.indexing.stages import Stages
from rag.settings import Settings
from rag.store.records import ClipFrames
from rag.store.writing import Writer

CLIPS_PER_COMMIT = 8
BATCHES_AHEAD = 6


@dataclass(frozen=True, slots=True)
class MediaResult:
    """What one file gave: its final record, its clips, and a line on what was odd about it."""

    video: Video
    clips: int
    note: str


class MediaIndexer:
    """Takes one file after another; holds the reader, the stages and the writer of one run."""

    def __init__(
        self,
        writer: Writer,
        folder: Path,
        reader: MediaReader,
        stages: Stages,
        settings: Settings,
        progress: Progress,
    ) -> None:
        self._writer = writer
        self._folder = folder
        self._reader = reader
        self._stages = stages
        self._settings = settings.video
        self._progress = progress

    def index(
        self, found: FoundFile, sidecar_paths: Sequence[str], video_id: str, probe: Probe
    ) -> MediaResult:
        """Index one file. Raises `FileProblem` where nothing of it can be used.

        Killed at any instant and called again, it goes on behind the last
        committed clip and ends with the same rows.
        """
        sidecars = read_sidecars(sidecar_paths)
        texts = [*sidecars.texts, *probe.chapters, *self._reader.texts(found.path)]
        video = _describe(found, video_id, probe, sidecars)
        self._writer.begin_video(video)
        log = ProgressLog(self._folder, video_id, self._stages.fingerprints()["ocr"])
        run = _FrameRun(self, video, min(_last_word(texts), probe.duration), log)
        if probe.stream >= 0 and self._stages.needs_frames:
            run.through(found.path)
        else:
            run.blind(probe)
        video = replace(video, duration=run.duration, damage=run.damage, decoder=run.decoder)
        evidence = [*_spoken(texts, video), *_heading(video), *run.read]
        measuring = self._stages.measuring
        meter = SoundMeter() if probe.audio and measuring.hears else None
        unheard = ""
        if probe.audio and (hearing := self._stages.hearing) is not None:
            audio = self._reader.audio(found.path)
            self._writer.put_sounds(video_id, *clip_sounds(hearing, audio, video, self._settings))
        if probe.audio and self._stages.hears:
            audio = self._reader.audio(found.path, gaps=meter is not None)
            heard = meter.heard(audio) if meter is not None else audio
            evidence += self._stages.listen(heard, video_id)
        elif meter is not None:
            unheard = measuring.listen(meter, self._reader, found.path)
        lost = measuring.put(self._writer, video, run.figures if measuring.sees else {}, meter)
        vectors = self._stages.vectors([span.text for span in evidence])
        self._writer.put_evidence(video_id, evidence, vectors)
        made = {**self._stages.fingerprints(), "sidecars": sidecar_hash(sidecar_paths)}
        self._writer.finish_video(video, made)
        log.close()
        notes = [note for note in (run.damage, unheard, lost, *sidecars.notes) if note]
        return MediaResult(video, run.clips, "; ".join(notes))


class _FrameRun:
    """The clips of one video: cut, embedded, read and committed in groups."""

    def __init__(self, indexer: MediaIndexer, video: Video, last_word: float, log: ProgressLog) -> None:
        self._writer = indexer._writer
        self._reader = indexer._reader
        self._stages = indexer._stages
        self._settings = indexer._settings
        self._progress = indexer._progress
        self._video = video
        self._last_word = last_word
        self._log = log
        self._committed = {c.clip.clip_id: c for c in self._writer.committed_clips(video.video_id)}
        self._rows: list[ClipFrames] = []
        self._unlogged: dict[str, list[Evidence]] = {}
        self._unlogged_figures: dict[str, tuple[str, FrameFigures]] = {}
        self.figures: dict[str, FrameFigures] = {}
        self.read: list[Evidence] = []
        self.clips = 0
        self.duration = 0.0
        self.damage = ""
        self.decoder = ""

    def blind(self, probe: Probe) -> None:
        """Clips of a file without pictures, or whose pictures nothing here can use: times only."""
        self.duration = probe.duration
        spans = clip_spans(self.duration, self._settings.clip_seconds, self._settings.min_last_clip_seconds)
        ids = [f"{self._video.video_id}:{k:05d}" for k in range(len(spans))]
        self._writer.put_clips_without_vectors(
            [Clip(i, self._video.video_id, *span) for i, span in zip(ids, spans, strict=True)]
        )
        self.clips = len(spans)
        self._progress.advance(self.duration)

    def through(self, path: str) -> None:
        """Decode, from the last committed clip where the decoder lands on the very same pixels."""
        last = None if self._log.damaged else self._resumable()
        if last is None or not self._pass(path, first=last, verify=True):
            self._pass(path, first=0, verify=False)
        self.read = [span for clip_id in sorted(self._log.spans) for span in self._log.spans[clip_id]]
        ids = (f"{self._video.video_id}:{index:05d}" for index in range(self.clips))
        self.figures = {i: self._log.figures[i] for i in ids if i in self._log.figures}

    def _resumable(self) -> int | None:
        """Index of the last clip up to which everything is committed."""
        known = 0
        while True:
            clip_id = f"{self._video.video_id}:{known:05d}"
            read = self._stages.keyframe_side is None or clip_id in self._log.spans
            held = self._committed.get(clip_id)
            measured = (
                held is None or not self._stages.measuring.sees or self._log.measured(clip_id, held.pixels)
            )
            if held is None or not read or not measured:
                return known - 1 if known else None
            known += 1

    def _pass(self, path: str, *, first: int, verify: bool) -> bool:
        """One pass from clip `first` to the end; False if its pixels are not those of the first run."""
        settings = self._settings
        stream = self._reader.frames(
            path,
            rate=settings.rate,
            short_side=settings.short_side,
            start=first * settings.clip_seconds,
            seek=first > 0,
            keyframe_side=self._stages.keyframe_side,
            keyframe_reset=settings.clip_seconds,
        )
        self.clips, self._rows, self._unlogged, self._unlogged_figures = first, [], {}, {}
        with Prefetcher(iter(stream), BATCHES_AHEAD) as batches:
            cuts = cut_clips(
                self._watched(batches),
                self._video.video_id,
                settings.clip_seconds,
                settings.min_last_clip_seconds,
                lambda: max(stream.report.end, self._last_word),
                first=first,
            )
            try:
                for cut in cuts:
                    if verify and cut.pixels != self._committed[cut.clip.clip_id].pixels:
                        return False
                    verify = False
                    self._take(cut)
                self.damage, self.decoder = stream.report.damage, stream.report.decoder
            except FileProblem as problem:
                if not self.clips:
                    raise
                reason = str(problem).removeprefix(f"{path}: ")
                self.damage = f"{reason}; what came before {self.duration:.0f} s is kept"
                self.decoder = settings.decoder
        self._flush()
        return True

    def _watched(self, batches: Iterable[FrameBatch]) -> Iterator[FrameBatch]:
        for batch in batches:
            if batch.salvaged:
                self._log.note_damage()
            yield batch

    def _take(self, cut: CutClip) -> None:
        """Read and embed a clip, clip by clip so that the progress moves; its pictures are then let go."""
        clip_id = cut.clip.clip_id
        if self._stages.keyframe_side is not None and clip_id not in self._log.spans:
            self._unlogged[clip_id] = self._stages.read_keyframes(cut)
        if self._stages.measuring.sees and not self._log.measured(clip_id, cut.pixels):
            self._unlogged_figures[clip_id] = cut.pixels, self._stages.measuring.frames(cut.frames)
        held = self._committed.get(clip_id)
        if held is None or held.pixels != cut.pixels or held.clip != cut.clip:
            self._rows.append(self._stages.embed(cut))
        self.clips += 1
        self.duration = cut.clip.end
        self._progress.advance(cut.clip.end - cut.clip.start)
        if self.clips % CLIPS_PER_COMMIT == 0:
            self._flush()

    def _flush(self) -> None:
        """Commit the group: first what was read, then the clips; what is there already stays."""
        if self._unlogged:
            self._log.append(self._unlogged)
        if self._unlogged_figures:
            self._log.append_figures(self._unlogged_figures)
        if self._stages.sees:
            self._writer.add_clips(self._rows)
        else:
            self._writer.put_clips_without_vectors(
                [row.clip for row in self._rows], [row.pixels for row in self._rows]
            )
        self._rows, self._unlogged, self._unlogged_figures = [], {}, {}


def _last_word(texts: Iterable[TimedText]) -> float:
    return max((text.end for text in texts), default=0.0)


def _describe(found: FoundFile, video_id: str, probe: Probe, sidecars: Sidecars) -> Video:
    """The video's record before decoding; the sidecar's word goes before the container's."""
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
    )


def _spoken(texts: Iterable[TimedText], video: Video) -> list[Evidence]:
    """Timed texts as evidence, cut at the video's end, each one once."""
    spans = {
        Evidence(video.video_id, max(text.start, 0.0), min(text.end, video.duration), text.kind, text.text)
        for text in texts
    }
    return [span for span in spans if span.end > span.start and span.text.strip()]


def _heading(video: Video) -> list[Evidence]:
    """Title, description and tags, which speak of the whole video."""
    words = [video.title, video.description, ", ".join(video.tags)]
    text = ". ".join(part.strip().rstrip(".") for part in words if part.strip())
    return [Evidence(video.video_id, 0.0, video.duration, "tag", text)] if text and video.duration else []


def _title_of(stem: str) -> str:
    """The words of a file name; empty for one that is only a number or a hash, which would match anything."""
    words = re.sub(r"[\W_]+", " ", stem).strip()
    opaque = re.fullmatch(r"[0-9a-f]{8,}|[\d ]+", words.casefold()) is not None
    return "" if opaque else words
