"""The Workbench passages: what reports rest on."""

from __future__ import annotations

import hashlib

from eval.workbench.passages import world_passages


def test_the_statements_are_those_of_the_reports() -> None:
    """Who changes them measures retrieval and agreement again, and then writes the new digest here."""
    digest = hashlib.sha256()
    for passage in world_passages():
        for statement in passage.statements:
            said = (passage.passage_id, statement.fact, *statement.counterfacts)
            digest.update("\x1f".join(said).encode())
    assert digest.hexdigest()[:16] == "e687cdf101c43efa"
