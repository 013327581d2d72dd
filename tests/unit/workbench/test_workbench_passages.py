"""The Workbench passages: only the passage itself separates fact from counter-fact."""

from __future__ import annotations

import hashlib
import re

from eval.workbench.catalogue import KINDS
from eval.workbench.passages import Statement, WorldPassage, world_passages


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+|\d+", text.lower())


def _pairs() -> list[tuple[WorldPassage, Statement]]:
    return [(passage, statement) for passage in world_passages() for statement in passage.statements]


def test_no_statement_says_what_it_is_about() -> None:
    names = {name for kind in KINDS for name in (kind.name, *kind.aliases.values())}
    named = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    for passage, statement in _pairs():
        revealing = passage.about.revealing
        for text in (statement.fact, *statement.counterfacts):
            words = _words(text)
            assert not revealing & {form for word in words for form in (word, word.removesuffix("s"))}
            assert not named.search(text.lower()), text
            assert re.match(r"(?:It|This) .+\.$", text)


def test_the_statements_are_the_same_on_every_machine() -> None:
    """Who changes them measures retrieval and agreement again, and then writes the new digest here."""
    digest = hashlib.sha256()
    for passage, statement in _pairs():
        digest.update("\x1f".join((passage.passage_id, statement.fact, *statement.counterfacts)).encode())
    assert digest.hexdigest()[:16] == "e687cdf101c43efa"
