"""Words, numbers and sentences of a text, in any script; stems are those of English words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

from rag.function_words import FUNCTION_WORDS, GENERIC_WORDS, OTHER_LANGUAGES, without_function_words

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_SIGNS = (
    "".join(f"{chr(block)}-{chr(block + 0x63)}" for block in range(0x900, 0xD80, 0x80))
    + "\u0d81-\u0ddf\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
"""Letters of Indian scripts with their vowel signs, and those of Thai: signs are no letters to Python."""
_SIGN = re.compile(f"[{_SIGNS}]")
_SIGNED = rf"(?:[^\W\d_]|[{_SIGNS}])"
_SIGNED_WORD = re.compile(rf"\d+(?:[.,]\d+)*|{_SIGNED}+(?:['’]{_SIGNED}+)*")
_POINTS = re.compile(
    "[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
"""What a word is written with or without: soft hyphens, points of Hebrew and Arabic, and marks that are part
of no letter, as the dot of the Turkish capital I in lower case."""
_RAISED = re.compile("[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2080-\u2089\u2150-\u215e]")
"""Raised and lowered digits, and fractions: no digits of the number before them ("2½ cups", "25³")."""
_CIRCLED = re.compile("[\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]")
"""Numbers of steps, beside the word after them: "❶Press"."""
_CODE = re.compile(r"\b[^\W\d_]{1,4}\d\w*|\b[A-Z]{1,4}-\d\w*|(?<![.\d])\d{1,3}(?:\.\d{1,3}){2}(?![.\d]|-\d)")
"""Letters and a number, and versions of three parts; no date: its year has four digits."""
_CODE_APART = re.compile(r"\b[A-Z]{1,3} \d\w*|\b(?!a )[a-z] \d\w*")
_ELIDED_BEFORE = "aeiouyhàâæéèêëîïôœùûü"
_ELIDED = re.compile(rf"\b(?:[cdjlmnst]|(?:jus|lors|puis)?qu)'(?=[{_ELIDED_BEFORE}])")
"""What French leaves of an article or a pronoun before a vowel or a silent h: "l'eau", "l'heure"."""
_WITH_ELISION = re.compile(rf"{_ELIDED.pattern}[^\W\d_]+")
_ARTICLES = ("l'", "d'", "l’", "d’")
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]")
"""Scripts that write without spaces; their runs are cut into character bigrams."""

_ENDS = ".!?…。！？।॥۔؟"
CLOSED = re.compile(rf"[{_ENDS}][\"'”’)\]]*$")
"""The end of a sentence, at the end of a text."""
_SENTENCE_END = re.compile(
    rf"(?<=[{_ENDS}])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\sa-z])|(?<=[。！？])(?=[^\s。！？…\"'”’)\]）」』】》])"
)
"""Chinese and Japanese have no blank after it; behind a closing mark a sentence may go on."""
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|[Nn]r|[Tt]el|[Ff]ig|[Ee]xt|[Vv]ol|ca|vs|etc|approx|e\.g|i\.e|"
    r"[A-Z])\.$"
)
_ORDINAL = re.compile(r"(?<![\w.,:])(?:\d{1,2}|(?<!\d )[a-z])\.$")
"""In many languages a number with a stop is an ordinal: "am 31. Dezember"; a small letter with a stop is an
abbreviation, "e. V.", but after a number a unit: "8 m."."""
_OPENING = re.compile(rf"\W*(?:{'|'.join(FUNCTION_WORDS.union(*OTHER_LANGUAGES))})\b|\W*\Z", re.IGNORECASE)
"""A function word, which begins a sentence, or no word: neither follows an ordinal."""
_ABBREVIATED = 16
"""Characters at the end of a text that say whether it ends with an abbreviation: more than any has."""

_IRREGULAR = {
    "ate": "eat", "baking": "bake", "became": "become", "began": "begin", "begun": "begin", "bent": "bend",
    "bit": "bite", "bitten": "bite", "bled": "bleed", "blew": "blow", "blown": "blow", "bought": "buy",
    "bred": "breed", "broke": "break", "broken": "break", "brought": "bring", "built": "build",
    "burnt": "burn", "came": "come", "caught": "catch", "children": "child", "chose": "choose",
    "chosen": "choose", "cost": "cost", "died": "die", "dies": "die", "drank": "drink", "drawn": "draw",
    "driven": "drive", "drove": "drive", "drunk": "drink", "dug": "dig", "dying": "die", "eaten": "eat",
    "fallen": "fall", "fed": "feed", "feet": "foot", "fell": "fall", "flew": "fly", "flown": "fly",
    "forbidden": "forbid", "forgot": "forget", "forgotten": "forget", "fought": "fight", "found": "find",
    "froze": "freeze", "frozen": "freeze", "gave": "give", "given": "give", "grew": "grow", "grown": "grow",
    "heard": "hear", "held": "hold", "hid": "hide", "hidden": "hide", "hung": "hang", "kept": "keep",
    "knew": "know", "knives": "knife", "known": "know", "laid": "lay", "leaves": "leaf", "led": "lead",
    "left": "leave", "lent": "lend", "lit": "light", "lives": "live", "lost": "lose",
    "meant": "mean", "men": "man", "met": "meet", "mice": "mouse", "paid": "pay", "ran": "run",
    "rang": "ring", "ridden": "ride", "risen": "rise", "rode": "ride", "rose": "rise", "rung": "ring",
    "said": "say", "sang": "sing", "sank": "sink", "sat": "sit", "saw": "saw", "seen": "see", "sent": "send",
    "shaken": "shake", "shone": "shine", "shook": "shake", "shot": "shoot", "slept": "sleep",
    "slid": "slide", "sold": "sell", "sought": "seek", "spent": "spend", "spoke": "speak", "spoken": "speak",
    "spun": "spin", "stole": "steal", "stolen": "steal", "stood": "stand", "struck": "strike",
    "stuck": "stick", "sung": "sing", "sunk": "sink", "swam": "swim", "swept": "sweep",
    "taught": "teach", "teeth": "tooth", "thought": "think", "threw": "throw", "thrown": "throw",
    "tied": "tie", "told": "tell", "took": "take", "tore": "tear", "torn": "tear", "tying": "tie",
    "understood": "understand", "went": "go", "woke": "wake", "woken": "wake", "women": "woman",
    "won": "win", "wore": "wear", "worn": "wear", "written": "write", "wrote": "write",
}  # fmt: skip

_TEENS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_UNITS = {word: value for value, word in enumerate(_TEENS.split(" "))}
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_COUNTS = {"once": 1.0, "twice": 2.0, "thrice": 3.0, "half": 0.5, "quarter": 0.25}
_ADDED = {f"and{part}": _COUNTS[part] for part in ("half", "quarter")}
_FRACTION = re.compile(
    r"(?:(?<![\d.,/])(?P<whole>\d{1,3})[ \u2044-]?)??"
    r"(?:(?P<sign>[\u00bc-\u00be\u2150-\u215e])|(?<![\d.,/])(?P<over>[1-7])[/\u2044](?P<below>[2348])(?!\d|[.,/]\d))"
)
"""With a whole number before it or none: "½", "1½", "1 1/2"."""
_HALF_OF = re.compile(rf"(?<!and[ -]a[ -])\bhalf (?:an? )?(?={'|'.join(_SCALES)})", re.IGNORECASE)
_AND_PART = re.compile(r"[ -]and[ -]an?[ -](half|quarter)\b", re.IGNORECASE)


def folded(text: str) -> str:
    """Fold case and spaces: equal for texts that say the same words in the same order."""
    return " ".join(text.casefold().split())


def split_sentences(text: str) -> list[str]:
    """Sentences in order. Abbreviations and initials do not end one, nor does a number of one or two digits
    or a small letter before a word that is no function word."""
    found: list[list[str]] = []
    for piece in _SENTENCE_END.split(text.strip()):
        before = found[-1][-1][-_ABBREVIATED:] if found else ""
        if _ABBREVIATION.search(before) or (_ORDINAL.search(before) and not _OPENING.match(piece)):
            found[-1].append(piece)
        elif piece.strip():
            found.append([" ".join(piece.split())])
    return [" ".join(pieces) for pieces in found]


def tokens(text: str) -> list[str]:
    """Words and numbers in order, lower case, compatibility forms folded (NFKC); "l'eau" is "eau"."""
    plain = _normalized(text)
    cut = _WORD if text.isascii() or not _SIGN.search(plain) else _SIGNED_WORD
    words: list[str] = cut.findall(_ELIDED.sub("", plain) if "'" in plain else plain)
    if text.isascii():
        return words
    found: list[str] = []
    for word in words:
        if UNSPACED.search(word) and len(word) > 2:
            found += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            found.append(word)
    return found


def elided(text: str) -> list[str]:
    """The words of a text that `tokens` cuts, lower case and whole: "s'ouvre"."""
    return _WITH_ELISION.findall(_normalized(text))


def _normalized(text: str) -> str:
    if text.isascii():
        return text.casefold()
    text = _CIRCLED.sub(lambda found: f" {unicodedata.numeric(found[0], 0):g} ", text)
    text = _RAISED.sub(r" \g<0>", text)
    return _POINTS.sub("", unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


def with_articles(words: Iterable[str]) -> list[str]:
    """Words of three letters or more with a vowel or h first, as French writes them with an article."""
    long = (word for word in words if word[0] in _ELIDED_BEFORE and len(word) > 2)
    return [f"{article}{word}" for word in long for article in _ARTICLES]


def codes(text: str, *, apart: bool = False) -> frozenset[str]:
    """Codes and versions in a text, lower case, without hyphens and leading zeros: "E10", "T-24" and "4.1.0".
    `apart`: those too whose letters stand before their number, as speech recognition writes them."""
    plain = unicodedata.normalize("NFKC", text)
    found = [*_CODE.findall(plain), *(_CODE_APART.findall(plain) if apart else ())]
    joined = (code.replace("-", "").replace(" ", "").casefold() for code in found)
    return frozenset(re.sub(r"^([^\W\d_]+)0+(?=\d)", r"\1", code) for code in joined)


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A light English stem: no plural, -ing, -ed, final e or -ion of -ation."""
    word = word.removesuffix("'s")
    word = _IRREGULAR.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and re.search(r"[aeiouy]", root) and not word.endswith("eed"):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    if len(word) > 6 and word.endswith("ation"):
        word = word[:-3]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


