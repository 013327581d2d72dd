"""Which worker gets what, on a clock of the test's own."""

from __future__ import annotations

from rag.indexing.scheduling import ATTEMPTS, LEAST_SECONDS, Scheduler


def test_the_longest_comes_first_and_all_are_done_once() -> None:
    scheduler = Scheduler[str]({"a": 10, "b": 30, "c": 20, "d": 20}, timeout=10)
    assert [scheduler.next(worker, 0) for worker in ("w1", "w2")] == ["b", "c"]
    assert scheduler.finish("w1") == "b"
    assert scheduler.next("w1", 3) == "d"
    assert scheduler.finish("w2") == "c"
    assert scheduler.next("w2", 4) == "a"
    assert scheduler.next("w3", 4) is None
    assert (scheduler.finish("w2"), scheduler.finish("w1"), scheduler.left) == ("a", "d", 0)


def test_what_a_dead_worker_had_is_done_by_another_and_given_up_in_the_end() -> None:
    scheduler = Scheduler[int]({"a": 1.0}, timeout=10)
    for worker in range(ATTEMPTS):
        assert scheduler.next(worker, 0) == "a"
        given_up = scheduler.lose(worker)
        assert given_up == ("a" if worker == ATTEMPTS - 1 else None)
    assert scheduler.left == 0
    assert scheduler.next(9, 0) is None
    assert scheduler.lose(9) is None


def test_a_limit_in_proportion_to_the_length() -> None:
    scheduler = Scheduler[str]({"long": LEAST_SECONDS, "short": 1.0}, timeout=2)
    assert [scheduler.next(worker, 0) for worker in ("w1", "w2")] == ["long", "short"]
    assert scheduler.late(LEAST_SECONDS) == []
    assert scheduler.late(LEAST_SECONDS + 1) == ["w2"]
    assert scheduler.late(2 * LEAST_SECONDS + 1) == ["w1", "w2"]
