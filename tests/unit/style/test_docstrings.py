"""Public symbols have docstrings, and functions of arrays state shape and dtype in theirs."""

from __future__ import annotations

from tests.fakes.public_api import public_symbols
from tests.fakes.sources import PACKAGES, sources

SOURCE = '''
def bare(): ...
def _private(): ...
class Documented:
    """One."""
    def method(self): ...
    def other(self):
        """Two."""
class Derived(Documented):
    """Three."""
    def other(self): ...
def rows(x: NDArray[Any]) -> int:
    """Row count of an array (n, d) float32."""
def columns(x: NDArray[Any]) -> int:
    """Column count of an array."""
'''


def test_a_missing_docstring_is_found() -> None:
    symbols = list(public_symbols({"a.py": SOURCE}))
    assert [each.name for each in symbols if not each.documented] == ["bare", "Documented.method"]
    assert [(each.name, each.missing) for each in symbols if each.takes_arrays] == [
        ("rows", []),
        ("columns", ["shape", "dtype"]),
    ]


def test_public_symbols_have_docstrings() -> None:
    symbols = list(public_symbols(dict(sources(*PACKAGES))))
    assert len(symbols) > 1500
    assert [str(each) for each in symbols if not each.documented] == []


def test_functions_of_arrays_state_shape_and_dtype() -> None:
    functions = [each for each in public_symbols(dict(sources(*PACKAGES))) if each.takes_arrays]
    assert len(functions) > 100
    assert [f"{each}: {each.missing}" for each in functions if each.missing] == []
