"""`rvms-workbench` on disk: a web, and queries by memory made from the plan of its films.

web/               as `eval.workbench.web_files` writes it
samples.jsonl      every moment under all nine cue sets
manifest.json      arguments and hashes; written last
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.outputs import atomic_write_text
from eval.tasks.browsecomp.files import file_hash
from eval.tasks.query_templates import (
    Fuzz,
    QueryText,
    beside,
    heard,
    impression,
    moment,
)
from eval.tasks.rvms.records import (
    TASKS,
    RvmsSample,
    Shown,
    group_of,
)
from eval.tasks.rvms.target_insertion import Remembered, RvmsShape, plan_uploads
from eval.workbench.long_videos import LongVideo, Part
from eval.workbench.seeds import stream
from eval.workbench.story import Event
from eval.workbench.video import Render
from rag.agents.raclo.records import only_cues
from rag.errors import RagError, UsageError
from rag.reasoners.roles import Memory
from rag.web.catalogue import Catalogue, read_catalogue

if TYPE_CHECKING:
    from eval.workbench.corpus import Progress

MANIFEST, SAMPLES = "manifest.json", "samples.jsonl"
SHORT = (0.5, 0.75, 0.5, 1.0)
FULL = RvmsShape(
    seed=23,
    split="test",
    minutes=(1.0, 1.75, 2.25, 2.75, 4.0, 5.0, 7.0, 9.0, 11.0, 14.0, 18.0, 24.0, 31.0, 38.0, 47.0, 60.0),
    copies=(1, 3, 5, 8, 10),
    mirrors=(2, 6, 9, 13),
    others=(*SHORT * 6, 3.5, 5.0, 7.0),
)
MINI = RvmsShape(
    seed=5,
    split="dev",
    minutes=(0.75, 1.5),
    moments=1,
    copies=(0,),
    mirrors=(1,),
    others=(0.5,),
    closed=0.0,
    noise=2,
    short=Render(360, 2),
    other=Render(360, 2),
)
NEIGHBOUR = 12.0
"""Seconds between a moment and what went on before or after it, at most."""


@dataclass(frozen=True, slots=True)
class _Moment:
    part: Part
    before: Event
    event: Event
    after: Event


def build_rvms(folder: Path, shape: RvmsShape, *, workers: int = 2, progress: Progress | None = None) -> None:
    """Draw the web and write the queries. Killed, the same call goes on. Raises `UsageError`, `RagError`."""
    from eval.workbench.corpus import check_data_folder
    from eval.workbench.web_files import make_web

    known, others = plan_uploads(shape)
    doubles = [double for video in known for double in video.doubles]
    planted = [*(video.upload for video in known), *doubles, *others]
    place = folder / "web"
    check_data_folder(folder, "web")
    make_web(place, shape.web, inserted=planted, workers=workers, progress=progress)
    catalogue = read_catalogue(place)
    samples = [_with_contents(sample, catalogue) for sample in draft(known, shape)]
    told = _told_in_metadata(samples, catalogue)
    if told:
        raise RagError(f"{folder}: the metadata of a video repeat a cue of {told[0]}")
    lines = (json.dumps(asdict(sample), ensure_ascii=True) + "\n" for sample in samples)
    atomic_write_text(folder / SAMPLES, "".join(lines))
    manifest = {
        "benchmark": "rvms-workbench",
        "shape": asdict(shape),
        "films": len(known),
        "samples": len(samples),
        "hashes": {name: file_hash(folder / name) for name in (SAMPLES, "web/web.jsonl", "web/pages.jsonl")},
    }
    atomic_write_text(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")


def read_samples(path: Path) -> list[RvmsSample]:
    """Raises `UsageError`, with the line, for a file that is not there or not in order."""
    from pydantic import TypeAdapter, ValidationError

    adapter, found = TypeAdapter(RvmsSample), []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        try:
            found.append(adapter.validate_json(line))
        except ValidationError as error:
            raise UsageError(f"{path}:{number}: no query by memory: {error.errors()[0]['msg']}") from error
    return found


def draft(known: Sequence[Remembered], shape: RvmsShape, fuzz: Fuzz | None = None) -> Iterator[RvmsSample]:
    """Every moment under all nine cue sets, which share their words."""
    for video in known:
        rng = stream("rvms moments", shape.seed, shape.split, video.number)
        topic = _topic(video.video)
        for number, found in enumerate(_moments(rng, video.video, shape.moments), start=1):
            name = f"m{video.number:02d}-{number}"
            yield from _samples(rng, video, name, topic, found, fuzz or Fuzz())


def _samples(
    rng: random.Random,
    video: Remembered,
    name: str,
    topic: str,
    found: _Moment,
    fuzz: Fuzz,
) -> Iterator[RvmsSample]:
    part, story = found.part, found.part.story
    words: dict[str, QueryText] = {
        "G": impression(rng, video.video, fuzz, theme=video.theme),
        "K": moment(rng, found.event, story, fuzz),
        "before": beside(rng, found.before, story, "before", fuzz),
        "after": beside(rng, found.after, story, "after", fuzz),
        "A": heard(rng, video.video, part, found.event, fuzz),
    }
    memory = Memory(
        global_impression=words["G"].text,
        key_moment=words["K"].text,
        before=words["before"].text,
        after=words["after"].text,
        auditory_memory=words["A"].text,
    )
    event, at = found.event, part.start
    seen = (event.seen_from + event.seen_until) / 2
    uploads = [video.upload, *video.doubles]
    for task in TASKS:
        kept = [cue for cue in words if cue in task or ("T" in task and cue in ("before", "after"))]
        yield RvmsSample(
            sample_id=f"{name}-{task}",
            moment_id=name,
            task=task,
            memory=only_cues(memory, task),
            url=video.upload.url,
            topic=topic,
            group=group_of(video.video.duration),
            duration=video.video.duration,
            key_time=round(at + seen, 3),
            shot=(part.start, part.end),
            event=(round(at + event.start, 3), round(at + event.end, 3)),
            uploads=tuple(Shown(upload.url, "", video.speed_of(upload)) for upload in uploads),
            changes=tuple(f"{cue}: {change}" for cue in kept for change in words[cue].changes),
        )


def _moments(rng: random.Random, video: LongVideo, count: int) -> list[_Moment]:
    """One out of each of `count` equal shares of the film, with neighbours in its own scene.

    What is done to what happens once in the film, and so do its neighbours' deeds differ from it.
    """
    deeds: dict[tuple[str, str, str | None], int] = {}
    for part in video.parts:
        for event in part.story.events:
            deeds[_action(event)] = deeds.get(_action(event), 0) + 1
    possible = list(_possible(video))
    found: list[_Moment] = []
    for share in range(count):
        low, high = video.duration * share / count, video.duration * (share + 1) / count
        left = [one for one in possible if one not in found]
        inside = [one for one in left if low <= one.part.start + one.event.start < high]
        fit = inside or left
        alone = [one for one in fit if deeds[_action(one.event)] == 1]
        if fit:
            found.append(rng.choice(alone or fit))
    return sorted(found, key=lambda one: one.part.start + one.event.start)


def _possible(video: LongVideo) -> Iterator[_Moment]:
    for part in video.parts:
        events = part.story.events
        for before, event, after in zip(events, events[1:], events[2:], strict=False):
            if event.start - before.end <= NEIGHBOUR and after.start - event.end <= NEIGHBOUR:
                yield _Moment(part, before, event, after)


def _action(event: Event) -> tuple[str, str, str | None]:
    return event.action_id, event.kind_id, event.place


def _topic(video: LongVideo) -> str:
    """The scene that most of the film plays in."""
    seconds: dict[str, float] = {}
    for part in video.parts:
        seconds[part.story.scene] = seconds.get(part.story.scene, 0.0) + part.story.duration
    return max(sorted(seconds), key=lambda scene: seconds[scene])


def _with_contents(sample: RvmsSample, catalogue: Catalogue) -> RvmsSample:
    by_url = {entry.url: entry for entry in catalogue.videos}
    uploads = tuple(replace(shown, video_id=by_url[shown.url].content_id) for shown in sample.uploads)
    return replace(sample, uploads=uploads)


def _told_in_metadata(samples: Sequence[RvmsSample], catalogue: Catalogue) -> list[str]:
    """Samples of which a cue stands in some video's metadata as it is."""
    told = "\n".join(entry.text.casefold() for entry in catalogue.videos)
    found = []
    for sample in samples:
        memory = sample.memory
        cues = (
            memory.global_impression,
            memory.key_moment,
            memory.before,
            memory.after,
            memory.auditory_memory,
        )
        if any(cue and cue.casefold().rstrip(".") in told for cue in cues):
            found.append(sample.sample_id)
    return found
