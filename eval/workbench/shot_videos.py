"""Short videos of several shots each, in which one thing can be changed and all else stays.

A video is made of stories of a few seconds, one after the other, with a cut between. Two videos of the
same stories may differ in their light, their style, their sound or their size alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from eval.workbench.catalogue import Split, scene
from eval.workbench.long_videos import LongVideo, Part
from eval.workbench.pen import Style
from eval.workbench.seeds import stable_number
from eval.workbench.sound import add_at, ambience, event_sound, melody, murmured, to_sixteen_bits
from eval.workbench.story import ClipStory, plan_clip
from eval.workbench.video import AUDIO_RATE, Line

if TYPE_CHECKING:
    from numpy.typing import NDArray

AudioKind = Literal["speech", "music", "ambient"]
GAINS: dict[AudioKind, tuple[float, float]] = {
    "speech": (0.3, 0.15),
    "music": (0.3, 0.15),
    "ambient": (2.0, 0.5),
}
"""The levels of the scene's own noise, and of what is done in it, under each sound."""
MUSIC = 3.0
SHOT_SECONDS = 4.0


def shot_video(seeds: tuple[int, ...], split: Split, style: Style, light: str) -> LongVideo:
    """A story with a single event for each seed, one after the other; no words and no cards.

    `light`: of all of them; empty: each has its own.
    """
    stories = [plan_clip(seed, split, duration=SHOT_SECONDS, style=style) for seed in seeds]
    stories = [_lit(story, light) if light else story for story in stories]
    headings = [scene(story.scene).phrases[split][0] for story in stories]
    parts = tuple(
        Part(at * SHOT_SECONDS, story, heading[0].upper() + heading[1:])
        for at, (story, heading) in enumerate(zip(stories, headings, strict=True))
    )
    return LongVideo(
        seed=stable_number("shot film", split, *seeds),
        split=split,
        title=parts[0].heading,
        description="",
        tags=(),
        parts=parts,
        lines=(),
        cards=(),
    )


def _lit(story: ClipStory, light: str) -> ClipStory:
    description = story.description.removesuffix(f"{story.light} light") + f"{light} light"
    return replace(story, light=light, description=description)


def shot_sound(video: LongVideo, audio: AudioKind) -> Iterator[NDArray[np.float32]]:
    """Blocks of mono float32 (n,) at 16 kHz, one a shot."""
    around, done = GAINS[audio]
    for part in video.parts:
        story = part.story
        samples = ambience(story) * np.float32(around)
        for event in story.events:
            add_at(samples, event_sound(event, story.seed) * np.float32(done), event.start)
        offset = round(part.start * AUDIO_RATE)
        if audio == "music":
            samples += melody(video.seed, len(samples), offset=offset) * np.float32(MUSIC)
        elif audio == "speech":
            said = " ".join(event.rewritten for event in story.events)
            line = Line(0.1, story.duration - 0.1, f"{part.heading} and now {said} and so it goes on")
            add_at(samples, murmured(line, video.seed), line.start)
        yield to_sixteen_bits(samples)
