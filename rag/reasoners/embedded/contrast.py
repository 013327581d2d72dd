"""Whether a text is about another thing of the same kind than a question: gate A, and not gate B.

Sentences about two things of a kind have nearly the same words and vectors. They differ in
one word in the same place: before or after a word that both share, joined to it by the same words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from rag.function_words import FUNCTION_WORDS, OTHER_LANGUAGES, is_english, listed
from rag.reasoners.embedded.calendar_terms import dates, is_open_ended, names_same_dates
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
_TOKEN = re.compile(r"\d[\w.,:]*(?<![.,:])|[^\W\d_]+\d[\w.]*(?<!\.)|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s/-]")
_RANGE = re.compile(
    r"\w\s*[-–…]\s*\d|\d\s+(?:to|through|bis)\s+\d|\b(?:and|or) (?:later|newer|above)\b", re.IGNORECASE
)
"""Others than the numbers that are given are meant too: "lines 4 to 9"."""
_ROMAN = re.compile(r"(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_DEFINITE = listed("the der die das dem den des")
_PLAIN = listed(
    """a an am is are was were be been being has have had does do did can could will would should must may
    might ein eine einen einem einer eines bin ist sind war waren wird werden wurde wurden hat haben hatte
    kann muss soll darf"""
)
"""Articles and auxiliary verbs, which join nothing."""
_FUSED = listed("am ans beim im ins vom zum zur")
"""Prepositions of German with their article."""
_NEW_CLAUSE = listed(
    """and or but nor who which that what whose whom he she it they we i you him her them his its their our my
    your this these those und oder aber sowie er sie es wir ihr wer was welche welcher welches sich"""
)
_CONTENT = listed("down like off out over own up won")
"""Function words that may be the only word that parts two things."""
_TITLES = listed(
    """mr mrs ms miss dr doctor prof professor sir lord lady king queen prince princess president chancellor
    minister senator captain general colonel judge pope saint st herr frau doktor könig königin kaiser
    präsident"""
)
"""Before a name: "President Obama" is no other than "Barack Obama"."""
_SUBJECT = re.compile(
    r"(?!(?:Every|Any|No|Some)(?:one|body|thing)\b|(?:It|He|She|This|That|There|Here|Each|All|Most|One)\b)"
    r"([A-Z][^\W\d_]+) (?:has|had|is|was|does|did|can)\b"
)
"""A name that opens a text: a noun without an article, and in the singular."""
_CLOSES = '.!?:“"'
LONGEST_ASKED = 1000
"""Characters of a question in which things are looked for."""
SAME_SPELLING = 0.8
"""Share of letters in common from which two words are spellings or forms of one: "Setanta" and "Sentanta"."""
LEAST_ROOT = 4
"""Letters that forms of one word begin with, and half of the longer form: "Britain" and "British"."""
LEAST_PREFIX = 3
"""Letters of a word that is the beginning of another form of it."""


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
class _Word:
    stem: str
    text: str
    joined: tuple[str, ...]
    """Function words between it and the word before, without articles and auxiliary verbs."""
    article: str
    """`the`, `a` or none just before it."""
    adjacent: bool
    """Whether no word at all is between it and the word before."""
    opens: bool
    """Whether it opens a sentence."""
    compound: bool
    """Whether a hyphen follows it."""

    @property
    def label(self) -> bool:
        """A number, in Roman ones too, a code or a single letter."""
        coded = any(map(str.isdigit, self.text)) or _ROMAN.fullmatch(self.text) is not None
        return coded or len(self.text) == 1 or bool(numbers(self.text))

    @property
    def year(self) -> bool:
        """A number of four digits, as a year is."""
        return len(self.text) == 4 and self.text.isdecimal()


_Pair = tuple[_Word, _Word]
_Runs = tuple[tuple[_Word, ...], ...]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A question and a text, and what is known of both."""

    question: str
    text: str
    around: str
    """Title and text of what it is part of."""
    asked: _Runs
    said: _Runs
    known: set[str]
    """Stems of what the text has."""
    own: set[str]
    """Stems of what the question has."""
    english: bool
    polar: bool
    """Whether yes or no is asked for."""

    def lacks_name(self, word: _Word) -> bool:
        """Whether a word is a name that is nowhere around the text."""
        named = not word.opens and _is_name(word, self.english)
        return named and not _has_form(_stems(self.around, self.english), word.stem)


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
    english = is_english(tokens(question))
    asked, said = (_joined_words(part, english) for part in (_SIZE.sub(", ", question), text))
    known = {word.stem for run in (*said, *_joined_words(beside, english)) for word in run}
    words = tokens(f"{text} {beside}")
    known |= _stems(f"{text} {beside}", english)
    own = {word.stem for run in asked for word in run} | _stems(question, english)
    if is_open_ended(text) or names_same_dates(question, f"{beside}: {text}"):
        # "Monday to Friday" names Wednesday.
        known |= {word.stem for run in asked for word in run if dates(word.text).said}
    counts = Counter(word.stem for run in said for word in run)
    figures = set(numbers(text))
    ranged = bool(_RANGE.search(text))
    polar = asks_openly(question) is False
    for pair in (pair for run in asked for pair in pairwise(run)):
        for side in (0, 1):
            word, shared = pair[side], pair[1 - side]
            if shared.stem not in counts or _as_one(pair) in words:
                continue
            if word.stem in known or (not word.label and _has_form(known, word.stem)):
                continue
            if word.label and (ranged or (figures.issuperset(numbers(word.text)) and numbers(word.text))):
                continue
            others = [
                other
                for run in said
                for other in pairwise(run)
                if other[1 - side].stem == shared.stem
                and not (other[side].stem in own if word.label else _has_form(own, other[side].stem))
                and (
                    _parts(side, pair, other, english, polar=polar)
                    or (
                        side == 0
                        and _describes_another(pair, other)
                        and _is_all(word, question, known, english)
                    )
                )
                and not _of_one_name(word.text, other[side].text, around)
            ]
            if others and len(others) == counts[shared.stem]:
                return Contrast(_phrase(pair), _phrase(others[0]))
    whole = f"{beside} {around}"
    return _of_all_but_one(_Compared(question, text, whole, asked, said, known, own, english, polar))


