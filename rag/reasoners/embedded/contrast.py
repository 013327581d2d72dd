"""Whether a text is about another thing of the same kind than a question: gate A, and not gate B.

Sentences about two things of a kind have nearly the same words and vectors. They differ in
one word in the same place: before or after a word that both share, joined to it by the same words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from rag.function_words import is_english
from rag.reasoners.embedded.calendar_terms import dates, is_open_ended, names_same_dates
from rag.reasoners.embedded.joined_words import (
    Clauses,
    JoinedWord,
    Pair,
    has_form,
    is_function_word,
    joined_words,
    pairs_of,
    stems_in,
    words_of,
)
from rag.reasoners.embedded.opposites import base_form, opposites
from rag.reasoners.embedded.question_forms import asks_openly
from rag.words import content_words, is_participle, numbers, stem, tokens, word_set

_KINDS = """
afternoon evening morning; arrival departure; arrive depart; autumn spring; breakfast dinner lunch;
dad mother; dad mum; daughter son; downstairs upstairs; entrance exit; export import; father mother;
father mum; female male; last next; next previous; summer winter; abfahrt ankunft; abflug ankunft;
ausgang eingang; abendessen frühstück mittagessen; frühling herbst; sommer winter; vormittag nachmittag;
mutter vater; sohn tochter
"""
"""No relations that are said from either side: the wife of Peter says whose husband he is."""


def _others() -> Mapping[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for kind in _KINDS.replace("\n", " ").split(";"):
        stems = frozenset(stem(word) for word in kind.split())
        table |= {one: table.get(one, frozenset()) | stems - {one} for one in stems}
    return table


OTHERS = _others()
"""Stem to the stems of other things of its kind, of which a text about one is no answer about another."""
_SIZE = re.compile(r"\b(?:how|wie) \w+", re.IGNORECASE)
"""Asked of what may be "deep" or shallow."""
_RANGE = re.compile(
    r"\w\s*[-–…]\s*\d|\d\s+(?:to|through|bis)\s+\d|\b(?:and|or) (?:later|newer|above)\b", re.IGNORECASE
)
"""Others than the numbers that are given are meant too: "lines 4 to 9"."""
_SUBJECT = re.compile(
    r"(?!(?:Every|Any|No|Some)(?:one|body|thing)\b|(?:It|He|She|This|That|There|Here|Each|All|Most|One)\b)"
    r"([A-Z][^\W\d_]+) (?:has|had|is|was|does|did|can)\b"
)
"""A name that opens a text: a noun without an article, and in the singular."""
LONGEST_ASKED = 1000
"""Characters of a question in which things are looked for."""


def names_another(question: str, text: str) -> bool:
    """Whether a text has, anywhere, in place of a word of the question its opposite, or another thing of its
    kind; to whether something is so its opposite is an answer."""
    asked, held = ({stem(word) for word in tokens(part)} for part in (_SIZE.sub(" ", question), text))
    polar = asks_openly(question) is False
    others = {
        word: OTHERS.get(word, frozenset()) | (frozenset() if polar else opposites(word))
        for word in asked - held
    }
    return any(found & held - asked for found in others.values())


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a question is about, and another thing in its place that a text is about."""

    asked: str
    said: str


@dataclass(frozen=True, slots=True)
class _Compared:
    """A question and a text, and what is known of both."""

    question: str
    text: str
    beside: str
    around: str
    asked: Clauses
    said: Clauses
    known: set[str]
    """Stems of what the text, or what it is below, has."""
    own: set[str]
    """Stems of what the question has."""
    english: bool
    polar: bool
    """Whether yes or no is asked for."""

    def mentions(self, word: JoinedWord) -> bool:
        """Whether the text has a word, or another form of it; a number in other digits, or in a range."""
        if word.stem in self.known:
            return True
        if not word.label:
            return has_form(self.known, word.stem)
        figures = numbers(word.text)
        return bool(_RANGE.search(self.text)) or (bool(figures) and {*figures} <= {*numbers(self.text)})

    def asks_of(self, word: JoinedWord, instead_of: JoinedWord) -> bool:
        """Whether the question has a word that is in the place of another; no label has forms."""
        return word.stem in self.own if instead_of.label else has_form(self.own, word.stem)

    def lacks_only(self, word: JoinedWord) -> bool:
        """Whether a word is all that the text lacks of the question."""
        wanted = list(content_words(_SIZE.sub(" ", self.question)))
        if not self.english:
            wanted = [base_form(one) for one in wanted if not is_function_word(one, self.english)]
        return all(one == word.stem or has_form(self.known, one) for one in wanted)

    def lacks_name(self, word: JoinedWord) -> bool:
        """Whether a word is a name that is nowhere around the text."""
        named = not word.opens and word.is_name(self.english)
        return named and not has_form(stems_in(self.context, self.english), word.stem)

    @property
    def context(self) -> str:
        """What the text is below and part of."""
        return f"{self.beside} {self.around}"


