"""`kill -9` at named stages of indexing, and running again, gives the library of an undisturbed run."""

from __future__ import annotations

from pathlib import Path

from benchmarks.kill_index import kill_runs

KILLS = 4


def test_killed_at_stages_and_run_again_is_undisturbed(tmp_path: Path) -> None:
    result, stages = kill_runs(tmp_path, KILLS)
    assert result.messages == []
    assert result.times == KILLS
    assert {"embed", "store measurements", "commit", "upsert videos", "remove"} <= stages
    assert set(result.kills) <= {*stages, "between stages"}
    assert len(result.kills) >= KILLS // 2
