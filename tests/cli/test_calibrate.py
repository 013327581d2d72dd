"""`rag calibrate`: videos and labels to a file that the settings take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.workbench.story import plan_clip
from eval.workbench.video import Render, clip_frames, write_video
from rag.agents.shotfinder.calibration import read_calibration
from rag.settings import load_settings
from tests.fakes.command import run_rag


def test_labels_become_a_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"IMAGE": "bundled", "BACKEND": "torch-fp32", "BATCH": "8"}.items():
        monkeypatch.setenv(f"RAG_ENCODER__{name}", value)
    (tmp_path / "videos").mkdir()
    for seed in (1, 2):
        story, render = plan_clip(seed, "dev", duration=3), Render(180, 5)
        write_video(tmp_path / "videos" / f"{seed}.mp4", clip_frames(story, render), iter(()), render)
    labels = tmp_path / "labels.csv"
    labels.write_text("path,style,color\n1.mp4,live,warm\n2.mp4,live,\n", encoding="utf-8")
    done = run_rag(tmp_path, "calibrate", "videos", "--labels", "labels.csv", "--json")
    assert done.returncode == 0, done.stderr
    shape = json.loads(done.stdout)
    assert (shape["schema"], shape["out"]) == ("rag.calibrate/1", "rag-calibration.json")
    assert {kind: table["n"] for kind, table in shape["tables"].items()} == {"color": 1, "style": 2}
    written = tmp_path / "rag-calibration.json"
    assert read_calibration(written).tables["style"].n == 2
    assert load_settings(flags={"search.calibration": written}).search.calibration == written
    # A library of the user's is neither made nor changed.
    assert not (tmp_path / ".rag").exists()
    full = run_rag(tmp_path, "calibrate", "videos", "--labels", "labels.csv", "--out", "/dev/full")
    assert (full.returncode, full.stderr.splitlines()[-1]) == (
        1,
        "rag: /dev/full: cannot be written: no space left on device",
    )
    again = run_rag(tmp_path, "calibrate", "videos", "--labels", "labels.csv", "--text", "--force")
    assert again.returncode == 0, again.stderr
    assert "style: n=2 of 2 videos" in again.stdout


def test_bad_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    (tmp_path / "labels.csv").write_text("path,style\n1.mp4,live\n", encoding="utf-8")
    done = run_rag(tmp_path, "calibrate", "videos", "--labels", "labels.csv")
    assert done.returncode == 2
    assert "no file videos/1.mp4" in done.stderr
    # Refused before anything is read or measured.
    (tmp_path / "rag-calibration.json").write_text("notes", encoding="utf-8")
    done = run_rag(tmp_path, "calibrate", "videos", "--labels", "labels.csv")
    assert done.returncode == 2
    assert "exists; name another file, or replace it with --force" in done.stderr
