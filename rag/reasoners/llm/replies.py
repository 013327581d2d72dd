"""A language model's text as a reply: what is harmless is repaired, what has no meaning is refused.

The text is read in three steps, each counted where it changes something. The object is found in what
surrounds it (thinking, prose, a code fence), and JSON that does not parse is repaired by json-repair
(trailing commas, quotes, comments, Python literals, missing brackets). Then each value is fitted to the type
of its field: a number given as text, a single value where a list is wanted, a key in another spelling; keys
that the model has no field for are dropped. An entry of a list that still does not fit is filtered out.
Nothing is made up: a value that is missing stays missing, and a cut number is dropped, not completed.
"""

from __future__ import annotations

import json
import math
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from rag.reasoners.protocol import BadReply, ReplyT

THINKING = re.compile(
    r"\A\s*(?:<(think|thinking|reasoning|thought)>.*?</\1>|\[THINK\].*?\[/THINK\]|◁think▷.*?◁/think▷"
    r"|<\|channel\|>analysis.*?<\|channel\|>final<\|message\|>)",
    re.DOTALL | re.IGNORECASE,
)
"""Reasoning models that have no channel of their own put their thinking in front of the reply."""
THINKING_END = re.compile(r"\A.*</(?:think|thinking|reasoning|thought)>", re.DOTALL | re.IGNORECASE)
"""Some chat templates open the thinking themselves, so that a reply holds its end alone."""
OPEN_THINKING = re.compile(
    r"\A\s*(?:<(?:think|thinking|reasoning|thought)>|\[THINK\]|◁think▷)", re.IGNORECASE
)
CUT_SCALAR = re.compile(r'(?:[{,]\s*"[^"\n]*"\s*:\s*|[\[,]\s*)[-+.\w]+\Z')
"""A number or word at the very end of a text: it may go on, so it is no value."""

LONGEST_INT = 300
"""Digits, with the sign; a float holds 308, and Python reads no more than 4,300."""
MOST_STARTS = 4
"""Places of a text at which an object is looked for."""
LONGEST_REPAIRED, MOST_QUOTES, DEEPEST = 20_000, 600, 8
"""Characters, quotes and open brackets of a text that is repaired; beyond them it must be JSON as it is, for
json-repair's time grows with their cube, and with depth faster still."""

NUMBER = r"[-+]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})"
PLAIN_NUMBER = re.compile(NUMBER)
DECIMAL_COMMA = re.compile(r"[-+]?\d{1,15},(?:\d{1,2}|\d{4,15})")
SECONDS = re.compile(rf"({NUMBER})\s*(?:s|sec|secs|seconds?)\.?", re.IGNORECASE)
CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):([0-5]?\d(?:\.\d{1,6})?)")
PERCENT = re.compile(rf"({NUMBER})\s*%")
FRACTION = re.compile(rf"({NUMBER})\s*/\s*({NUMBER})")
NUMBERED = re.compile(r"(?:[a-z]+\s*)?[#\[(]?\s*([-+]?\d{1,15})(?:\.0{1,15})?\s*[\])]?", re.IGNORECASE)
"""A whole number as text, maybe with the name of what it counts: `3`, `window 3`, `[3]`."""
TRUE, FALSE = frozenset({"true", "yes", "y"}), frozenset({"false", "no", "n"})
NOTHING = frozenset({"", "null", "none", "n/a", "na", "nan", "unknown", "undefined"})


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[ReplyT]):
    """A reply, and what reading it took."""

    reply: ReplyT
    repaired: bool = False
    """The text was not the reply's JSON as it should be; nothing of its meaning is lost."""
    filtered: bool = False
    """Entries of a list did not fit and are left out."""


@dataclass
class _Fit:
    """Collects what fitting the values of one object took."""

    dropped: int = field(default=0)


