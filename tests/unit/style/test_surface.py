"""What `rag` exports, and its version."""

from __future__ import annotations

import tomllib

import pytest

import rag
from tests.fakes.sources import ROOT


def test_the_public_surface() -> None:
    assert rag.__all__ == sorted(rag.__all__)
    assert set(rag.__all__) <= set(dir(rag))
    for name in rag.__all__:
        assert getattr(rag, name) is not None
    assert rag.Library.__module__ == "rag.library"
    assert {"Answer", "Library", "Question", "SearchFilter", "Settings", "load_settings"} <= set(rag.__all__)
    returned = {"Check", "Clip", "Evidence", "Forecast", "Passage", "Problem", "Shot", "SoundTrack", "Video"}
    assert returned <= set(rag.__all__), "what the fields of results are made of"
    with pytest.raises(AttributeError, match="no attribute 'Libary'"):
        _ = rag.Libary


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert rag.__version__ == project["version"]
