"""What kind of thing a question asks for, and whether a sentence holds one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

from rag.reasoners.embedded.question_forms import compiled
from rag.words import numbers, word_set


@dataclass(frozen=True, slots=True)
class AnswerType:
    """What kind of thing a question asks for, and how a sentence is tested for it; patterns are without
    regard to case."""

    name: str
    question: str = ""
    """Pattern of a question for it."""
    cue: str = ""
    """Pattern of a sentence that holds one; empty: any does."""
    weak: str = ""
    """Pattern of a sentence that may hold one."""
    strict: bool = False
    """True: a sentence without such a thing can hardly be the answer."""
    adds: Literal["number", "name", ""] = ""
    """What of an answer the question lacks."""
    numeric: bool = False
    """Whether a sentence without a number holds none."""
    measured: bool = False
    """Whether its cue is a unit of what "how tight", "how hot", "how far" ask for."""
    asked: frozenset[str] = frozenset()
    """Stems of a when-question; empty for others."""

    def strength(self, sentence: str) -> float:
        """1.0: it holds one; 0.5: it may; 0.0: it holds none."""
        if self.asked and not compiled(_DATE).search(sentence):
            return self._says_when(sentence)
        # Between a number and its unit in "110Nm".
        sentence = compiled(r"(?<=\d)(?=[^\W\d_])").sub(" ", sentence)
        if self.numeric and not _has_number(sentence):
            return 0.0
        if compiled(self.cue).search(sentence):
            return 1.0
        return 0.5 if self.weak and compiled(self.weak).search(sentence) else 0.0

    def measures(self, sentence: str) -> bool:
        """Whether it holds a number with a unit of what is asked for."""
        return self.measured and _has_number(sentence) and self.strength(sentence) == 1.0

    def _says_when(self, sentence: str) -> float:
        """A clause says when something is done only if what is asked about is outside of it.

        "Do not press it after flipping it" forbids pressing and says nothing of when to flip.
        """
        clause = _WHEN_CLAUSE.search(sentence)
        forbids = bool(_FORBIDS.match(sentence))
        if clause is None:
            timed = compiled(_TIME_WORDS).search(sentence) or compiled(_USUALLY).search(sentence)
            return 0.5 if timed and not forbids else 0.0
        outside = word_set(_WHEN_CLAUSE.sub(" ", sentence))
        inside = self.asked & word_set(clause.group()) - outside
        # "Do not walk on it before Tuesday" says when the ban ends.
        if forbids and (inside or clause.group("cue").casefold() not in ("until", "before")):
            return 0.0
        return 0.5 if inside else 1.0


MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NAME = (
    r"(?-i:(?:(?<=[a-z,;:] )|(?<=Dr\. )|(?<=Doctor )|^(?=[A-Z]\w+ (?:has|is|was|and|drives|works)\b))"
    r"[A-Z][\w'’-]+)"
)
_PERSON = (
    r"(?-i:\b(?:I|we|he|she|they|doctor|engineers?|scientists?|team|teacher|chef|man|woman|people|father|"
    r"mother|grandfather|grandmother)\b)"
)
_DATE = (
    rf"\b(?:1[5-9]\d\d|20\d\d)\b|\b(?:{'|'.join(MONTHS)}|"
    r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b|\b\d{1,2}:\d\d\b"
)
_TIME_WORDS = (
    r"\b(?:while|during|first|last|then|every|morning|noon|evening|night|"
    r"today|tomorrow|yesterday|spring|summer|autumn|fall|winter)\b"
)
_WHEN_CLAUSE = compiled(r"\b(?P<cue>if|when|whenever|until|before|after|once|as soon as)\b[^,;]*")
_FORBIDS = compiled(r"\W*(?:please )?(?:do not|don['’]t|never|avoid)\b")
_SPAN = r"\b(?:second|minute|hour|day|night|overnight|week|month|year|decade|centur(?:y|ie))s?\b"
_LENGTH = (
    r"\b(?:nano|micro|milli|centi|kilo)?met(?:re|er)s?\b"
    r"|\b(?:mm|cm|km|m|inch(?:es)?|f(?:oo|ee)t|yards?|miles?)\b"
)
_WEIGHT = r"\b(?:(?:kilo|milli)?grams?|kg|g|pounds?|lbs?|ounces?|tons?|tonnes?)\b"
_DEGREES = r"°|\b(?:degrees?|celsius|fahrenheit|kelvin)\b|\b[CFK]\b"
MEASURES = rf"{_SPAN}|{_LENGTH}|{_WEIGHT}|{_DEGREES}"
"""Units that follow a number, which then counts nothing else."""
_SPEED = r"\b(?:an hour|per hour|per second|a second|km/h|mph|m/s|speed|knots?)\b"
_USUALLY = r"\b(?:usually|normally|typically|about|at)\b.*" + _SPAN
_TORQUE = (
    r"\b(?:newton[- ]?met(?:re|er)s?|n[·. ]?m|(?:foot|inch)[- ]pounds?|(?:ft|in)[-. ·]?lbs?|lbs?[-. ·]?ft)\b"
    r"|\b(?:turns?|bar|psi|kn|newtons?|percent)\b|%"
)
_PLACE = (
    r"\b(?:in|at|on|near|from|under|over|inside|outside|between|behind|beside|into|onto|to|through|here|there|"
    r"north|south|east|west|above|below|away)\b"
)
_OFTEN = (
    r"\b(?:every|once|twice|times|daily|weekly|monthly|yearly|annually|often|always|never|each|per|"
    r"an? (?:day|week|month|year|hour))\b"
)
_MATERIAL = (
    r"\b(?:made (?:of|from|out of)|built (?:of|from)|consists? of|composed of|coated|"
    r"wood(?:en)?|steel|iron|alumin[iu]+m|beryllium|titanium|copper|brass|bronze|gold|silver|glass|plastic|"
    r"rubber|leather|cotton|wool|silk|linen|nylon|kapton|paper|cardboard|clay|ceramics?|concrete|stone|"
    r"marble|granite|oak|pine|maple|basswood|bamboo|carbon|fib(?:re|er)|wax|beeswax|are|is)\b"
)
_COLOUR = (
    r"\b(?:red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|gr[ae]y|gold(?:en)?|silver|"
    r"turquoise|beige|colou?r(?:ed)?)\b"
)
_SHAPE = (
    r"\b(?:round|circle|circular|square|triang\w+|hexagon\w*|rectang\w+|oval|sphere|spherical|cub\w+|"
    r"cylind\w+|cone|flat|shaped?|curved|spiral)\b"
)

_quantity = partial(AnswerType, strict=True, adds="number", numeric=True)
_measure = partial(_quantity, measured=True)
KINDS = (
    _quantity(
        "money",
        r"\bhow (?:many|much) (?:does|did|do) .*\bcost\b|\b(?:price|cost) of\b",
        r"[$€£¥]|\b(?:dollars?|euros?|pounds?|yen|cents?|francs?|price|costs?)\b",
    ),
    _measure("weight", r"\bhow (?:heavy|much .*\bweigh)\b|\bweight of\b", _WEIGHT),
    _measure("temperature", r"\bhow (?:hot|cold|warm)\b|\btemperature\b", _DEGREES),
    AnswerType(
        "tightness",
        r"\bhow (?:tight(?:ly)?|loose(?:ly)?|hard|firm(?:ly)?)\b|\btorque\b(?! (?:wrench|spanner|key)\b)",
        _TORQUE,
        r"\b(?:finger|hand|snug|fully|firmly|torque)\b",
        measured=True,
    ),
    _measure("speed", r"\bhow fast\b|\bspeed (?:of|limit)\b", _SPEED),
    _measure(
        "length",
        r"\bhow (?:thick|wide|tall|high|deep|far|big|large)\b|\b(?:height|width|length|size) of\b",
        _LENGTH,
    ),
    AnswerType(
        "duration",
        r"\bhow long\b|\bfor how (?:long|many \w+)\b",
        _SPAN,
        _LENGTH,
        adds="number",
        measured=True,
    ),
    AnswerType("frequency", r"\bhow often\b|\bhow many times\b", _OFTEN),
    _quantity(
        "number", r"\bhow (?:many|much)\b|\bwhat (?:number|share|percentage|ratio|angle|fraction)\b|\bratio\b"
    ),
    AnswerType(
        "date",
        r"^(?:\W*\w+\b){0,3}?\W*\bwhen\b|\b(?:what|which) (?:year|date|day|month|time)\b",
        _DATE + r"|\b(?:if|when|until|before|after|once|as soon as)\b",
        _TIME_WORDS,
        strict=True,
        adds="number",
    ),
    AnswerType("who", r"\bwho(?:m|se)?\b", _NAME, _PERSON, strict=True, adds="name"),
    AnswerType("where", r"\bwhere\b|\bwhat (?:place|country|city|town)\b", _PLACE, adds="name"),
    AnswerType(
        "why",
        r"\bwhy\b|\bwhat (?:is|was) the reason\b|\bfor what reason\b|\bwhat for\b",
        r"\b(?:because|since|so that|due to|otherwise|in order to|therefore|thus|prevents?|protects?)\b",
        r"\b(?:so|to|for|as|or|helps?|keeps?)\b",
    ),
    AnswerType(
        "material", r"\bmade (?:of|from|out of)\b|\b(?:what|which) (?:material|metal|wood)\b", _MATERIAL
    ),
    AnswerType("colour", r"\b(?:what|which) colou?rs?\b", _COLOUR, strict=True),
    AnswerType("shape", r"\b(?:what|which) shape\b", _SHAPE),
    AnswerType(
        "name", r"\b(?:called|named|name of)\b", r"\b(?:called|named|known as|name|term)\b", adds="name"
    ),
)
THING = AnswerType("thing", adds="name")
"""Of a question that asks for no kind in particular."""


@lru_cache(maxsize=1024)
def answer_type(question: str) -> AnswerType:
    """The first of `KINDS` that fits; `thing` where none does."""
    kind = next((kind for kind in KINDS if compiled(kind.question).search(question)), THING)
    is_when = kind.name == "date" and compiled(r"\bwhen\b").search(question)
    return replace(kind, asked=word_set(question)) if is_when else kind


def _has_number(sentence: str) -> bool:
    return bool(numbers(sentence)) or bool(
        compiled(r"\b(?:half|third|quarter|percent|dozen|none)\b").search(sentence)
    )
