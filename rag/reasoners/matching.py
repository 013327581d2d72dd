"""Right without anybody's judgement: the same characters, or the same after a fixed normalization.

Both families judge by these first; benchmarks report them beside the judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_KEPT = re.compile(r"(?<=\d)[.,](?=\d)|(?<![^\s(])-(?=\d)")
"""A point or a comma between figures is part of the number, and so is a sign before it."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_APOSTROPHE = re.compile("['’]")


def normalized(text: str) -> str:
    """Compatibility forms folded (NFKC), small letters, no articles, no punctuation, single spaces.

    As SQuAD's (Rajpurkar et al. 2016), but what changes the fact stays: a point between figures, the
    sign of a number, + and # as in "C++", accents. A comma that parts thousands goes.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2212", "-")
    folded = _THOUSANDS.sub("", _APOSTROPHE.sub("", folded))
    held = _KEPT.sub(lambda found: "\1" if found[0] == "-" else "\0", folded)
    plain = "".join(" " if _punctuates(letter) else letter for letter in held)
    plain = plain.replace("\0", ".").replace("\1", "-")
    return " ".join(_ARTICLE.sub(" ", plain).split())


def exact_match(prediction: str, ground_truths: tuple[str, ...]) -> bool:
    """The same characters as one of them, but for white space at both ends."""
    return prediction.strip() in {truth.strip() for truth in ground_truths} - {""}


def normalized_match(prediction: str, ground_truths: tuple[str, ...]) -> bool:
    """The same as one of them after `normalized`."""
    return normalized(prediction) in {normalized(truth) for truth in ground_truths} - {""}


def token_f1(prediction: str, truth: str) -> float:
    """Harmonic mean of precision and recall over the words of `normalized`, in [0, 1] (SQuAD)."""
    ours, theirs = Counter(normalized(prediction).split()), Counter(normalized(truth).split())
    shared = (ours & theirs).total()
    if not shared:
        return 0.0
    return round(2 * shared / (ours.total() + theirs.total()), 6)


def _punctuates(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "P" and letter not in "%&#@"
