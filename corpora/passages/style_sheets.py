"""What the styles of an HTML page say of hiding: declarations, and rules of `<style>` elements.

No engine of CSS: a rule hides an element only where its selector is a tag, a class, an id, or a tag with one
of the two (`p.note`), outside of conditions such as `@media print`. What other selectors show, as `.open
.menu` or `.menu:hover` do, is never hidden by a rule for elements that they may be of: those of a class, id,
attribute or tag that their last part names. So text of which a page shows more at a click is read, and who
wants to hide text from readers alone can still do so: by selectors that relate elements (`div > p`), by rules
that contradict each other or hide the whole page, after `MAX_CHARACTERS` of rules, by colours, by linked
style sheets and by scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

FAR = 5_000.0
"""Pixels beyond the left or the upper edge: text is moved there to be out of sight; a strip of slides that is
moved along is mostly nearer."""
MAX_CHARACTERS = 4 * 2**20
"""Of all sheets of a page; what comes after is not read."""
MOVES = "will-change"
"""The one name here of the properties of an element that is faded in when the page is loaded."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_HTML_COMMENT = re.compile("<!--|-->")
"""Of old pages, around their rules."""
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|([^\n]))")
_NUMBER = r"(?:\d++(?:\.\d*+)?|\.\d++)"
"""Possessive, so that a value that is no number after all takes time linear in its length."""
_ZERO = r"(?:0++(?:\.0*+)?|\.0++)"
_LENGTH = re.compile(rf"\+?(-?{_NUMBER})(?:e[+-]?\d+)?([a-z]*|%)")
_OPACITY = re.compile(rf"(?:-{_NUMBER}|\+?{_ZERO})%?")
"""Of what is not seen; below 0 counts as 0."""
_FONT_SIZE = re.compile(rf"(?<!\S)(\+?{_NUMBER}(?:[a-z]++|%)|\+?{_ZERO})\s*(?:/|(?!\S))")
"""The size in a `font`: a number without a unit is a weight, but for 0."""
_PIXELS = {"px": 1.0, "em": 16.0, "rem": 16.0, "pt": 4 / 3}
_SHOWN_LATER = ("animation", "transform", "transition", "will-change")
_RELATIVE = frozenset({"em", "ex", "ch", "cap", "ic", "lh", "%"})
_EDGES = ("left", "top")
_READ = frozenset(
    {"display", "visibility", "opacity", "font-size", "position", "text-indent", MOVES, *_EDGES}
)
"""Properties that decide what is hidden; of others nothing is kept."""

_TOKENS = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|[{};]|\\.|[^{};"'/\\]++|.""", re.DOTALL
)
_NAME = r"(?:[\w-]|[^\x00-\x7f]|\\[0-9a-f]{1,6}\s?|\\[^0-9a-f\n])++"
_SIMPLE = re.compile(rf"(?:(?P<tag>{_NAME})|\*)?(?P<named>[.#]{_NAME})?")
_NAMED = re.compile(rf"[.#]{_NAME}")
_ATTRIBUTE = re.compile(rf"\[\s*({_NAME})[^\]]*+\]?")
_IN_SELECTORS = re.compile(
    r"""[()\[\],]|"(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?|\\.|[^()\[\],"'\\]++|.""", re.DOTALL
)
_PSEUDO = re.compile(rf":{_NAME}")
_PART = re.compile(r"::|:(?:before|after|first-l)|&")
"""Of selectors of something else than whole elements, or of ones that nest."""
_CONDITIONS = ("media", "supports", "container", "layer", "scope", "starting-style")
_ALWAYS = re.compile(r"@layer\b.*|@media\s*+(?:(?:only\s++)?screen|all)?\s*+", re.DOTALL)
_ANY = "*"


class Declared(NamedTuple):
    """Value of a property, and whether it is `!important`."""

    value: str
    important: bool


def declared(style: str) -> dict[str, Declared]:
    """By property that decides what is hidden its last declaration, an important one before all others.

    A `font` counts as its `font-size`.
    """
    own = dict[str, Declared]()
    for declaration in _COMMENT.sub(" ", style).lower().split(";"):
        if "\\" in declaration:
            declaration = _unescaped(declaration)
        name, _, value = declaration.partition(":")
        value, mark, _ = value.partition("!")
        name, value = name.strip(), value.strip()
        if name == "font":
            size = _FONT_SIZE.search(value)
            name, value = "font-size", size[1] if size else "inherit" if value == "inherit" else "medium"
        elif name.removeprefix("-webkit-").startswith(_SHOWN_LATER):
            name = MOVES
        if name in _READ and (mark or name not in own or not own[name].important):
            own[name] = Declared(value, bool(mark))
    return own


