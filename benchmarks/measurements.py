"""How right the measurements of docs/design/measurements.md are, on videos whose truth is known.

    python -m benchmarks.measurements [--split test] [--seed 0] [--looks 48] [--videos 30] [--long 8]

Videos of the Workbench are rendered, indexed as `rag index` does it, and the library's shots, sound and
copies are held against the plan of each video. Looks: short videos of every style and light, at four
heights. Videos: longer ones with ambience alone, a voice, a tune, or both, and a copy of each, cropped,
graded and re-timed (`eval.workbench.near_duplicates`). Every video is asked for its copies: another video's
copy, or a video of its own, is a false match. Everything that was tuned was tuned on other splits.
"""

from __future__ import annotations

import json
import multiprocessing
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.options import option_parser
from eval.workbench.catalogue import Split
from eval.workbench.near_duplicates import changed_frames, changed_sound, plan_change
from eval.workbench.pen import STYLES, Style
from eval.workbench.seeds import stream
from eval.workbench.sound import (
    HUSHED_SHARE,
    VoicedLine,
    add_at,
    melody,
    murmured,
    spoken_seconds,
    story_sound,
    to_sixteen_bits,
)
from eval.workbench.story import ClipStory, plan_clip
from eval.workbench.video import AUDIO_RATE, Line, Render, clip_frames, write_video

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library

HEIGHTS = (360, 480, 720, 1080)
LOOK_SECONDS = 6.0
STYLE_NAMES = {"live": "live", "flat": "2d", "shaded": "3d", "graphics": "graphics"}
LEAST_SPOKEN = 0.5
"""Seconds of voice that make a second one of speech; with less, and with any, it has no class."""


@dataclass(frozen=True, slots=True)
class SyntheticVideo:
    """One video to be rendered. `mode`: 0 ambience, 1 a voice, 2 a tune, 3 both."""

    name: str
    seed: int
    split: Split
    seconds: float
    style: Style
    height: int
    fps: int
    mode: int

    def story(self) -> ClipStory:
        """The video's story."""
        return plan_clip(self.seed, self.split, duration=self.seconds, style=self.style)

    def voices(self) -> list[VoicedLine]:
        """The spoken lines, empty in modes without a voice."""
        lines, free = [], 0.0
        for event in self.story().events if self.mode in (1, 3) else ():
            text = f"Now {event.rewritten}."
            end = event.start + spoken_seconds(text)
            if event.start >= free and end < self.seconds:
                lines.append(Line(event.start, end, text))
                free = end + 0.2
        return murmured(lines, self.seed)

    def sound(self) -> NDArray[np.float32]:
        """The sound track, mono float32 (seconds x 16000,)."""
        samples = story_sound(self.story())
        if self.mode in (2, 3):
            samples += melody(self.seed, len(samples))
        for voice in self.voices():
            add_at(samples, voice.samples * np.float32(0.6), voice.line.start)
        return to_sixteen_bits(samples)

    def classes(self) -> list[str]:
        """The truth by seconds; empty where two things share a second too evenly to say."""
        story = self.story()
        hushed = stream("sound", story.split, story.seed).random() < HUSHED_SHARE
        spoken = [(v.line.start, v.line.start + len(v.samples) / AUDIO_RATE) for v in self.voices()]
        made = [(event.start, event.end) for event in story.events]
        return [self._class(_shared(spoken, k), _shared(made, k), hushed) for k in range(int(self.seconds))]

    def _class(self, voice: float, event: float, hushed: bool) -> str:
        if voice:
            return "speech" if voice >= LEAST_SPOKEN else ""
        if self.mode in (2, 3):
            return "music"
        if hushed:
            return "" if event else "silence"
        return "ambient"


def _shared(spans: Sequence[tuple[float, float]], second: int) -> float:
    return sum(max(0.0, min(second + 1, end) - max(second, start)) for start, end in spans)


def draw(job: tuple[SyntheticVideo, Path]) -> None:
    """The video and, for the longer ones, its copy."""
    video, folder = job
    path = folder / f"{video.name}.mp4"
    if not path.exists():
        render = Render(video.height, video.fps)
        write_video(path, clip_frames(video.story(), render), iter([video.sound()]), render)
    if video.name.startswith("film"):
        change = plan_change(video.seed, video.name)
        render = Render(change.height, video.fps, change.crf)
        count = int(video.seconds * video.fps / change.speed)
        copy = folder / f"copy{video.name[4:]}.mp4"
        if not copy.exists():
            write_video(copy, changed_frames(path, change, count), changed_sound(path, change), render)


