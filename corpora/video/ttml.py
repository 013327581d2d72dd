"""TTML and DFXP, the XML subtitles of streaming services and broadcasters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_CLOCK = re.compile(r"(\d{1,4}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9})|:(\d{1,3})(?:\.\d+)?)?")
_OFFSET = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(h|ms|m|s|f|t)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
MAX_DEPTH = 50

Timed = tuple[float, float, tuple[str, ...]]
"""Start and end in seconds, and the lines."""


def read_ttml(text: str) -> Iterator[Timed | None]:
    """The cues of a TTML file in its order; None for each whose times cannot be understood, and for what is
    behind a place that is no XML."""
    parser: ElementTree.XMLPullParser[Any] = ElementTree.XMLPullParser(["start", "end"])
    broken = False
    try:
        # It says in which encoding it was, which is not how `str` is.
        parser.feed(re.sub(r"\A\s*<\?xml[^>]{0,200}\?>", "", text))
        parser.close()
    except ElementTree.ParseError:
        broken = True
    root = Element("none")
    # `timed`: the elements that hold one with a time.
    above, timed = list[Element](), set[Element]()
    events: Iterator[Any] = parser.read_events()
    with suppress(ElementTree.ParseError):
        for event, found in events:
            if event == "end":
                above.pop()
                continue
            for each in reversed(above if _value(found, "begin") else ()):
                if each in timed:
                    break
                timed.add(each)
            root = above[0] if above else found
            above.append(found)
    rate = _number(_value(root, "frameRate"), 30.0)
    multiplier = _value(root, "frameRateMultiplier").replace(":", " ").split()
    if len(multiplier) == 2:
        rate *= _number(multiplier[0], 1.0) / _number(multiplier[1], 1.0)
    units = {**_SECONDS, "f": 1 / rate, "t": 1 / _number(_value(root, "tickRate"), rate)}
    yield from _cues(root, 0.0, units, timed, 0)
    if broken:
        yield None


def _cues(
    element: Element, start: float, units: dict[str, float], timed: Collection[Element], depth: int
) -> Iterator[Timed | None]:
    """Those below an element; times count from those of what they are in."""
    for each in element if depth < MAX_DEPTH else ():
        begun = _time(_value(each, "begin") or "0s", units)
        if each in timed or _name(each) not in ("p", "span"):
            yield from _cues(each, start + (begun or 0.0), units, timed, depth + 1)
            continue
        lines = (" ".join(line.split()) for line in "".join(_text(each)).split("\n"))
        lasts, until = _time(_value(each, "dur"), units), _time(_value(each, "end"), units)
        end = until if until is not None or lasts is None or begun is None else begun + lasts
        said = tuple(filter(None, lines))
        if begun is not None and end is not None:
            yield start + begun, start + end, said
        elif said:
            yield None


def _text(element: Element, depth: int = 0) -> Iterator[str]:
    """The text of an element, with a line end for each `br`; what is nested more deeply is left out."""
    yield " ".join(re.split(r"\s+", element.text or ""))
    for each in element if depth < MAX_DEPTH else ():
        if _name(each) == "br":
            yield "\n"
        elif _name(each) not in ("metadata", "set"):
            yield from _text(each, depth + 1)
        yield " ".join(re.split(r"\s+", each.tail or ""))


def _time(text: str, units: dict[str, float]) -> float | None:
    """Seconds; None for what is no time."""
    if found := _CLOCK.fullmatch(text.strip()):
        hours, minutes, seconds, fraction, frames = found.groups()
        whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
        return whole + float(f"0.{fraction or 0}") + int(frames or 0) * units["f"]
    if found := _OFFSET.fullmatch(text.strip()):
        return float(found[1]) * units[found[2]]
    return None


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _value(element: Element, name: str) -> str:
    return next((held for key, held in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _number(text: str, default: float) -> float:
    return float(text) if re.fullmatch(r"0*[1-9]\d{0,11}(?:\.\d{1,9})?", text) else default
