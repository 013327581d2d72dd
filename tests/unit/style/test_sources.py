"""Every source file: size, docstrings, suppressions, imports, and the place of tests."""

import ast
import re

from tests.fakes.sources import FOLDERS, PACKAGES, ROOT, sources, statements

ARRAY = re.compile(r"\b(?:NDArray|ndarray|Floats?|Vectors?|Matrix|FloatArray|UInt8Array)\b")
SHAPE = re.compile(
    r"\(\w+(?: ?[+*/-] ?\w+)?,(?: ?\w+(?: ?[+*/-] ?\w+)?,?)* ?\)|\bshapes?\b|\bscalar\b|\b[01]-d\b"
)
DTYPE = re.compile(r"\b(?:float(?:16|32|64)?|u?int(?:8|16|32|64)?|bool|dtype|object|complex64)\b")


def _unstated(source: str) -> list[str]:
    """Public functions of arrays whose docstring lacks the shape or the dtype."""
    found, lines = [], source.splitlines()
    for node in statements(source) if ARRAY.search(source) else ():
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            signature = " ".join(lines[node.lineno - 1 : node.body[0].lineno - 1])
            said = ast.get_docstring(node)
            if said and ARRAY.search(signature) and not (SHAPE.search(said) and DTYPE.search(said)):
                found.append(node.name)
    return found


def test_functions_of_arrays_state_shape_and_dtype() -> None:
    assert _unstated('def columns(x: NDArray[Any]) -> int:\n    """Columns of an array (n, d)."""') == [
        "columns"
    ]
    found = {name: _unstated(source) for name, source in sources(*PACKAGES)}
    assert {name: functions for name, functions in found.items() if functions} == {}


FRAGMENT = re.compile(
    r"(?:After|Against|Along|As|Before|Below|By|For|From|In|None|Of|On|Over|Those|These|To|With|Without)\b"
)
"""How a docstring begins that says something only behind the one before it."""


def _fragments(source: str) -> list[str]:
    """Public names whose docstring is no sentence."""
    named = (node for node in statements(source) if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return [
        node.name
        for node in named
        if not node.name.startswith("_") and FRAGMENT.match(ast.get_docstring(node) or "")
    ]


def test_docstrings_read_without_their_neighbours() -> None:
    assert _fragments('def size():\n    """Of the file."""') == ["size"]
    found = {name: _fragments(source) for name, source in sources(*PACKAGES)}
    assert {name: names for name, names in found.items() if names} == {}


def _too_large(source: str) -> list[str]:
    found = []
    if len(source.splitlines()) > 600:
        found.append("the file has over 600 lines")
    for node in statements(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > 80:
                found.append(f"{node.name} has {lines} lines")
    return found


def test_files_and_functions_are_small() -> None:
    long_function = "def f():\n" + "    pass\n" * 80
    assert _too_large(long_function) == ["f has 81 lines"]
    assert _too_large("\n" * 601) == ["the file has over 600 lines"]
    odd = {name: _too_large(source) for name, source in sources(*PACKAGES, "benchmarks")}
    assert {name: found for name, found in odd.items() if found} == {}


KINDS = {"cli", "contract", "e2e", "fakes", "faults", "golden", "guarded", "page", "property", "unit"}


TEST_MODULE = re.compile(r"^\s*(?:from|import) tests(?!\.fakes\b)", re.MULTILINE)


def test_no_test_module_is_imported() -> None:
    assert TEST_MODULE.search("    from tests.unit import a")
    texts = sources("tests", "benchmarks")
    assert [name for name, text in texts if TEST_MODULE.search(text)] == []


def test_tests_are_sorted_by_kind() -> None:
    tests = ROOT / "tests"
    assert {path.name for path in tests.iterdir() if path.is_dir() and path.name != "__pycache__"} == KINDS
    assert [path.name for path in tests.glob("*.py")] == ["conftest.py"]
    assert list(tests.rglob("__init__.py")) == []
    assert [name for name, _ in sources("tests/fakes") if name.rpartition("/")[2].startswith("test_")] == []


# An exception from a gate carries its code, and behind it why it is right.
SILENCED = re.compile(r"# (?:noqa|type: ignore)(?P<code>(?:: ?|\[)[A-Za-z][\w, -]*\]?)?(?P<why>.*)")


def _unexplained(source: str) -> list[str]:
    return [
        match[0]
        for match in SILENCED.finditer(source)
        if not match["code"] or not re.search(r"\w{2}", match["why"])
    ]


def test_no_gate_is_silenced_without_a_code_and_a_reason() -> None:
    silent = ("noqa", "noqa: B009", "type: ignore", "type: ignore[misc]", "type: ignore[misc]  #")
    for comment in silent:
        assert _unexplained(f"x = 1  # {comment}\n") == [f"# {comment}"]
    for comment in ("noqa: B009 (only some have it)", "type: ignore[misc]  # torch is untyped"):
        assert _unexplained(f"x = 1  # {comment}\n") == []
    found = {name: _unexplained(source) for name, source in sources(*FOLDERS)}
    assert {name: comments for name, comments in found.items() if comments} == {}
