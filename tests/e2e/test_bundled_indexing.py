"""Which folders get the bundled encoder, and the warning for real videos."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.workbench.corpus import write_marker
from indexers.models.lookup import specialised_encoder_warning
from rag.indexing import index
from rag.indexing.report import Progress
from rag.settings import Settings, load_settings
from rag.store.reading import Reader
from tests.fakes.synthetic import write_video


class Notes(Progress):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture(autouse=True)
def _nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "empty"))


def made(folder: Path, *, workbench: bool) -> Path:
    folder.mkdir()
    write_video(folder / f"{folder.name}.mp4", 4)
    if workbench:
        write_marker(folder, {"seed": 0})
    return folder


def settings(tmp_path: Path, image: str = "auto") -> Settings:
    flags = {"library": tmp_path / "library", "ocr.mode": "off", "asr.mode": "off", "encoder.image": image}
    return load_settings(flags={**flags, "encoder.backend": "torch-fp32", "encoder.batch": 8})


def encoder_of(given: Settings) -> str | None:
    assert given.library is not None
    with Reader.open(given.library) as reader:
        meta = reader.meta
    return meta.image_encoder.name if meta and meta.image_encoder else None


def test_auto_takes_it_for_a_workbench_corpus_and_warns_when_real_videos_join(tmp_path: Path) -> None:
    given, notes = settings(tmp_path), Notes()
    index([made(tmp_path / "synthetic", workbench=True)], settings=given, progress=notes)
    assert encoder_of(given) == "bundled"
    assert specialised_encoder_warning("bundled") not in notes.lines
    index([made(tmp_path / "recorded", workbench=False)], settings=given, progress=notes)
    assert notes.lines.count(specialised_encoder_warning("bundled")) == 1
