"""ShotFinder: its three stages, each constraint and several at once, and what failures cost."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag.agents.runtime.frame_source import FrameSource, fixed_budget
from rag.agents.runtime.trace import step_lines
from rag.agents.shotfinder.agent import find_shot, result_json, result_lines
from rag.agents.shotfinder.constraints import Constraints, read_constraint
from rag.agents.shotfinder.records import FRAME_BUDGET, MAIN, PAPER, ShotRequest, ShotRun, ShotSettings, sweep
from rag.errors import BudgetSpent, QuestionError, ReplyInvalid, UsageError
from tests.fakes.browser_world import frame_source, make_web
from tests.fakes.shotfinder_world import MeasuredLibrary, ShotReasoner, frame_source_with

NONE = Constraints()


def run(
    tmp_path: Path,
    constraints: Constraints = NONE,
    reasoner: ShotReasoner | None = None,
    settings: ShotSettings = MAIN,
    heights: dict[str, int] | None = None,
    *,
    measured: bool = True,
    description: str = "a kettle boils",
) -> ShotRun:
    web = make_web(tmp_path / "web")
    ids = [entry.content_id for entry in web.catalogue.videos]
    by_id = {entry.content_id: (heights or {}).get(entry.id, 720) for entry in web.catalogue.videos}
    stored = MeasuredLibrary(ids, by_id) if measured else None
    asked = ShotRequest(description, constraints)
    return find_shot(
        asked, web, reasoner or ShotReasoner(), frame_source_with(stored, frame_source()), settings
    )


def test_settings_are_those_of_the_paper() -> None:
    assert (MAIN.queries, MAIN.urls, MAIN.constraint_mode) == (2, 2, "exact")
    assert [*map(FRAME_BUDGET.frames, (179, 180, 599, 600, 5000))] == [64, 128, 128, 192, 192]
    assert (PAPER.constraint_mode, PAPER.look) == ("asked", "frames")
    assert sweep("queries", "3x2") == replace(PAPER, queries=3, urls=2)
    assert sweep("asked", "64") == replace(PAPER, budget=fixed_budget(64))
    assert sweep("frames", "64-128-192") == PAPER
    by_duration = sweep("frames", "16-32-64").budget
    assert [*map(by_duration.frames, (179, 180, 599, 600))] == [16, 32, 32, 64]
    for point in ("frames@many", "frames@²-1-1", "frames@16-32", "asked@0", "urls@2", "width@3x3"):
        with pytest.raises(UsageError):
            sweep(*point.split("@"))
    with pytest.raises(ValueError, match="greater than 0"):
        replace(MAIN, urls=0)


@pytest.mark.parametrize(("look", "said"), [("frames", False), ("frames and texts", True)])
def test_what_the_localizer_is_shown(tmp_path, look: str, said: bool) -> None:
    reasoner = ShotReasoner()
    settings = replace(PAPER, look=look)
    run(tmp_path, Constraints(audio="music"), reasoner, settings)
    for request in reasoner.located:
        assert request.view.times
        assert bool(request.view.title) == bool(request.view.texts) == said


def test_it_returns_the_shot_around_the_frame(tmp_path) -> None:
    found = run(tmp_path)
    assert (found.shot.start, found.shot.end, found.shot.measured) == (40.0, 50.0, True)
    assert found.shot.start <= found.shot.frame < found.shot.end
    assert found.queries == ("kettle video 7", "kettle video 6")
    assert len(found.looks) == 4  # two videos of each of two searches
    assert found.searches == 2


@pytest.mark.parametrize("mode", ["exact", "asked"])
def test_a_video_of_another_resolution_is_left_out_where_it_decides(tmp_path, mode: str) -> None:
    reasoner, heights = ShotReasoner(), {"video07": 1080}
    wanted = Constraints(color="warm", resolution=720, after="near 25")
    found = run(tmp_path, wanted, reasoner, replace(MAIN, constraint_mode=mode), heights)
    assert found.shot is not None
    (missed,) = [look for look in found.looks if look.missed == "constraint"] or [None]
    memory = reasoner.located[0].memory
    assert memory.before == "near 25"
    if mode == "asked":
        assert (missed, memory.constraint) == (None, "warm tones, 720p")
        return
    assert (missed.title, missed.reason) == ("kettle video 7", "resolution: wanted 720p, measured 1080p")
    assert memory.constraint == "warm tones"
    assert {check.kind: check.holds for check in found.shot.checks} == {
        "color": False,
        "resolution": True,
        "temporal": True,
    }
    assert len(found.looks) == 1 + 4  # it takes no other's place


def test_of_shots_found_those_that_measurements_do_not_deny_come_first(tmp_path) -> None:
    reasoner, music, heights = ShotReasoner(), Constraints(audio="music"), {"video06": 480}
    for mode, number, mark in (("exact", 6, "confirmed"), ("asked", 7, "missing")):
        settings = replace(MAIN, constraint_mode=mode)
        found = run(tmp_path / mode, music, reasoner, settings, heights)
        heard = "music" if mark == "confirmed" else "speech"
        assert found.shot.title == f"kettle video {number}"
        assert list(result_lines(found, 80))[-1] == f"  {mark}: audio: music (measured: {heard})"
    # A class of sound is in no line: lines are compared with the description.
    assert not any(request.memory.auditory_memory for request in reasoner.located)


def test_nothing_fits_is_a_legal_answer(tmp_path) -> None:
    found = run(tmp_path, description="nothing of this world")
    assert found.shot is None
    assert {look.missed for look in found.looks} == {"localizer"}
    assert list(result_lines(found, 80)) == ["N/A: no video that was looked at holds it"]
    assert (found.failure, result_json(found)["absence"]) == ("", "no video that was looked at holds it")
    none = run(tmp_path / "b", Constraints(resolution=2160))
    assert none.shot is None
    assert {look.missed for look in none.looks} == {"constraint"}
    assert none.failure == ""
    assert none.absence == "no video has the resolution; resolution: wanted 2160p, measured 720p"


def test_a_failing_web_is_distinct_from_an_empty_one(tmp_path) -> None:
    web = make_web(tmp_path / "web", **{f"video{number:02d}": "dead" for number in range(12)})
    found = find_shot(ShotRequest("a kettle"), web, ShotReasoner(), frame_source())
    assert (found.shot, found.looks, found.failure) == (None, (), "NothingFound")
    why = "no search brought a video that could be had (NothingFound)"
    assert (found.absence, list(result_lines(found, 80))) == (why, [f"N/A: {why}"])
    assert found.steps[-1].text == "N/A"


def test_who_cannot_look_finds_nothing_and_says_so_once(tmp_path) -> None:
    web = make_web(tmp_path / "web")
    stored = MeasuredLibrary([entry.content_id for entry in web.catalogue.videos])
    blind = frame_source_with(stored, FrameSource(library=None, read_frames=None))
    asked = ShotRequest("a kettle", Constraints(color="warm"))
    found = find_shot(asked, web, ShotReasoner(), blind, MAIN)
    assert (found.shot, found.failure) == (None, "NothingLookedAt")
    assert found.absence == "nothing could be looked at (NothingLookedAt): no frame can be shown"
    # Said once, whatever the number of videos.
    assert sum(step.kind == "absent" for step in found.steps) > 1
    assert not any("N/A" in line for step in found.steps[:-1] for line in step_lines(step, 80))


def test_the_shot_before_separates_two_shots(tmp_path) -> None:
    # The reasoner would name 42 s; second 25 is in the shot before that of 30 to 40 s.
    found = run(tmp_path, Constraints(after="near 25"))
    assert (found.shot.start, found.shot.end) == (30.0, 40.0)
    (check,) = found.shot.checks
    assert (check.kind, check.holds) == ("temporal", True)
    after = run(tmp_path / "b", Constraints(before="near 62"))
    assert (after.shot.start, after.shot.end) == (50.0, 60.0)


def test_constraints_can_be_ignored_or_only_asked(tmp_path) -> None:
    constraints = Constraints(color="warm", after="near 25")
    off = run(tmp_path, constraints, reasoner := ShotReasoner(), replace(MAIN, constraint_mode="off"))
    assert (off.shot.start, off.shot.checks) == (40.0, ())
    assert all(request.memory is not None and not request.memory.constraint for request in reasoner.located)
    asked = run(
        tmp_path / "b", constraints, reasoner := ShotReasoner(), replace(MAIN, constraint_mode="asked")
    )
    assert asked.shot.start == 40.0  # this reasoner ignores text
    memory = reasoner.located[0].memory
    assert (memory.constraint_kind, memory.constraint, memory.before) == ("color", "warm tones", "near 25")


def test_errors_of_the_reasoner_cost_one_step(tmp_path) -> None:
    found = run(tmp_path, reasoner=ShotReasoner(fails=("imagine_queries",), error=ReplyInvalid))
    assert found.queries == ("a kettle boils",)  # without a guess, its own words
    assert found.shot is not None
    lost = run(tmp_path / "b", reasoner=ShotReasoner(fails=("locate",), error=ReplyInvalid))
    assert (lost.shot, lost.looks, set(lost.failures)) == (None, (), {"ReplyInvalid"})
    # No reply was ever read: that is no N/A after looks.
    assert (lost.failure, list(result_lines(lost, 80))) == (
        "NothingLookedAt",
        ["N/A: nothing could be looked at (NothingLookedAt)"],
    )
    reasoner = ShotReasoner(fails=("locate",), error=BudgetSpent)
    spent = run(tmp_path / "c", reasoner=reasoner)
    assert (spent.failure, reasoner.asked.count("locate")) == ("BudgetSpent", 1)
    with pytest.raises(QuestionError):
        run(tmp_path / "d", description="...")


@pytest.mark.parametrize(
    ("kind", "text", "option", "value"),
    [
        ("color", "The overall tone is neutral to warm and natural", "color", "neutral"),
        ("style", "Real-shot. Typical of stage photography", "style", "live"),
        ("audio", "A man's voice repeats “Yeah” over music", "audio", "speech"),
        ("audio", "Upbeat electronic music", "audio", "music"),
        ("audio", "no speech, only music", "audio", "music"),
        ("color", "no warm tones, rather cold", "color", "cold"),
        ("color", "no warm and golden tones", "color", None),
        ("resolution", "1920*1080", "resolution", 1080),
        ("resolution", "8K", "resolution", 4320),
        ("temporal", "a door opens\nhe sits down", "before", "he sits down"),
    ],
)
def test_free_words_are_read(kind: str, text: str, option: str, value: object) -> None:
    found = read_constraint(kind, text)
    assert getattr(found, option) == value
