"""Every suppression of a linter or type checker has its code and a reason."""

from __future__ import annotations

import re

from tests.fakes.sources import FOLDERS, sources

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
