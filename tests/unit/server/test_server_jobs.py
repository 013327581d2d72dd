"""Jobs of the server, with a small program in place of `rag` as their child process."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import rag
from rag.errors import UnreadableFile
from rag.server import jobs as jobs_module
from rag.server.app import build_app
from rag.server.jobs import Jobs
from rag.server.problems import Problem
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings, load_settings

CHILD = Path(rag.__file__).parent.parent / "tests" / "fakes" / "job_child.py"
ODD_NAME = os.fsdecode(b"caf\xe9")
KINDS = ("waits", "ignores", "odd", "bad", "breaks", "unmatched", "settings", "fine", ODD_NAME)


@pytest.fixture(autouse=True)
def child(monkeypatch) -> None:
    monkeypatch.setattr(jobs_module, "COMMAND", (sys.executable, "-S", "-E", str(CHILD)))


@pytest.fixture
def roots(tmp_path) -> Path:
    for kind in KINDS:
        (tmp_path / "root" / kind).mkdir(parents=True)
    (tmp_path / "outside" / "fine").mkdir(parents=True)
    (tmp_path / "root" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "alias").symlink_to(tmp_path / "root" / "fine")
    return tmp_path / "root"


Start = Callable[..., Jobs]


@pytest.fixture
def start(tmp_path, roots: Path) -> Iterator[Start]:
    """Makes the jobs of a server over one library; all are closed in the end."""
    made: list[Jobs] = []

    def make(settings: Settings | None = None) -> Jobs:
        settings = settings or Settings(library=tmp_path / "library")
        jobs = Jobs(settings, tmp_path / "library", [roots], lambda: None)
        made.append(jobs)
        return jobs

    yield make
    for jobs in made:
        jobs.close()


def until(jobs: Jobs, job_id: str, *states: str, holds: Callable[[Any], bool] = lambda _: True) -> Any:
    """The job, once it is in one of the states and `holds` is true of it."""
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        job = jobs.get(job_id)
        if job["state"] in states and holds(job):
            return job
        time.sleep(0.005)
    raise AssertionError(jobs.get(job_id))


def pids(folder: Path) -> list[str]:
    """The processes that index a folder."""
    found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if _last_word(path) == os.fsencode(folder)]
    return [path.parent.name for path in found]


def _last_word(path: Path) -> bytes:
    try:
        return path.read_bytes().removesuffix(b"\0").rpartition(b"\0")[2]
    except OSError:
        return b""


def under_way(jobs: Jobs, job_id: str) -> Any:
    return until(jobs, job_id, "running", holds=lambda job: (job["progress"] or {}).get("share") == 0.25)


def ended(jobs: Jobs, job_id: str) -> Any:
    return until(jobs, job_id, "done", "partial", "failed", "cancelled")


def test_what_a_job_comes_to(start: Start, roots: Path) -> None:
    jobs = start()
    ids = {
        kind: jobs.start_index(str(roots / kind))["job_id"]
        for kind in ("fine", "bad", "breaks", "unmatched", ODD_NAME)
    }
    fine, bad, breaks, unmatched, odd = (ended(jobs, job_id) for job_id in ids.values())
    assert (fine["state"], fine["result"]["indexed"], fine["progress"]["stage"]) == ("done", 2, "finish")
    assert (bad["state"], bad["problem_count"], bad["problems"][0]["reason"]) == ("partial", 1, "not a video")
    assert (breaks["state"], breaks["error"]) == ("failed", "the library is locked by process 7")
    why = "of 3 indexable files in the folder none matches --include *.mp5"
    assert (unmatched["state"], unmatched["error"]) == ("failed", why)
    assert (odd["state"], odd["folder"]) == ("done", str(roots / ODD_NAME))
    assert fine["created"] <= fine["started"] < fine["ended"] <= bad["started"], "one at a time, in order"
    assert [job["job_id"] for job in jobs.all()] == list(ids.values())[::-1]


def test_what_a_child_should_not_write_ends_its_job_alone(start: Start, roots: Path) -> None:
    jobs = start()
    odd = ended(jobs, jobs.start_index(str(roots / "odd"))["job_id"])
    assert (odd["state"], odd["result"]) == ("failed", None)
    assert ended(jobs, jobs.start_index(str(roots / "fine"))["job_id"])["state"] == "done"


def test_a_forecast_does_not_wait_for_what_is_being_indexed(start: Start, roots: Path) -> None:
    jobs = start()
    writing = jobs.start_index(str(roots / "waits"))["job_id"]
    forecast = ended(jobs, jobs.start_index(str(roots / "fine"), dry_run=True)["job_id"])
    assert (forecast["state"], forecast["forecast"]["new_files"]) == ("done", 2)
    assert jobs.get(writing)["state"] == "running"


def test_cancel_ends_the_child_and_the_next_job_starts(start: Start, roots: Path) -> None:
    jobs = start()
    first = jobs.start_index(str(roots / "waits"))["job_id"]
    second = jobs.start_index(str(roots / "fine"))["job_id"]
    third = jobs.start_index(str(roots / "fine"))["job_id"]
    under_way(jobs, first)
    assert len(pids(roots / "waits")) == 1
    assert jobs.cancel(third)["state"] == "cancelled"
    assert jobs.get(second)["state"] == "queued"
    assert jobs.cancel(first)["state"] == "cancelling"
    assert ended(jobs, first)["state"] == "cancelled"
    assert pids(roots / "waits") == []
    assert ended(jobs, second)["state"] == "done"
    assert jobs.cancel(second)["state"] == "done"
    assert jobs.get(third)["state"] == "cancelled"


def test_a_server_that_stops_ends_the_child(start: Start, roots: Path) -> None:
    jobs = start()
    for kind in ("ignores", "fine"):
        jobs.start_index(str(roots / kind))
    job_id = jobs.all()[-1]["job_id"]
    under_way(jobs, job_id)
    began = time.monotonic()
    jobs.close()
    assert time.monotonic() - began < 3
    assert [job["state"] for job in jobs.all()] == ["queued", "cancelled"]
    assert pids(roots / "ignores") == []
    with pytest.raises(Problem, match="shutting down"):
        jobs.start_index(str(roots / "fine"))


def test_what_was_queued_is_refused_once_its_root_is_not_allowed(start: Start, roots: Path) -> None:
    jobs = start()
    first = jobs.start_index(str(roots / "waits"))["job_id"]
    second = jobs.start_index(str(roots / "fine"))["job_id"]
    (roots / "fine").rmdir()
    (roots / "fine").symlink_to("/etc")
    jobs.cancel(first)
    assert "not allowed" in ended(jobs, second)["error"]


def test_only_what_is_below_a_root_is_indexed(start: Start, roots: Path, tmp_path) -> None:
    jobs = start()
    outside = [
        tmp_path / "outside",
        roots / ".." / "outside",
        roots / "out",
        roots / "out" / "fine",
        tmp_path,
    ]
    for folder in [*map(str, outside), f"{roots}2", "root/fine", "", "\0", "\ud800", "/etc"]:
        with pytest.raises(Problem) as caught:
            jobs.start_index(folder)
        assert (caught.value.status, caught.value.kind) == (403, "folder-not-allowed")
    assert jobs.start_index(str(roots / "alias"))["folder"] == str(roots / "fine")
    with pytest.raises(UnreadableFile):
        jobs.start_index(str(roots / "nothing"))


def test_a_relative_path_is_refused_with_what_to_give(start: Start) -> None:
    with pytest.raises(Problem, match="root/fine: give an absolute path, below a folder that"):
        start().start_index("root/fine")


def test_the_queue_has_an_end(start: Start, roots: Path, monkeypatch) -> None:
    monkeypatch.setattr("rag.server.jobs.MOST_WAITING", 2)
    jobs = start()
    first = jobs.start_index(str(roots / "waits"))["job_id"]
    under_way(jobs, first)
    queued = [jobs.start_index(str(roots / "fine"))["job_id"] for _ in range(2)]
    with pytest.raises(Problem, match="2 jobs are waiting") as caught:
        jobs.start_index(str(roots / "fine"))
    assert (caught.value.status, caught.value.kind) == (429, "too-many-jobs")
    jobs.cancel(queued[0])
    assert jobs.start_index(str(roots / "fine"))["state"] == "queued"
    jobs.cancel(first)


def test_the_child_has_the_settings_of_the_server(start: Start, roots: Path, monkeypatch) -> None:
    monkeypatch.setenv("RAG_VIDEO__RATE", "1.5")
    monkeypatch.setenv("RAG_REASONER__API_KEY", "secret")
    settings = load_settings(flags={"library": roots / "library"})
    jobs = start(settings)
    job = ended(jobs, jobs.start_index(str(roots / "settings"))["job_id"])
    monkeypatch.delenv("RAG_VIDEO__RATE")
    monkeypatch.delenv("RAG_REASONER__API_KEY")
    for name, value in job["result"]["environment"].items():
        monkeypatch.setenv(name, value)
    child = load_settings(flags={"library": roots / "library"})
    assert child.scan.within == (str(roots),)
    assert child.model_copy(update={"scan": settings.scan}).model_dump() == settings.model_dump()
    assert child.reasoner.api_key.get_secret_value() == "secret"


@pytest.fixture
def client(tmp_path, roots: Path) -> Iterator[TestClient]:
    settings = Settings(library=tmp_path / "library")
    session = LibrarySession(settings)
    service = Service(settings, session, tmp_path / "cache", index_roots=(roots,))
    with TestClient(build_app(service), base_url="http://127.0.0.1:8650") as client:
        yield client


def test_jobs_over_http(client: TestClient, roots: Path) -> None:
    assert client.get("/v1/jobs").json() == {"schema": "rag.jobs/1", "jobs": [], "roots": [str(roots)]}
    body = {"kind": "index", "folder": str(roots / "bad")}
    made = client.post("/v1/jobs", json=body)
    address = made.headers["location"]
    assert (made.status_code, address) == (202, f"/v1/jobs/{made.json()['job_id']}")
    app: Any = client.app
    ended(app.state.service.jobs, made.json()["job_id"])
    problem = {"path": "/x/\udce9.mp4", "reason": "not a video", "action": "skipped"}
    assert client.get(address).json()["problems"] == [problem]
    assert client.delete(address).json()["state"] == "partial"
