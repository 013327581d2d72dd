"""An outdated reference or drawing is refused; `make pages` checks those of the tree."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from tests.fakes.sources import ROOT

PAGES = {
    "write_api.py": ("page", "docs/reference/api.md"),
    "write_reference.py": ("PAGES", "docs/reference/cli.md"),
    "draw_layers.py": ("svg", "docs/design/layers.svg"),
}


@pytest.mark.slow
@pytest.mark.parametrize("script", PAGES)
def test_an_outdated_page_is_refused(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page would be another one today."""
    main, (maker, page) = runpy.run_path(str(ROOT / "docs" / script))["main"], PAGES[script]
    today = {Path(page).name: lambda: "today"} if maker == "PAGES" else lambda: "today"
    monkeypatch.setitem(main.__globals__, maker, today)
    monkeypatch.setattr(sys, "argv", [script, "--check"])
    assert main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{page} is out of date" in line
