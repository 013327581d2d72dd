"""The guides of docs/how-to: each example, installed like another package's, passes its contract suite."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ("decoder.md", "document-reader.md", "image-encoder.md", "reasoner.md")
MAX_LINES = 60


def install(guide: str, folder: Path) -> str:
    """Write the guide's modules, and the metadata that pip would write for its entry points.

    Returns the name of the module with its contract suite."""
    page = (ROOT / "docs" / "how-to" / guide).read_text(encoding="utf-8")
    modules = re.findall(r"```python\n# (\w+\.py)\n(.*?)```", page, re.DOTALL)
    assert len(modules) == 2
    assert len(modules[0][1].splitlines()) < MAX_LINES
    for name, source in modules:
        (folder / name).write_text(source, encoding="utf-8")
    (declared,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    name = Path(guide).stem
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, points in tomllib.loads(declared)["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return modules[1][0]


def test_the_examples_of_the_guides_pass_their_contracts(tmp_path: Path) -> None:
    suites = [install(guide, tmp_path) for guide in GUIDES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    options = ["-v", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, "."]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for suite in suites:
        passed = re.findall(rf"^{suite}::.* PASSED", done.stdout, re.MULTILINE)
        assert len(passed) >= 4, done.stdout
