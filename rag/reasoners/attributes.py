"""Attributes of a shot that have one of a few values, and the words by which a text names them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NOT = (
    r"\b(?:no(?! (?:sound|audio)(?! of\b| effects?\b))|not|isn't|without|never|rather than|instead of)\b"
    r"[^,;.:!?]*?"
)
_DENIED = tuple(
    re.compile(rf"{_NOT}(?=[,;.:!?]|$|\b(?:but|only|just|rather(?! than){more})\b)", re.IGNORECASE)
    for more in ("", "|with|and with|while")
)
"""From a word that denies up to where its clause ends: the longer reach first, since "no warm and golden
tones" denies both; then up to what comes with it."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """The values of one attribute."""

    phrases: Mapping[str, str]
    """How a description says each value."""
    words: Mapping[str, str]
    """For each value, a regular expression of the words that name it."""

    def named(self, text: str) -> list[str]:
        """The values that a text affirms, by their first words; "no speech, only music" names music."""
        for denied in _DENIED:
            affirmed = denied.sub(" ; ", text)
            found = [
                (match.start(), value)
                for value, words in self.words.items()
                if (match := re.search(rf"\b(?:{words})\b", affirmed, re.IGNORECASE))
            ]
            if found:
                return [value for _, value in sorted(found)]
        return []


ATTRIBUTES: Mapping[str, Attribute] = {
    "color": Attribute(
        {"warm": "warm tones", "cold": "cold tones", "neutral": "neutral tones"},
        {
            "warm": r"warm|orange|golden|amber",
            "cold": r"cold|cool|blu(?:e|ish)|cyan|teal",
            "neutral": r"neutral|natural|balanced",
        },
    ),
    "style": Attribute(
        {"live": "live action", "2d": "2D animation", "3d": "3D animation", "graphics": "pure graphics"},
        {
            "2d": r"2-?d\b|anime|cartoon|hand-drawn|flat animation",
            "3d": r"3-?d\b|cgi|rendered|render(?:ing)?|game engine|gameplay",
            "graphics": r"graphics?|typograph\w+|lyric|infographic|interface|chart",
            "live": r"live[- ]action|real(?:istic|[- ]shot|[- ]life)?|photograph\w*|cinematic|footage",
        },
    ),
    "audio": Attribute(
        {
            "speech": "somebody speaking",
            "music": "background music",
            "ambient": "ambient sound",
            "silence": "no sound",
        },
        {
            "speech": r"speech|voices?|speak\w*|dialogue|narrat\w+|says?|talk\w*|conversation",
            "music": r"music|melod\w+|song|soundtrack|beat|instrumental|tune",
            "ambient": r"ambient|environmental|natural sounds?|wind|water|birds?|engine|noise",
            "silence": r"silen\w+|no (?:sound|audio)|mute",
        },
    ),
}
"""By kind of constraint (`ConstraintKind`)."""
