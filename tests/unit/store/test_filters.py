"""Which paths are meant by those that a person gives."""

from __future__ import annotations

import os

from corpora.escaping import visible
from rag.store.filters import at_or_below

RAW = os.fsdecode(b"/c/caf\xe9.md")
KNOWN = [RAW, "/c/a\nb/1.md", "/c/a\nb/2.md", "/c/x\\n.md", "/c/x\n.md", "/c/plain.md"]


def test_a_path_is_taken_as_it_is_shown() -> None:
    assert visible(RAW) == "/c/caf\\xe9.md"
    for path in KNOWN:
        assert at_or_below(KNOWN, [path]) == [path]
    assert at_or_below(KNOWN, ["/c/caf\\xe9.md"]) == [RAW]
    assert at_or_below(KNOWN, ["/c/a\\nb"]) == KNOWN[1:3]
    assert at_or_below(KNOWN, ["/c/plain.md", "/c/caf\\xe9.md"]) == [RAW, "/c/plain.md"]


def test_a_file_of_that_very_name_goes_first() -> None:
    assert at_or_below(KNOWN, ["/c/x\\n.md"]) == ["/c/x\\n.md"]
    assert at_or_below(KNOWN, ["/c/x\\t.md"]) == []
