"""One library behind many threads: renewed when it changes, closed after its last reader."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from rag.errors import LibraryCorrupt, LibraryNotFound
from rag.library import Library
from rag.server.app import build_app
from rag.server.openai import streamed
from rag.server.problems import Problem
from rag.server.service import Service
from rag.server.session import LOOK_SECONDS, RENEW_SECONDS, LibrarySession
from rag.settings import Settings
from tests.fakes.served_library import KETTLE, LAMP, write_library

THREADS = 40
"""That AnyIO has for routes that are not async."""


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def session(tmp_path) -> LibrarySession:
    clock = Clock()
    session = LibrarySession(Settings(library=tmp_path / "library"), clock=clock)
    session.clock = clock
    return session


def _add(session: LibrarySession, name: str) -> None:
    write_library(session.folder, [(name, session.folder.parent / f"{name}.mp4", LAMP)])


def _ids(library: Any) -> set[str]:
    return {video.video_id for video in library.engine.reader.videos()}


def test_a_library_that_is_made_later_is_found(session: LibrarySession) -> None:
    with pytest.raises(LibraryNotFound), session.lease():
        pass
    facts, failure = session.look()
    assert facts is None
    assert isinstance(failure, LibraryNotFound)
    _add(session, "a")
    with session.lease() as library:
        assert _ids(library) == {"a"}
        facts, failure = session.look()
        assert failure is None
        assert (facts["library_id"], facts["videos"], facts["documents"]) == (library.library_id, 1, 1)
        assert facts["video_hours"] == round(6 / 3600, 6)


def test_a_change_is_taken_up_and_the_reader_of_the_old_state_is_undisturbed(session: LibrarySession) -> None:
    _add(session, "a")
    with session.lease() as old:
        vars(old.engine)["tower"] = "the model"
        _add(session, "b")
        with session.lease() as same:
            assert same is old
        session.clock.now += RENEW_SECONDS + LOOK_SECONDS
        with session.lease() as new:
            assert (_ids(new), _ids(old)) == ({"a", "b"}, {"a"})
            assert new.engine.tower == "the model"
    with session.lease() as again:
        assert again is new
    session.close()


class Gate:
    """Replaces a method of `Library` by one that waits for `released` first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.reached, self.released = threading.Event(), threading.Event()
        real = getattr(Library, name)

        def wait(*given: Any, **named: Any) -> Library:
            self.reached.set()
            assert self.released.wait(30)
            return real(*given, **named)

        monkeypatch.setattr(Library, name, wait)


def _leased(session: LibrarySession) -> set[str]:
    with session.lease() as library:
        return _ids(library)


def test_health_is_answered_while_every_thread_waits_for_the_library(service: Service, monkeypatch) -> None:
    entered, released = threading.Semaphore(0), threading.Event()

    def wait() -> Any:
        entered.release()
        assert released.wait(30)
        raise LibraryNotFound("none yet")

    monkeypatch.setattr(service, "library", wait)
    app = build_app(service)
    with TestClient(app, base_url="http://127.0.0.1:8650") as client, ThreadPoolExecutor(THREADS + 2) as pool:
        waiting = [pool.submit(client.get, "/v1/stats") for _ in range(THREADS + 1)]
        try:
            assert all(entered.acquire(timeout=30) for _ in range(THREADS))
            assert pool.submit(client.get, "/v1/health").result(10).status_code == 200
        finally:
            released.set()
        assert {answer.result(30).status_code for answer in waiting} == {409}


def test_while_one_opens_a_new_state_the_others_use_the_old_one(session: LibrarySession, monkeypatch) -> None:
    _add(session, "a")
    assert _leased(session) == {"a"}
    before = session.look()
    _add(session, "b")
    gate = Gate(monkeypatch, "reopen")
    session.clock.now += RENEW_SECONDS + LOOK_SECONDS
    with ThreadPoolExecutor(1) as pool:
        assert session.look() == before
        assert gate.reached.wait(30)
        assert _leased(session) == {"a"}
        refreshed = pool.submit(session.refresh)
        assert session.look() == before
        gate.released.set()
        refreshed.result(30)
    assert _leased(session) == {"a", "b"}
    facts, _ = session.look()
    assert facts["version"] != before[0]["version"]


