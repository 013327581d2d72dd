"""Damaged videos through `rag index`: what is said of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rag.indexing import index
from rag.settings import load_settings
from tests.fakes.mean_colors import MeanColors, index_with
from tests.fakes.synthetic import damage, write_video


@pytest.mark.usefixtures("tiny_text")
def test_seconds_that_are_lost_do_not_count_as_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_with(MeanColors(), monkeypatch)
    (tmp_path / "corpus").mkdir()
    write_video(tmp_path / "corpus" / "a.mkv", 20, fps=4)
    damage(tmp_path / "corpus" / "a.mkv", 0.02, seed=3)
    clips = {"video.clip_seconds": 1.0, "video.min_last_clip_seconds": 0.5, "ocr.mode": "off"}
    settings = load_settings(flags={"library": tmp_path / "library", **clips})
    (problem,) = index([tmp_path / "corpus"], settings=settings).problems
    said = re.match(r"lost about (\d+\.\d+) s of (\d+\.\d) s in ", problem.reason)
    assert said is not None
    lost, whole = map(float, said.groups())
    assert lost > 1
    assert problem.action == f"indexed {whole - lost:.0f} s of it"
