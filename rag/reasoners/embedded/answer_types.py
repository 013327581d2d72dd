"""What kind of thing a question asks for, and whether a sentence holds one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.relevance import content_words, numbers


@dataclass(frozen=True, slots=True)
class AnswerType:
    """What kind of thing a question asks for, and how a sentence is tested for it."""

    name: str
    strict: bool
    """True: a sentence without such a thing can hardly be the answer."""
    asked: frozenset[str] = frozenset()
    """Stems of a when-question; empty for others."""

    def strength(self, sentence: str) -> float:
        """1.0: it holds one; 0.5: it may; 0.0: it holds none."""
        if self.asked and not _DATED.search(sentence):
            return self._says_when(sentence)
        sentence = _JOINED.sub(" ", sentence)
        if self.name in _NUMERIC and not _has_number(sentence):
            return 0.0
        pattern, weak = _CUES.get(self.name), _WEAK.get(self.name)
        if pattern is None or pattern.search(sentence):
            return 1.0
        return 0.5 if weak is not None and weak.search(sentence) else 0.0

    def measures(self, sentence: str) -> bool:
        """Whether it holds a number with a unit of what "how tight", "how hot", "how far" ask for."""
        return self.name in _MEASURED and _has_number(sentence) and self.strength(sentence) == 1.0

    def _says_when(self, sentence: str) -> float:
        """A clause says when something is done only if what is asked about is outside of it.

        "Do not press it after flipping it" forbids pressing and says nothing of when to flip.
        """
        clause = _WHEN_CLAUSE.search(sentence)
        forbids = bool(_FORBIDS.match(sentence))
        if clause is None:
            timed = _TIME_WORDED.search(sentence) or _USUALLY.search(sentence)
            return 0.5 if timed and not forbids else 0.0
        outside = set(content_words(_WHEN_CLAUSE.sub(" ", sentence)))
        inside = self.asked & set(content_words(clause.group())) - outside
        if forbids and (inside or clause.group("cue").casefold() not in _BOUNDS):
            return 0.0
        return 0.5 if inside else 1.0


_NAME = (
    r"(?:(?<=[a-z,;:] )|(?<=Dr\. )|(?<=Doctor )|^(?=[A-Z]\w+ (?:has|is|was|and|drives|works)\b))[A-Z][\w'’-]+"
)
_DATE = (
    r"\b(?:1[5-9]\d\d|20\d\d)\b|\b(?:January|February|March|April|May|June|July|August|September|October|"
    r"November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b|\b\d{1,2}:\d\d\b"
)
_TIME_WORDS = (
    r"\b(?:while|during|first|last|then|every|morning|noon|evening|night|"
    r"today|tomorrow|yesterday|spring|summer|autumn|fall|winter)\b"
)
_DATED = re.compile(_DATE, re.IGNORECASE)
_TIME_WORDED = re.compile(_TIME_WORDS, re.IGNORECASE)
_WHEN_CLAUSE = re.compile(
    r"\b(?P<cue>if|when|whenever|until|before|after|once|as soon as)\b[^,;]*", re.IGNORECASE
)
_FORBIDS = re.compile(r"\W*(?:please )?(?:do not|don['’]t|never|avoid)\b", re.IGNORECASE)
_BOUNDS = frozenset({"until", "before"})
"""With these a ban says when it ends: "Do not walk on it before Tuesday"."""
_SPAN = r"\b(?:second|minute|hour|day|night|overnight|week|month|year|decade|centur(?:y|ie))s?\b"
_LENGTH = (
    r"\b(?:nano|micro|milli|centi|kilo)?met(?:re|er)s?\b"
    r"|\b(?:mm|cm|km|m|inch(?:es)?|f(?:oo|ee)t|yards?|miles?)\b"
)
_USUALLY = re.compile(r"\b(?:usually|normally|typically|about|at)\b.*" + _SPAN, re.IGNORECASE)
_TORQUE = (
    r"\b(?:newton[- ]?met(?:re|er)s?|n[·. ]?m|(?:foot|inch)[- ]pounds?|(?:ft|in)[-. ·]?lbs?|lbs?[-. ·]?ft)\b"
    r"|\b(?:turns?|bar|psi|kn|newtons?|percent)\b|%"
)
_CUES = {
    "who": re.compile(_NAME),
    "date": re.compile(_DATE + r"|\b(?:if|when|until|before|after|once|as soon as)\b", re.IGNORECASE),
    "where": re.compile(
        r"\b(?:in|at|on|near|from|under|over|inside|outside|between|behind|beside|into|onto|to|through|here|there|"
        r"north|south|east|west|above|below|away)\b",
        re.IGNORECASE,
    ),
    "why": re.compile(
        r"\b(?:because|since|so that|due to|otherwise|in order to|therefore|thus|prevents?|protects?)\b",
        re.IGNORECASE,
    ),
    "duration": re.compile(_SPAN, re.IGNORECASE),
    "frequency": re.compile(
        r"\b(?:every|once|twice|times|daily|weekly|monthly|yearly|annually|often|always|never|each|per|"
        r"an? (?:day|week|month|year|hour))\b",
        re.IGNORECASE,
    ),
    "temperature": re.compile(r"°|\b(?:degrees?|celsius|fahrenheit|kelvin)\b|\b[CFK]\b", re.IGNORECASE),
    "tightness": re.compile(_TORQUE, re.IGNORECASE),
    "length": re.compile(_LENGTH, re.IGNORECASE),
    "weight": re.compile(
        r"\b(?:(?:kilo|milli)?grams?|kg|g|pounds?|lbs?|ounces?|tons?|tonnes?)\b", re.IGNORECASE
    ),
    "money": re.compile(
        r"[$€£¥]|\b(?:dollars?|euros?|pounds?|yen|cents?|francs?|price|costs?)\b", re.IGNORECASE
    ),
    "speed": re.compile(
        r"\b(?:an hour|per hour|per second|a second|km/h|mph|m/s|speed|knots?)\b", re.IGNORECASE
    ),
    "material": re.compile(
        r"\b(?:made (?:of|from|out of)|built (?:of|from)|consists? of|composed of|coated|"
        r"wood(?:en)?|steel|iron|alumin[iu]+m|beryllium|titanium|copper|brass|bronze|gold|silver|glass|plastic|"
        r"rubber|leather|cotton|wool|silk|linen|nylon|kapton|paper|cardboard|clay|ceramics?|concrete|stone|"
        r"marble|granite|oak|pine|maple|basswood|bamboo|carbon|fib(?:re|er)|wax|beeswax|are|is)\b",
        re.IGNORECASE,
    ),
    "colour": re.compile(
        r"\b(?:red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|gr[ae]y|gold(?:en)?|silver|"
        r"turquoise|beige|colou?r(?:ed)?)\b",
        re.IGNORECASE,
    ),
    "shape": re.compile(
        r"\b(?:round|circle|circular|square|triang\w+|hexagon\w*|rectang\w+|oval|sphere|spherical|cub\w+|"
        r"cylind\w+|cone|flat|shaped?|curved|spiral)\b",
        re.IGNORECASE,
    ),
    "name": re.compile(r"\b(?:called|named|known as|name|term)\b", re.IGNORECASE),
}
_WEAK = {
    "who": re.compile(
        r"\b(?:I|we|he|she|they|doctor|engineers?|scientists?|team|teacher|chef|man|woman|people|father|mother|"
        r"grandfather|grandmother)\b"
    ),
    "date": _TIME_WORDED,
    "tightness": re.compile(r"\b(?:finger|hand|snug|fully|firmly|torque)\b", re.IGNORECASE),
    "duration": re.compile(_LENGTH, re.IGNORECASE),
    "why": re.compile(r"\b(?:so|to|for|as|or|helps?|keeps?)\b", re.IGNORECASE),
}
_MEASURED = frozenset({"length", "weight", "speed", "temperature", "tightness", "duration"})
_NUMERIC = frozenset({"number", "length", "weight", "money", "speed", "temperature"})
_JOINED = re.compile(r"(?<=\d)(?=[^\W\d_])")
"""Between a number and its unit in "110Nm"."""

_FOCUS = re.compile(
    r"\b(?:which|what) (?!(?:is|are|was|were|does|do|did|can|should|happens?|has|have)\b)([a-z]+)\b",
    re.IGNORECASE,
)

_QUESTIONS: tuple[tuple[str, str, bool], ...] = (
    (r"\bhow (?:many|much) (?:does|did|do) .*\bcost\b|\b(?:price|cost) of\b", "money", True),
    (r"\bhow (?:heavy|much .*\bweigh)\b|\bweight of\b", "weight", True),
    (r"\bhow (?:hot|cold|warm)\b|\b(?:what|which) temperature\b|\btemperature\b", "temperature", True),
    (r"\bhow (?:tight(?:ly)?|loose(?:ly)?|hard|firm(?:ly)?)\b|\btorque\b", "tightness", False),
    (r"\bhow fast\b|\bspeed (?:of|limit)\b", "speed", True),
    (
        r"\bhow (?:thick|wide|tall|high|deep|far|big|large)\b|\b(?:height|width|length|size) of\b",
        "length",
        True,
    ),
    (r"\bhow long\b|\bfor how (?:long|many \w+)\b", "duration", False),
    (r"\bhow often\b|\bhow many times\b", "frequency", False),
    (
        r"\bhow (?:many|much)\b|\bwhat (?:number|share|percentage|ratio|angle|fraction)\b|\bratio\b",
        "number",
        True,
    ),
    (r"^(?:\W*\w+\b){0,3}?\W*\bwhen\b|\b(?:what|which) (?:year|date|day|month|time)\b", "date", True),
    (r"\bwho(?:m|se)?\b", "who", True),
    (r"\bwhere\b|\bwhat (?:place|country|city|town)\b", "where", False),
    (r"\bwhy\b|\bwhat (?:is|was) the reason\b|\bfor what reason\b|\bwhat for\b", "why", False),
    (r"\bmade (?:of|from|out of)\b|\b(?:what|which) (?:material|metal|wood)\b", "material", False),
    (r"\bwhat colou?rs?\b|\bwhich colou?rs?\b", "colour", True),
    (r"\b(?:what|which) shape\b", "shape", False),
    (r"\b(?:called|named|name of)\b", "name", False),
)


THING = AnswerType("thing", False)
"""Of a question that asks for no kind in particular."""


def answer_type(question: str) -> AnswerType:
    """By the first rule that fits; `thing` where none does."""
    for pattern, name, strict in _QUESTIONS:
        if re.search(pattern, question, re.IGNORECASE):
            asked = content_words(question) if re.search(r"\bwhen\b", question, re.IGNORECASE) else []
            return AnswerType(name, strict, frozenset(asked) if name == "date" else frozenset())
    return THING


def focus_noun(question: str) -> str:
    """The stem of NOUN in "which NOUN ..." or "what NOUN ..."; empty in another form."""
    found = _FOCUS.search(question)
    words = content_words(found.group(1)) if found else []
    return words[0] if words else ""


def _has_number(sentence: str) -> bool:
    return bool(numbers(sentence)) or bool(
        re.search(r"\b(?:half|third|quarter|percent|dozen|none)\b", sentence, re.I)
    )