def find_contrast(question: str, text: str, beside: str = "", around: str = "") -> Contrast | None:
    """Another thing that a text has in the place of a thing of the question, which it does not mention.

    In the place of a word is what is on the same side of a word that both texts share, at each occurrence
    of that word. Another thing is the word's opposite; for a number, a code or a letter after its kind, or
    for a year, another such; for a name another name; and, where the text has all other words of the
    question, for the word between "the" and a noun another one ("the yellow boat"), for one after a
    preposition another after the same ("in Sweden", "for the chair"), for a subject that is a name
    another one, and for any word its opposite in each clause about the rest. `beside`: what the text is
    below, such as a title, whose words it need not say again. `around`: what it is part of; names that are
    parts of one full name there are of one thing.
    """
    question = question[:LONGEST_ASKED]
    if word_set(question).isdisjoint(word_set(text)):
        return None
    both = _compared(question, text, beside, around)
    return _in_same_place(both) or _where_one_word_is_missing(both)


def _compared(question: str, text: str, beside: str, around: str) -> _Compared:
    english = is_english(tokens(question))
    asked, said = (joined_words(part, english) for part in (_SIZE.sub(", ", question), text))
    known = stems_in(f"{text} {beside}", english)
    known |= {word.stem for word in (*words_of(said), *words_of(joined_words(beside, english)))}
    if is_open_ended(text) or names_same_dates(question, f"{beside}: {text}"):
        # "Monday to Friday" names Wednesday.
        known |= {word.stem for word in words_of(asked) if dates(word.text).said}
    own = {word.stem for word in words_of(asked)} | stems_in(question, english)
    polar = asks_openly(question) is False
    return _Compared(question, text, beside, around, asked, said, known, own, english, polar)


def _in_same_place(both: _Compared) -> Contrast | None:
    """Another thing on the same side of a word that both texts share, at each of its occurrences."""
    counts = Counter(word.stem for word in words_of(both.said))
    words = {*tokens(f"{both.text} {both.beside}")}
    for pair, side in product(pairs_of(both.asked), (0, 1)):
        shared = pair[1 - side].stem
        if shared not in counts or _as_one(pair) in words or both.mentions(pair[side]):
            continue
        beside_it = (other for other in pairs_of(both.said) if other[1 - side].stem == shared)
        others = [other for other in beside_it if _is_another(side, pair, other, both)]
        if others and len(others) == counts[shared]:
            return Contrast(_phrase(pair), _phrase(others[0]))
    return None


def _is_another(side: int, asked: Pair, said: Pair, both: _Compared) -> bool:
    """Whether the words on a side of two pairs, 0 or 1, name two things, where the other is the same."""
    word, other = asked[side], said[side]
    if both.asks_of(other, instead_of=word):
        return False
    described = side == 0 and _describes_another(asked, said)
    two_things = _parts(side, asked, said, both) or (described and both.lacks_only(word))
    return two_things and not _of_one_name(word.text, other.text, both.around)


def _parts(side: int, asked: Pair, said: Pair, both: _Compared) -> bool:
    """Whether the words on a side are opposites, two of a kind, labels or names, joined by the same words.

    Where yes or no is asked for, that the shop is closed answers whether it is open."""
    word, other = asked[side], said[side]
    if asked[1].joined != said[1].joined:
        return False
    if other.stem in OTHERS.get(word.stem, frozenset()):
        return True
    if other.stem in _contraries(word.stem):
        both_definite = word.article == other.article == "the"
        return not both.polar or (side == 0 and both_definite and asked[1].adjacent)
    if word.label or other.label:
        known_by = not said[1].joined or (word.year and other.year)
        return side == 1 and word.label and other.label and known_by
    named = not word.opens and word.is_name(both.english) and other.is_name(both.english)
    return named and word.written_as(other)


