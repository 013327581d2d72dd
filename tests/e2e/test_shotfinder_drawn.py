"""A drawn web of three films, indexed and measured: the shots, their tone, and a search that heeds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eval.runs.runner import run_system
from eval.tasks.shotfinder.benchmark import ShotFinderBenchmark
from eval.tasks.shotfinder.building import build_shotfinder
from eval.tasks.shotfinder.workbench.families import MINI
from eval.workbench.video import Render

TINY = replace(
    MINI, seed=5, families={"color": 1}, sides=(0, 0, 1), shots=2, noise=0, render=Render(height=360, fps=2)
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> ShotFinderBenchmark:
    place = tmp_path_factory.mktemp("drawn")
    build_shotfinder(place, TINY, workers=1)
    return ShotFinderBenchmark("shotfinder-tiny", place, TINY)


def test_what_was_measured_is_what_was_drawn(drawn: ShotFinderBenchmark) -> None:
    coloured = [query for query in drawn.shots.values() if query.task == "color"]
    assert [query.value for query in coloured] == ["warm", "cold"]
    for query in coloured:
        shots = drawn.library.shots(query.gold.video_id)
        assert [shot.tone for shot in shots] == [query.value] * len(shots)
        (held,) = [shot for shot in shots if shot.start <= query.frame < shot.end]
        assert held.start == pytest.approx(query.gold.start, abs=0.6)
        assert held.end == pytest.approx(query.gold.end, abs=0.6)
    temporal = [query for query in drawn.shots.values() if query.task == "temporal"]
    assert len({query.description for query in temporal}) == 1
    assert len({query.constraint for query in temporal}) == 2


def test_a_search_gives_only_what_meets_the_constraint(drawn: ShotFinderBenchmark, tmp_path: Path) -> None:
    done = run_system(drawn, "shotfinder", 0, tmp_path / "once")
    assert done.asked == len(drawn.queries) == 4
    again = run_system(drawn, "shotfinder", 0, tmp_path / "again")
    assert again.right == done.right
    samples = [(tmp_path / name / "samples.jsonl").read_bytes() for name in ("once", "again")]
    assert samples[0] == samples[1]
    system = drawn.open_system("shotfinder", 0)
    for query in drawn.queries[:2]:
        shot = system.answer(query).evidence["shot"]
        assert shot is None or all(check["holds"] for check in shot["checks"])
