"""Files of a library damaged at random: no other answer in silence, no traceback, and all is restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.damage_library import damage_runs

TIMES = 6


@pytest.mark.slow
def test_damage_is_found_and_repaired(tmp_path: Path) -> None:
    result = damage_runs(tmp_path, TIMES, seed=1)
    assert result.faults == []
    assert sum(result.outcomes.values()) == TIMES
    assert {"repaired", "made again by rag index"} & {outcome for _, outcome in result.outcomes}
