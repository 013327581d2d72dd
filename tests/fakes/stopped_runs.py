"""Runs that end before one of their commits, whichever it is."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

COMMITS = ("create", "write_table", "upsert", "delete", "index", "compact", "commit")
"""Methods of `rag.store.database.Database` that write or commit."""


class Stop(BaseException):
    """Ends a run as a kill would: nothing handles it."""


def stop_after(patch: pytest.MonkeyPatch, count: int, owner: object, names: Sequence[str] = COMMITS) -> None:
    """Let `count` calls of the methods `names` of `owner` through, and raise `Stop` at each after them."""
    left = count

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def commit(*given: Any, **named: Any) -> Any:
            nonlocal left
            if left == 0:
                raise Stop
            left -= 1
            return call(*given, **named)

        return commit

    for name in names:
        patch.setattr(owner, name, counted(getattr(owner, name)))
