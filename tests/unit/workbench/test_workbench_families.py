"""Clips in families: what they share, how they differ and how they are asked for; and that all else stays."""

from __future__ import annotations

import hashlib
import json

from eval.workbench.catalogue import SPLITS
from eval.workbench.jobs import CorpusPlan, truth, video_jobs
from eval.workbench.renderer import FrameRenderer
from eval.workbench.seeds import stable_number
from eval.workbench.story import plan_clip


def test_a_world_without_families_keeps_its_bytes() -> None:
    """Who changes them makes all reports on the Workbench again, and then writes the new digest here."""
    digest = hashlib.sha256()
    plan = CorpusPlan(seed=7, split="test", clips=4, long_minutes=(1.0,))
    for job in video_jobs(plan):
        digest.update(json.dumps([truth(job), job.seconds]).encode())
    for job in video_jobs(plan)[:4]:
        renderer = FrameRenderer(job.clip(), 54)
        for second in range(0, 30, 3):
            digest.update(renderer.frame(second + 0.1).tobytes())
    assert digest.hexdigest()[:16] == "e17b812f3e66c440"


def test_the_stories_of_every_split_keep_their_bytes() -> None:
    """They name nothing that is used in a description, and share no look between splits."""
    digest = hashlib.sha256()
    for split in SPLITS:
        for number in range(150):
            digest.update(repr(plan_clip(stable_number(11, split, number), split)).encode())
    assert digest.hexdigest()[:16] == "9584878195641563"
