"""Outputs kept as files: a change of one is a change that users see. `make golden` writes them again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexers.settings import EncoderSettings
from rag._cli.main import main
from rag.library import Library
from rag.rendering.shapes import answer_shape
from rag.settings import Settings
from tests.fakes.libraries import FixedLibrary
from tests.fakes.library_dump import dump
from tests.fakes.store_material import fill

DATA = Path(__file__).parent / "data"
PAGES = {
    "oil.md": "# Chain oil\n\nWipe the chain dry. Use two drops of oil on every link.\n",
    "wrench.md": "# Torque wrench\n\nSet the torque wrench to 25 newton metres for the stem bolts.\n",
    "tyres.md": "# Tyres\n\nInflate the front tyre to 5 bar and the rear tyre to 6 bar.\n",
}
QUESTIONS = {
    "open": ("To how many newton metres is the torque wrench set?", ()),
    "choice": ("How many drops of oil does every link get?", ("ten drops", "two drops", "one litre")),
}
COMMANDS = (
    ["ask", "What?", "-o", "a drill", "-o", "a lamp"],
    ["search", "lamp"],
    ["localize", "a.mp4", "lamp"],
    ["stats"],
)


def _command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Library, "open", lambda *_, **__: FixedLibrary())
    found = {}
    for command in COMMANDS:
        assert main([*command, "--json"] if command[0] == "stats" else command) == 0
        found[" ".join(command)] = json.loads(capsys.readouterr().out)
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def _library(tmp_path: Path, *_: object) -> str:
    fill(tmp_path / "library", videos=(1,), sources=(1,))
    rows = [json.loads(line) for line in dump(tmp_path / "library")]
    return "".join(json.dumps(_without_vectors(row), sort_keys=True) + "\n" for row in rows)


def _without_vectors(row: dict[str, Any]) -> dict[str, Any]:
    """The last bits of a vector depend on the processor: its place is kept, not its bytes."""
    return {name: "vectors" if "vector" in name or name == "frames" else value for name, value in row.items()}


def _answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *_: object) -> str:
    monkeypatch.chdir(tmp_path)
    for name, text in PAGES.items():
        Path(name).write_text(text, encoding="utf-8")
    settings = Settings(library=tmp_path / "library", encoder=EncoderSettings(image="none"))
    Library.index(sorted(PAGES), settings=settings)
    with Library.open(tmp_path / "library") as library:
        shapes = {
            name: answer_shape(library.ask(text, options=options, question_id=name))
            for name, (text, options) in QUESTIONS.items()
        }
    made = json.dumps(_rounded(shapes), indent=1, sort_keys=True) + "\n"
    return made.replace(f"{tmp_path}/", "")


def _mcp_tools(*_: object) -> str:
    """What a client is shown of each tool: names, schemas, hints."""
    from rag.server.mcp.server import tool_of
    from rag.server.mcp.tools import INDEX_TOOLS, TOOLS

    shown = [tool_of(None, tool) for tool in (*TOOLS, *INDEX_TOOLS)]
    kept = {"name", "title", "description", "parameters", "annotations"}
    return json.dumps([tool.model_dump(mode="json", include=kept) for tool in shown], indent=1) + "\n"


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 2)
        case dict():
            return {name: _rounded(each) for name, each in value.items() if name != "timings"}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return value


CASES: dict[str, Callable[..., str]] = {
    "answers.json": _answers,
    "command_line.json": _command_line,
    "library.jsonl": _library,
    "mcp_tools.json": _mcp_tools,
}


def test_every_golden_file_has_a_case() -> None:
    assert {path.name for path in DATA.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_output_equals_the_golden_file(name: str, tmp_path, monkeypatch, capsys, request) -> None:
    made = CASES[name](tmp_path, monkeypatch, capsys)
    if request.config.getoption("--write-golden"):
        (DATA / name).write_text(made, encoding="utf-8")
    assert made == (DATA / name).read_text(encoding="utf-8")
