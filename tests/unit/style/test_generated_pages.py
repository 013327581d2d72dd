"""An outdated reference or drawing is refused; `make pages` checks those of the tree."""

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


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the pages are written from."""
    folder = tmp_path_factory.mktemp("tree")
    for name in (*PACKAGES, "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "reports"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("script", PAGES)
def test_an_outdated_page_is_refused(script: str, tree: Path) -> None:
    with (tree / PAGES[script]).open("a", encoding="utf-8") as page:
        page.write("x")
    command = [sys.executable, f"docs/{script}", "--check"]
    assert subprocess.run(command, cwd=tree, capture_output=True, check=False).returncode == 1