def test_a_library_that_is_deleted_is_reported(session: LibrarySession) -> None:
    _add(session, "a")
    assert _leased(session) == {"a"}
    shutil.rmtree(session.folder)
    session.refresh()
    assert session.look()[0] is None
    with pytest.raises(LibraryNotFound), session.lease():
        pass


def test_the_old_state_is_closed_after_its_last_reader(session: LibrarySession, monkeypatch) -> None:
    closed: list[Any] = []
    monkeypatch.setattr(Library, "close", lambda self: closed.append(self))
    _add(session, "a")
    with session.lease() as old, session.lease():
        _add(session, "b")
        session.refresh()
        with session.lease() as new:
            pass
        assert closed == []
    assert closed == [old]
    with session.lease():
        session.close()
        assert closed == [old]
    assert closed == [old, new]


def test_the_old_state_is_kept_while_the_new_one_does_not_open(
    session: LibrarySession, monkeypatch, caplog
) -> None:
    def fail(_: Library) -> Library:
        raise LibraryCorrupt("a table is cut off")

    _add(session, "a")
    with session.lease() as old:
        pass
    _add(session, "b")
    with monkeypatch.context() as failing:
        failing.setattr(Library, "reopen", fail)
        for _ in range(2):
            session.refresh()
            with session.lease() as same:
                assert same is old
                assert _ids(same) == {"a"}
    assert len([record for record in caplog.records if "cut off" in record.message]) == 1
    session.refresh()
    with session.lease() as new:
        assert _ids(new) == {"a", "b"}
    session.close()


@pytest.fixture
def service(session: LibrarySession, tmp_path) -> Service:
    write_library(session.folder, [("k", tmp_path / "k.mp4", KETTLE)])
    return Service(Settings(library=session.folder), session, tmp_path / "cache", models="ready")


class Request:
    """A client that goes when `gone` is set."""

    def __init__(self) -> None:
        self.gone = anyio.Event()

    async def receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


def test_questions_compute_one_at_a_time(service: Service) -> None:
    at_work: list[int] = []
    most: list[int] = []

    def work(_: Any) -> int:
        at_work.append(1)
        most.append(len(at_work))
        threading.Event().wait(0.01)
        at_work.pop()
        return len(most)

    async def ask() -> list[int]:
        results: list[int] = []

        async def one() -> None:
            results.append(await service.compute(Request(), work))

        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(one)
        return results

    assert sorted(anyio.run(ask)) == [1, 2, 3, 4, 5, 6]
    assert most == [1] * 6


def test_a_question_whose_client_goes_is_given_up_and_frees_the_turn(service: Service) -> None:
    begun, release = threading.Event(), threading.Event()

    def slow(_: Any) -> None:
        begun.set()
        release.wait(30)

    async def ask() -> str:
        request = Request()
        async with anyio.create_task_group() as group:

            async def one() -> None:
                with pytest.raises(Problem, match="given up"):
                    await service.compute(request, slow)

            group.start_soon(one)
            await anyio.to_thread.run_sync(begun.wait)
            request.gone.set()
        release.set()
        return await service.compute(Request(), lambda _: "next")

    assert anyio.run(ask) == "next"


def test_no_question_begins_once_the_server_stops(service: Service) -> None:
    service.stop()
    with pytest.raises(Problem, match="given up"):
        anyio.run(service.compute, Request(), lambda _: pytest.fail("it began"))


def test_a_stream_ends_with_the_server(service: Service) -> None:
    async def run() -> list[str]:
        sent = []
        with anyio.fail_after(20):
            async for event in streamed(service, lambda _: pytest.fail("it began"), None, False):
                sent.append(event)
                service.stop()
        return sent

    opening, error = anyio.run(run)
    assert '"role": "assistant"' in opening
    assert "given up" in error


def test_a_failing_model_is_tried_again(service: Service, monkeypatch) -> None:
    from rag.engine import Engine
    from rag.errors import WeightsMissing

    def fail(_: Any) -> None:
        raise WeightsMissing("rag models pull it")

    service.models = "cold"
    monkeypatch.setattr(Engine, "text_encoder", property(fail))
    with pytest.raises(WeightsMissing):
        service.compute_now(lambda _: None, threading.Event())
    assert service.models == "failed"
    monkeypatch.setattr(Engine, "text_encoder", "a model")
    monkeypatch.setattr(Engine, "tower", "a model")
    assert service.compute_now(lambda _: "answer", threading.Event()) == "answer"
    assert service.models == "ready"
