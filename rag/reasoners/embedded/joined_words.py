"""The content words of each clause of a text, in order, and what joins each to the word before it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from rag.function_words import FUNCTION_WORDS, OTHER_LANGUAGES, listed
from rag.reasoners.embedded.opposites import base_form
from rag.words import numbers, stem, tokens

_TOKEN = re.compile(r"\d[\w.,:]*(?<![.,:])|[^\W\d_]+\d[\w.]*(?<!\.)|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s/-]")
_ROMAN = re.compile(r"(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_DEFINITE = listed("the der die das dem den des")
_PLAIN = listed(
    """a an am is are was were be been being has have had does do did can could will would should must may
    might ein eine einen einem einer eines bin ist sind war waren wird werden wurde wurden hat haben hatte
    kann muss soll darf"""
)
"""Articles and auxiliary verbs, which join nothing."""
_FUSED = listed("ans beim im ins vom zum zur")
"""Prepositions of German with their article."""
_ARTICLES = dict.fromkeys(_PLAIN, "a") | dict.fromkeys(_DEFINITE | _FUSED, "the")
"""Word to the article that it is or has."""
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
_CLOSES = '.!?:“"'
SAME_SPELLING = 0.8
"""Share of letters in common from which two words are spellings or forms of one: "Setanta" and "Sentanta"."""
LEAST_ROOT = 4
"""Letters that forms of one word begin with, and half of the longer form: "Britain" and "British"."""
LEAST_PREFIX = 3
"""Letters of a word that is the beginning of another form of it."""


@dataclass(frozen=True, slots=True)
class JoinedWord:
    """A content word of a clause."""

    stem: str
    """A Roman number in digits; a single letter as it is."""
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

    @property
    def lower(self) -> bool:
        """Whether it begins with a small letter."""
        return self.text[0].islower()

    @property
    def follows_of(self) -> bool:
        """Whether "of" comes first between the word before and it."""
        return self.joined[:1] in (("of",), ("von",))

    def is_name(self, english: bool) -> bool:
        """By its capital; in other languages, where nouns may have one, after a preposition without an
        article, or as the first part of a compound."""
        named = english or self.compound or bool(self.joined and not self.article)
        return self.text[0].isupper() and named

    def written_as(self, other: JoinedWord) -> bool:
        """Whether both or neither are in capitals, as abbreviations are."""
        return self.text[:2].isupper() == other.text[:2].isupper()


Clauses = tuple[tuple[JoinedWord, ...], ...]
Pair = tuple[JoinedWord, JoinedWord]


@lru_cache(maxsize=4096)
def joined_words(text: str, english: bool) -> Clauses:
    """The content words of each clause, in order; punctuation, "and" and pronouns end one."""
    clauses: list[list[JoinedWord]] = [[]]
    between: list[str] = []
    before, opens = "", True
    for match in _TOKEN.finditer(text):
        token = match[0]
        low = token.casefold()
        titled = low in _TITLES or (token == "." and before in _TITLES)
        before = low
        if titled:
            continue
        letter = _is_letter(token, opens, _named_before(clauses[-1], between))
        if not token[0].isalnum() or (low in _NEW_CLAUSE and not letter):
            clauses.append([])
            between = []
        elif not letter and (low in _DEFINITE or low in _PLAIN or is_function_word(low, english)):
            between.append(low)
        else:
            known_by = (
                _arabic(token) if _ROMAN.fullmatch(token) else token if letter else stem_in(low, english)
            )
            joined = tuple(word for word in between if word not in _DEFINITE and word not in _PLAIN)
            article = _ARTICLES.get(between[-1], "") if between else ""
            compound = text[match.end() : match.end() + 1] == "-"
            word = JoinedWord(known_by, token, joined, article, not between, opens, compound)
            clauses[-1].append(word)
            between = []
        opens = token in _CLOSES
    return tuple(map(tuple, clauses))


def _named_before(clause: list[JoinedWord], between: list[str]) -> bool:
    """Whether the word before has a capital, and nothing joins the next to it."""
    joins = any(word not in _DEFINITE and word not in _PLAIN for word in between)
    return bool(clause) and clause[-1].text[0].isupper() and not joins


def _is_letter(token: str, opens: bool, named_before: bool) -> bool:
    """Whether a token is a letter by which something is known, and no word: "World War I", and not "I"."""
    word = (token == "I" and not named_before) or (token == "A" and opens)
    return len(token) == 1 and token.isupper() and not word


def _arabic(number: str) -> str:
    """A Roman number in digits: "4" of "IV"."""
    digits = [_ROMAN_DIGITS[letter] for letter in number]
    after = [*digits[1:], 0]
    return str(sum(-one if one < other else one for one, other in zip(digits, after, strict=True)))


def words_of(clauses: Clauses) -> Iterable[JoinedWord]:
    """All words, in order."""
    return (word for clause in clauses for word in clause)


def pairs_of(clauses: Clauses) -> Iterable[Pair]:
    """All words of one clause that follow each other, in order."""
    return (pair for clause in clauses for pair in pairwise(clause))


def is_function_word(word: str, english: bool) -> bool:
    """Whether a word in lower case is one of English or, in a text that is not, of another language."""
    held = word in FUNCTION_WORDS and word not in _CONTENT
    return held or (not english and any(word in language for language in OTHER_LANGUAGES))


def stem_in(word: str, english: bool) -> str:
    """The stem of a word in lower case; forms of a German word of the table of opposites have one."""
    return stem(word) if english else base_form(stem(word))


def stems_in(text: str, english: bool) -> set[str]:
    """As `stem_in`, of each word of a text."""
    return {stem_in(word, english) for word in tokens(text)}


def has_form(stems: set[str], word: str) -> bool:
    """Whether the stem `word`, or one of another form or spelling of that word, is among `stems`."""
    return word in stems or any(_same_word(word, other) for other in stems)


@lru_cache(maxsize=65536)
def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < LEAST_PREFIX or any(map(str.isdigit, long)) or short[0] != long[0]:
        return False
    root = max(LEAST_ROOT, (len(long) + 1) // 2)
    alike = len(short) >= root and short[:root] == long[:root]
    return alike or long.startswith(short) or SequenceMatcher(None, one, other).ratio() >= SAME_SPELLING
