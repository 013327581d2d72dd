"""Numbers and codes that a question gives, and whether a passage has them, however either writes them.

    10 pm = 22:00    1 May 2024 = 2024-05-01    the 1980s: 1985    2nd = second    1.5 l = 1500 ml
    1.000 = 1,000    a group of 15: 10 to 20, more than 10

A number that the question compares with, as "older than 60", or that counts what it asks for, as "the 3
steps", is none that the passage must have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from rag.relevance import codes, numbers, tokens

Value = float | str
"""A number; a code, a time of day "22:00" or a quantity "l 1.5"."""

_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
    *("eighteenth", "nineteenth", "twentieth"),
)
_ROMAN = re.compile(r"\b(?=[IVX]{2}|[VX]\b)(X{0,2})(IX|IV|V?I{0,3})\b")
_UNITS = {
    **dict.fromkeys(("second", "seconds", "sec", "s"), ("s", 1.0)),
    **dict.fromkeys(("minute", "minutes", "min"), ("s", 60.0)),
    **dict.fromkeys(("hour", "hours", "h"), ("s", 3600.0)),
    **dict.fromkeys(("day", "days"), ("s", 86400.0)),
    **dict.fromkeys(("week", "weeks"), ("s", 604800.0)),
    **dict.fromkeys(("month", "months"), ("month", 1.0)),
    **dict.fromkeys(("year", "years"), ("month", 12.0)),
    **dict.fromkeys(("ml", "millilitres", "milliliters"), ("l", 0.001)),
    **dict.fromkeys(("cl",), ("l", 0.01)),
    **dict.fromkeys(("l", "litre", "litres", "liter", "liters"), ("l", 1.0)),
    **dict.fromkeys(("mg",), ("g", 0.001)),
    **dict.fromkeys(("g", "gram", "grams"), ("g", 1.0)),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), ("g", 1000.0)),
    **dict.fromkeys(("mm", "millimetres", "millimeters"), ("m", 0.001)),
    **dict.fromkeys(("cm", "centimetres", "centimeters"), ("m", 0.01)),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), ("m", 1.0)),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), ("m", 1000.0)),
}
"""Unit and factor by name."""

_TIME = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?m\b|\b(\d{1,2}):(\d\d)\b(?!:)", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{4})-(\d\d?)-(\d\d?)\b|\b(\d\d?)[./](\d\d?)[./](\d{4})\b")
_DECADE = re.compile(r"\b(\d{3}0)['’]?s\b")
_GROUPED = re.compile(r"(?<![\w.,])\+?\d{1,4}(?:[ .\u00a0\u202f-]\d{2,4})+(?![\w,]|\.\d)")
_QUANTITY = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)?)[\s-]?([^\W\d_]+)")
_DIGITS = re.compile(r"(?<![\w.,])(?<!\w-)\d[\d.,]*")
_VERSION = re.compile(r"\bv(?=\d+\b(?![.-]\d))", re.IGNORECASE)
_AMOUNT = r"[$€£]?\s?(?<![\d.,])(?P<{}>\d[\d.,]{{0,15}})"
_MORE = (
    r"(?:more|older|longer|higher|larger|bigger|heavier|greater|taller|faster) than|over|above|at least|"
    r"minimum(?: of)?|exceed\w*"
)
_LESS = (
    r"(?:less|fewer|younger|shorter|lower|smaller|lighter|cheaper|slower|earlier) than|under|below|at most|"
    r"up to|maximum(?: of)?"
)
_RANGE = re.compile(
    rf"(?<![\w.,-])(?!0\d){_AMOUNT.format('low')}\s?(?:[-–]|to|bis)\s?{_AMOUNT.format('high')}(?![\w-])"
    rf"|\b(?:{_MORE})\s{_AMOUNT.format('least')}"
    rf"|\b(?:{_LESS})\s{_AMOUNT.format('most')}"
    rf"|{_AMOUNT.format('up')}(?:\s\w+)?\s(?:or|and) (?:more|over|older|above|up|longer|later)\b"
    rf"|{_AMOUNT.format('down')}(?:\s\w+)?\s(?:or|and) (?:less|fewer|under|younger|below|shorter|earlier)\b",
    re.IGNORECASE,
)
_FREE = re.compile(
    rf"\bbetween\s\d[\d.,]*\s\w*\s?and\s\d[\d.,]*|\b(?:{_MORE}|{_LESS}|after|since|before|until|within)\s[$€£]?\s?\d[\d.,:]*|\b24/7\b|\b\d/\d\b|"
    r"\b(?:the|these|those|all|name|list|give|first|last|top|main|other)\s\d{1,2}\s[a-z]+s\b",
    re.IGNORECASE,
)
"""What is compared with or counted."""


class GivenValues:
    """The numbers in digits, and the codes, of a question: "Which one ...?" gives no number."""

    def __init__(self, question: str) -> None:
        self._given = [*_given(question)]

    def __bool__(self) -> bool:
        return bool(self._given)

    def held_in(self, text: str) -> bool:
        """Whether a text has all of them, or a range that they are in."""
        held, ranges = _values(text), [*_ranges(text)]
        return all(any(_holds(held, ranges, way) for way in ways) for ways in self._given)


def _holds(held: set[Value], ranges: list[tuple[float, float]], way: frozenset[Value]) -> bool:
    return all(
        value in held or (isinstance(value, float) and any(low <= value <= high for low, high in ranges))
        for value in way
    )


def _given(question: str) -> Iterator[tuple[frozenset[Value], ...]]:
    """Of each value the ways in which it may be written, each of all that a text then has."""
    for code in codes(_VERSION.sub("", question)):
        yield (frozenset([code]),)
    text = _FREE.sub(" ", _VERSION.sub("", question))
    for match in _DATE.finditer(text):
        year, first, second = _date(match)
        yield (frozenset([year]),)
        yield frozenset([first]), frozenset([second])
    text = _DATE.sub(" ", text)
    for match in _TIME.finditer(text):
        hour, minute = float(match[1] or match[4]), float(match[2] or match[5] or 0)
        ways: list[frozenset[Value]] = [frozenset([time]) for time in _times(match)]
        yield (*ways, frozenset([hour] if not minute else [hour, minute]))
    text = _TIME.sub(" ", text)
    for match in _DECADE.finditer(text):
        start = float(match[1])
        yield tuple(frozenset([value]) for value in (start % 100, *(start + year for year in range(10))))
    text = _DECADE.sub(" ", text)
    for match in _GROUPED.finditer(text):
        yield frozenset([_joined(match[0])]), frozenset(numbers(match[0]))
    text = _GROUPED.sub(" ", text)
    quantities = {
        match.start(): quantity for match in _QUANTITY.finditer(text) for quantity in _quantity(match)
    }
    for match in _DIGITS.finditer(text):
        for number in numbers(match[0]):
            same = quantities.get(match.start())
            yield (frozenset([number]), *([] if same is None else [frozenset([same])]))


def _values(text: str) -> set[Value]:
    found: set[Value] = {*numbers(text), *codes(text, apart=True)}
    words = set(tokens(text))
    found |= {float(number) for number, word in enumerate(_ORDINALS, start=1) if word in words}
    found |= {_roman(match) for match in _ROMAN.finditer(text)}
    found |= {number for match in _DATE.finditer(text) for number in _date(match)}
    found |= {time for match in _TIME.finditer(text) for time in _times(match)}
    found |= {_joined(match[0]) for match in _GROUPED.finditer(text)}
    found |= {quantity for match in _QUANTITY.finditer(text) for quantity in _quantity(match)}
    return found | {"s 1800"} if "half an hour" in text else found


def _ranges(text: str) -> Iterator[tuple[float, float]]:
    for match in _RANGE.finditer(text):
        low, high = (
            match["low"] or match["least"] or match["up"],
            match["high"] or match["most"] or match["down"],
        )
        yield (numbers(low)[0] if low else -math.inf), (numbers(high)[0] if high else math.inf)


def _date(match: re.Match[str]) -> tuple[float, float, float]:
    """Year, and day and month in the order in which they are."""
    year, first, second = match.group(1, 2, 3) if match[1] else match.group(6, 4, 5)
    return float(year), float(first), float(second)


def _times(match: re.Match[str]) -> list[str]:
    """In 24 hours: one, or two where it may be before or after noon."""
    hour, minute = int(match[1] or match[4]), match[2] or match[5] or "00"
    if match[3]:
        return [f"{hour % 12 + 12 * (match[3] in 'pP')}:{minute}"]
    return [f"{hour}:{minute}", *([f"{hour % 12 + 12}:{minute}"] if 0 < hour <= 12 else [])]


def _quantity(match: re.Match[str]) -> list[str]:
    """In the first unit of its kind."""
    unit, factor = _UNITS.get(match[2] if len(match[2]) < 3 else match[2].casefold(), ("", 0.0))
    return [f"{unit} {numbers(match[1])[0] * factor:g}"] if unit else []


def _roman(match: re.Match[str]) -> float:
    ones = {"IV": 4, "IX": 9}.get(match[2], match[2].count("I") + 5 * match[2].count("V"))
    return float(10 * len(match[1]) + ones)


def _joined(digits: str) -> float:
    return float(re.sub(r"\D", "", digits))
