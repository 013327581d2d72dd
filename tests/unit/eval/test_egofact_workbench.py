"""The construction on the Workbench world's own stories and passages, before anything is rendered."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from eval.runs.records import LETTERS
from eval.tasks.egofact.construction.build import workbench_source, write_benchmark
from eval.tasks.egofact.construction.options import choose_distractors, workbench_prior
from eval.tasks.egofact.construction.questions import candidates_of
from eval.tasks.egofact.construction.records import MINI, BuildSettings
from eval.tasks.egofact.construction.sources import segments_of_stories
from eval.tasks.egofact.files import load_egofact
from eval.tasks.egofact.records import FAMILIES
from eval.workbench.catalogue import kind
from eval.workbench.story import plan_clip
from tests.fakes.egofact_world import WordEncoder, words


def _segments(first: int, count: int):
    return segments_of_stories([(f"v{n}.mp4", plan_clip(first + n, "test")) for n in range(count)], 30.0)


@pytest.mark.slow
def test_the_mini_benchmark_is_filled_from_stories(tmp_path):
    # An encoder that knows words alone finds all clips of a scene alike, and no passage near its object.
    settings = BuildSettings(visual_similarity=0.95, passage_similarity=-1.0)
    source = workbench_source(_segments(100, 30))
    report = write_benchmark(
        source,
        tmp_path,
        seed=5,
        shape=MINI,
        name="mini",
        split="test",
        settings=settings,
        encoder=WordEncoder(),
    )
    assert report.shortfalls == ()
    read = load_egofact(tmp_path)
    assert len(read.clips) == 14
    assert Counter(query.family for query in read.queries) == {f: MINI.of(f) for f in FAMILIES}
    assert len(read.passages) >= 300
    about = {passage.passage_id: passage.object for passage in read.passages}
    for query in read.queries:
        if query.family.endswith("1hop"):
            continue
        objects = {about[name] for name in query.option_passages if name}
        assert len(objects) == 3
        said = " ".join(query.options).lower()
        assert not any(f" {name} " in said for name in objects)
        assert query.passage == query.option_passages[LETTERS.index(query.answer)]


@pytest.mark.slow
def test_how_many_actions_fit_an_object_says_nothing_of_the_answer():
    """An object that more actions fit is used more often, and must not be a distractor more often for it."""
    prior, encoder, settings = workbench_prior(), words(), BuildSettings()
    right: Counter[bool] = Counter()
    shown: Counter[bool] = Counter()
    for clip in _segments(0, 100):
        for candidate in candidates_of(clip, settings.pair_seconds):
            if candidate.family.endswith("2hop"):
                continue
            rng = random.Random(repr(candidate.key))
            names = choose_distractors(candidate, prior, encoder, settings, rng)
            for name in (*names, candidate.target.patient_canonical) if names else ():
                many = len(kind(name.replace(" ", "_")).affords) > 2
                shown[many] += 1
                right[many] += name == candidate.target.patient_canonical
    assert min(shown.values()) > 1500
    assert {many: right[many] / shown[many] for many in shown} == pytest.approx(
        {True: 1 / 6, False: 1 / 6}, abs=0.025
    )