def _phrase(pair: _Pair) -> str:
    return " ".join((pair[0].text, *pair[1].joined, pair[1].text))


def _of_all_but_one(both: _Compared) -> Contrast | None:
    """Another thing anywhere in a text that has all words of a question but one."""
    missing = {
        word.stem: word
        for run in both.asked
        for word in run
        if not (word.label or _has_form(both.known, word.stem))
    }
    if len(missing) != 1:
        return None
    (word,) = missing.values()
    if not _is_all(word, both.question, both.known, both.english):
        return None
    return _opposed(word, both) or _another_subject(word, both) or _after_same_preposition(word, both)


def _opposed(word: _Word, both: _Compared) -> Contrast | None:
    """The opposite of a word, where each clause about the rest of a question has one."""
    others = _contraries(word.stem) - both.own
    if both.polar or not others:
        return None
    about = [run for run in both.said if any(_has_form(both.own, one.stem) for one in run)]
    found = [one for run in about for one in [one for one in run if one.stem in others][:1]]
    return Contrast(word.text, found[0].text) if found and len(found) == len(about) else None


def _another_subject(word: _Word, both: _Compared) -> Contrast | None:
    """The name that opens a text as its subject, for another one that is the subject of a question."""
    found = _SUBJECT.match(both.text)
    named = both.english and not word.joined and _is_subject(word, both.question) and both.lacks_name(word)
    if not named or found is None or stem(found[1].casefold()) in both.own:
        return None
    return Contrast(word.text, found[1])


def _after_same_preposition(word: _Word, both: _Compared) -> Contrast | None:
    """A name for another after the same preposition, but "of", or a noun between it and "the".

    No noun where "of" follows: "in the event of a fault" is "in the case of a fault"."""
    named = both.lacks_name(word) and word.joined[-1:] not in (("of",), ("von",))
    before_of = [pair[0] for run in (*both.asked, *both.said) for pair in pairwise(run) if _of_next(pair)]
    plain = word.article == "the" and word.text[0].islower() and word not in before_of
    for one in (one for run in both.said for one in run):
        placed = word.joined and (one.joined, one.article) == (word.joined, word.article)
        if not placed or one.label or _has_form(both.own, one.stem):
            continue
        names = named and _is_name(one, both.english) and word.text[:2].isupper() == one.text[:2].isupper()
        other = names or (plain and one.text[0].islower() and one not in before_of)
        if other and not _of_one_name(word.text, one.text, both.around):
            return Contrast(_placed(word), _placed(one))
    return None


def _of_next(pair: _Pair) -> bool:
    """Whether "of" is between the words of a pair."""
    return pair[1].joined[:1] in (("of",), ("von",))


def _is_subject(word: _Word, question: str) -> bool:
    """Whether a word comes just after an auxiliary verb: "does Venus have"."""
    return bool(re.search(rf"\b(?:has|have|had|does|do|did|is|was|can) {re.escape(word.text)}\b", question))


def _placed(word: _Word) -> str:
    return " ".join((*word.joined, *(("the",) if word.article == "the" else ()), word.text))


def _contraries(word: str) -> frozenset[str]:
    """The opposites of a stem and the other things of its kind, German ones by their base forms too."""
    found = opposites(word) | OTHERS.get(word, frozenset())
    return found | frozenset(map(base_form, found))


def _stems(text: str, english: bool) -> set[str]:
    return {_stem(word, english) for word in tokens(text)}


def _stem(word: str, english: bool) -> str:
    """Forms of a German word of the table of opposites are one."""
    return stem(word) if english else base_form(stem(word))