def is_transparent(own: Mapping[str, str]) -> bool:
    """Whether nothing is seen of an element, now and later."""
    return bool(_OPACITY.fullmatch(own.get("opacity", ""))) and MOVES not in own


def is_far_off(own: Mapping[str, str]) -> bool:
    """Whether a style moves its element, or the first line in it, out of sight."""
    placed = own.get("position") in ("absolute", "fixed")
    return any(map(_is_far, [own.get("text-indent", ""), *(own.get(edge, "") for edge in _EDGES if placed)]))


def is_tiny(size: str) -> bool | None:
    """Whether text of that `font-size` has no height; None where that is as of the element around it."""
    if (length := _LENGTH.fullmatch(size)) is not None and length[1][0] != "-":
        if float(length[1]) == 0:
            return True
        return None if length[2] in _RELATIVE else False
    return False if size not in ("inherit", "unset", "smaller", "larger") and size.isalpha() else None


def is_invisible(visibility: str) -> bool:
    """Whether text of that `visibility` is not seen."""
    return visibility in ("hidden", "collapse")


def _is_far(value: str) -> bool:
    length = _LENGTH.fullmatch(value)
    return length is not None and float(length[1]) * _PIXELS.get(length[2], 0.0) <= -FAR


def _shows(name: str, value: str) -> bool:
    """Whether a declaration may take back what another one of its property hides."""
    if name == "display":
        return value != "none"
    if name == "visibility":
        return not is_invisible(value)
    if name == "opacity":
        return not _OPACITY.fullmatch(value)
    if name == "font-size":
        return not is_tiny(value)
    if name == "position":
        return value not in ("absolute", "fixed")
    return name == MOVES or not _is_far(value)


class _Ranked(NamedTuple):
    """A declaration of a rule, in the order in which one overrides another."""

    important: bool
    specificity: tuple[bool, bool, bool]
    """Whether its selector has an id, a class, a tag."""
    order: int
    value: str


class StyleRules:
    """Rules of the style sheets of one page, by what their selectors name, in any case of letters.

    Reading them takes time linear in their length, and asking for an element as long as its tag is.
    """

    def __init__(self, sheets: Iterable[str] = ()) -> None:
        self._rules: dict[tuple[str, str], dict[str, _Ranked]] = {}
        """By tag, and class or id; one of them may be empty."""
        self._shown: dict[str, set[str]] = {}
        """Properties by which a selector that is not followed may show an element, by a name in its last
        part."""
        order, left = 0, MAX_CHARACTERS
        for whole in sheets:
            sheet, left = whole[:left], max(left - len(whole), 0)
            for selectors, style, followed in _blocks(_HTML_COMMENT.sub(" ", sheet).lower()):
                if own := declared(style):
                    order += 1
                    shows = {name for name, found in own.items() if _shows(name, found.value)}
                    for selector in filter(None, map(str.strip, _split(selectors))):
                        self._add(selector, own, shows, order, followed)

    def __bool__(self) -> bool:
        """Whether any rule may hide something."""
        found = (each for own in self._rules.values() for each in own.items())
        return any(not _shows(name, ranked.value) for name, ranked in found)

    def of(self, tag: str, attributes: Mapping[str, str | None]) -> dict[str, Declared]:
        """What the rules declare for an element, of the properties of `declared`.

        A `display` that shows is left out: what else would hide the element still does.
        """
        if not self._rules:
            return {}
        named = _named(attributes)
        best: dict[str, _Ranked] = {}
        for key in ((tag, ""), *((of, each) for each in named for of in ("", tag))):
            for name, found in self._rules.get(key, {}).items():
                best[name] = max(best.get(name, found), found)
        own = {name: Declared(found.value, found.important) for name, found in best.items()}
        keys = {tag, _ANY, *named, *(f"[{name}" for name in attributes)}
        for name in {name for key in keys for name in self._shown.get(key, ())}:
            own.pop(name, None)
            if name in ("visibility", "font-size"):
                own[name] = Declared("visible" if name == "visibility" else "medium", False)
        if "display" in own and own["display"].value != "none":
            del own["display"]
        return own

    def _add(
        self, selector: str, own: Mapping[str, Declared], shows: Iterable[str], order: int, followed: bool
    ) -> None:
        simple = _SIMPLE.fullmatch(selector) if followed and selector != _ANY else None
        if simple is None:
            for key in _last_names(selector) if shows else ():
                self._shown.setdefault(key, set()).update(shows)
            return
        tag, named = _unescaped(simple["tag"] or ""), _unescaped(simple["named"] or "")
        rules = self._rules.setdefault((tag, named), {})
        specificity = (named.startswith("#"), named.startswith("."), bool(tag))
        for name, found in own.items():
            ranked = _Ranked(found.important, specificity, order, found.value)
            rules[name] = max(rules.get(name, ranked), ranked)


