"""The Python examples of the pages, run as they are printed, in a folder with a library and a web."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import rag
from rag import Library, Settings
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.web.building import build_web
from tests.fakes.served_library import served
from tests.fakes.synthetic import write_video

ROOT = Path(rag.__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SERVER = "http://127.0.0.1:8650"
SKETCHES = {"api.md"}
"""Pages whose blocks list signatures, and are no examples."""
DOCSTRINGS = {name: inspect.getdoc(member) or "" for name, member in inspect.getmembers(Library, callable)}
"""Of the methods of `Library`."""
EXAMPLES = [
    pytest.param(blocks, id=str(page.relative_to(ROOT)))
    for page in PAGES
    if page.name not in SKETCHES
    if (blocks := BLOCK.findall(page.read_text(encoding="utf-8")))
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `.rag`, a library, and `DIR`, a web."""
    home = tmp_path_factory.mktemp("home")
    corpus = home / "corpus"
    corpus.mkdir()
    write_video(corpus / "descale a kettle.mp4", 4)
    (corpus / "descale a kettle.srt").write_text("1\n00:00:00,500 --> 00:00:03,000\nFill the kettle.\n")
    (corpus / "wheels.txt").write_text("The wheel bolts are tightened to 110 Nm.\n")
    settings = Settings.model_validate({"library": home / ".rag", "ocr": {"mode": "off"}})
    Library.index([corpus], settings=settings)
    build_web(home / "DIR", [corpus])
    return home


@pytest.mark.parametrize("method", [name for name, text in DOCSTRINGS.items() if "```python" in text])
def test_the_example_of_a_method_runs(
    method: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder with a library and a corpus, with `library` open."""
    monkeypatch.chdir(home)
    (block,) = re.findall(r"```python\n(.*?)```", DOCSTRINGS[method], re.DOTALL)
    with Library.open(".rag") as library:
        exec(compile(block, method, "exec"), {"library": library, "Library": Library})
    assert capsys.readouterr().out.strip() or method == "index"


def test_there_are_examples() -> None:
    assert any("README.md" in str(example.id) for example in EXAMPLES)
    assert len(EXAMPLES) >= 2


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    """Where `rag serve` answers for the library, in place of `SERVER`."""
    settings = Settings(library=home / ".rag")
    with served(Service(settings, LibrarySession(settings), home / "cache")) as address:
        yield address


@pytest.mark.parametrize("blocks", EXAMPLES)
def test_the_examples_of_a_page_run_in_order(
    blocks: list[str],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """Without an error or a warning, and what prints prints something."""
    monkeypatch.chdir(home)
    module = ModuleType("example")  # dataclasses look their module up
    monkeypatch.setitem(sys.modules, "example", module)
    for block in blocks:
        if SERVER in block:
            block = block.replace(SERVER, request.getfixturevalue("address"))
        exec(compile(block, "example", "exec"), vars(module))
        printed = capsys.readouterr()
        assert bool(printed.out.strip()) == bool(re.search(r"\bprint\(", block))
        assert printed.err == ""
