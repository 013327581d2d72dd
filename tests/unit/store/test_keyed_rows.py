"""Rows of a table by key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from rag.store.keyed_rows import KeyedRows

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


def test_an_empty_table_has_no_rows() -> None:
    rows = KeyedRows(pa.table({"key": pa.array([], pa.string())}), "key")
    assert dict(rows.items()) == {}
    assert not rows
