"""The API reference and the drawing of the layers are those of the code; `make docs` writes them."""

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


def _check(root: Path, script: str) -> int:
    command = [sys.executable, f"docs/{script}", "--check"]
    return subprocess.run(command, cwd=root, capture_output=True, check=False).returncode


@pytest.mark.slow
@pytest.mark.parametrize("script", PAGES)
def test_a_generated_page_is_up_to_date(script: str) -> None:
    assert _check(ROOT, script) == 0, f"{PAGES[script]} is out of date: make docs"


@pytest.mark.slow
@pytest.mark.parametrize("script", PAGES)
def test_an_outdated_page_is_refused(script: str, tmp_path: Path) -> None:
    for name in (*PACKAGES, "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "reports"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    page = tmp_path / PAGES[script]
    page.write_text(page.read_text(encoding="utf-8") + "x", encoding="utf-8")
    assert _check(tmp_path, script) == 1
