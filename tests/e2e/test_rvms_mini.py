"""A small `rvms-workbench-mini` from its plan to its windows: rendered, indexed, asked and scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.runs.folder import read_run_folder
from eval.runs.runner import run_solver
from eval.tasks.rvms.task import RvmsTask
from eval.tasks.web_task import SyntheticWeb
from rag.settings import Settings
from tests.fakes.small_data import render_here

SMALL = SyntheticWeb(Path(__file__).with_name("rvms_mini"))


def test_the_right_video_and_all_its_frames_lead_to_the_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One moment under every set of cues."""
    render_here(monkeypatch)
    task = RvmsTask("rvms-workbench-mini", "", tmp_path / "data", SMALL)
    prepared = task.prepare(Settings())
    for name in ("raclo", "oracle-stored"):
        run_solver(task, prepared, name, 0, tmp_path / name)
    run = read_run_folder(tmp_path / "oracle-stored")
    asked = [sample for sample in run.samples if "K" in sample.family]
    assert (len(run.samples), len(asked)) == (9, 8)
    assert all(sample.evidence["rule"] for sample in run.samples)
    # A video so short is one shot; on the event a moment by chance is right in one case of six.
    assert sum(sample.evidence["on_event"] for sample in asked) >= 6
