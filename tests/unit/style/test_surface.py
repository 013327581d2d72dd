"""What `rag` exports, its version, and the tree of errors."""

from __future__ import annotations

import re
import tomllib

import pytest

import rag
from rag import errors, records
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
    public = {
        name
        for name, thing in vars(records).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == records.__name__
    }
    assert public <= set(records.__all__)
    assert all(hasattr(records, name) for name in records.__all__)
    assert records.__all__ == sorted(records.__all__)


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert rag.__version__ == project["version"]


def test_the_tree_of_errors_is_documented_as_it_is() -> None:
    documented: list[tuple[str, str]] = []
    above = ["RagError"]
    for line in (errors.__doc__ or "").splitlines():
        if branch := re.match(r"([│ ]*)[├└]── (\w+)", line):
            depth = len(branch[1]) // 4 + 1
            del above[depth:]
            documented.append((branch[2], above[-1]))
            above.append(branch[2])
    kinds = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)}
    real = [(each.__name__, each.__bases__[0].__name__) for each in kinds - {errors.RagError}]
    assert len(documented) > 20
    assert sorted(documented) == sorted(real)
