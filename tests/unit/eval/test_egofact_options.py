"""Distractors, quality, two-hop statements, and the shuffle."""

from __future__ import annotations

import random
from dataclasses import replace

from eval.tasks.egofact.construction.options import Drafter, PassageIndex, choose_distractors, choose_pairs
from eval.tasks.egofact.construction.questions import candidates_of
from eval.tasks.egofact.construction.records import BuildSettings
from eval.tasks.egofact.records import Query
from tests.fakes.egofact_world import THINGS, even_prior, event, passages, segment, words, world

SETTINGS = BuildSettings()


def _candidates(count=6, hops=1):
    return [one for clip in world(count) for one in candidates_of(clip, 4.0) if one.hops == hops]


def test_distractors_are_five_others_and_never_said_in_the_question():
    for candidate in _candidates():
        names = choose_distractors(candidate, even_prior(), words(), SETTINGS, random.Random(1))
        assert names is not None
        right = candidate.target.patient_canonical
        assert len({*names, right}) == 6
        assert not any(name in candidate.text.split() for name in names)
        if candidate.anchor:
            assert candidate.anchor.patient_canonical not in names


def test_what_the_clip_uses_and_shows_comes_first():
    events = [event(thing, 1.0 + 5 * at, verb=f"act{at}") for at, thing in enumerate(THINGS[:3])]
    clip = segment("a", "a shed", events, THINGS[5:7])
    candidate = next(one for one in candidates_of(clip, 0.0) if one.target.patient == "kettle")
    names = choose_distractors(candidate, even_prior(), words(), SETTINGS, random.Random(3))
    assert names is not None
    assert set(names[:2]) == set(THINGS[1:3])
    assert set(names[2:4]) == set(THINGS[5:7])


def _drafter(seed=1):
    encoder = words()
    index = PassageIndex(passages(), encoder, SETTINGS)
    return Drafter(even_prior(), index, encoder, SETTINGS, seed, {})


def test_two_hop_queries_are_three_pairs_of_a_counterfact_and_a_fact():
    by_id = {passage.passage_id: passage for passage in passages()}
    for candidate in _candidates(hops=2):
        query = _drafter().draft(candidate)
        assert isinstance(query, Query)
        plain = {letter: at for at, letter in enumerate(query.unshuffled)}
        assert [query.truth[plain[letter]] for letter in "ABCDEF"] == [
            *("counterfact-distractor", "fact-distractor") * 2,
            "counterfact",
            "true",
        ]
        for one, other in ("AB", "CD", "EF"):
            held = {query.option_passages[plain[letter]] for letter in (one, other)}
            (passage,) = (by_id[name] for name in held if name)
            gold = passage.statements[0]
            activity = f"When {passage.activity}. "
            assert query.options[plain[other]] == activity + gold.fact
            assert query.options[plain[one]] in [activity + wrong for wrong in gold.counterfacts]
        assert query.passage == query.option_passages[plain["F"]]
        assert by_id[query.passage].object == candidate.target.patient_canonical


def test_no_statement_names_its_object_or_is_shared():
    held = passages()
    encoder = words()

    def pairs(held_passages, aliases=None):
        index = PassageIndex(held_passages, encoder, SETTINGS)
        return choose_pairs("kettle", THINGS[1:6], aliases or {}, index, random.Random(1))

    assert pairs(held) is not None
    assert pairs([p for p in held if p.object != "kettle"]) is None
    assert pairs([p for p in held if p.object in THINGS[:2]]) is None
    assert pairs(held, {"kettle": ("degrees",)}) is None
    shared = [replace(p, statements=held[0].statements) for p in held]
    assert pairs(shared) is None
    assert pairs([replace(p, activity="one job") for p in held]) is None
    assert pairs([replace(p, title="x", text="Far. Off.") for p in held]) is None