def parse_reply(text: str, model: type[ReplyT]) -> ParsedReply[ReplyT]:
    """The first object in `text` that is a `model`; `BadReply` where there is none.

    Of several objects the first that fits is taken; one that shares no key with `model` is none of its kind.
    """
    text = spoken(text)
    fault: BadReply | None = None
    try:
        for found, repaired in _objects(text):
            if isinstance(found, BadReply):
                fault = fault or found
                continue
            try:
                return _as_model(found, model, repaired)
            except BadReply as error:
                fault = fault or error
        if text.lstrip("`json \n\t").startswith("["):
            return _as_model({_only_list(model): _array(text)}, model, True)
    except RecursionError as error:
        raise BadReply("the JSON is nested too deeply") from error
    if fault is None:
        fault = BadReply("there is no JSON object in the reply" if text.strip() else "the reply is empty")
    raise fault


def spoken(text: str) -> str:
    """The text after a model's thinking; empty where the thinking has no end."""
    text = THINKING.sub("", text, count=1)
    if OPEN_THINKING.match(text):
        return ""
    return THINKING_END.sub("", text, count=1)


def _objects(text: str) -> Iterator[tuple[dict[str, Any] | BadReply, bool]]:
    """Each object of the text, from the left, and whether its JSON was repaired; a fault in its place where
    it has no single meaning."""
    start, tried = text.find("{"), 0
    while start >= 0 and tried < MOST_STARTS:
        tried += 1
        end = start + 1
        try:
            found, end = _DECODER.raw_decode(text, start)
            yield found, False
        except BadReply as error:
            yield error, False
        except json.JSONDecodeError as error:
            broken = f"the JSON does not parse: {error.msg} at character {error.pos - start}"
            repaired = _repaired(text[start:])
            yield (repaired, True) if isinstance(repaired, dict) else (BadReply(broken), False)
        except RecursionError:
            yield BadReply("the JSON is nested too deeply"), False
        start = text.find("{", end)


def _repaired(text: str) -> Any:
    """What json-repair makes of a text that begins with a bracket; None where it makes nothing of it."""
    from json_repair import repair_json

    quotes = sum(map(text.count, "\"'“”"))
    if len(text) > LONGEST_REPAIRED or quotes > MOST_QUOTES or _depth(text) > DEEPEST:
        return None
    try:
        # Of a bracket alone it makes an empty object, which would be a reply.
        return (
            repair_json(CUT_SCALAR.sub("", text.rstrip()), return_objects=True, skip_json_loads=True) or None
        )
    except (ValueError, RecursionError, OverflowError):
        return None


def _depth(text: str) -> int:
    """Most brackets that are open at once, those inside strings among them."""
    depth = deepest = 0
    for letter in text:
        if letter in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "}]":
            depth = max(0, depth - 1)
    return deepest


def _array(text: str) -> Any:
    start = text.find("[")
    try:
        return _DECODER.raw_decode(text, start)[0]
    except json.JSONDecodeError:
        return _repaired(text[start:])


def _only_list(model: type[BaseModel]) -> str:
    """The one field of `model` that is a list; `BadReply` where there is none or more than one."""
    lists = [name for name, each in model.model_fields.items() if get_origin(each.annotation) is tuple]
    if len(lists) != 1:
        raise BadReply("the reply is a list, not a JSON object")
    return lists[0]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) != len(pairs) and any(held[key] != value for key, value in pairs):
        raise BadReply("the JSON object repeats a key with another value")
    return held


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadReply("a number in the JSON is too large")
    return number


def _int(digits: str) -> int:
    if len(digits) > LONGEST_INT:
        raise BadReply("a number in the JSON is too large")
    return int(digits)


def _no_constant(name: str) -> Any:
    raise BadReply(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_float, parse_int=_int, strict=False
)
"""Takes line ends inside strings as they are."""


