"""Clips in families: what they share, how they differ and how they are asked for; and that all else stays."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.tasks.egofact.construction.build import workbench_segments, workbench_source, write_benchmark
from eval.tasks.egofact.construction.questions import Rivals, candidates_of
from eval.tasks.egofact.construction.records import MINI, BuildSettings
from eval.tasks.egofact.dataset import HARD as HARD_WORLD
from eval.workbench.catalogue import SPLITS
from eval.workbench.families import Families, plan_member
from eval.workbench.jobs import CorpusPlan, truth, video_jobs
from eval.workbench.recording import recorded_fields
from eval.workbench.renderer import FrameRenderer
from eval.workbench.seeds import stable_number
from eval.workbench.story import plan_clip
from tests.fakes.egofact_world import WordEncoder, words

HARD = replace(HARD_WORLD, plan=replace(HARD_WORLD.plan, clips=20), shape=MINI)
SHORT = Families(size=4, longest=30.0)


def stories(count: int, families: Families = SHORT, split="dev"):
    return [plan_member(3, split, number, families) for number in range(count)]


def test_a_world_without_families_keeps_its_bytes() -> None:
    """Who changes them makes all reports on the Workbench again, and then writes the new digest here."""
    digest = hashlib.sha256()
    plan = CorpusPlan(seed=7, split="test", clips=4, long_minutes=(1.0,), near_duplicates=True)
    digest.update(json.dumps(recorded_fields(plan)).encode())
    for job in (job for jobs in video_jobs(plan) for job in jobs):
        digest.update(json.dumps([truth(job), job.seconds]).encode())
    for job in video_jobs(plan)[0][:4]:
        renderer = FrameRenderer(job.clip(), 54)
        for second in range(0, 30, 3):
            digest.update(renderer.frame(second + 0.1).tobytes())
    assert digest.hexdigest()[:16] == "8bd26ca6a8d425ac"


def test_the_stories_of_every_split_keep_their_bytes() -> None:
    """They name nothing that is used in a description, share no look between splits, and hold some out."""
    digest = hashlib.sha256()
    for split in SPLITS:
        for number in range(150):
            digest.update(repr(plan_clip(stable_number(11, split, number), split)).encode())
    assert digest.hexdigest()[:16] == "a293386c1960b1dc"


@pytest.mark.slow
def test_its_benchmark_keeps_its_bytes_too(tmp_path: Path) -> None:
    jobs, _ = video_jobs(CorpusPlan(seed=7, split="test", clips=12))
    write_benchmark(
        workbench_source(workbench_segments([(job.name, job.clip()) for job in jobs], 30.0)),
        tmp_path,
        seed=5,
        shape=MINI,
        name="mini",
        split="test",
        settings=BuildSettings(visual_similarity=0.95, passage_similarity=-1.0),
        encoder=WordEncoder(),
    )
    digest = hashlib.sha256()
    for path in sorted(tmp_path.iterdir()):
        digest.update(path.read_bytes())
    assert digest.hexdigest()[:16] == "d4b6ada1ddd6ed31"


def test_one_clip_alone_fits_a_question() -> None:
    videos = [(f"v{n}.mp4", story) for n, story in enumerate(stories(24, Families(size=12)))]
    segments = workbench_source(workbench_segments(videos, 30.0), HARD.build).segments
    rivals = Rivals(segments, words(), HARD.build)
    asked = [one for clip in segments for one in candidates_of(clip, 4.0, 4)]
    clear = [one for one in asked if one.segment.described and not rivals.ambiguous(one)]
    assert 0.2 * len(asked) < len(clear) < len(asked)
    for one in clear:
        assert not any(name in one.segment.description for name in ("clock", "poster", one.segment.clip_id))
        described = {(event.act, event.patient_canonical) for event in one.segment.described}
        fitting = {
            clip.clip_id
            for clip in segments
            if described <= {(event.act, event.patient_canonical) for event in clip.events}
            for event in clip.events
            if event.act == one.target.act and event.patient_canonical != one.target.patient_canonical
            if one.anchor is None
            or (one.anchor.act, one.anchor.patient_canonical)
            in {(other.act, other.patient_canonical) for other in clip.events}
        }
        assert fitting <= {one.segment.clip_id}
