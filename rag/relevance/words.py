"""Tokens and stems for lexical relevance: lower case, light stems, no function words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]")
"""Scripts that write without spaces; their runs are cut into character bigrams."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FUNCTION_WORDS = _set(
    """a about after again all also am an and any are as at be because been before being below between both
    but by can cannot could did do does doing done down during each either else ever every few for from
    further had has have having he her here hers him his how i if in into is it its itself just let like
    many may me might more most much must my no nor not now of off on once one only onto or other our out
    over own per quite rather same shall she should since so some such than that the their them then there
    these they this those through to too under until up upon us very was we were what when where whether
    which while who whom whose why will with within without would yes yet you your
    don doesn isn aren wasn weren won can't don't isn't it's"""
)
GENERIC_WORDS = _set(
    """video videos clip shows show showing shown camera wearer person people someone somebody man woman
    object objects thing things item something statement statements true right correct following passage
    happen make made use used using get got go going take put keep need call called
    kind sort type way order"""
)
"""Content words of nearly every question about videos, which do not discriminate."""

_IRREGULAR = {
    "baking": "bake", "burnt": "burn", "began": "begin", "bought": "buy", "broke": "break", "broken": "break",
    "built": "build", "chosen": "choose", "cost": "cost", "drawn": "draw", "driven": "drive",
    "drove": "drive",
    "fed": "feed", "feet": "foot", "fell": "fall", "found": "find", "frozen": "freeze", "gave": "give",
    "given": "give", "grew": "grow", "grown": "grow", "held": "hold", "hung": "hang", "kept": "keep",
    "knew": "know", "known": "know", "knives": "knife", "leaves": "leaf", "left": "leave", "lit": "light",
    "lives": "live", "men": "man", "met": "meet", "mice": "mouse", "paid": "pay", "ran": "run", "said": "say",
    "sang": "sing", "sat": "sit", "saw": "saw", "sent": "send", "shook": "shake", "sold": "sell",
    "spoke": "speak", "spun": "spin", "stood": "stand", "stuck": "stick", "swam": "swim", "taught": "teach",
    "teeth": "tooth", "thought": "think", "told": "tell", "took": "take", "went": "go", "women": "woman",
    "wore": "wear", "worn": "wear", "wrote": "write", "written": "write",
}  # fmt: skip

_QUALITY_OF_VERB = {
    "deepen": "deep", "harden": "hard", "lengthen": "long", "lighten": "light", "loosen": "loose",
    "sharpen": "sharp", "shorten": "short", "soften": "soft", "straighten": "straight", "thicken": "thick",
    "tighten": "tight", "weaken": "weak", "widen": "wide",
}  # fmt: skip
"""A verb to its quality: "how tight" is answered by "tighten to"."""

_TEENS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_UNITS = {word: value for value, word in enumerate(_TEENS.split(" "))}
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_COUNTS = {"once": 1.0, "twice": 2.0, "thrice": 3.0, "half": 0.5, "quarter": 0.25, "dozen": 12.0}


def tokens(text: str) -> list[str]:
    """Words and numbers in order, lower case, compatibility forms folded (NFKC)."""
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'")):
        if _UNSPACED.search(word) and len(word) > 2:
            found += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            found.append(word)
    return found


def stem(word: str) -> str:
    """A light English stem: no plural, -ing, -ed, final e or -ion of -ation; "tighten" is "tight"."""
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
        if root != word and len(root) >= 3 and re.search(r"[aeiouy]", root):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    word = _QUALITY_OF_VERB.get(word, word)
    if len(word) > 6 and word.endswith("ation"):
        word = word[:-3]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, each once."""
    kept = (stem(word) for word in tokens(text) if word not in FUNCTION_WORDS)
    return list(dict.fromkeys(word for word in kept if word not in _GENERIC_STEMS))


def lexical_overlap(
    wanted: Iterable[str], found: Collection[str], weights: Mapping[str, float] | None = None
) -> float:
    """Share of the `wanted` stems that are in `found`, in [0, 1]; by weight (default 1). 0 for no stems."""
    total = hit = 0.0
    for word in wanted:
        weight = weights.get(word, 1.0) if weights else 1.0
        total += weight
        hit += weight if word in found else 0.0
    return hit / total if total else 0.0


def numbers(text: str) -> list[float]:
    """All numbers of a text in order, in digits or English words: "three hundred and fifty" is 350."""
    found: list[float] = []
    current: float | None = None
    for word in tokens(text):
        if word[0].isdigit():
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
        else:
            found += [current] if current is not None else []
            current = None
            found += [_COUNTS[word]] if word in _COUNTS else []
    return found + ([current] if current is not None else [])


def _plain_digits(word: str) -> str:
    """1,500 is 1500 and 2,5 is 2.5: a comma is decimal unless groups of three digits follow it."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", word):
        return word.replace(",", "")
    if re.fullmatch(r"\d+,\d+", word):
        return word.replace(",", ".")
    whole, *rest = re.split(r"[.,]", word)
    return f"{whole}.{''.join(rest)}" if rest else whole


_GENERIC_STEMS = frozenset(stem(word) for word in GENERIC_WORDS) | GENERIC_WORDS
