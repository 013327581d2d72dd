"""The guides of docs/how-to: each example, installed like another package's, passes its contract suite."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 60


def install(guide: str, folder: Path) -> None:
    """Write the guide's modules, and the metadata that pip would write for its entry points."""
    page = (ROOT / "docs" / "how-to" / guide).read_text(encoding="utf-8")
    modules = re.findall(r"```python\n# (\w+\.py)\n(.*?)```", page, re.DOTALL)
    assert len(modules) == 2
    assert len(modules[0][1].splitlines()) < MAX_LINES
    for name, source in modules:
        (folder / name).write_text(source, encoding="utf-8")
    (declared,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    metadata = folder / "extension-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: extension\nVersion: 1.0\n")
    lines = []
    for group, points in tomllib.loads(declared)["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("guide", ["decoder.md", "document-reader.md", "image-encoder.md", "reasoner.md"])
def test_the_example_of_a_guide_passes_its_contract(guide: str, tmp_path: Path) -> None:
    install(guide, tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        ".",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^[4-9] passed", done.stdout, re.MULTILINE), done.stdout