def _as_model(found: dict[str, Any], model: type[ReplyT], repaired: bool) -> ParsedReply[ReplyT]:
    found = _unwrapped(found, model)
    fit = _Fit()
    fitted = _fit_model(found, model, fit)
    try:
        before, after = _canonical(found), _canonical(fitted)
        reply = model.model_validate_json(after, strict=True)
    except ValidationError as error:
        faults = [f"{_place(fault['loc'])}: {fault['msg']}" for fault in error.errors()[:3]]
        raise BadReply("; ".join(faults)) from error
    except (ValueError, TypeError, OverflowError) as error:
        raise BadReply("a value in the JSON is none that JSON holds") from error
    return ParsedReply(reply, repaired or before != after, fit.dropped > 0)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _place(location: tuple[int | str, ...]) -> str:
    """Where in the reply, on one short line: a key may be the model's own text."""
    name = ".".join(map(str, location)) or "the object"
    return "".join(letter if letter.isprintable() else "?" for letter in name[:60])


def _unwrapped(found: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The object, or the one inside it that has keys of `model`, as in `{"reply": {...}}`."""
    for _ in range(2):
        if not found or _names(model) & {_plain(key) for key in found}:
            return found
        inner = [
            value
            for value in found.values()
            if isinstance(value, dict) and _names(model) & {_plain(key) for key in value}
        ]
        if len(inner) != 1:
            break
        found = inner[0]
    if not _names(model) & {_plain(key) for key in found}:
        raise BadReply(f"the JSON object has none of the keys {', '.join(model.model_fields)}")
    return found


@cache
def _names(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(_plain(name) for name in model.model_fields)


def _plain(key: object) -> str:
    return "".join(letter for letter in str(key).casefold() if letter.isalnum())


def _fit_model(value: dict[str, Any], model: type[BaseModel], fit: _Fit) -> dict[str, Any]:
    """The entries that `model` has fields for, each fitted to its field."""
    given: dict[str, Any] = {}
    for key, item in value.items():
        given.setdefault(_plain(key), item)
    fitted = {}
    for name, each in model.model_fields.items():
        item = value[name] if name in value else given.get(_plain(name), _MISSING)
        if item is _MISSING or (item is None and not _takes_none(each.annotation) and not each.is_required()):
            continue
        fitted[name] = _fit_value(item, each.annotation, fit, each)
    return fitted


_MISSING = object()


def _takes_none(kind: Any) -> bool:
    return type(None) in get_args(kind)


def _fit_value(value: Any, kind: Any, fit: _Fit, info: FieldInfo | None = None) -> Any:
    """The value in the form of `kind` where that is plain; else as it is, for the model to refuse."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        inner = [each for each in args if each is not type(None)]
        if value is None or len(inner) != 1:
            return value
        nothing = isinstance(value, str) and value.strip().casefold() in NOTHING and inner[0] is not str
        return None if nothing else _fit_value(value, inner[0], fit, info)
    if origin is tuple:
        return _fit_list(value, args[0], fit)
    if origin is dict:
        whole = value if isinstance(value, dict) else {} if value is None else None
        return value if whole is None else _fit_dict(whole, args[1], fit)
    if origin is Literal:
        return _fit_literal(value, args)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        entry = _as_entry(value, kind)
        return _fit_model(entry, kind, fit) if isinstance(entry, dict) else value
    simple = {str: _fit_text, bool: _fit_bool, int: _fit_int}.get(kind)
    if simple is not None:
        return simple(value)
    return _within(_fit_float(value, _bounds(info)), _bounds(info)) if kind is float else value


def _fit_list(value: Any, kind: Any, fit: _Fit) -> Any:
    """A list of what fits `kind`; a single value is a list of one. As it is where nothing of it fits."""
    if isinstance(value, str) and value.strip().startswith("["):
        value = _array(value)
    if value is None or (isinstance(value, str) and value.strip().casefold() in NOTHING):
        return []
    if isinstance(value, dict):
        one = not isinstance(kind, type) or not issubclass(kind, BaseModel) or _is_entry(value, kind)
        items = [value] if one else list(value.values())
    else:
        items = value if isinstance(value, list) else [value]
    fitted = [_fit_value("" if item is None and kind is str else item, kind, fit) for item in items]
    kept = [item for item in fitted if _is_valid(item, kind)]
    if not kept:
        return fitted
    fit.dropped += len(fitted) - len(kept)
    return kept


def _fit_dict(value: dict[str, Any], kind: Any, fit: _Fit) -> dict[str, Any]:
    """The entries whose value fits `kind`; all of them where none does."""
    fitted = {key: _fit_value(each, kind, fit) for key, each in value.items()}
    kept = {key: each for key, each in fitted.items() if _is_valid(each, kind)}
    fit.dropped += len(fitted) - len(kept) if kept else 0
    return kept or fitted


def _is_entry(value: dict[str, Any], kind: type[BaseModel]) -> bool:
    return bool(_names(kind) & {_plain(key) for key in value})


def _as_entry(value: Any, kind: type[BaseModel]) -> Any:
    """A text for a record of one text, and numbers in order for one that begins with numbers."""
    fields = kind.model_fields
    required = [name for name, each in fields.items() if each.is_required()]
    if isinstance(value, str) and len(required) == 1 and fields[required[0]].annotation is str:
        return {required[0]: value}
    numbers = [name for name, each in fields.items() if each.annotation is float]
    if isinstance(value, list) and len(value) == len(numbers) > 1 and {*required} <= {*numbers}:
        return dict(zip(numbers, value, strict=True))
    return value


def _is_valid(item: Any, kind: Any) -> bool:
    try:
        _adapter(kind).validate_json(json.dumps(item), strict=True)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _fit_text(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value = " ".join(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    # A lone surrogate has no UTF-8: it could neither be shown nor be written.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _fit_bool(value: Any) -> Any:
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    word = value.strip().strip(".!").casefold() if isinstance(value, str) else ""
    return True if word in TRUE else False if word in FALSE else value


def _fit_int(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**15:
        return int(value)
    if isinstance(value, list) and len(value) == 1:
        return _fit_int(value[0])
    matched = NUMBERED.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(matched[1]) if matched else value


def _fit_float(value: Any, bounds: tuple[float | None, float | None]) -> Any:
    if not isinstance(value, str):
        return value
    text, (low, high) = value.strip(), bounds
    if PLAIN_NUMBER.fullmatch(text):
        return float(text)
    if DECIMAL_COMMA.fullmatch(text):
        return float(text.replace(",", "."))
    if (low, high) == (0, 1):
        if share := PERCENT.fullmatch(text):
            return float(share[1]) / 100
        if (share := FRACTION.fullmatch(text)) and float(share[2]) > 0:
            return float(share[1]) / float(share[2])
        return value
    if seconds := SECONDS.fullmatch(text):
        return float(seconds[1])
    if clock := CLOCK.fullmatch(text):
        return 3600.0 * int(clock[1] or 0) + 60.0 * int(clock[2]) + float(clock[3])
    return value


def _within(value: Any, bounds: tuple[float | None, float | None]) -> Any:
    """A number inside the bounds. A share: above 10 and up to 100 in percent, from 2 to 10 in
    tenths. All else is clipped."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    low, high = bounds
    if low == 0 and high == 1 and 2 <= value <= 100:
        return value / (100 if value > 10 else 10)
    return low if low is not None and value < low else high if high is not None and value > high else value


def _bounds(info: FieldInfo | None) -> tuple[float | None, float | None]:
    """Lowest and highest value of a field, None where it has no bound."""
    held = info.metadata if info is not None else []
    low = next((float(each.ge) for each in held if isinstance(each, Ge)), None)  # type: ignore[arg-type]  # of numbers here
    high = next((float(each.le) for each in held if isinstance(each, Le)), None)  # type: ignore[arg-type]  # of numbers here
    return low, high


def _fit_literal(value: Any, allowed: tuple[Any, ...]) -> Any:
    """The allowed word that the text is, in another spelling, or that it begins with and no other follows."""
    if not isinstance(value, str) or value in allowed:
        return value
    plain = {_plain(word): word for word in allowed}
    if _plain(value) in plain:
        return plain[_plain(value)]
    words = [_plain(word) for word in re.findall(r"\w+", value)]
    held = {*words} & (plain.keys() - {""})
    # "not solved" holds the word too.
    return plain[words[0]] if words and held == {words[0]} else value
