"""Files of a library damaged at random: no other answer in silence, no traceback, and all is restored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.damage_library import Bench, Damager, damage_runs
from corpora.identity import content_hash

TIMES = 6


@pytest.mark.slow
def test_damage_is_found_and_repaired(tmp_path: Path) -> None:
    result = damage_runs(tmp_path, TIMES, seed=1)
    assert result.faults == []
    assert sum(result.outcomes.values()) == TIMES
    assert {"repaired", "made again by rag index"} & {outcome for _, outcome in result.outcomes}


@pytest.mark.slow
def test_a_wrong_hash_and_a_wrong_path_do_not_outlast_a_repair(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    damager = Damager(bench, 0, 0.0, 0.0)

    def outcome(path: Path, before: bytes, after: bytes) -> str:
        content = path.read_bytes()
        assert before in content
        path.write_bytes(content.replace(before, after, 1))
        return damager._judge("flipped", gone=False)

    bench.start()
    manifest = bench.library / "indexes" / "evidence.json"
    digest = json.loads(manifest.read_bytes())["segments"][0]["vectors"]["digest"].encode()
    other = (b"0" if digest[:1] != b"0" else b"1") + digest[1:]
    assert outcome(manifest, b'"digest": "' + digest, b'"digest": "' + other) == "repaired"
    for letter in (b"X", b"\0"):
        bench.start()
        (rows,) = (bench.library / "tables" / "files.lance" / "data").glob("*.lance")
        name = b"notes.md"
        assert outcome(rows, name, letter + name[1:]) == "repaired"
        bench.start()
        (rows,) = (bench.library / "tables" / "files.lance" / "data").glob("*.lance")
        folder = str(tmp_path).encode()[-8:]
        assert outcome(rows, folder, letter + folder[1:]) == "repaired"


def damaged(folder: Path, table: str, change: Callable[[bytes], bytes]) -> Damager:
    """A library in which the file with the rows of a table is changed."""
    bench = Bench(folder)
    bench.start()
    (rows,) = (bench.library / "tables" / f"{table}.lance" / "data").glob("*.lance")
    content = rows.read_bytes()
    assert change(content) != content
    rows.write_bytes(change(content))
    return Damager(bench, 0, 0.0, 0.0)


@pytest.mark.slow
def test_stages_that_cannot_be_read_end_no_repair(tmp_path: Path) -> None:
    damager = damaged(tmp_path, "videos", lambda content: content.replace(b'"shots"', b'"sh\x01ts"', 1))
    assert damager._judge("flipped", gone=True) == "sources gone: whole"


@pytest.mark.slow
def test_measurements_under_the_id_of_no_video_are_made_again(tmp_path: Path) -> None:
    def other_id(content: bytes) -> bytes:
        video_id = content_hash(tmp_path / "corpus" / "long.mp4").encode()
        return content.replace(video_id, (b"0" if video_id[:1] != b"0" else b"1") + video_id[1:])

    assert damaged(tmp_path, "fingerprints", other_id)._judge("flipped", gone=False) == "repaired"


@pytest.mark.slow
def test_a_span_under_the_name_of_another_video_does_not_stay(tmp_path: Path) -> None:
    def other_name(content: bytes) -> bytes:
        at = content.index(b":e000000") - 1
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

    assert damaged(tmp_path, "evidence", other_name)._judge("flipped", gone=True) == "sources gone: said"
