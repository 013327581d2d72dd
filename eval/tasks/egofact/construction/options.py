"""From a candidate to a whole query: distractors, statements, order (EgoFact, C.2.4, C.2.5).

Distractors are five objects beside the right one that the model names. Two-hop options are three
object-passage pairs, each with a counter-fact and a fact. Unshuffled, A and B
are about the first distractor, C and D about the second, E and F about the right object; A, C and E are
counter-facts, F is right. (The paper's C.2.5 speaks of 2 facts and 4 counter-facts with one right; three
of each is what section 2.2 and figure 5 say and show.) A counter-fact belongs to the very statement whose
fact is beside it, so that only the passage distinguishes them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from eval.runs.records import LETTERS
from eval.tasks.egofact.construction.questions import Candidate, names_object, option_text, question_text
from eval.tasks.egofact.construction.records import BuildSettings, FactPassage
from eval.tasks.egofact.construction.roles import (
    CHECK_CHOICE,
    WRITE_DISTRACTORS,
    WRITE_STATEMENTS,
    AnsweredQuestion,
    CheckRequest,
)
from eval.tasks.egofact.records import Query, Truth
from eval.tasks.egofact.replies import StoredReplies
from eval.workbench.seeds import stable_number
from rag.errors import ReplyInvalid
from rag.records import Question

COUNTERFACTS = 3
"""C.2.5: beside each fact."""


def chosen_option(replies: StoredReplies, question: Question, texts: Sequence[str] = ()) -> int:
    """The option that the model chooses, with texts or with none: what the filters of validity and
    non-triviality ask. Raises `ReplyInvalid`."""
    key = (question.text, *question.options, *(f"text: {text}" for text in texts))
    reply = replies.run(CHECK_CHOICE, lambda: CheckRequest(question, tuple(texts)), *key)
    return LETTERS.index(reply.choice)


class WrittenPassages:
    """WikiHow passages of an object with statements that a model wrote and passed (C.2.5, steps 1 to 3)."""

    def __init__(self, near: Callable[[str], Sequence[FactPassage]], replies: StoredReplies) -> None:
        self._near, self._replies = near, replies
        self._of: dict[str, tuple[FactPassage, ...]] = {}
        self.found: dict[str, FactPassage] = {}
        """Each passage that a query may rest on, by its id."""
        self.counts = {"passages near an option": 0, "statement sets": 0, "valid and non-trivial": 0}

    def of(self, name: str) -> tuple[FactPassage, ...]:
        """Passages whose statements only their reader gets right, best first."""
        if name not in self._of:
            found = self._near(name)
            self.counts["passages near an option"] += len(found)
            written = [passage for each in found if (passage := self._written(each)) is not None]
            for passage in written:
                self.found.setdefault(passage.passage_id, passage)
            self._of[name] = tuple(written)
        return self._of[name]

    def facts(self, name: str) -> frozenset[str]:
        """All true statements about an object, in lower case."""
        return frozenset(passage.fact.lower() for passage in self.of(name))

    def _written(self, passage: FactPassage) -> FactPassage | None:
        try:
            reply = self._replies.run(
                WRITE_STATEMENTS, lambda: passage, passage.object, passage.title, passage.text
            )
            self.counts["statement sets"] += 1
            wrong = reply.counterfacts[:COUNTERFACTS]
            if not self._passes(passage, reply.fact, wrong):
                return None
        except ReplyInvalid:
            return None
        self.counts["valid and non-trivial"] += 1
        return replace(passage, activity=reply.activity, fact=reply.fact, counterfacts=wrong)

    def _passes(self, passage: FactPassage, fact: str, wrong: Sequence[str]) -> bool:
        """C.2.5, step 3: the fact is found with the passage, and not without it."""
        options = (fact, *wrong)
        order = shuffled_order(len(options), stable_number("statements", fact) % 2**31)
        question = Question(
            "", f"Which statement is true about the {passage.object}?", tuple(options[at] for at in order)
        )
        right = order.index(0)
        return (
            chosen_option(self._replies, question, [passage.text]) == right
            and chosen_option(self._replies, question) != right
        )


TWO_HOP_TRUTH: tuple[Truth, ...] = (
    "counterfact-distractor",
    "fact-distractor",
    "counterfact-distractor",
    "fact-distractor",
    "counterfact",
    "true",
)


@dataclass(frozen=True, slots=True)
class FactPair:
    """A fact of a passage and a counter-fact, as option texts."""

    passage: FactPassage
    fact: str
    """Whole option text."""
    counterfact: str


def choose_pairs(
    right: str, distractors: Sequence[str], passages: WrittenPassages, rng: random.Random
) -> tuple[FactPair, FactPair, FactPair] | None:
    """First distractor, second distractor, right object; None where passages or statements do not suffice.

    `distractors`: in order of preference; one without a fit passage gives way to the next.
    No option may name one of the three objects.
    """
    if not passages.of(right):
        return None
    named = [right, *islice((name for name in distractors if passages.of(name)), 2)]
    if len(named) < 3:
        return None
    pairs: list[FactPair] = []
    for name in named:
        foreign = frozenset().union(*(passages.facts(other) for other in named if other != name))
        taken = {pair.passage.activity for pair in pairs}
        fresh = [passage for passage in passages.of(name) if passage.activity not in taken]
        rng.shuffle(fresh)
        every = ((passage.fact.lower(), _pair(passage, rng)) for passage in fresh)
        # A fact that another of the objects shares would make two options right.
        fit = (pair for fact, pair in every if fact not in foreign and not _names_any(pair, named))
        pair = next(fit, None)
        if pair is None:
            return None
        pairs.append(pair)
    return pairs[1], pairs[2], pairs[0]


def _pair(passage: FactPassage, rng: random.Random) -> FactPair:
    wrong = option_text(passage.activity, rng.choice(passage.counterfacts))
    return FactPair(passage, option_text(passage.activity, passage.fact), wrong)


def _names_any(pair: FactPair, names: Sequence[str]) -> bool:
    return any(names_object(text, name) for text in (pair.fact, pair.counterfact) for name in names)


ONE_HOP_TRUTH: tuple[Truth, ...] = (*("object-distractor",) * 5, "true")


@dataclass(frozen=True)
class Drafter:
    """Drafts and checks the queries of a build, one candidate at a time."""

    passages: WrittenPassages
    settings: BuildSettings
    seed: int
    replies: StoredReplies
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    """Counts of candidates by family: those looked at, and why some made no query."""

    def accept(self, candidate: Candidate) -> Query | None:
        """The query of a candidate, where it can be drafted, and is valid and non-trivial (section 2.2)."""
        self._count("looked at", candidate)
        try:
            found = self._checked(candidate)
        except ReplyInvalid:
            found = "without a readable reply"
        if isinstance(found, str):
            self._count(found, candidate)
            return None
        return found

    def _checked(self, candidate: Candidate) -> Query | str:
        """The query; or, in a word, why there is none."""
        query = self.draft(candidate)
        if isinstance(query, str):
            return f"without {query}"
        gold = [candidate.target.rewritten]
        if query.passage is not None:
            gold.append(self.passages.found[query.passage].text)
        question, right = Question("", query.text, query.options), LETTERS.index(query.answer)
        if chosen_option(self.replies, question, gold) != right:
            return "not valid"
        return "trivial" if chosen_option(self.replies, question) == right else query

    def _count(self, step: str, candidate: Candidate) -> None:
        self.counts.setdefault(step, Counter())[candidate.family] += 1

    def draft(self, candidate: Candidate) -> Query | str:
        """The query; or, in a word, why there is none: `objects`, `quality` or `statements`."""
        seed = stable_number("egofact", self.seed, *candidate.key) % 2**31
        names = self.objects(candidate)
        if isinstance(names, str):
            return names
        right = candidate.target.patient_canonical
        if candidate.hops == 1:
            return _query(candidate, (*names, right), (None,) * 6, ONE_HOP_TRUTH, None, seed)
        pairs = choose_pairs(right, names, self.passages, random.Random(f"statements {seed}"))
        if pairs is None:
            return "statements"
        options = tuple(text for pair in pairs for text in (pair.counterfact, pair.fact))
        ids = tuple(pair.passage.passage_id for pair in pairs for _ in range(2))
        return _query(candidate, options, ids, TWO_HOP_TRUTH, ids[-1], seed)

    def objects(self, candidate: Candidate) -> tuple[str, ...] | str:
        """Five names, or, in a word, why there are none (C.2.4); both hops of a question have the same."""
        target, clip = candidate.target, candidate.segment
        text = question_text(clip.description, target, candidate.anchor, candidate.position, 1)
        assert text is not None, "a candidate has a question"
        answer = target.patient_canonical
        reply = self.replies.run(
            WRITE_DISTRACTORS, lambda: AnsweredQuestion(text, answer, clip.narration), text, answer
        )
        if reply.score < self.settings.quality:
            return "quality"
        distinct = {name.casefold(): name for name in map(_plain, reversed(reply.distractors)) if name}
        distinct.pop(answer.casefold(), None)
        names = tuple(reversed(distinct.values()))[: self.settings.distractors]
        if len(names) < self.settings.distractors or any(names_object(candidate.text, one) for one in names):
            return "objects"
        return names


def _plain(name: str) -> str:
    return " ".join(name.split())


def shuffled_order(count: int, seed: int) -> tuple[int, ...]:
    """The original index of the option at each shuffled place: Fisher-Yates by `random.Random(seed)`."""
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return tuple(order)


def _query(
    candidate: Candidate,
    options: Sequence[str],
    passages: Sequence[str | None],
    truth: Sequence[Truth],
    gold: str | None,
    seed: int,
) -> Query:
    order = shuffled_order(len(options), seed)
    return Query(
        query_id=f"{candidate.family}-{stable_number(seed, *candidate.key, candidate.text) % 16**10:010x}",
        text=candidate.text,
        options=tuple(options[at] for at in order),
        answer=LETTERS[order.index(len(options) - 1)],
        family=candidate.family,
        clip_id=candidate.segment.clip_id,
        window=candidate.target.window,
        seen=None,
        anchor=candidate.anchor.window if candidate.anchor else None,
        position=candidate.position,
        passage=gold,
        option_passages=tuple(passages[at] for at in order),
        truth=tuple(truth[at] for at in order),
        order=order,
        seed=seed,
    )
