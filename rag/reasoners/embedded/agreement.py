"""Whether a text says what a statement says, or its contrary: fact against counter-fact.

Two sentences about the same thing have nearly the same vector whether one
denies the other or not, so the difference is read off their words: what is
advised and what is warned of, numbers, opposites, and how much of the
statement the text holds at all. Sentences are compared clause by clause,
because "use A; B should be avoided" advises the one and warns of the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rag.function_words import FUNCTION_WORDS
from rag.reasoners.embedded.calendar_terms import dates, names_other_dates
from rag.reasoners.embedded.opposites import opposites
from rag.words import content_words, lexical_overlap, number_tokens, numbers, stem, tokens, word_set

_CLAUSE = re.compile(
    r"\s*(?:;|(?<!\d):|:(?!\d))\s*"
    r"|,?\s+\b(?:but|while|whereas|although|though|because|since|so that|however|otherwise)\b\s+"
    r"|, (?!except|excluding|apart from|other than)"
)
_SAME_SUBJECT = re.compile(
    r"\s+(?:and|or) (?=(?:must|should|can|cannot|may|is|are|will|never|not|no|do|does)\b)"
)
_LISTED = re.compile(r"\s*;\s*|, |\s+(?:and(?! an? (?:half|quarter)\b)|or|but|while|whereas)\s+")
_ADVICE = re.compile(
    r"\b(?:must|should|shall|may|can|cannot|never|always|not|avoid\w*|recommend\w*|safe|unsafe|best|better|ideal|"
    r"suitable|need|needs|do|don't)\b",
    re.IGNORECASE,
)
_WARNS = re.compile(
    r"\b(?:not|never|no|cannot|can't|don't|doesn't|isn't|aren't|won't|mustn't|shouldn't|avoid(?:ed|s|ing)?|"
    r"without|neither|nor|unsafe|unsuitable|dangerous|forbidden|prohibited|refrain|discouraged?|bad|worst|"
    r"fails? to|unable|hardly|rarely|inadvisable)\b",
    re.IGNORECASE,
)
_EXCEPTS = re.compile(
    r"\b(?:except|excluded?s?|excluding|exempt\w*|banned|closed|absent|abstain\w*|broken|refus\w+|missing)\b",
    re.IGNORECASE,
)
_TWICE = re.compile(
    r"\b(?:not|never|n't) (?:be )?(?:avoid(?:ed)?|dangerous|unsafe|bad|forbidden|without)\b", re.I
)
_DENIES = frozenset({"not", "no", "never", "nor", "neither"})
"""A clause that begins with one of them leaves out what it is said of."""
_JOINS = frozenset({"and", "but", "or"})
_ALL = frozenset({"always", "all", "every", "only", "never", "entirely", "completely", "exclusively", "any"})
_UNIT_GAP = 2
_NUMBER_WORDS = 12
"""Words of a number, at most: "nine hundred and ninety-nine thousand nine hundred and ninety-nine"."""
_CLOCK = re.compile(r"(?<![\d:])0?(\d{1,2}:\d\d(?::\d\d)?)(?![\d:])", re.ASCII)
"""A time of day, or a length: "9:30" is another than "9:00", though both have a 9."""
_PRONOUN = re.compile(
    r"\b((?:twen|thir|for|fif|six|seven|eigh|nine)ty[- ]one|(?:hundred|thousand|million) and one)\b"
    r"|\bones?\b(?! (?:hundred|thousand|million|and an? (?:half|quarter)))",
    re.IGNORECASE,
)
"""In "a sharp one" it is no number; the first group is one."""
_EXCEPTION = re.compile(r"\b(?:except|excluding|apart from|other than)(?: for| that)?\b", re.IGNORECASE)
_SAME_THING = re.compile(r"\b(?:it|they|this|these)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Agreement:
    """`coverage` in [0, 1]: share of the statement's words that the text holds.
    `verdict` in [-1, 1]: below 0 the text says the contrary. `reasons`: in plain words."""

    coverage: float
    verdict: float
    reasons: tuple[str, ...]


def agreement(statement: str, text: str, rivals: Sequence[str] = ()) -> Agreement:
    """Compare a statement with a sentence that is about the same thing.

    `rivals`: the other options; words that this one does not share with them count double in
    finding the clause of the text that speaks to it.
    """
    common = {word for rival in rivals for word in content_words(rival)}
    said, figures = content_words(statement), set(numbers(text))
    # "3" is said by "three days", and "6" by "half a dozen".
    held = word_set(text) | {word for word in said if figures.intersection(numbers(word))}
    coverage = lexical_overlap(said, held)
    reasons: list[str] = []
    verdict = 0.0
    shared = other_denied = False
    for clause in clauses(statement):
        match = _nearest(clause, text, common)
        if match is None:
            continue
        shared = True
        pair, other = _opposites(clause, match), names_other_dates(clause, match)
        # A word that warns is an opposite and a denial at once; it must not cancel itself out.
        ours, theirs = (clause, match) if pair is None else map(_without, (clause, match), pair)
        agree = stance(ours) == _stance_on(ours, theirs)
        # What is closed on Mondays is open on Tuesdays.
        if agree == (bool(pair) == other):
            verdict += 0.5 if pair or other else 0.0
        elif pair:
            verdict -= 1.0
            reasons.append(f"“{pair[1]}” there, “{pair[0]}” here")
        elif other:
            verdict -= 1.0
            reasons.append(f"“{dates(match).said}” there, “{dates(clause).said}” here")
        elif stance(clause) < 0 and _numbers_differ(clause, text) is True:
            other_denied = True
        else:
            verdict -= 1.0
            reasons.append(f"“{match}” against “{clause}”")
    differing = _numbers_differ(statement, text)
    # "Not 15 mm thick" is what "12 mm thick" says.
    if differing is True and other_denied:
        verdict += 0.5
    elif differing is True:
        verdict -= 1.0
        reasons.append("another number")
    elif differing is False:
        verdict += 1.0
    absolute = {word for word in tokens(statement) if word in _ALL} - set(tokens(text))
    if absolute and shared:
        verdict -= 0.25
        reasons.append(f"“{min(absolute)}” is not said there")
    if shared and not reasons:
        verdict += 0.5
    return Agreement(coverage, max(-1.0, min(1.0, verdict)), tuple(reasons))


def part_about(text: str, wanted: Collection[str], option: str) -> str:
    """The part of a text that speaks of what is asked: of those with numbers of the option's unit, or with
    numbers at all, or for an option without one of those that share `wanted` stems, the one that shares most,
    where "it" has the words of the part before.

    All of the text where two do, or where it has only one such part. "The front wheel has 32", of "the rear
    wheel has 36 spokes and the front wheel has 32".
    """
    words = {word for word in wanted if not numbers(word)}
    pieces = _listed(" ".join(text.split()), words)
    shared: dict[str, tuple[int, int]] = {}
    held: frozenset[str] = frozenset()
    for piece in pieces:
        own = word_set(piece)
        # "Since June it is 3367" speaks of what the piece before names.
        held = own | held if _SAME_THING.search(piece) else own
        shared[piece] = len(words & held), len(words & own)
    kept = [piece for piece in pieces if (numbers(piece) if numbers(option) else any(shared[piece]))]
    if len(kept) < 2:
        return text
    kept = [piece for piece in kept if _units(option) & _units(piece)] or kept
    most = max(shared[piece] for piece in kept)
    fullest = [piece for piece in kept if shared[piece] == most]
    return fullest[0] if len(fullest) == 1 else text


def _listed(text: str, wanted: Collection[str]) -> list[str]:
    """The parts of a text, in order; "but not on Saturdays" is one with what it is said of, the last part
    before that shares a `wanted` stem or else the one before, and with what is between."""
    starts, ends = [0], []
    for joint in _LISTED.finditer(text):
        starts.append(joint.end())
        ends.append(joint.start())
    spans: list[tuple[int, int]] = []
    stems: list[set[str]] = []
    wanted_at: list[int] = []
    """Places of the parts that share a wanted stem."""
    for start, end in zip(starts, [*ends, len(text)], strict=True):
        first, own = start, set(word_set(text[start:end]))
        if spans and _is_elliptic(text[start:end], stems[-1]):
            of = wanted_at.pop() if wanted_at else len(spans) - 1
            stems[of].update(*stems[of + 1 :], own)
            first, own = spans[of][0], stems[of]
            del spans[of:], stems[of:]
        if not own.isdisjoint(wanted):
            wanted_at.append(len(spans))
        spans.append((first, end))
        stems.append(own)
    return [text[first:end] for first, end in spans]


def _is_elliptic(clause: str, before: Collection[str]) -> bool:
    """Whether a clause begins with a denial, or the opposite of one of the stems of the clause before, which
    has what it is said of: "The shop is open on Fridays", "but closed on Mondays"."""
    first = next((word for word in tokens(clause) if word not in _JOINS), "")
    return first in _DENIES or not opposites(stem(first)).isdisjoint(before)


def denies(text: str) -> bool:
    """Whether a text denies, forbids or excepts anything."""
    return bool(_WARNS.search(text) or _EXCEPTS.search(text))


def stance(clause: str) -> int:
    """-1 where a clause denies or warns, +1 where it states or advises; two denials make a statement."""
    warnings = [word.casefold() for word in _WARNS.findall(clause)]
    # "Neither red nor blue" denies once.
    joined = warnings.count("nor") if "neither" in warnings else 0
    denials = len(warnings) - joined - 2 * len(_TWICE.findall(clause))
    return -1 if denials % 2 else 1


def _stance_on(clause: str, match: str) -> int:
    """The stance of a clause that may name exceptions towards one that may be about them."""
    said, *excepted = _EXCEPTION.split(match, maxsplit=1)
    named = word_set(excepted[0]) if excepted else frozenset()
    return -stance(said) if named and named <= word_set(clause) else stance(said)


def clauses(text: str) -> list[str]:
    """In order. "X does Y and must be Z" gives "X does Y" and, since Z is said of X, the whole of it."""
    found: list[str] = []
    for part in _CLAUSE.split(text):
        found += [part[: joint.start()] for joint in _SAME_SUBJECT.finditer(part)]
        found.append(part)
    stripped = [part.strip(" ,.;:!?") for part in found]
    return [part for part in stripped if content_words(part)]


def _nearest(clause: str, text: str, common: Collection[str]) -> str | None:
    """The clause of `text` that shares most of this one's words; None where none shares a third.

    Of "not on Saturdays" those of the clause before count too; of two that share as much it comes second.
    """
    words = {word: 1.0 if word in common else 2.0 for word in content_words(clause)}
    advises = bool(_ADVICE.search(clause))
    best, most, before = None, (1 / 3, 0.0, False), ""
    for candidate in clauses(text):
        own = _share(words, word_set(candidate))
        elliptic = bool(before) and _is_elliptic(candidate, word_set(before))
        share = _share(words, word_set(f"{before} {candidate}")) if elliptic else own
        rank = (share, own, advises == bool(_ADVICE.search(candidate)))
        if rank > most:
            best, most = candidate, rank
        before = before if elliptic else candidate
    return best


def _share(words: Mapping[str, float], held: frozenset[str]) -> float:
    """Of weighted words, those that are held or whose opposites are."""
    shared = [word for word in words if word in held or not held.isdisjoint(opposites(word))]
    return round(sum(words[word] for word in shared) / sum(words.values()), 6)


def _without(clause: str, word: str) -> str:
    return re.sub(rf"\b{re.escape(word)}\b", " ", clause, flags=re.IGNORECASE)


def _opposites(clause: str, match: str) -> tuple[str, str] | None:
    ours, theirs = ({stem(word): word for word in tokens(part)} for part in (clause, match))
    pairs = (
        (ours[one], theirs[other])
        for one in ours
        if one not in theirs
        for other in theirs
        if other in opposites(one) and other not in ours
    )
    return next(pairs, None)


def _numbers_differ(statement: str, text: str) -> bool | None:
    """None: nothing to compare. Numbers count against each other where they stand before the same unit."""
    said, held = (frozenset(_CLOCK.findall(part)) for part in (statement, text))
    if said and held:
        return said.isdisjoint(held)
    ours, theirs = (counted(_PRONOUN.sub(r"\1 ", part)) for part in (statement, text))
    if not ours or not theirs:
        return None
    of_one_kind = [(one, other) for one in ours for other in theirs if one.units & other.units]
    compared = of_one_kind or [(one, other) for one in ours for other in theirs]
    if any(one.values & other.values for one, other in compared):
        return False
    return True if of_one_kind or len(theirs) == 1 else None


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of a text, or several that stand together, with at most two words just after it, of which one
    is its unit or what it counts."""

    values: frozenset[float]
    after: str

    @property
    def units(self) -> frozenset[str]:
        """Stems of the words after it."""
        return frozenset(map(stem, tokens(self.after))) - FUNCTION_WORDS


def counted(text: str) -> list[Counted]:
    """The numbers of a text in order: 12 with "large" and "window" and 2 with "door" in "12 large windows, 2
    doors"."""
    found: list[tuple[list[str], list[str]]] = []
    words = number_tokens(text)
    inside = False
    for at, word in enumerate(words):
        run = " ".join(found[-1][0]) if inside and len(found[-1][0]) < _NUMBER_WORDS else ""
        # "Three hundred and fifty" is one number, "two and three" are two.
        joins = word == "and" and len(numbers(" ".join([run, *words[at : at + 2]]))) == len(numbers(run))
        inside = bool(numbers(word)) or bool(run and (joins or numbers(f"{run} {word}") != numbers(run)))
        if inside and not run:
            found.append(([], []))
        if inside:
            found[-1][0].append(word)
        elif found and len(found[-1][1]) < _UNIT_GAP:
            found[-1][1].append(word)
    return [Counted(frozenset(numbers(" ".join(run))), " ".join(after)) for run, after in found]


def _units(text: str) -> set[str]:
    return {unit for number in counted(text) for unit in number.units}