def _split(selectors: str) -> list[str]:
    """The selectors of a list, without what is in parentheses: a comma there, or in brackets, parts none."""
    found: list[list[str]] = [[]]
    depth, in_brackets = 0, False
    for token in _IN_SELECTORS.findall(selectors):
        if token in "()" and not in_brackets:
            depth = max(depth + (1 if token == "(" else -1), 0)
        elif token == "," and not (depth or in_brackets):
            found.append([])
        elif not depth:
            in_brackets = token == "[" or (in_brackets and token != "]")
            found[-1].append(token)
    return ["".join(parts) for parts in found]


def _named(attributes: Mapping[str, str | None]) -> set[str]:
    """The classes and the id of an element, as selectors write them."""
    named = {f".{name}" for name in (attributes.get("class") or "").lower().split()}
    if identity := (attributes.get("id") or "").lower():
        named.add(f"#{identity}")
    return named


def _last_names(selector: str) -> Iterable[str]:
    """What the last part of a selector names: classes and ids, else attributes, else the tag, else anything.

    Nothing where it is of a part of elements, as `::before` is.
    """
    if _PART.search(selector):
        return () if "&" not in selector else (_ANY,)
    attributes = _ATTRIBUTE.findall(selector)
    last = re.split(r"[\s>+~]+", _ATTRIBUTE.sub("", selector).strip())[-1]
    if names := _NAMED.findall(last):
        return map(_unescaped, names)
    if attributes:
        return [f"[{_unescaped(name)}" for name in attributes]
    return (_unescaped(_PSEUDO.sub("", last)) or _ANY,)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def character(found: re.Match[str]) -> str:
        number = int(found[1], 16) if found[1] else 0
        return found[2] or (chr(number).lower() if 0 < number < 0x110000 else "\ufffd")

    return _ESCAPE.sub(character, text)


def _blocks(sheet: str) -> Iterator[tuple[str, str, bool]]:
    """The selectors and declarations of each rule, and whether it holds in any case for a screen.

    Rules within rules, and those under a condition, do not. A sheet that ends too early ends its rules.
    """
    open_blocks: list[tuple[str | None, list[str], bool]] = []
    """Of each its selectors, None for one of rules; its declarations; and whether it holds in any case."""
    skipped, text = 0, list[str]()
    for token in _TOKENS.findall(sheet):
        if skipped:
            skipped += (token == "{") - (token == "}")
        elif token == "{":
            prelude, follows = "".join(text).strip(), not open_blocks or open_blocks[-1][2]
            text.clear()
            if not prelude.startswith("@"):
                within = bool(open_blocks) and open_blocks[-1][0] is not None
                open_blocks.append((prelude, [], follows and not within))
            elif prelude[1:].startswith(_CONDITIONS):
                open_blocks.append((None, [], follows and _ALWAYS.fullmatch(prelude) is not None))
            else:
                skipped = 1
        elif token == "}":
            if open_blocks:
                yield from _closed(open_blocks.pop(), text)
            text.clear()
        elif token == ";":
            if open_blocks and open_blocks[-1][0] is not None:
                open_blocks[-1][1].append("".join(text))
            text.clear()
        elif not token.startswith("/*"):
            text.append(token)
    while open_blocks:
        yield from _closed(open_blocks.pop(), text)
        text.clear()


def _closed(block: tuple[str | None, list[str], bool], text: list[str]) -> Iterator[tuple[str, str, bool]]:
    selectors, declarations, follows = block
    if selectors is not None:
        yield selectors, ";".join([*declarations, "".join(text)]), follows
