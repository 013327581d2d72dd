"""docs/reference/json.md against the commands: a document has the keys of its block, and no other."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import NotRequired, get_origin

import pytest

from rag._cli.main import main
from rag.library import Library
from tests.fakes.libraries import FixedLibrary
from tests.fakes.sources import ROOT

_KEYS = runpy.run_path(str(ROOT / "docs/write_reference.py"))["document_keys"]


@pytest.mark.parametrize(
    "command",
    [
        *("ask What?", "search lamp", "localize a.mp4 lamp", "stats", "stats --problems", "remove a.mp4"),
        *("doctor --settings", "models list", "eval list", "workbench make wb --clips 1 --fps 5"),
    ],
)
def test_a_document_has_the_keys_of_its_block(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    library = FixedLibrary()
    monkeypatch.setattr(Library, "open", lambda *_, **__: library)
    assert main([*command.split(), "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    keys = _KEYS(shape["schema"])
    required = {key.name for key in keys if get_origin(key.kind) is not NotRequired}
    assert required <= shape.keys() <= {key.name for key in keys}
