"""The guides of docs/how-to: each example, installed like another package's, passes its contract suite."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora.entry_points import all_entry_points

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
    return Path(modules[1][0]).stem


@pytest.mark.parametrize("guide", GUIDES)
def test_the_example_of_a_guide_passes_its_contract(
    guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = install(guide, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    all_entry_points.cache_clear()
    try:
        contracts = [
            each for name, each in vars(importlib.import_module(suite)).items() if name.startswith("Test")
        ]
        passed = [test for contract in contracts for test in run_tests(contract, tmp_path / "files")]
    finally:
        all_entry_points.cache_clear()
    assert len(passed) >= 4


def run_tests(contract: type, folder: Path) -> Iterator[str]:
    """The names of its tests, each after it has passed."""
    for name in dir(contract):
        if name.startswith("test_"):
            test = getattr(contract(), name)
            place = folder / contract.__name__ / name
            place.mkdir(parents=True)
            test(**({"tmp_path": place} if "tmp_path" in inspect.signature(test).parameters else {}))
            yield name
