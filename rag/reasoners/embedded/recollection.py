"""A memory in the first person as what was seen or heard: the phrases of remembering and of asking go.

"I vaguely recall there was maybe a red kite" and "I am looking for a clip of a red kite" tell of a red
kite. Held against pictures or typed into a search box, the other words only blur it.
"""

from __future__ import annotations

import re

from rag.relevance import content_words

EDGE = 0.12
"""Share of a video that is its beginning, and its end."""
_BEGAN = re.compile(
    r"\b(?:began|begins|started|starts|opened|opens) with\b|\b(?:at|in) the (?:very )?(?:start|beginning)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"\b(?:ended|ends|finished|closed|closes) with\b|\b(?:at|in) the (?:very )?end\b"
    r"|\bthe (?:last|final|closing) (?:scene|shot|image|frame|part)\b",
    re.IGNORECASE,
)

_SENTENCE = re.compile(r"(?<=[.!?])[\"”']?\s+")
_OPENINGS = re.compile(
    r"""^(?:
      (?:and|but|so|then|well)\b
    | (?:in\ my\ memory|as\ far\ as\ i\ (?:can\ )?(?:remember|recall|tell)|from\ what\ i\ (?:can\ )?
        (?:remember|recall|tell)|if\ i\ am\ not\ mistaken|if\ i\ remember\ (?:right|correctly|well))\b
    | i\ (?:(?:can|could|do|only|also|still|just|seem\ to|vaguely|faintly|dimly|distinctly|clearly)\ )*
        (?:remember|recall|think|believe|guess|suppose|see|saw|heard|hear)\b
      (?:\ (?:that|how|watching|seeing|hearing))?
    | (?:please\ )?(?:i\ (?:need|want|would\ like|search|look)|i(?:\ am|['’]m)\ (?:looking|searching)
        |find|show|give|search|look)\b(?:\ (?:to|for|me|find|see|have|get))*
      (?:\ (?:an?|the|some|any))?(?:\ video)?
      \ (?:shot|clip|video|segment|scene|moment|footage|film|picture)s?\b
      (?:\ (?:of|that|which|where|in\ which|with|showing|shows?))*
    | in\ the\ (?:preceding|following|previous|next)\ (?:seconds|moments)(?:\ of\ (?:this|the)\ clip)?\b
    | (?:just\ )?(?:before|after)\ (?:that|this)\b
    | (?:the|this|one|that)\ (?:(?:specific|particular)\ )?(?:frame|segment|scene|shot|clip|moment)
        (?:\ i\ recall)?\ (?:shows?|showed|features?|featured|had|is|was|describes?)\b(?:\ how)?
    | in\ the\ background\b | (?:most|some|all)\ of\ it\b(?:\ (?:was|were|is))?
    | (?:it|this|that)\ (?:was|is|had|felt|seemed|began|started|opened|ended|went\ on)\b
      (?:\ (?:with|like|by))?
    | (?:later|then|afterwards|at\ some\ point|finally)\b | there\ (?:was|were|is|are)\b
    | (?:something|somewhat|rather)\ like\b | (?:maybe|perhaps|probably|possibly)\b
    )[\s,:]*""",
    re.IGNORECASE | re.VERBOSE,
)
_DOUBTS = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|vaguely|faintly|i think|i guess|something like|sort of|"
    r"kind of|or so|to be seen)\b,?\s*",
    re.IGNORECASE,
)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, without the space around them."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def recollected(text: str) -> list[str]:
    """Its sentences without the words of remembering, in order; those that say nothing else are left out."""
    return [plain for plain, _ in placed(text)]


def placed(text: str) -> list[tuple[str, tuple[float, float]]]:
    """Each of these with the share [from, until) of the video that it tells of: "it began with ...", "it
    ended with ..."; any other of all of it."""
    told = []
    for sentence in sentences_of(text):
        plain, before = sentence.strip(), ""
        while plain != before:
            before, plain = plain, _OPENINGS.sub("", plain, count=1)
        plain = " ".join(_DOUBTS.sub("", plain).split()).strip(" ,;:").replace(" .", ".")
        if content_words(plain):
            told.append((plain, _share(sentence)))
    return told


def _share(sentence: str) -> tuple[float, float]:
    if _BEGAN.search(sentence):
        return 0.0, EDGE
    return (1 - EDGE, 1.0) if _ENDED.search(sentence) else (0.0, 1.0)
