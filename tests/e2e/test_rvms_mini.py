"""A small `rvms-workbench-mini` from its plan to its windows: rendered, indexed, asked and scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.runs.folder import read_run_folder
from eval.runs.runner import run_solver
from eval.task import Prepared
from eval.tasks.rvms.task import RvmsTask
from eval.tasks.web_task import SyntheticWeb, WebEnvironment
from tests.fakes.settings import FIXED_BACKEND

SMALL = SyntheticWeb(Path(__file__).with_name("rvms_mini"))
SYSTEMS = ("raclo", "oracle-stored")


def open_small(data: Path | None = None) -> RvmsTask:
    return RvmsTask("rvms-workbench-mini", "", data, SMALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rvms")


@pytest.fixture(scope="module")
def data(place: Path) -> Prepared[WebEnvironment]:
    """With the first nine queries, one moment under every set of cues, asked of each system."""
    task = open_small(place / "data")
    prepared = task.prepare(FIXED_BACKEND)
    for name in SYSTEMS:
        run_solver(task, prepared, name, 0, place / "runs" / f"{name}-seed0", limit=9)
    return prepared


def test_the_right_video_and_all_its_frames_lead_to_the_event(
    data: Prepared[WebEnvironment], place: Path
) -> None:
    assert len(data.queries) == 18
    run = read_run_folder(place / "runs" / "oracle-stored-seed0")
    asked = [sample for sample in run.samples if "K" in sample.family]
    assert len(asked) == 8
    assert all(sample.evidence["rule"] for sample in run.samples)
    # A video so short is one shot; on the event a moment by chance is right in one case of six.
    assert sum(sample.evidence["on_event"] for sample in asked) >= 6
