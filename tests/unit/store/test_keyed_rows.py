"""Rows of a table by key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from rag.store.snapshot import KeyedRows

ROWS = [{"key": "a", "n": 1}, {"key": "b", "n": 2}, {"key": "a", "n": 3}]


def test_a_row_is_a_dictionary_and_of_equal_keys_the_last() -> None:
    rows = KeyedRows(pa.Table.from_pylist(ROWS), "key")
    assert rows["a"] == {"key": "a", "n": 3}
    assert rows["b"] == {"key": "b", "n": 2}
    assert dict(rows.items()) == {key: rows[key] for key in rows}


def test_keys_are_those_of_the_table() -> None:
    rows = KeyedRows(pa.Table.from_pylist(ROWS), "key")
    assert rows.keys() == {"a", "b"}
    assert len(rows) == 2
    assert "c" not in rows
    with pytest.raises(KeyError):
        rows["c"]


def test_many_rows_are_made_at_once() -> None:
    table = pa.Table.from_pylist([{"key": str(n), "n": n} for n in range(80)])
    rows = KeyedRows(table, "key")
    assert [rows[str(n)]["n"] for n in range(80)] == list(range(80))
    assert rows["7"] is rows["7"]
    few = KeyedRows(table, "key")
    assert few["7"] is not few["7"]


def test_an_empty_table_has_no_rows() -> None:
    rows = KeyedRows(pa.table({"key": pa.array([], pa.string())}), "key")
    assert dict(rows.items()) == {}
    assert not rows
