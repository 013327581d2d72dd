"""Files and functions stay small, and every file has a docstring."""

from __future__ import annotations

import ast

from tests.fakes.sources import FOLDERS, PACKAGES, sources


def _too_large(source: str) -> list[str]:
    tree, found = ast.parse(source), []
    if len(source.splitlines()) > 600:
        found.append("the file has over 600 lines")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > 80:
                found.append(f"{node.name} has {lines} lines")
    return found


def test_files_and_functions_are_small_and_say_why_they_exist() -> None:
    long_function = "def f():\n" + "    pass\n" * 80
    assert _too_large(long_function) == ["f has 81 lines"]
    assert _too_large("\n" * 601) == ["the file has over 600 lines"]
    odd = {name: _too_large(source) for name, source in sources(*PACKAGES, "benchmarks", "examples")}
    assert {name: found for name, found in odd.items() if found} == {}
    assert [name for name, source in sources(*FOLDERS) if not ast.get_docstring(ast.parse(source))] == []
