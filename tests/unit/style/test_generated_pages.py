"""An outdated API reference or drawing of the layers is refused; `make pages` checks those of the tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.sources import PACKAGES, ROOT

PAGES = {
    "write_api.py": "docs/reference/api.md",
    "write_reference.py": "docs/reference/cli.md",
    "draw_layers.py": "docs/design/layers.svg",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", PAGES)
def test_an_outdated_page_is_refused(script: str, tmp_path: Path) -> None:
    for name in (*PACKAGES, "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "reports"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    page = tmp_path / PAGES[script]
    page.write_text(page.read_text(encoding="utf-8") + "x", encoding="utf-8")
    command = [sys.executable, f"docs/{script}", "--check"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1
