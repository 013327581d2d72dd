"""Plain descriptions by rules: their statements, names, keywords and search words.

A description in the first person becomes plain statements: "I vaguely recall there was maybe a red kite" and
"I am looking for a clip of a red kite" both describe a red kite; compared with frames or sent to a search
engine, the other words are noise. Keywords are quoted words, names, numbers, and runs of content words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag.words import content_words, lexical_overlap, word_set

EDGE = 0.12
"""Share of a video that counts as its beginning, and as its end."""
WHOLE = (0.0, 1.0)
"""The share [from, until) of a statement about no particular part."""

_BEGINNING = re.compile(
    r"\b(?:begins?|began|starts?|started|opens?|opened) with\b"
    r"|\b(?:at|in) the (?:very )?(?:start|beginning)\b",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:ends?|ended|finish(?:es|ed)|closed|closes) with\b|\b(?:at|in) the (?:very )?end\b"
    r"|\bthe (?:last|final|closing) (?:scene|shot|image|frame|part)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"”']?\s+")
_RECORDING = r"(?:video\ )?(?:shot|clip|video|segment|scene|moment|footage|film|movie|picture|frame)s?"
_COGNITION = r"(?:remember|recall|think|believe|guess|suppose|know|imagine|see|saw|notice|noticed|hear|heard)"
_OPENINGS = re.compile(
    rf"""^(?:
      (?:and|but|so|then|well|later|afterwards|finally|(?:just\ )?(?:before|after)\ (?:that|this))\b
      # Clauses about the speaker: "from what I recall", "if I am not mistaken", "I vaguely remember that".
    | (?:in|as|from|if|to)\b[^,.]{{0,30}}\b(?:remember|recall|memory|recollection|mistaken|tell|know)\b
      (?:\ (?:right|correctly|well))?
    | i\b(?:\ \w+){{0,3}}?\ {_COGNITION}\b(?:\ (?:that|how|watching|seeing|hearing))?
      # Requests: "I am looking for a clip of", "please show me the shot where".
    | (?:please\ )?(?:i\b[^,.]{{0,20}}?\b(?:need|want|like|look\w*|search\w*)|find|show|give|search|look)\b
      [^,.]{{0,30}}?\b{_RECORDING}\b(?:\ (?:of|that|which|where|in\ which|with|showing|shows?))*
      # The recording as the subject: "this frame shows how".
    | (?:the|this|that|one)\ (?:\w+\ )?{_RECORDING}(?:\ i\ {_COGNITION})?
      \ (?:shows?|showed|features?|featured|has|had|is|was|describes?)\b(?:\ how)?
      # Where in the recording: "in the background", "in the first minutes of the film".
    | (?:in|at|during|for)\ the\ (?:\w+\ )?
      (?:seconds?|minutes?|moments?|background|foreground|start|beginning|middle|end)\b
      (?:\ of\ (?:this|the)\ \w+)?
      # Existential and copular openings.
    | (?:it|this|that|there)\ (?:was|were|is|are|had|felt|seemed|began|started|opened|ended)\b
      (?:\ (?:with|like|by))?
    )[\s,:]*""",
    re.IGNORECASE | re.VERBOSE,
)
_HEDGES = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|vaguely|faintly|somewhat|i (?:think|guess|suppose|believe)|"
    r"(?:something|rather) like|sort of|kind of|or so)\b,?\s*",
    re.IGNORECASE,
)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, without the space around them."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def statements(text: str) -> list[str]:
    """The sentences of a text as plain statements, in order; a sentence that states nothing is left out."""
    return [plain for plain, _ in positioned_statements(text)]


def positioned_statements(text: str) -> list[tuple[str, tuple[float, float]]]:
    """Each statement with the share [from, until) of the video that it is about.

    "It began with ..." and "it ended with ..." are about an edge; all else is about the whole.
    """
    found = []
    for sentence in sentences_of(text):
        plain, before = sentence.strip(), ""
        while plain != before:
            before, plain = plain, _OPENINGS.sub("", _HEDGES.sub("", plain), count=1)
        plain = " ".join(plain.split()).strip(" ,;:").replace(" .", ".")
        if content_words(plain):
            found.append((plain, _share(sentence)))
    return found


def _share(sentence: str) -> tuple[float, float]:
    if _BEGINNING.search(sentence):
        return 0.0, EDGE
    return (1 - EDGE, 1.0) if _END.search(sentence) else WHOLE


_POINTING = frozenset({"another", "same", "different", "second"})
"""Words that part one thing from another, and are no search for either."""
LONGEST = 3
"""Words of one run; longer ones are cut, since a keyword is matched as a whole."""

_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,60})[\"“”«»]|(?<!\w)'([^']{2,60})'(?!\w)")
_NAME = re.compile(r"\b[^\W\d_a-z][\w'’.-]*(?: (?:of |de |van |von |the )?[^\W\d_a-z][\w'’.-]*)*")
_BREAK = re.compile(r"[^\w\s'’.-]|(?<!\d)\.|\.(?!\d)|\s-+\s")
_WORD = re.compile(r"\S+")


def names(text: str) -> list[str]:
    """Quoted words and capitalized runs, but for the capital that opens a sentence; each once, in order."""
    found = [quoted or single for quoted, single in _QUOTED.findall(text)]
    for match in _NAME.finditer(text):
        name = match[0].strip(".-'’")
        opens = match.start() == 0 or re.search(r"[.!?:(\"“]\s*$", text[: match.start()])
        if opens and " " not in name and not name.isupper():
            continue
        if len(name) > 1 and content_words(name) and not any(name in other for other in found):
            found.append(name)
    return list(dict.fromkeys(found))


def content_runs(text: str) -> list[str]:
    """Neighbouring words that carry meaning, without the words between them; each once, in order."""
    found: list[str] = []
    for clause in _BREAK.split(text):
        run: list[str] = []
        for word in [*(match[0] for match in _WORD.finditer(clause)), ""]:
            if word and content_words(word) and word.casefold() not in _POINTING:
                run.append(word.strip(".'’-"))
                continue
            found += _cut(run)
            run = []
    return list(dict.fromkeys(found))


def entities(text: str, most: int) -> tuple[str, ...]:
    """At most `most` keywords: names and quotations first, then runs with a number, then the others."""
    plain = content_runs(text)
    numbered = [run for run in plain if any(letter.isdigit() for letter in run)]
    found: list[str] = []
    for phrase in (*names(text), *numbered, *plain):
        stems = word_set(phrase)
        if stems and not any(stems <= word_set(other) for other in found):
            found.append(phrase)
    return tuple(found[:most])


def new_phrases(texts: Iterable[str], known: str, most: int) -> tuple[str, ...]:
    """Entities of the texts that say something `known` does not, in their order."""
    held = word_set(known)
    found: list[str] = []
    for text in texts:
        for phrase in entities(text, most):
            stems = content_words(phrase)
            if lexical_overlap(stems, held) < 1 and phrase not in found:
                found.append(phrase)
    return tuple(found[:most])


def query_words(text: str, most: int) -> str:
    """The words of a text that carry meaning, in order, as one would type them into a search box."""
    words: list[str] = []
    stems: set[str] = set()
    for run in content_runs(text):
        for word in run.split():
            new = word_set(word) - stems
            if new:
                words.append(word)
                stems |= new
    return " ".join(words[:most])


def _cut(run: Sequence[str]) -> list[str]:
    return [" ".join(run[at : at + LONGEST]) for at in range(0, len(run), LONGEST)]
