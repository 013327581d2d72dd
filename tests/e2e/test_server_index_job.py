"""A job whose child process is the real command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rag.server.jobs import Jobs
from rag.settings import Settings
from tests.fakes.synthetic import write_video


def _ended(jobs: Jobs, job_id: str) -> Any:
    limit = time.monotonic() + 300
    while time.monotonic() < limit:
        job = jobs.get(job_id)
        if job["ended"] is not None:
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_a_folder_is_forecast_by_a_child_process(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write_video(root / "lamp.mp4", 6, subtitles=[(1, 3, "Switch the lamp on.")])
    (root / "odd.mp4").write_text("no video")
    (tmp_path / "secret.txt").write_text("A secret.")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    off = {"mode": "off"}
    settings = Settings.model_validate({"library": tmp_path / "library", "ocr": off, "asr": off})
    jobs = Jobs(settings, tmp_path / "library", [root], tuple, lambda: None)
    try:
        job = _ended(jobs, jobs.start_index(str(root), dry_run=True)["job_id"])
    finally:
        jobs.close()
    assert (job["state"], job["error"], job["forecast"]["new_files"]) == ("done", None, 1)
    assert [Path(problem["path"]).name for problem in job["problems"]] == ["link.txt", "odd.mp4"]
    assert "speech: off" in str(job["result"]["stages"])
