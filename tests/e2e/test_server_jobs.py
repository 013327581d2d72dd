"""Jobs whose child process is the real command: an index, its forecast, and an agent over the library."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from rag._cli.serve import describe_agents
from rag.server.jobs import Jobs
from rag.server.session import LibrarySession
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


@pytest.mark.slow
def test_a_folder_is_forecast_indexed_and_asked_by_an_agent(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write_video(root / "lamp.mp4", 6, subtitles=[(1, 3, "Switch the lamp on.")])
    (root / "odd.mp4").write_text("no video")
    (tmp_path / "secret.txt").write_text("A secret.")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    settings = Settings(library=tmp_path / "library")
    session = LibrarySession(settings)
    changes: list[str] = []
    jobs = Jobs(
        settings,
        session.folder,
        [root],
        describe_agents,
        lambda: changes.append(session.version),
        tmp_path / "state",
    )
    try:
        forecast = jobs.start_index(str(root), dry_run=True)["job_id"]
        index = jobs.start_index(str(root))["job_id"]
        assert _ended(jobs, forecast)["forecast"]["new_files"] == 1
        job = _ended(jobs, index)
        assert (job["state"], job["result"]["indexed"], job["error"]) == ("partial", 1, None)
        assert sorted(Path(problem["path"]).name for problem in job["problems"]) == ["link.txt", "odd.mp4"]
        assert job["progress"]["media_seconds_done"] == job["progress"]["media_seconds_total"] > 5
        with session.lease() as library:
            [video] = library.videos().values()
        assert changes == [session.version]
        arguments = {"video": video.video_id, "question": "What is switched on?", "option": ["lamp", "fan"]}
        seen = _ended(jobs, jobs.start_agent("video-detective", arguments)["job_id"])
        assert (seen["state"], seen["error"]) == ("done", None)
        assert [seen["steps"][0]["step"], seen["steps"][-1]["step"]] == ["plan", "show"]
        assert seen["result"]["answer"]["choice"] == "A"
    finally:
        jobs.close()
