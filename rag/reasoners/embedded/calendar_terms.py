"""Days of the week and months that a text names, with those between: "Monday to Friday"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rag.words import content_words

_DAYS = (
    ("monday", "montag"),
    ("tuesday", "dienstag"),
    ("wednesday", "mittwoch"),
    ("thursday", "donnerstag"),
    ("friday", "freitag"),
    ("saturday", "samstag", "sonnabend"),
    ("sunday", "sonntag"),
)
_SHORT_DAYS = (
    ("mon", "mo"),
    ("tues", "tue", "di"),
    ("wed", "mi"),
    ("thurs", "thur", "thu", "do"),
    ("fri", "fr"),
    ("sat", "sa"),
    ("sun", "so"),
)
_MONTHS = (
    ("january", "januar", "jänner"),
    ("february", "februar"),
    ("march", "märz"),
    ("april",),
    ("may", "mai"),
    ("june", "juni"),
    ("july", "juli"),
    ("august",),
    ("september",),
    ("october", "oktober"),
    ("november",),
    ("december", "dezember"),
)
_SHORT_MONTHS = (
    ("jan",), ("feb",), ("mar", "mär"), ("apr",), (), ("jun",), ("jul",), ("aug",), ("sept", "sep"),
    ("oct", "okt"), ("nov",), ("dec", "dez"),
)  # fmt: skip
_SPANS = {
    "weekday": range(5), "weekdays": range(5), "wochentags": range(5), "werktags": range(6),
    "weekend": range(5, 7), "weekends": range(5, 7), "wochenende": range(5, 7), "wochenenden": range(5, 7),
}  # fmt: skip
_TO = r"\s*(?:-|–|—|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\btill\b|\bbis\b(?: (?:zum|einschließlich))?)\s*"
_JOINT = re.compile(_TO, re.IGNORECASE)
_LIST = re.compile(r"\s*(?:[,/&+]|\band\b|\bor\b|\bund\b|\boder\b)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen)\s*$", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|und)\s+", re.IGNORECASE)
_TIME = re.compile(r"\.?:?\s*\d{1,2}(?:[:.]\d\d|\s*[-–]\s*\d|\s*(?:am|pm|uhr)\b)", re.IGNORECASE)
_DATED = re.compile(r"\.?\s*\d")
_DAY_BEFORE = re.compile(r"\d(?:st|nd|rd|th|\.)?\s*$")
_OPENS = re.compile(r"(?:^|[.!?:]|\n)[\s\"“(]*$")
_YEAR = re.compile(r"(?<![\w.,:/-])(?:1\d|20)\d\d(?![\w:/]|[.,-]\d)", re.ASCII)
NEARBY = 40
"""Characters before and after a name that say what is meant by it."""
_OPEN_ENDED = re.compile(
    r"\b(?:daily|every ?day|each day|any day|all days?|all week|days a week|every month|any month|all year|"
    r"year-round|always|except|excluding|apart from|other than|but not|from .{1,30} on(?:wards?)?|täglich|"
    r"jeden tag|alle tage|jeden monat|ganzjährig|immer|außer|ausgenommen|ab)\b",
    re.IGNORECASE,
)
"""Others than those that are named are meant, too."""
_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|(?:which|what) (?:day|weekday|month|date)s?|wann|wie lange|"
    r"welche[mnrs]? (?:wochen)?(?:tag|monat)\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dates:
    """What a text names: days 0 (Monday) to 6, months 0 to 11."""

    days: frozenset[int]
    months: frozenset[int]
    said: str
    """As the text says it: "Monday to Friday"."""
    start: int
    end: int
    """[start, end) of the first to the last of them."""


def _numbered(names: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    return {name: at for at, same in enumerate(names) for name in same}


_FULL = {**_numbered(_DAYS), **_numbered(_MONTHS)}
_SHORT = {**_numbered(_SHORT_DAYS), **_numbered(_SHORT_MONTHS)}
_OF_MONTHS = frozenset(_numbered(_MONTHS)) | frozenset(_numbered(_SHORT_MONTHS))
_NAME = re.compile(
    rf"(?<!\w)(?:(?P<span>{'|'.join(_SPANS)})"
    rf"|(?P<day>{'|'.join(_numbered(_DAYS))})(?:s|['’]s)?(?:vor|nach)?"
    r"(?:mittags?|morgens?|abends?|nachts?|früh)?"
    rf"|(?P<month>{'|'.join(_numbered(_MONTHS))})"
    rf"|(?P<short>{'|'.join(sorted(_SHORT, key=len, reverse=True))}))(?!\w)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def dates(text: str) -> Dates:
    """The days and months that a text names. "May" and "March" have a capital, and open no sentence; short
    names are beside another, a time or a number."""
    named = list(_NAME.finditer(text))
    found = [match for at, match in enumerate(named) if _is_meant(text, named, at)]
    days, months = set[int](), set[int]()
    before: re.Match[str] | None = None
    for match in found:
        held, size = (months, 12) if _is_month(match) else (days, 7)
        held |= _values(match)
        if before is not None and _is_month(before) == _is_month(match) and _is_range(text, before, match):
            first, last = min(_values(before)), max(_values(match))
            held |= {(first + step) % size for step in range((last - first) % size)}
        before = match
    start, end = (found[0].start(), found[-1].end()) if found else (0, 0)
    return Dates(frozenset(days), frozenset(months), text[start:end], start, end)


def years(text: str) -> frozenset[int]:
    """The years from 1000 to 2099 that a text names."""
    return frozenset(map(int, _YEAR.findall(text)))


def is_open_ended(text: str) -> bool:
    """Whether a text is of more days or months than those that it names: "daily", "except on Monday"."""
    return bool(_OPEN_ENDED.search(text))


def names_same_dates(question: str, text: str) -> bool:
    """Whether a text names a day or month that a question names."""
    asked, said = dates(question), dates(text)
    return bool(asked.days & said.days or asked.months & said.months)


def names_other_dates(question: str, text: str) -> bool:
    """Whether a text names days or months, none of which a question names that names some too.

    Not so where others may be meant ("daily", "except on Monday"). A question when something is has its
    answer in another day or month, but for one that ends or begins with a day: "When ... on Sunday?".
    """
    asked = dates(question)
    if not asked.said or is_open_ended(text):
        return False
    said = dates(text)
    days = asked.days and said.days and asked.days.isdisjoint(said.days)
    months = asked.months and said.months and asked.months.isdisjoint(said.months)
    if _ASKS_WHEN.search(question):
        ends = not content_words(question[asked.end :]) or not content_words(question[: asked.start])
        return bool(days and ends and not asked.months)
    return bool(days or months)


def _is_month(match: re.Match[str]) -> bool:
    return bool(match["month"]) or (match["short"] or "").casefold() in _OF_MONTHS


def _values(match: re.Match[str]) -> frozenset[int]:
    if match["span"]:
        return frozenset(_SPANS[match["span"].casefold()])
    if match["short"]:
        return frozenset((_SHORT[match["short"].casefold()],))
    return frozenset((_FULL[(match["day"] or match["month"]).casefold()],))


def _is_meant(text: str, found: list[re.Match[str]], at: int) -> bool:
    match = found[at]
    word, before, after = match[0], _before(text, match), text[match.end() : match.end() + NEARBY]
    if match["span"] or match["day"]:
        return True
    if match["month"] and word.casefold() not in ("may", "march"):
        return True
    if not word[0].isupper():
        return False
    if _joined_to_another(text, found, at):
        return True
    if match["month"]:
        return not _OPENS.search(before)
    if _is_month(match):
        return bool(_DATED.match(after) or _DAY_BEFORE.search(before))
    return bool(_TIME.match(after))


def _before(text: str, match: re.Match[str]) -> str:
    """What is just before a match; a dash in place of more, for that is no start of the text."""
    start = max(0, match.start() - NEARBY)
    return ("-" if start else "") + text[start : match.start()]


def _joined_to_another(text: str, found: list[re.Match[str]], at: int) -> bool:
    """Whether "to", "and", a comma or a hyphen alone is between a name and another of its kind."""
    for first, second in ((at - 1, at), (at, at + 1)):
        if first >= 0 and second < len(found) and _is_month(found[first]) == _is_month(found[second]):
            between = text[found[first].end() : found[second].start()].lstrip(".")
            if _JOINT.fullmatch(between) or _LIST.fullmatch(between):
                return True
    return False


def _is_range(text: str, first: re.Match[str], second: re.Match[str]) -> bool:
    between = text[first.end() : second.start()].lstrip(".")
    bounds = _AND.fullmatch(between) and _BETWEEN.search(_before(text, first))
    return bool(_JOINT.fullmatch(between) or bounds)