def plan(split: Split, seed: int, looks: int, videos: int, seconds: float) -> list[SyntheticVideo]:
    """The videos of the run: `looks` short ones and `videos` of `seconds` each."""
    first = 100_000 * (seed + 1)
    short = [
        SyntheticVideo(
            f"look{k:03d}", first + k, split, LOOK_SECONDS, STYLES[k % 4], HEIGHTS[k // 4 % 4], 8, 0
        )
        for k in range(looks)
    ]
    long = [
        SyntheticVideo(f"film{k:03d}", first + 50_000 + k, split, seconds, "live", 240, 8, k % 4)
        for k in range(videos)
    ]
    return [*short, *long]


def share(hits: Sequence[bool], videos: Sequence[str]) -> dict[str, Any]:
    """Share, n, and the 95 % interval, resampled by video."""
    from eval.metrics.intervals import cluster_interval

    found = cluster_interval([float(hit) for hit in hits], list(videos))
    if found is None:
        return {"n": 0}
    bounds = [None if bound is None else round(bound, 4) for bound in (found.low, found.high)]
    return {"share": round(found.value, 4), "n": found.n, "videos": found.clusters, "interval": bounds}


def looks_report(videos: Sequence[SyntheticVideo], library: Library, ids: dict[str, str]) -> dict[str, Any]:
    """Accuracy of tone, style and resolution."""
    tone, style, height, names = [], [], [], []
    for video in videos:
        shot = max(library.shots(ids[video.name]), key=lambda shot: shot.end - shot.start)
        tone.append(shot.tone == video.story().light)
        style.append(shot.style == STYLE_NAMES[video.style])
        height.append(library.engine.reader.video(ids[video.name]).height == video.height)
        names.append(video.name)
    return {
        "tone": share(tone, names),
        "style": share(style, names),
        "resolution": share(height, names),
        "wrong": {
            "tone": [name for name, hit in zip(names, tone, strict=True) if not hit],
            "style": [name for name, hit in zip(names, style, strict=True) if not hit],
        },
    }


def sound_report(videos: Sequence[SyntheticVideo], library: Library, ids: dict[str, str]) -> dict[str, Any]:
    """Accuracy of the audio class by second, in all and by class."""
    hits: list[bool] = []
    names: list[str] = []
    truths: list[str] = []
    unclear = 0
    for video in videos:
        track = library.sound_track(ids[video.name])
        assert track is not None
        for said, truth in zip(track.classes, video.classes(), strict=False):
            unclear += not truth
            if truth:
                hits.append(said == truth)
                names.append(video.name)
                truths.append(truth)
    by_class = {
        name: share(
            [hit for hit, truth in zip(hits, truths, strict=True) if truth == name],
            [video_name for video_name, truth in zip(names, truths, strict=True) if truth == name],
        )
        for name in sorted(set(truths))
    }
    return {"audio": share(hits, names), "audio by class": by_class, "seconds left out": unclear}


def near_duplicates_report(
    videos: Sequence[SyntheticVideo], library: Library, ids: dict[str, str]
) -> dict[str, Any]:
    """Share of known near-duplicates, and of videos with a false match."""
    names = {video_id: name for name, video_id in ids.items()}
    known, false, wrong = [], [], []
    asked = [video.name for video in videos if video.name.startswith("film")]
    for name, video_id in ids.items():
        twin = {"film": "copy", "copy": "film"}.get(name[:4], "") + name[4:]
        found = [names[like.video_id] for like in library.near_duplicates(video_id)]
        others = [other for other in found if other != twin]
        false.append(bool(others))
        wrong += [[name, other] for other in others]
        if name in asked:
            known.append(twin in found)
            wrong += [] if known[-1] else [[name, "missed"]]
    return {"copies": share(known, asked), "false matches": share(false, list(ids)), "copies wrong": wrong}


def cuts_report(split: Split, seed: int, videos: int) -> dict[str, Any]:
    """Changes of scene of videos of two and a half minutes, rendered at two frames a second, and cuts found.

    A cut is right where it is the first frame of the new scene.
    """
    from corpora.records import Frames
    from eval.workbench.long_videos import long_frames, plan_long_video
    from indexers.shots import cut_times, measure_frames

    found, names, others = [], [], 0
    for number in range(videos):
        video = plan_long_video(100_000 * (seed + 1) + number, split, 2.5, style=STYLES[number % 4])
        images = np.stack(list(long_frames(video, Render(180, 2))))
        cuts = cut_times(measure_frames(Frames(np.arange(len(images)) / 2, images)))
        truth = [part.start for part in video.parts[1:]]
        found += [any(0 <= cut - start < 0.5 for cut in cuts) for start in truth]
        names += [f"cuts{number:03d}"] * len(truth)
        others += sum(not any(0 <= cut - start < 0.5 for start in truth) for cut in cuts)
    minutes = 2.5 * videos
    return {
        "cuts": share(found, names),
        "false cuts a minute": round(others / max(minutes, 1e-9), 3),
        "minutes": minutes,
    }


def main() -> None:
    """Render, index and print the figures as JSON."""
    parser = option_parser(__doc__)
    parser.add_argument("--split", default="test")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--looks", type=int, default=48)
    parser.add_argument("--videos", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=16.0)
    parser.add_argument("--long", type=int, default=8, help="videos of several scenes, for the cuts")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="keep videos and library here")
    options = parser.parse_args()
    videos = plan(options.split, options.seed, options.looks, options.videos, options.seconds)
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)) / f"{options.split}-{options.seed}"
        (folder / "videos").mkdir(parents=True, exist_ok=True)
        with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
            pool.map(draw, [(video, folder / "videos") for video in videos], chunksize=1)
        found = measured(videos, folder) | cuts_report(options.split, options.seed, options.long)
        print(json.dumps(found, indent=1))


def measured(videos: Sequence[SyntheticVideo], folder: Path) -> dict[str, Any]:
    """Index the videos that were rendered, and compare."""
    from rag.library import Library
    from rag.settings import load_settings

    settings = load_settings()
    settings = settings.model_copy(
        update={
            "library": folder / "library",
            "encoder": settings.encoder.model_copy(update={"image": "bundled"}),
            "ocr": settings.ocr.model_copy(update={"mode": "off"}),
            "asr": settings.asr.model_copy(update={"mode": "off"}),
        }
    )
    report = Library.index([folder / "videos"], settings=settings)
    looks = [video for video in videos if video.name.startswith("look")]
    with Library.open(settings=settings) as library:
        ids = {Path(video.path).stem: video.video_id for video in library.engine.reader.videos()}
        found: dict[str, Any] = {"videos": len(ids), "problems": len(report.problems)}
        found |= looks_report(looks, library, ids) if looks else {}
        found |= sound_report([video for video in videos if video not in looks], library, ids)
        found |= near_duplicates_report(videos, library, ids)
    return found


if __name__ == "__main__":
    main()
