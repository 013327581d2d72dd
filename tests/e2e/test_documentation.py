"""The examples of the pages, run as they are printed; those of the guides pass their contract suites."""

import importlib
import inspect
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

import rag
from corpora.entry_points import all_entry_points
from rag import Library, Settings, load_settings, merge_libraries, open_web
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.web.building import build_web
from tests.fakes.pages import blocks
from tests.fakes.served_library import served
from tests.fakes.synthetic import write_video

ROOT = Path(rag.__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SERVER = "http://127.0.0.1:8650"
SKETCHES = {"api.md"}
"""Pages whose blocks list signatures, and are no examples."""
DOCSTRINGS = {name: inspect.getdoc(member) or "" for name, member in inspect.getmembers(Library, callable)}
"""Of the methods of `Library`."""
API = {name: getattr(rag, name) for name in rag.__all__}
FUNCTIONS = (load_settings, merge_libraries, open_web)
LINES = re.findall(
    r"Example:\s`(.+?)`\.", "\n".join([*DOCSTRINGS.values(), *(str(each.__doc__) for each in FUNCTIONS)])
)
"""The examples of one expression."""
EXAMPLES = [
    pytest.param(examples, id=str(page.relative_to(ROOT)))
    for page in PAGES
    if page.name not in SKETCHES
    if (examples := blocks(page, "python"))
]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A folder with `.rag`, a library, and `DIR`, a web."""
    home = tmp_path_factory.mktemp("home")
    corpus = home / "corpus"
    corpus.mkdir()
    write_video(corpus / "descale a kettle.mp4", 4, audio=True)
    Image.new("RGB", (64, 48), "red").save(home / "shot.jpg")
    (corpus / "descale a kettle.srt").write_text("1\n00:00:00,500 --> 00:00:03,000\nFill the kettle.\n")
    (corpus / "wheels.txt").write_text("The wheel bolts are tightened to 110 Nm.\n")
    settings = Settings.model_validate({"library": home / ".rag", "ocr": {"mode": "off"}})
    Library.index([corpus], settings=settings)
    build_web(home / "DIR", [corpus])
    return home


@pytest.mark.parametrize("method", [name for name, text in DOCSTRINGS.items() if "```python" in text])
def test_the_example_of_a_method_runs(method: str, home: Path, monkeypatch, capsys) -> None:
    """In a folder with a library and a corpus, with `library` open."""
    monkeypatch.chdir(home)
    (block,) = re.findall(r"```python\n(.*?)```", DOCSTRINGS[method], re.DOTALL)
    with Library.open(".rag") as library:
        exec(compile(block, method, "exec"), {"library": library, "Library": Library})
    assert capsys.readouterr().out.strip() or method == "index"


@pytest.mark.parametrize("line", LINES)
def test_the_expression_of_a_docstring_has_a_value(line: str, home: Path, monkeypatch) -> None:
    monkeypatch.chdir(home)
    with Library.open(".rag") as library:
        assert eval(line, {**API, "library": library, "np": np, "Image": Image}) is not None


def test_there_are_examples() -> None:
    assert len(LINES) >= 17
    assert any("README.md" in str(example.id) for example in EXAMPLES)
    assert len(EXAMPLES) >= 2


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    """Where `rag serve` answers for the library, in place of `SERVER`."""
    settings = Settings(library=home / ".rag")
    with served(Service(settings, LibrarySession(settings), home / "cache")) as address:
        yield address


@pytest.mark.parametrize("examples", EXAMPLES)
def test_the_examples_of_a_page_run_in_order(
    examples: list[str], home: Path, monkeypatch, capsys, request
) -> None:
    """Without an error or a warning, and what prints prints something."""
    monkeypatch.chdir(home)
    module = ModuleType("example")  # dataclasses look their module up
    monkeypatch.setitem(sys.modules, "example", module)
    for block in examples:
        if SERVER in block:
            block = block.replace(SERVER, request.getfixturevalue("address"))
        exec(compile(block, "example", "exec"), vars(module))
        printed = capsys.readouterr()
        assert bool(printed.out.strip()) == bool(re.search(r"\bprint\(", block))
        assert printed.err == ""


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
    (declared,) = re.findall(r"```toml\n(\[project.*?)```", page, re.DOTALL)
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
def test_the_example_of_a_guide_passes_its_contract(guide: str, tmp_path, monkeypatch) -> None:
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