def _describes_another(asked: Pair, said: Pair) -> bool:
    """Whether two pairs are "the", a word that is no name, and the same noun."""
    noun = asked[1].text
    plain = not (asked[1].label or is_participle(noun) or asked[0].label or said[0].label)
    return plain and all(
        word.article == "the" and word.lower and after.adjacent and after.text == noun
        for word, after in (asked, said)
    )


def _where_one_word_is_missing(both: _Compared) -> Contrast | None:
    """Another thing anywhere in a text that has all words of a question but one."""
    unlabelled = (word for word in words_of(both.asked) if not word.label)
    missing = {word.stem: word for word in unlabelled if not has_form(both.known, word.stem)}
    if len(missing) != 1:
        return None
    (word,) = missing.values()
    if not both.lacks_only(word):
        return None
    return _opposed(word, both) or _another_subject(word, both) or _after_same_preposition(word, both)


def _opposed(word: JoinedWord, both: _Compared) -> Contrast | None:
    """The opposite of a word, where each clause about the rest of a question has one."""
    others = _contraries(word.stem) - both.own
    if both.polar or not others:
        return None
    about = [clause for clause in both.said if any(has_form(both.own, one.stem) for one in clause)]
    found = [next((one.text for one in clause if one.stem in others), "") for clause in about]
    return Contrast(word.text, found[0]) if found and all(found) else None


def _another_subject(word: JoinedWord, both: _Compared) -> Contrast | None:
    """The name that opens a text as its subject, for another one that is the subject of a question."""
    found = _SUBJECT.match(both.text)
    named = both.english and not word.joined and _is_subject(word, both.question) and both.lacks_name(word)
    if not named or found is None or stem(found[1].casefold()) in both.own:
        return None
    return Contrast(word.text, found[1])


def _is_subject(word: JoinedWord, question: str) -> bool:
    """Whether a word comes just after an auxiliary verb: "does Venus have"."""
    return bool(re.search(rf"\b(?:has|have|had|does|do|did|is|was|can) {re.escape(word.text)}\b", question))


def _after_same_preposition(word: JoinedWord, both: _Compared) -> Contrast | None:
    """A name for another after the same preposition, but "of", or a noun between it and "the".

    No noun where "of" follows: "in the event of a fault" is "in the case of a fault"."""
    if not word.joined:
        return None
    named = both.lacks_name(word) and word.joined[-1:] not in (("of",), ("von",))
    before_of = [pair[0] for pair in (*pairs_of(both.asked), *pairs_of(both.said)) if pair[1].follows_of]
    plain = word.article == "the" and word.lower and word not in before_of
    for one in words_of(both.said):
        placed = (one.joined, one.article) == (word.joined, word.article)
        if not placed or one.label or has_form(both.own, one.stem):
            continue
        names = named and one.is_name(both.english) and word.written_as(one)
        other = names or (plain and one.lower and one not in before_of)
        if other and not _of_one_name(word.text, one.text, both.context):
            return Contrast(_placed(word), _placed(one))
    return None


def _contraries(word: str) -> frozenset[str]:
    """The opposites of a stem and the other things of its kind, German ones by their base forms too."""
    found = opposites(word) | OTHERS.get(word, frozenset())
    return found | frozenset(map(base_form, found))


def _of_one_name(one: str, other: str, text: str) -> bool:
    """Whether a text has both in one full name, with at most one word between them: "Beyoncé Knowles"."""
    if not (one[0].isupper() and other[0].isupper()):
        return False
    orders = (rf"\b{re.escape(a)} (?:\w+\.? )?{re.escape(b)}\b" for a, b in ((one, other), (other, one)))
    return any(re.search(order, text) for order in orders)


def _phrase(pair: Pair) -> str:
    return " ".join((pair[0].text, *pair[1].joined, pair[1].text))


def _placed(word: JoinedWord) -> str:
    return " ".join((*word.joined, *(("the",) if word.article == "the" else ()), word.text))


def _as_one(pair: Pair) -> str:
    return "".join(word.text for word in pair).casefold()
