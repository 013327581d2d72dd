"""Clips in families: what they share, how they differ and how they are asked for; and that all else stays."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.tasks.egofact.construction.build import workbench_source, write_benchmark
from eval.tasks.egofact.construction.questions import TEMPLATES, Rivals, candidates_of, question_text
from eval.tasks.egofact.construction.records import MINI, BuildSettings
from eval.tasks.egofact.construction.sources import segments_of_stories
from eval.tasks.egofact.dataset import HARD as HARD_WORLD
from eval.workbench.catalogue import ACTIONS, KINDS, place_name, predicate
from eval.workbench.families import Families, plan_member
from eval.workbench.jobs import CorpusPlan, truth, video_jobs
from eval.workbench.passages import twin_passages, world_passages
from eval.workbench.recording import recorded_fields
from eval.workbench.renderer import FrameRenderer
from rag.clauses import clauses
from rag.reasoners.embedded.question_forms import parts
from rag.reasoners.embedded.rewriting import anchor_event
from rag.records import Question
from tests.fakes.egofact_world import WordEncoder, words

HARD = replace(HARD_WORLD, clips=20, shape=MINI)
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


@pytest.mark.slow
def test_its_benchmark_keeps_its_bytes_too(tmp_path: Path) -> None:
    jobs, _ = video_jobs(CorpusPlan(seed=7, split="test", clips=12))
    write_benchmark(
        workbench_source(segments_of_stories([(job.name, job.clip()) for job in jobs], 30.0)),
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
    assert digest.hexdigest()[:16] == "ac3d0d9a8e9eb6a2"


def test_clips_of_a_family_share_their_stage_and_differ_in_what_is_done() -> None:
    found = stories(8)
    stages = [(s.scene, s.light, s.props, s.clutter, s.others, s.person, s.wall, s.stage) for s in found]
    assert stages[:4] == [stages[0]] * 4
    assert stages[4:] == [stages[4]] * 4
    assert stages[0] != stages[4]
    done = [{(e.agent, e.action_id, e.place, e.kind_id) for e in story.events} for story in found]
    assert len({frozenset(events) for events in done}) == 8
    shared = [len(one & other) for one in done[:4] for other in done[:4] if one is not other]
    assert max(shared) >= 2
    assert {e.agent for story in found for e in story.events} == {"camera wearer", "woman", "man"}
    assert found == stories(8)


def test_events_have_two_wordings_that_training_never_had() -> None:
    aliases = {kind.kind_id: kind.aliases for kind in KINDS}
    phrases = {what.action_id: what.phrases["dev"] for what in ACTIONS}
    for event in (event for story in stories(4) for event in story.events):
        assert event.paraphrase != event.rewritten
        nouns = {event.patient_canonical, aliases[event.kind_id]["dev"]}
        assert event.patient in nouns
        (other,) = nouns - {event.patient}
        assert f"the {other}" in event.paraphrase
        place = place_name(event.place) if event.place else None
        said = {f"the {event.agent} {predicate(p, 'X', place)}" for p in phrases[event.action_id]}
        assert {
            event.rewritten.replace(f"the {event.patient}", "X"),
            event.paraphrase.replace(f"the {other}", "X"),
        } == said


def test_a_person_hides_a_part_of_the_work_and_the_camera_blurs() -> None:
    story = next(story for story in stories(12) if story.disturbance and story.disturbance.passers)
    assert story.disturbance is not None
    passer = story.disturbance.passers[0]
    middle = (passer.start + passer.end) / 2
    calm = replace(story.disturbance, shake=0.0, shutter=0.0, unfocused=(), passers=())

    def frame(**changes):
        disturbed = replace(story, disturbance=replace(calm, **changes))
        return FrameRenderer(disturbed, 72).frame(middle).astype(int)

    clear = frame()
    hidden = np.abs(frame(passers=(passer,)) - clear).sum(axis=2) > 30
    assert 0.05 < hidden.mean() < 0.6
    blurred = frame(unfocused=((0.0, story.duration),))
    assert np.abs(np.diff(blurred, axis=1)).mean() < 0.7 * np.abs(np.diff(clear, axis=1)).mean()
    assert (frame(shake=0.03) != clear).any()


def test_a_twin_states_what_is_false_of_the_other_object() -> None:
    found = twin_passages()
    assert len({one.passage_id for one in found}) == len(found) > 1.5 * len(world_passages())
    stated: dict[tuple[str, str], set[str]] = {}
    for one in found:
        for statement in one.statements:
            stated.setdefault((one.activity, statement.fact), set()).add(one.about.name)
    for one in found:
        for statement in one.statements if one.kind_id else ():
            if len(statement.counterfacts) == 1:
                about = stated[one.activity, statement.counterfacts[0]]
                assert about
                assert one.about.name not in about
    alone = [one for one in found if one.kind_id and len(one.statements[0].counterfacts) > 1]
    assert len(alone) < 0.1 * len(found)


def test_each_form_of_a_question_is_taken_apart_again() -> None:
    (story, *_) = stories(1)
    (clip,) = segments_of_stories([("a.mp4", story)], 30.0)
    target, anchor = clip.events[:2]
    for template in TEMPLATES:
        shown = "desk work where the man waves and the woman nods"
        text = question_text(shown, target, anchor, "before", 1, template)
        assert text is not None
        assert parts(text).scene == "desk work where the man waves and the woman nods"
        assert clauses(parts(text).scene) == ["desk work", "the man waves", "the woman nods"]
        event = anchor_event(Question("q", text))
        assert (event.description, event.position) == (anchor.rewritten, "before")
        assert "something" in event.target


def test_one_clip_alone_fits_a_question() -> None:
    videos = [(f"v{n}.mp4", story) for n, story in enumerate(stories(24, Families(size=12)))]
    segments = workbench_source(segments_of_stories(videos, 30.0), HARD.build).segments
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
