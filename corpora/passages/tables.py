"""Tables as the text of a passage has them: a row a line, and a rule below a row of heads.

    | Bolt | Torque |
    |-|-|
    | M8 | 25 Nm |

Cells hold no line ends; a bar within one is written "\\|", as in Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

HEADS = re.compile(r"^\| .* \|\n\|(?:-\|)+$", re.MULTILINE)
"""A row of heads with the rule below it."""
OPENING = re.compile(rf"{HEADS.pattern}\n\| .* \|$", re.MULTILINE)
"""Heads, their rule and the first row, which stay together: heads alone say nothing."""
BETWEEN_ROWS = re.compile(r"(?<= \|\n)(?=\| )")
"""Where a table may be cut: heads, their rule and the row below belong together."""

_ROWS = re.compile(r"^\| .* \|$(?:\n\| .* \|$)*", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")
_RULE = frozenset("|:- \t")


def row(cells: Sequence[str], heads: bool = False) -> str:
    """One line, or two for the heads of columns. `cells`: with their bars escaped."""
    line = " ".join(f"| {' | '.join(cells)} |".split())
    return f"{line}\n|{'-|' * len(cells)}" if heads else line


def escaped(cell: str) -> str:
    """A cell's own text, whose bars end no cell."""
    return cell.replace("|", "\\|")


def unescaped(cell: str) -> str:
    """The text of a cell: the inverse of `escaped`."""
    return cell.replace("\\|", "|")


def cells_of(line: str) -> list[str]:
    """The cells of a row, as they are written; Markdown may leave out the outer bars."""
    parts = [part.strip() for part in _BAR.split(line.strip())]
    return parts[not parts[0] : len(parts) - (len(parts) > 1 and not parts[-1])]


def is_row(text: str) -> bool:
    """Whether a text is a row, or the heads of a table with one: a stop in a cell ends no sentence."""
    return text.startswith("| ") and text.rstrip().endswith(" |")


def is_rule(line: str) -> bool:
    """Whether a line is the rule between heads and rows, here or in Markdown: `|-|-|`, `:--- | ---:`."""
    return {"|", "-"} <= set(line) <= _RULE


def without_bars(text: str) -> str:
    """`text` for reading on one line: rows as `Bolt | Torque; M8 | 25 Nm`, without rules and outer bars."""
    kept = "\n".join(line for line in text.split("\n") if not is_rule(line))
    return _ROWS.sub(lambda found: "; ".join(map(_plain, found[0].split("\n"))), kept)


def _plain(line: str) -> str:
    return " | ".join(map(unescaped, cells_of(line)))


def with_heads(texts: Iterable[str]) -> Iterator[str]:
    """Parts of one document in its order; where one begins within a table, its heads are repeated."""
    heads = ""
    for text in texts:
        if heads and text.startswith("| ") and not HEADS.match(text):
            text = f"{heads}\n{text}"
        yield text
        last = takewhile(lambda line: line.startswith("|"), reversed(text.rstrip().split("\n")))
        found = HEADS.match("\n".join(reversed(list(last))))
        heads = found[0] if found else ""
