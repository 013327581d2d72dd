"""The Workbench passages: only the passage itself separates fact from counter-fact."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter

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


def _cue_weights(pairs: list[tuple[int, Statement]]) -> dict[str, float]:
    """Log odds of a word to stand in a fact rather than in a counter-fact."""
    facts: Counter[str] = Counter()
    rivals: Counter[str] = Counter()
    for _, statement in pairs:
        facts.update(set(_words(statement.fact)))
        for text in statement.counterfacts:
            rivals.update(set(_words(text)))
    return {
        word: math.log((facts[word] + 1) / (rivals[word] / 3 + 1)) for word in facts.keys() | rivals.keys()
    }


def _guessed(pairs: list[tuple[int, Statement]]) -> float:
    """Share of pairs separated by words alone, in 5 folds over passages; a tie counts half."""
    score = total = 0.0
    for fold in range(5):
        weights = _cue_weights([pair for pair in pairs if pair[0] % 5 != fold])
        for at, statement in pairs:
            if at % 5 == fold:
                fact, *rivals = (
                    round(sum(weights.get(word, 0.0) for word in set(_words(text))), 9)
                    for text in (statement.fact, *statement.counterfacts)
                )
                score += sum(1.0 if fact > rival else 0.5 if fact == rival else 0.0 for rival in rivals)
                total += len(rivals)
    return score / total


def test_without_the_passage_a_fact_looks_like_a_counterfact() -> None:
    pairs = [(at, statement) for at, p in enumerate(world_passages()) for statement in p.statements]
    assert 0.45 <= _guessed(pairs) <= 0.55
    rivals = ("It should stand.", "It should hang.", "It should lie.")
    obvious = Statement("It should surely stand.", rivals, sentence="", particular="")
    assert _guessed([(at, obvious) for at in range(50)]) == 1.0


def test_the_statements_are_the_same_on_every_machine() -> None:
    """Who changes them measures retrieval and agreement again, and then writes the new digest here."""
    digest = hashlib.sha256()
    for passage, statement in _pairs():
        digest.update("\x1f".join((passage.passage_id, statement.fact, *statement.counterfacts)).encode())
    assert digest.hexdigest()[:16] == "e687cdf101c43efa"
