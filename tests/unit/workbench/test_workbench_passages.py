"""The Workbench passages: number and shape, and that only the passage separates fact from counter-fact."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from corpora.passages.chunking import chunk
from corpora.passages.plain_text import read_markdown
from corpora.records import Problem
from eval.workbench.catalogue import KINDS
from eval.workbench.passages import (
    Statement,
    WorldPassage,
    object_facts,
    passage_object,
    topics,
    world_passages,
    write_passages,
)
from rag.reasoners.embedded.option_features import FEATURES, OptionText
from rag.reasoners.embedded.sentences import Sentence
from rag.records import Question

WORLD = [passage for passage in world_passages() if passage.kind_id is not None]
KIND = {kind.kind_id: kind for kind in KINDS}
ASSEMBLED = world_passages()


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+|\d+", text.lower())


def _pairs() -> list[tuple[WorldPassage, Statement]]:
    return [(passage, statement) for passage in world_passages() for statement in passage.statements]


def test_every_kind_has_a_passage_for_five_activities() -> None:
    counted = Counter(passage.kind_id for passage in WORLD)
    assert counted == {kind.kind_id: 5 for kind in KINDS}
    assert len({(passage.kind_id, passage.activity) for passage in WORLD}) == 5 * len(KINDS) == 340
    assert len(world_passages()) - len(WORLD) >= 60


def test_an_activity_is_shared_by_kinds_of_several_families() -> None:
    kinds = defaultdict(list)
    for passage in WORLD:
        kinds[passage.activity].append(KIND[str(passage.kind_id)])
    assert 40 <= len(kinds) <= 48
    assert min(map(len, kinds.values())) >= 6
    assert min(len({kind.family for kind in shared}) for shared in kinds.values()) >= 3


def test_passages_name_object_and_activity_and_are_of_one_chunk(tmp_path: Path) -> None:
    for passage, path in zip(world_passages(), write_passages(tmp_path), strict=True):
        name = passage.passage_id.split("--")[0].replace("-", " ")
        assert name in passage.title
        assert passage.activity in passage.title
        assert passage.text.count(f"the {name}") >= 3
        assert passage.activity in passage.text
        assert 60 <= len(passage.text.split()) <= 130
        assert not re.search(r"[{}]|\b[Aa] [aeio]", passage.text)
        (document,) = read_markdown(str(path))
        assert not isinstance(document, Problem)
        assert document.title == passage.title
        assert len(chunk(document)) == 1


def test_distractors_are_about_things_that_are_not_in_the_world() -> None:
    known = {name for kind in KINDS for name in (kind.name, *kind.aliases.values())}
    strange = {p.passage_id.split("--")[0].replace("-", " ") for p in world_passages() if p.kind_id is None}
    assert len(strange) > 20
    assert not strange & known


def test_all_that_was_written_is_read() -> None:
    assert set(object_facts()) >= {kind.name for kind in KINDS}
    assert {len(facts) for name, facts in object_facts().items() if passage_object(name).kind} == {5}
    used = {claim.particular for item in ASSEMBLED for claim in item.statements}
    assert used == {found.name for topic in topics() for found in topic.particulars}
    for topic in topics():
        assert len(topic.particulars) >= 2
        for found in topic.particulars:
            assert len(found.sentences) == 2
            assert found.statement.startswith("It ")
            choices = math.prod(len(slot.values) for slot in found.slots)
            assert choices >= 4
            asked = set(re.findall(r"\{(\w+)\}", found.statement))
            assert asked == {slot.name for slot in found.slots}


def test_counterfacts_differ_from_the_fact_in_one_particular() -> None:
    for _, statement in _pairs():
        texts = (statement.fact, *statement.counterfacts)
        assert len(set(texts)) == 4
        for text in statement.counterfacts:
            ours, theirs = Counter(_words(statement.fact)), Counter(_words(text))
            changed = max((ours - theirs).total(), (theirs - ours).total())
            assert 1 <= changed <= 3, (statement.fact, text)
            assert abs(len(text) - len(statement.fact)) <= 12


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


def test_no_two_things_of_an_activity_have_a_particular_in_common() -> None:
    given = Counter((item.activity, claim.particular) for item in ASSEMBLED for claim in item.statements)
    assert set(given.values()) == {1}


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


@pytest.mark.parametrize("cue", [r"\bnot\b", r"\b(?:before|first|top|left)\b", r"\b(?:dry|gently|slowly)\b"])
def test_cautious_words_stand_on_both_sides_alike(cue: str) -> None:
    facts = sum(bool(re.search(cue, statement.fact)) for _, statement in _pairs())
    rivals = sum(bool(re.search(cue, text)) for _, s in _pairs() for text in s.counterfacts) / 3
    assert facts > 5
    assert abs(facts - rivals) <= 3 * math.sqrt(facts)


def test_great_numbers_are_true_as_often_as_small_ones() -> None:
    greater = []
    for _, statement in _pairs():
        for text in statement.counterfacts:
            one, other = (re.findall(r"\d+", side) for side in (statement.fact, text))
            if one != other:
                greater.append(int(one[0]) > int(other[0]))
    assert len(greater) > 300
    assert 0.45 <= sum(greater) / len(greater) <= 0.55


def test_the_sentence_of_the_passage_has_more_of_the_fact_than_of_a_counter_fact() -> None:
    right = total = 0
    for item in ASSEMBLED[::4]:
        for claim in item.statements:
            assert claim.sentence[1:-1] in item.text
            held = [Sentence(claim.sentence, claim.sentence, item.title, "passage", 0, "passage")]
            for text in claim.counterfacts:
                rows = OptionText(Question("q", "Which is true?", (claim.fact, text)), held).lexical()
                covered = rows[:, 0, FEATURES.index("covered")] - rows[:, 0, FEATURES.index("negation")]
                right += covered[0] > covered[1]
                total += 1
    assert right / total >= 0.95


def test_passages_say_facts_in_other_words() -> None:
    copied = [
        claim.fact for item in ASSEMBLED for claim in item.statements if claim.fact[3:-1] in claim.sentence
    ]
    assert copied == []


def test_the_files_are_the_same_each_time(tmp_path: Path) -> None:
    first = write_passages(tmp_path / "one")
    again = write_passages(tmp_path / "two")
    assert [path.name for path in first] == [path.name for path in again]
    assert len({path.name for path in first}) == len(world_passages())
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(first, again, strict=True))
    text = first[0].read_text(encoding="utf-8")
    assert text == f"# {world_passages()[0].title}\n\n{world_passages()[0].text}\n"


def test_the_statements_are_the_same_on_every_machine() -> None:
    """Who changes them measures retrieval and agreement again, and then writes the new digest here."""
    digest = hashlib.sha256()
    for passage, statement in _pairs():
        digest.update("\x1f".join((passage.passage_id, statement.fact, *statement.counterfacts)).encode())
    assert digest.hexdigest()[:16] == "e687cdf101c43efa"
