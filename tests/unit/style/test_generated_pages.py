"""An outdated reference or drawing is refused; `make pages` checks those of the tree."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.sources import ROOT

PAGES = {
    "write_api.py": "docs/reference/api.md",
    "write_reference.py": "docs/reference/cli.md",
    "draw_layers.py": "docs/design/layers.svg",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", PAGES)
def test_an_outdated_page_is_refused(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(ROOT / "docs" / script))["main"]
    page, read = ROOT / PAGES[script], Path.read_text

    def changed(path: Path, *how: Any, **named: Any) -> str:
        return read(path, *how, **named) + "x" * (path == page)

    monkeypatch.setattr(Path, "read_text", changed)
    monkeypatch.setattr(sys, "argv", [script, "--check"])
    assert main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{PAGES[script]} is out of date" in line
