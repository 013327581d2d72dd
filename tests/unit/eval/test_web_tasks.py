"""What the tasks over a web fix of the user's settings: of rendered videos, not of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.tasks.browsecomp import task as browsecomp
from eval.tasks.rvms import task as rvms
from eval.tasks.shotfinder import task as shotfinder


@pytest.mark.parametrize("module", [browsecomp, rvms, shotfinder])
def test_speech_is_recognized_in_ones_own_videos_and_not_in_rendered_ones(module, tmp_path: Path) -> None:
    assert module.open_mini(tmp_path).fixed_settings["asr.mode"] == "off"
    assert not {"asr.mode", "ocr.mode"} & {*module.open_folder(tmp_path).fixed_settings}
