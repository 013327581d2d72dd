"""The synthetic videos are what their writer says: else no other test of decoding means anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.fakes.synthetic import damage, read_time_code, truncate, write_video


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts", "a.webm", "a.gif"])
def test_every_frame_carries_its_index_at_the_time_returned(tmp_path: Path, name: str) -> None:
    import av

    times = write_video(tmp_path / name, 2, variable_rate=True)
    with av.open(str(tmp_path / name)) as file:
        start = (file.start_time or 0) / 1e6
        frames = [
            (read_time_code(f.to_ndarray(format="rgb24")), f.time - start) for f in file.decode(video=0)
        ]
    assert [code for code, _ in frames] == list(range(len(times)))
    assert [time for _, time in frames] == pytest.approx(times, abs=2e-3)


def test_a_turned_image_or_noise_has_no_time_code() -> None:
    chance = np.random.default_rng(0)
    codes = [read_time_code(chance.integers(0, 255, (120, 160, 3), np.uint8)) for _ in range(20)]
    assert codes.count(None) > 15
    assert read_time_code(np.zeros((120, 160, 3), np.uint8)) is None


def test_damage_is_deterministic_and_truncate_cuts(tmp_path: Path) -> None:
    first, second = tmp_path / "1.mp4", tmp_path / "2.mp4"
    write_video(first, 1)
    whole = first.read_bytes()
    second.write_bytes(whole)
    damage(first, 0.05, 7)
    damage(second, 0.05, 7)
    assert first.read_bytes() == second.read_bytes() != whole
    truncate(first, 0.5)
    assert len(first.read_bytes()) == len(whole) // 2