@lru_cache(maxsize=16384)
def _content_stem(word: str) -> str:
    """Empty for a word of nearly every question."""
    found = stem(word)
    return "" if found in _GENERIC_STEMS else found


@lru_cache(maxsize=4096)
def content_words(text: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, in order, each once."""
    return tuple(dict.fromkeys(filter(None, map(_content_stem, without_function_words(tokens(text))))))


@lru_cache(maxsize=4096)
def word_set(text: str) -> frozenset[str]:
    """`content_words` without their order."""
    return frozenset(content_words(text))


def lexical_overlap(wanted: Collection[str], found: Collection[str]) -> float:
    """Share of the `wanted` stems that are in `found`, in [0, 1]. 0 for no stems."""
    return sum(word in found for word in wanted) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=4096)
def numbers(text: str) -> tuple[float, ...]:
    """All numbers of a text in order, in digits or English words: "three hundred and fifty" is 350, and
    "1½", "1 1/2" and "one and a half" are 1.5."""
    found: list[float] = []
    current: float | None = None
    for word in number_tokens(text):
        if word[0].isdecimal():
            found += [current] if current is not None else []
            current = float(_plain_digits(word))
        elif word in _UNITS or word in _TENS:
            value = float(_UNITS.get(word, _TENS.get(word, 0)))
            if current is None:
                current = value
            elif (value < 20 and current % 10 == 0 and current % 100 >= 20) or current % 100 == 0:
                current += value
            else:
                found.append(current)
                current = value
        elif word in _SCALES:
            current = (current or 1.0) * _SCALES[word]
        elif word == "and" and current is not None and current % 100 == 0:
            continue
        elif word in _ADDED and current is not None:
            current += _ADDED[word]
        else:
            found += [current] if current is not None else []
            current = None
            found += [_COUNTS[word]] if word in _COUNTS else []
    return (*found, *([current] if current is not None else ()))


def number_tokens(text: str) -> list[str]:
    """`tokens` with a fraction as a decimal number, and "and a half" as one word, "andhalf"."""
    return tokens(_AND_PART.sub(r" and\1", _HALF_OF.sub("0.5 ", _FRACTION.sub(_decimal, text))))


def _decimal(found: re.Match[str]) -> str:
    """A fraction of `_FRACTION` as a decimal number: 1.5 of "1½"; one of a date or a ratio as it is."""
    over, below = int(found["over"] or 0), int(found["below"] or 1)
    if found["below"] and over >= below:
        return found[0]
    part = unicodedata.numeric(found["sign"]) if found["sign"] else over / below
    return f" {int(found['whole'] or 0) + part:g} "


def _plain_digits(word: str) -> str:
    """1,500 is 1500 and 2,5 is 2.5: a comma is decimal unless groups of three digits follow it."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", word):
        return word.replace(",", "")
    if re.fullmatch(r"\d+,\d+", word):
        return word.replace(",", ".")
    whole, *rest = re.split(r"[.,]", word)
    return f"{whole}.{''.join(rest)}" if rest else whole


_GENERIC_STEMS = frozenset(stem(word) for word in GENERIC_WORDS) | GENERIC_WORDS
