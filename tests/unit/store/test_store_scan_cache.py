"""The scan cache: right when it is whole, harmless when it is not, quick to import."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rag.store.layout import Layout
from rag.store.scan_cache import ScanCache


@dataclass(frozen=True)
class Found:
    path: str
    stamp: str


FOUND = [Found(f"/corpus/{i}/\udcff.mp4", f"stamp{i}") for i in range(1000)]
ROWS = {found.path: (found.stamp, f"ready:{i}") for i, found in enumerate(FOUND)}


@pytest.fixture
def cache(tmp_path: Path) -> ScanCache:
    Layout(tmp_path).write_marker()
    cache = ScanCache(tmp_path)
    cache.replace("library", "settings", ROWS)
    return cache


def test_it_knows_what_changed(cache: ScanCache) -> None:
    assert not cache.changed(FOUND, "settings")
    assert cache.entries() == ROWS
    touched = [replace(FOUND[0], stamp="other"), *FOUND[1:], Found("/new", "s")]
    assert cache.changed(touched, "settings") == [FOUND[0].path, "/new"]
    assert cache.changed(FOUND, "other settings")
    assert (cache.library_id(), cache.fingerprint()) == ("library", "settings")
    cache.close()


def test_rows_are_put_and_forgotten(cache: ScanCache, tmp_path: Path) -> None:
    cache.put({"/new": ("s", "problem:bad"), FOUND[0].path: ("s0", "ready:0")})
    cache.forget([FOUND[1].path, "/unknown"])
    cache.close()
    with ScanCache(tmp_path) as again:
        assert (again.library_id(), again.fingerprint()) == ("library", "settings")
        entries = again.entries()
    assert entries["/new"] == ("s", "problem:bad")
    assert entries[FOUND[0].path] == ("s0", "ready:0")
    assert FOUND[1].path not in entries
    assert len(entries) == 1000


@pytest.mark.parametrize("damage", ["garbage", "truncated", "other tables", "gone"])
def test_a_damaged_cache_only_costs_time(cache: ScanCache, tmp_path: Path, damage: str) -> None:
    cache.close()
    path = tmp_path / "scan.sqlite"
    if damage == "garbage":
        path.write_bytes(b"no database at all" * 1000)
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:5000])
    elif damage == "other tables":
        path.unlink()
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE files (something INTEGER)")
        db.close()
    else:
        path.unlink()
    with ScanCache(tmp_path) as again:
        assert again.changed(FOUND, "settings")
        again.replace("library", "settings", ROWS)
        assert not again.changed(FOUND, "settings")


def test_damage_met_in_the_middle_starts_afresh(cache: ScanCache, tmp_path: Path) -> None:
    cache.close()
    path = tmp_path / "scan.sqlite"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(bytes(data))
    with ScanCache(tmp_path) as again:
        assert again.entries() == {}
        again.put({"/a": ("s", "t")})
        assert again.entries() == {"/a": ("s", "t")}


def test_where_there_is_no_folder_it_stays_empty(tmp_path: Path) -> None:
    with ScanCache(tmp_path / "nowhere") as cache:
        assert cache.entries() == {}
        cache.replace("library", "settings", ROWS)
        assert cache.changed(FOUND, "settings")
    assert not (tmp_path / "nowhere").exists()


def test_a_thousand_files_take_milliseconds(cache: ScanCache) -> None:
    started = time.process_time()
    assert not cache.changed(FOUND, "settings")
    assert time.process_time() - started < 0.1
    cache.close()


def test_a_cache_in_use_is_left_alone(cache: ScanCache, tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "scan.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    cache.put({"/new": ("s", "t")})
    holder.execute("ROLLBACK")
    holder.close()
    cache.close()
    with ScanCache(tmp_path) as again:
        assert again.entries() == ROWS


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_of_another_program_is_not_replaced(tmp_path: Path, read_only: bool) -> None:
    (tmp_path / "scan.sqlite").write_bytes(b"my own scan of something")
    with ScanCache(tmp_path, read_only=read_only) as cache:
        assert cache.entries() == {}
        cache.replace("library", "settings", ROWS)
        assert cache.entries() == {}
    assert [path.name for path in tmp_path.iterdir()] == ["scan.sqlite"]
    assert (tmp_path / "scan.sqlite").read_bytes() == b"my own scan of something"


def test_reading_only_writes_nothing(cache: ScanCache, tmp_path: Path) -> None:
    cache.close()
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    with ScanCache(tmp_path, read_only=True) as again:
        assert not again.changed(FOUND, "settings")
        assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
        again.put({"/new": ("s", "t")})
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    (tmp_path / "scan.sqlite").write_bytes(b"damaged")
    with ScanCache(tmp_path, read_only=True) as again:
        assert again.entries() == {}
    assert (tmp_path / "scan.sqlite").read_bytes() == b"damaged"


def test_a_cache_that_is_being_written_reads_as_empty(cache: ScanCache, tmp_path: Path) -> None:
    assert (tmp_path / "scan.sqlite-wal").stat().st_size
    with ScanCache(tmp_path, read_only=True) as again:
        assert again.entries() == {}
    cache.close()
    with ScanCache(tmp_path, read_only=True) as again:
        assert again.entries() == ROWS


def test_a_null_that_a_damaged_file_gives_starts_the_cache_again(cache: ScanCache, tmp_path: Path) -> None:
    cache.close()
    with sqlite3.connect(tmp_path / "scan.sqlite") as made:
        made.execute("DROP TABLE files")
        made.execute("CREATE TABLE files (path BLOB, stamp TEXT, status TEXT)")
        made.execute("INSERT INTO files VALUES (NULL, 'stamp', 'ready:1')")
    made.close()
    with ScanCache(tmp_path) as again:
        assert again.entries() == {}
        again.replace("library", "settings", ROWS)
        assert again.entries() == ROWS
