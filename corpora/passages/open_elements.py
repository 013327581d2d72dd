"""Which elements of an HTML page are open, and whether the page hides them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from corpora.passages.style_sheets import (
    Declared,
    StyleRules,
    declared,
    is_far_off,
    is_invisible,
    is_tiny,
    is_transparent,
)

DEEPEST = 100_000
"""Open elements; deeper ones are not followed."""

VOID = frozenset(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen"}
    | {"link", "meta", "param", "source", "track", "wbr"}
)
"""Elements without an end tag."""
WHOLE = frozenset({"html", "body"})
"""Never hidden: a page that hides all of itself is one that a script shows when it is loaded."""
BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir", "div", "dl"}
    | {"dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"}
    | {"header", "hgroup", "hr", "li", "main", "menu", "nav", "ol", "p", "pre", "search", "section"}
    | {"summary", "ul"}
)
PARTS_OF_TABLES = frozenset({"caption", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})
ENDED_BY: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "li": (("li",), ("ul", "ol", "menu")),
    "option": (("option",), ("select",)),
    **dict.fromkeys(("dd", "dt"), (("dd", "dt"), ("dl",))),
    **dict.fromkeys(("td", "th"), (("caption", "td", "th"), ("table",))),
    "tr": (("caption", "tr"), ("table",)),
    **dict.fromkeys(("tbody", "tfoot", "thead"), (("caption", "tbody", "tfoot", "thead", "tr"), ("table",))),
}
"""By tag: the elements that its start ends, where none of the others was opened within them."""


class _Style(NamedTuple):
    """What hides an element; the last two are inherited, and descendants may set them again."""

    removed: bool = False
    invisible: bool = False
    tiny: bool = False


class OpenElements:
    """The open elements of a page, as browsers follow them: end tags may be missing, or too many.

    Hidden are those with the attribute `hidden` (but `until-found`) or with `display: none`, `visibility:
    hidden`, `opacity: 0`, a font of size 0 or a place far off the screen in their own style or in `rules`,
    and what is within them. With `opacity: 0` those are shown that a script fades in: they have attributes
    `data-...`, or a style that moves. `aria-hidden` hides nothing on a screen. Each tag takes the same time,
    however many elements are open.
    """

    def __init__(self, rules: StyleRules) -> None:
        self._rules = rules
        self._names: list[str] = []
        self._styles: list[_Style] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._ranked: tuple[list[int], ...] = ([], [], [], [])

    @property
    def hidden(self) -> bool:
        """Whether text at this place is hidden."""
        return bool(self._styles) and any(self._styles[-1])

    def start(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """A start tag: ends what it implies the end of, and opens its element."""
        if tag in BLOCKS or tag == "table":
            self.end("p")
        if tag in ENDED_BY:
            ended, walls = ENDED_BY[tag]
            wall = max(map(self._last, walls))
            self._cut(min((at for at in map(self._last, ended) if at > wall), default=len(self._names)))
        if tag in VOID or tag in WHOLE or len(self._names) >= DEEPEST:
            return
        style = self._styles[-1] if self._styles else _Style()
        place = len(self._names)
        given = dict(attributes)
        rules = self._rules.of(tag, given)
        self._styles.append(_styled(style, given, rules) if given or rules else style)
        self._names.append(tag)
        self._places[tag].append(place)
        self._ranked[_rank(tag)].append(place)

    def end(self, tag: str) -> bool:
        """An end tag: closes its element and what is open in it, unless that is more than it may close.

        Returns whether the element, or without one the place, is hidden.
        """
        place = self._last(tag)
        above = self._ranked[_rank(tag) + 1 :]
        if place < 0 or any(places and places[-1] > place for places in above):
            return self.hidden
        hidden = any(self._styles[place])
        self._cut(place)
        return hidden

    def _last(self, tag: str) -> int:
        """Place of the innermost open element of a tag; -1 without one."""
        places = self._places.get(tag)
        return places[-1] if places else -1

    def _cut(self, place: int) -> None:
        while len(self._names) > place:
            tag = self._names.pop()
            self._styles.pop()
            self._places[tag].pop()
            self._ranked[_rank(tag)].pop()


def _rank(tag: str) -> int:
    """An end tag closes no element of a higher rank than its own."""
    if tag == "table":
        return 3
    return 2 if tag in PARTS_OF_TABLES else 1 if tag in BLOCKS else 0


def _styled(style: _Style, attributes: Mapping[str, str | None], rules: Mapping[str, Declared]) -> _Style:
    """The style of an element within one of `style`; `rules`: what style sheets declare for it."""
    found = {**rules}
    for name, one in declared(attributes.get("style") or "").items():
        if name not in found or one.important or not found[name].important:
            found[name] = one
    own = {name: one.value for name, one in found.items()}
    removed, invisible, tiny = style
    if "display" in own:
        removed |= own["display"] == "none"
    elif "hidden" in attributes:
        removed |= (attributes["hidden"] or "").strip().lower() != "until-found"
    if is_transparent(own):
        removed |= not any(name.startswith("data-") for name in attributes)
    removed |= is_far_off(own)
    if "visibility" in own:
        invisible = is_invisible(own["visibility"])
    if (size := is_tiny(own.get("font-size", "inherit"))) is not None:
        tiny = size
    return _Style(removed, invisible, tiny)
