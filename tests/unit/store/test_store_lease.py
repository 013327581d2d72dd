"""The lease of a library on a store: one writer, judged by the store's clock, and what a lost one does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from obstore.store import MemoryStore

from corpora.objects import ObjectStore, Refused, StoredObject, StoreError
from rag.errors import LibraryBusy
from rag.store.lease import LEASE, Lease


class ClockedStore(ObjectStore):
    """In memory, with a clock that a test sets: `late` is when each object was changed."""

    def __init__(self) -> None:
        store = MemoryStore()
        super().__init__("memory://library", store, store, {}, {})
        self.clock = timedelta(0)
        self.lost_answers = 0
        self._changed: dict[str, timedelta] = {}

    def _put(self, key: str, content: Any, mode: Any) -> str:
        etag = super()._put(key, content, mode)
        self._changed[key] = self.clock
        if self.lost_answers:
            # As the client sees it that sends a request again whose answer was lost.
            self.lost_answers -= 1
            raise Refused(f"{key}: it is there already, or has changed meanwhile")
        return etag

    def head(self, key: str) -> StoredObject | None:
        found = super().head(key)
        return found and self._at(found)

    def read(self, key: str) -> tuple[bytes, StoredObject] | None:
        found = super().read(key)
        return found and (found[0], self._at(found[1]))

    def _at(self, found: StoredObject) -> StoredObject:
        # Another thread may see an object before its time of change is kept here.
        changed = self._changed.get(found.key, self.clock)
        return replace(found, modified=datetime(2020, 1, 1, tzinfo=UTC) + changed)


@pytest.fixture
def store() -> ClockedStore:
    return ClockedStore()


@contextmanager
def held(store: ObjectStore) -> Iterator[Lease]:
    lease = Lease(store)
    lease.acquire()
    try:
        yield lease
    finally:
        lease.release()


def test_a_second_writer_learns_who_writes(store: ClockedStore) -> None:
    with held(store) as first:
        first.require()
        store.clock += timedelta(seconds=50)
        with pytest.raises(LibraryBusy, match=r"process \d+ on .+ \(since .+\) is writing .* ends in 10 s"):
            Lease(store).acquire()
        first.require()
    with held(store) as second:
        second.require()


def test_an_expired_one_is_taken_over_and_its_holder_stops(
    store: ClockedStore, caplog: pytest.LogCaptureFixture
) -> None:
    paused = Lease(store)
    paused.acquire()
    store.clock += timedelta(seconds=61)
    with held(store) as other:
        with pytest.raises(LibraryBusy, match=r"did not renew its lease in time, and process \d+ on"):
            paused.require()
        paused.release()
        assert not caplog.records
        other.require()
        with pytest.raises(LibraryBusy, match="is writing to this library"):
            Lease(store).acquire()


def test_a_heartbeat_keeps_it(store: ClockedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lease, "beat", 0.01)
    beats = threading.Semaphore(0)
    replaced = store.replace

    def replace_and_count(key: str, content: bytes, etag: str) -> str:
        etag = replaced(key, content, etag)
        beats.release()
        return etag

    monkeypatch.setattr(store, "replace", replace_and_count)
    with held(store) as lease:
        store.clock += timedelta(minutes=10)
        assert beats.acquire(timeout=30)
        assert beats.acquire(timeout=30)
        with pytest.raises(LibraryBusy):
            Lease(store).acquire()
        store.lost_answers = 1
        for _ in range(3):
            assert beats.acquire(timeout=30)
        lease.require()
    read = store.read(LEASE)
    assert read is not None
    assert json.loads(read[0])["held"] is False


def test_lost_answers_take_no_lease_away(store: ClockedStore) -> None:
    store.lost_answers = 1
    with held(store) as lease:
        lease.require()
        assert store.lost_answers == 0
        store.lost_answers = 1
    assert store.lost_answers == 0
    with held(store) as again:
        again.require()
        read = store.read(LEASE)
        assert read is not None
        assert json.loads(read[0])["held"] is True


def test_one_of_many_at_once_wins(store: ClockedStore) -> None:
    won: list[Lease] = []
    start = threading.Barrier(8)

    def race() -> None:
        lease = Lease(store)
        start.wait()
        try:
            lease.acquire()
        except LibraryBusy:
            return
        won.append(lease)

    for _ in range(10):
        racers = [threading.Thread(target=race) for _ in range(8)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        assert len(won) == 1
        won.pop().release()


def test_ignored_conditions_are_noticed(store: ClockedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.require_conditional_writes()
    assert list(store.list()) == []
    put = ObjectStore._put
    for ignored in (str, dict):  # the mode of a create, and of a replacement

        def unconditional(self: Any, key: str, content: Any, mode: Any, ignored: type = ignored) -> str:
            return put(self, key, content, "overwrite" if isinstance(mode, ignored) else mode)

        monkeypatch.setattr(ClockedStore, "_put", unconditional)
        with pytest.raises(StoreError, match="ignores conditional writes"):
            store.require_conditional_writes()
        assert list(store.list()) == []
