"""How the tests are arranged."""

from __future__ import annotations

import ast

from tests.fakes.sources import ROOT, sources

KINDS = {"cli", "contract", "e2e", "fakes", "faults", "golden", "guarded", "property", "unit"}


def _test_modules_imported(source: str) -> list[str]:
    """Modules of `tests` that a file imports and that are no fakes."""
    names = [
        name
        for node in ast.walk(ast.parse(source))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    ]
    return [name for name in names if name.split(".")[0] == "tests" and not name.startswith("tests.fakes")]


def test_an_imported_test_module_is_found() -> None:
    source = "from tests.cli.test_show import x\nimport tests.e2e.test_demo\nfrom tests.fakes import y\n"
    assert _test_modules_imported(source) == ["tests.cli.test_show", "tests.e2e.test_demo"]


def test_no_test_module_is_imported() -> None:
    found = {name: _test_modules_imported(text) for name, text in sources("tests", "benchmarks", "examples")}
    assert {name: modules for name, modules in found.items() if modules} == {}


def test_tests_are_sorted_by_kind() -> None:
    tests = ROOT / "tests"
    assert {path.name for path in tests.iterdir() if path.is_dir() and path.name != "__pycache__"} == KINDS
    assert [path.name for path in tests.glob("*.py")] == ["conftest.py"]
    assert list(tests.rglob("__init__.py")) == []
    assert [name for name, _ in sources("tests/fakes") if name.rpartition("/")[2].startswith("test_")] == []
