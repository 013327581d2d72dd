"""What a `Where` lets through: as sets of ids, as masks over rows in memory, as SQL."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Collection
from typing import TYPE_CHECKING

from rag.store.database import quoted
from rag.store.matrices import Matrix, overlapping
from rag.store.records import Where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["owner_sql", "path_matches", "row_mask", "span_sql"]


def path_matches(paths: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    """Whether one of `paths` fits, or lies below, one of `globs`; a relative one may begin at any folder."""
    for glob in globs:
        whole = glob.rstrip("/")
        forms = [whole] if whole.startswith("/") else [whole, f"*/{whole.removeprefix('./')}"]
        for path in paths:
            if path == glob or path.startswith(f"{whole}/"):
                return True
            if any(fnmatch.fnmatchcase(path, f) or fnmatch.fnmatchcase(path, f"{f}/*") for f in forms):
                return True
    return False


def row_mask(
    matrix: Matrix,
    owners: Collection[str] | None,
    where: Where,
    spans: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
) -> NDArray[np.bool_] | None:
    """bool (n,) over the rows of `matrix`, or None where nothing is filtered. `owners` None: all of them."""
    masks = []
    if owners is not None:
        masks.append(matrix.owners.among(owners))
    if where.kinds is not None and matrix.kinds is not None:
        masks.append(matrix.kinds.among(where.kinds))
    if spans is not None and (where.start is not None or where.end is not None):
        masks.append(overlapping(spans, where.start, where.end))
    if not masks:
        return None
    keep = masks[0]
    for mask in masks[1:]:
        keep = keep & mask
    return keep


def owner_sql(column: str, present: Collection[str], wanted: Collection[str]) -> list[str]:
    """SQL conditions for the rows of `wanted` owners among those `present`, as short as they can be."""
    kept = set(present) & set(wanted)
    hidden = set(present) - kept
    if not hidden:
        return []
    if len(hidden) <= len(kept):
        return [f"{column} NOT IN {quoted(sorted(hidden))}"]
    return [f"{column} IN {quoted(sorted(kept))}"] if kept else ["false"]


def span_sql(start: float | None, end: float | None) -> list[str]:
    """SQL conditions for rows that share a moment with [start, end). Raises ValueError for NaN."""
    conditions = []
    for column, sign, bound in (("`end`", ">", start), ("start", "<", end)):
        if bound is None:
            continue
        if math.isnan(bound):
            raise ValueError("a time is not a number")
        if math.isfinite(bound):
            conditions.append(f"{column} {sign} {float(bound)!r}")
        elif (bound > 0) == (sign == ">"):
            conditions.append("false")
    return conditions