def _parts(side: int, asked: _Pair, said: _Pair, english: bool, *, polar: bool) -> bool:
    """Whether the words on a side of two pairs, 0 or 1, name two things, where the other is the same.

    `polar`: whether yes or no is asked for. That the shop is closed then answers whether it is open."""
    word, other = asked[side], said[side]
    if asked[1].joined != said[1].joined:
        return False
    if other.stem in OTHERS.get(word.stem, frozenset()):
        return True
    if other.stem in _contraries(word.stem):
        return not polar or (side == 0 and word.article == other.article == "the" and asked[1].adjacent)
    if word.label or other.label:
        known_by = not said[1].joined or (word.year and other.year)
        return side == 1 and word.label and other.label and known_by
    named = not word.opens and _is_name(word, english) and _is_name(other, english)
    return named and word.text[:2].isupper() == other.text[:2].isupper()


def _describes_another(asked: _Pair, said: _Pair) -> bool:
    """Whether two pairs are "the", a word that is no name, and the same noun."""
    noun = asked[1].text
    plain = not (asked[1].label or is_participle(noun) or asked[0].label or said[0].label)
    return plain and all(
        word.article == "the" and word.text[0].islower() and after.adjacent and after.text == noun
        for word, after in (asked, said)
    )


def _is_all(word: _Word, question: str, known: set[str], english: bool) -> bool:
    """Whether a word is all that `known` lacks of a question."""
    wanted = list(content_words(_SIZE.sub(" ", question)))
    if not english:
        wanted = [base_form(one) for one in wanted if not _is_function_word(one, english)]
    return all(one == word.stem or _has_form(known, one) for one in wanted)


def _is_name(word: _Word, english: bool) -> bool:
    """By its capital; in other languages, where nouns may have one, after a preposition without an article,
    or as the first part of a compound."""
    named = english or word.compound or bool(word.joined and not word.article)
    return word.text[0].isupper() and named


def _as_one(pair: _Pair) -> str:
    return "".join(word.text for word in pair).casefold()


def _of_one_name(one: str, other: str, text: str) -> bool:
    """Whether a text has both in one full name, with at most one word between them: "Beyoncé Knowles"."""
    if not (one[0].isupper() and other[0].isupper()):
        return False
    orders = (rf"\b{re.escape(a)} (?:\w+\.? )?{re.escape(b)}\b" for a, b in ((one, other), (other, one)))
    return any(re.search(order, text) for order in orders)


def _has_form(stems: set[str], word: str) -> bool:
    """Whether a word, or another form or spelling of it, is one of the stems."""
    return word in stems or any(_same_word(word, other) for other in stems)


@lru_cache(maxsize=65536)
def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < LEAST_PREFIX or any(map(str.isdigit, long)) or short[0] != long[0]:
        return False
    root = max(LEAST_ROOT, (len(long) + 1) // 2)
    alike = len(short) >= root and short[:root] == long[:root]
    return alike or long.startswith(short) or SequenceMatcher(None, one, other).ratio() >= SAME_SPELLING


@lru_cache(maxsize=4096)
def _joined_words(text: str, english: bool) -> tuple[tuple[_Word, ...], ...]:
    """The content words of each clause, in order; punctuation, "and" and pronouns end one."""
    runs: list[list[_Word]] = [[]]
    joined: list[str] = []
    article, before, adjacent, opens = "", "", True, True
    for match in _TOKEN.finditer(text):
        token = match[0]
        low = token.casefold()
        # "World War I", and not "I".
        pronoun = token == "I" and not (runs[-1] and runs[-1][-1].text[0].isupper() and not joined)
        letter = len(token) == 1 and token.isupper() and not pronoun and not (opens and token == "A")
        if low in _TITLES or (token == "." and before in _TITLES):
            before = low
            continue
        before = low
        ends = not token[0].isalnum() or (low in _NEW_CLAUSE and not letter)
        if ends:
            runs.append([])
            joined, article, adjacent = [], "", True
        elif not letter and (low in _DEFINITE or low in _PLAIN):
            article, adjacent = "the" if low in _DEFINITE else "a", False
        elif not letter and _is_function_word(low, english):
            joined.append(low)
            article, adjacent = "the" if low in _FUSED else "", False
        else:
            known_by = _arabic(token) if _ROMAN.fullmatch(token) else token if letter else _stem(low, english)
            compound = text[match.end() : match.end() + 1] == "-"
            runs[-1].append(_Word(known_by, token, tuple(joined), article, adjacent, opens, compound))
            joined, article, adjacent = [], "", True
        opens = token in _CLOSES
    return tuple(map(tuple, runs))


def _arabic(number: str) -> str:
    """A Roman number in digits: "4" of "IV"."""
    digits = [_ROMAN_DIGITS[letter] for letter in number]
    after = [*digits[1:], 0]
    return str(sum(-one if one < other else one for one, other in zip(digits, after, strict=True)))


def _is_function_word(word: str, english: bool) -> bool:
    held = word in FUNCTION_WORDS and word not in _CONTENT
    return held or (not english and any(word in language for language in OTHER_LANGUAGES))
