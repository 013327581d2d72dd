"""A description as the clauses that each say one thing to be seen, by rules on English."""

from __future__ import annotations

import re

from rag.words import content_words

MOST = 6
"""Clauses of one description; of a longer one the first."""

_OPENING = re.compile(
    r"^\s*(?:(?:an?|the|this|some)\s+)?(?:short\s+)?(?:video|clip|recording|footage|movie|scene|shot|image|frame)s?\b"
    r"\s*(?:(?:that|which)\s+)?(?:shows?|showing|depicts?|depicting|of|about|with)\s+",
    re.IGNORECASE,
)
"""What says that it is a video, and not what is in it."""
_SUBJECT = (
    r"(?:(?:the|an?|one|two|three|four|some|several|many|both|another|his|her|their|its|my)"
    r"(?: [\w'’-]+){1,4}?"
    r"|he|she|it|they|we|someone|everyone|people|men|women|children)"
)
_VERB = r"(?:is|are|was|were|has|have|had|does|do|did|goes|can|\w{2,}(?:(?<!s)s|ed|ing))"
_CLAUSE = rf"(?:{_SUBJECT} (?:\w+ly )?{_VERB})\b(?! of\b)"
_BETWEEN = re.compile(
    # Sentences and parts of sentences.
    r"(?:[.;!?]|:)\s+"
    # "a garage where he welds", "a party at which they dance", "and then it rains".
    r"|,?\s+(?:where|while|whilst|whereas|(?:in|at|on|during|through|after|before) which"
    r"|(?:and |but )?(?:then|afterwards|later|meanwhile|at the same time))\s+"
    # "the cook cuts bread and a waiter carries plates"; not "a man and a woman dance".
    rf"|(?:,\s+(?:and |but |as )?|\s+(?:and|but|as)\s+)(?={_CLAUSE})",
    re.IGNORECASE,
)


def clauses(text: str) -> list[str]:
    """At most `MOST` parts of a description, in its order, each once.

    What only says that it is a video is left out, and so is a part that names nothing. A text without clauses
    of its own is one part.
    """
    # Runs of spaces would take the patterns quadratic time.
    plain = " ".join(text.split())
    found = [part.strip(" ,.;:!?") for part in _BETWEEN.split(_OPENING.sub("", plain))]
    kept = list(dict.fromkeys(part for part in found if content_words(part)))
    return kept[:MOST]
