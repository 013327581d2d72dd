"""Rows of a table by key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from rag.store.snapshot import KeyedRows


def test_a_row_is_a_dictionary_and_of_equal_keys_the_last() -> None:
    table = pa.Table.from_pylist([{"key": "a", "n": 1}, {"key": "b", "n": 2}, {"key": "a", "n": 3}])
    rows = KeyedRows(table, "key")
    assert dict(rows.items()) == {"a": {"key": "a", "n": 3}, "b": {"key": "b", "n": 2}}
    assert {key: rows[key] for key in rows} == dict(rows.items())
    assert (len(rows), "c" in rows) == (2, False)
    with pytest.raises(KeyError):
        rows["c"]
    assert dict(KeyedRows(table.slice(0, 0), "key").items()) == {}
