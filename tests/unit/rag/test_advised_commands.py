"""Commands that messages advise can be typed: `rag index` needs its folders."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
REFUSED = re.compile(r"rag index\b[`']?(?: --(?!commit-staged)| resumes)")


def texts(source: str) -> Iterator[str]:
    """The strings of a module that are no docstrings, with what is formatted into them as `{}`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            yield node.value


def test_what_is_refused_is_recognized() -> None:
    assert [*filter(REFUSED.search, texts("x = f'{y}; rag index --prune removes it'"))]
    assert not REFUSED.search("rag index FOLDER --reembed; rag index --commit-staged")


def test_no_message_advises_to_index_without_folders() -> None:
    files = [path for package in ("corpora", "indexers", "rag") for path in (ROOT / package).rglob("*.py")]
    assert len(files) > 100
    found = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in files
        for text in texts(path.read_text())
        if REFUSED.search(text) and not text.startswith("`rag index")
    }
    assert not found
