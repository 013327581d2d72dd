"""The tasks and solvers that the guides build run, and keep the rules."""

from __future__ import annotations

import importlib
import json
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from corpora import entry_points
from eval import tasks
from rag._cli.main import main

GUIDES = Path(__file__).parents[2] / "docs" / "how-to"


def blocks(guide: str) -> list[str]:
    text = (GUIDES / guide).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the task guide, importable as a user's own."""
    (tmp_path / "colours.py").write_text(blocks("task.md")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "colours", raising=False)
    return importlib.import_module("colours")


def test_the_task_of_the_guide_is_run_reported_and_shown(
    colours: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "run", "colours:open_colours"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["right"] == 1
    assert main(["eval", "report", "runs/colours"]) == 0
    page = Path("report/report.md").read_text(encoding="utf-8")
    assert page.startswith("# colours\n")
    assert "EgoFact" not in page
    assert main(["eval", "show", "runs/colours/longest-seed0", "sky"]) == 0
    exec(blocks("task.md")[1], {"open_colours": colours.open_colours})


@pytest.mark.slow
def test_the_task_over_a_folder_of_the_guide_asks_the_product(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("notes_task.py").write_text(blocks("task.md")[2], encoding="utf-8")
    Path("notes").mkdir()
    Path("notes/bolts.md").write_text("# Wheels\n\nTighten the wheel bolts to 120 Nm.\n", encoding="utf-8")
    assert main(["eval", "run", "notes_task:open_notes"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["right"] == 1
    manifest = json.loads(Path("runs/notes/rag-ask-seed0/manifest.json").read_text(encoding="utf-8"))[
        "identity"
    ]
    assert set(manifest["encoders"]) == {"image", "reasoner", "screen text", "text"}


def test_the_solver_of_the_guide_is_registered_for_a_task(
    colours: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("my_package.py").write_text("\n".join(blocks("solver.md")), encoding="utf-8")
    entry = EntryPoint("colours.always-first", "my_package:ALWAYS_FIRST", tasks.SOLVERS)
    for module in (tasks, entry_points):
        monkeypatch.setattr(
            module, "all_entry_points", lambda group: {entry.name: entry} if group == tasks.SOLVERS else {}
        )
    assert tasks.solver_names(colours.open_colours()) == ["longest", "always-first"]
    assert main(["eval", "run", "colours:open_colours", "--system", "always-first"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["right"] == 1
