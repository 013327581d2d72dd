"""Measured classes against labels: tables, cross-validation, and files of labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.agents.shotfinder.calibration import (
    Calibration,
    Labelled,
    calibrate,
    measure_labels,
    read_calibration,
    read_labels,
)
from rag.errors import UsageError
from tests.fakes.shotfinder_world import MeasuredLibrary


def rows(measured: str, true: str, count: int, start: int = 0) -> list[Labelled]:
    return [Labelled("style", f"{start + at}.mp4", true, measured) for at in range(count)]


def test_what_is_measured_wrongly_but_steadily_is_corrected():
    """Every 3D video is measured as live: with labels that is known, and right in cross-validation."""
    found = calibrate([*rows("live", "3d", 20), *rows("2d", "2d", 20, 20)], "e")
    table = found.tables["style"]
    assert (table.n, table.videos, table.measured_right) == (40, 40, 0.5)
    assert (table.decided, table.decided_right) == (40, 1.0)
    assert found.probability("style", "live", "3d") == pytest.approx(21 / 24, abs=1e-6)
    assert found.probability("style", "live", "live") == pytest.approx(1 / 24, abs=1e-6)
    assert found.probability("audio", "music", "music") is None


def test_a_video_is_never_judged_by_its_own_labels():
    """One video measured steadily wrong: without it nothing is known of the class."""
    own = [Labelled("style", "only.mp4", "3d", "live") for _ in range(20)]
    assert calibrate(own, "").tables["style"].decided == 0


def test_the_file_survives_and_others_are_refused(tmp_path: Path):
    found = calibrate(rows("live", "live", 5), "e")
    path = tmp_path / "c.json"
    path.write_text(found.model_dump_json(by_alias=True), encoding="utf-8")
    assert read_calibration(path) == found
    assert isinstance(found, Calibration)
    for text in ("{}", '{"schema": "rag.trace/1"}', "no JSON"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="no file of 'rag calibrate'"):
            read_calibration(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_calibration(tmp_path / "none.json")


def labels(folder: Path, text: str) -> Path:
    (folder / "a.mp4").touch()
    (folder / "b.mp4").touch()
    file = folder / "labels.csv"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("path,style\na.mp4,live\nb.mp4,cartoon\n", "csv:3: style: Input should be 'live', '2d'"),
        ("path,start\na.mp4,nan\n", "csv:2: start: Input should be a finite number"),
    ],
)
def test_a_bad_row_is_named(text: str, fault: str, tmp_path: Path):
    with pytest.raises(UsageError, match=fault):
        read_labels(labels(tmp_path, text), tmp_path)


def test_labels_are_compared_with_the_shot_in_the_middle_and_most_of_the_sound(tmp_path: Path):
    (tmp_path / "c.mp4").touch()
    text = "path,start,end,color,style,audio,copy_of\na.mp4,10,20,cold,3d,music,\nb.mp4,,,,,speech,a.mp4\n"
    found = measure_labels(MeasuredLibrary(["a", "b"]), read_labels(labels(tmp_path, text), tmp_path))
    said = [(one.kind, Path(one.video.split()[0]).stem, one.true, one.measured) for one in found]
    assert said == [
        ("color", "a", "cold", "cold"),
        ("style", "a", "3d", "2d"),
        ("audio", "a", "music", "speech"),
        ("audio", "b", "speech", "music"),
        ("copies", "a", "copy", "copy"),
    ]
