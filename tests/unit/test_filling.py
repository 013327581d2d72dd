"""Measurements filled in for a video that the library has: what goes wrong with its sound is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.scan import FoundFile
from corpora.video.reader import MediaReader
from indexers.soundtrack import SAMPLE_RATE
from rag.config import VideoSettings
from rag.errors import UnreadableFile
from rag.indexing.filling import fill_measures
from rag.indexing.ledger import Group
from rag.indexing.measuring import Measuring
from rag.indexing.report import Silent
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.store_material import fill, video


class Torn(MediaReader):
    """The sound of every file ends after four seconds with an error."""

    def audio(self, path: str, **_: Any) -> Iterator[NDArray[np.float32]]:
        yield np.full(4 * SAMPLE_RATE, 0.25, np.float32)
        raise UnreadableFile(f"{path}: the rest cannot be decoded")


class Noting(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, line: str) -> None:
        self.notes.append(line)


def test_sound_that_ends_early_is_told_and_what_was_heard_is_kept(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    path, video_id = video(1).path, video(1).video_id
    group = Group(video_id, (FoundFile(path, "video", 1, 2, 3, (), "stamp"),), (), ())
    progress, settings = Noting(), VideoSettings()
    measuring = Measuring(settings, {"shots": "off", "sound": "now"}, lambda: None)
    with Writer.open(tmp_path / "lib") as writer, Torn() as reader:
        assert fill_measures([group], writer, reader, measuring, settings, progress) == 1
        assert writer.ready()[video_id]["sound"] == "now"
    (note,) = progress.notes
    assert "sound not measured to its end" in note
    assert path in note
    with Reader.open(tmp_path / "lib") as library:
        track = library.sound_track(video_id)
        assert track is not None
        assert len(track.classes) == 4
