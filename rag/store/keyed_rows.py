"""Rows of a table by their key, made dictionaries as they are asked for: a question looks at few of many."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from functools import cached_property
from typing import Any


class KeyedRows(Mapping[str, dict[str, Any]]):
    """The rows of an Arrow table by a column of strings; of equal keys the last row.

    A row by itself takes several times as long as one of all: once an eighth was asked for, all are made.
    """

    def __init__(self, table: Any, key: str) -> None:
        self._table = table
        self._key = key
        self._columns = dict(zip(table.column_names, table.columns, strict=True))
        self._at = {name: at for at, name in enumerate(table[key].to_pylist())}
        self._asked = 0

    def __getitem__(self, key: str) -> dict[str, Any]:
        self._asked += 1
        if 8 * self._asked > len(self._at):
            return self._rows[key]
        at = self._at[key]
        return {name: column[at].as_py() for name, column in self._columns.items()}

    @cached_property
    def _rows(self) -> dict[str, dict[str, Any]]:
        return {row[self._key]: row for row in self._table.to_pylist()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, key: object) -> bool:
        return key in self._at

    def items(self) -> ItemsView[str, dict[str, Any]]:
        """Keys and rows of the whole table."""
        return self._rows.items()
