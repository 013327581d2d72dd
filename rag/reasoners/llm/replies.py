"""A language model's text as a reply: what is harmless is repaired, what has no meaning is refused.

The text is read in three steps. The object is found in what surrounds it (thinking, prose, a code fence), and
JSON that does not parse is repaired by json-repair (trailing commas, quotes, comments, Python literals,
missing brackets). Then each value is fitted to the type
of its field, by pydantic's own conversions and a few more: a single value where a list is wanted, a time or a
percentage as text, a key in another spelling; keys that the model has no field for are dropped. An entry of a
list that still does not fit is filtered out. Nothing is made up: a value that is missing stays missing, and a
cut number is dropped, not completed.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any, Literal, Union, get_args, get_origin

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

MOST_STARTS = 4
"""Places of a text at which an object is looked for."""
LONGEST_REPAIRED, MOST_QUOTES, DEEPEST = 20_000, 600, 8
"""Characters, quotes and open brackets of a text that is repaired; beyond them it must be JSON as it is, for
json-repair's time grows with their cube, and with depth faster still."""

NUMBER = r"[-+]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})"
SECONDS = re.compile(rf"({NUMBER})\s*(?:s|sec|secs|seconds?)\.?", re.IGNORECASE)
CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):([0-5]?\d(?:\.\d{1,6})?)")
PERCENT = re.compile(rf"({NUMBER})\s*%")
NUMBERED = re.compile(r"(?:[a-z]+\s*)?[#\[(]?\s*([-+]?\d{1,15})\s*[\])]?", re.IGNORECASE)
"""A whole number as text, maybe with the name of what it counts: `3`, `window 3`, `[3]`."""
NOTHING = frozenset({"", "null", "none", "n/a", "na", "nan", "unknown", "undefined"})


def parse_reply(text: str, model: type[ReplyT]) -> ReplyT:
    """The first object in `text` that is a `model`; `BadReply` where there is none.

    Of several objects the first that fits is taken; one that shares no key with `model` is none of its kind.
    """
    text = spoken(text)
    fault: BadReply | None = None
    for found in _objects(text):
        try:
            if isinstance(found, BadReply):
                raise found
            return _as_model(found, model)
        except BadReply as error:
            fault = fault or error
    raise fault or BadReply("there is no JSON object in the reply" if text.strip() else "the reply is empty")


def spoken(text: str) -> str:
    """The text after a model's thinking; empty where the thinking has no end."""
    text = THINKING.sub("", text, count=1)
    if OPEN_THINKING.match(text):
        return ""
    return THINKING_END.sub("", text, count=1)


def _objects(text: str) -> Iterator[dict[str, Any] | BadReply]:
    """Each object of the text, from the left; a fault in its place where it has no single meaning."""
    start, tried = text.find("{"), 0
    while start >= 0 and tried < MOST_STARTS:
        tried += 1
        end = start + 1
        try:
            found, end = _DECODER.raw_decode(text, start)
            yield found
        except BadReply as error:
            yield error
        except RecursionError:
            yield BadReply("the JSON is nested too deeply")
        except ValueError as error:
            repaired = _repaired(text[start:])
            yield repaired if isinstance(repaired, dict) else BadReply(f"the JSON does not parse: {error}")
        start = text.find("{", end)


def _repaired(text: str) -> Any:
    """What json-repair makes of a text that begins with a bracket; None where it makes nothing of it."""
    from json_repair import repair_json

    quotes = sum(map(text.count, "\"'“”"))
    depth = max(accumulate((letter in "{[") - (letter in "}]") for letter in text))
    if len(text) > LONGEST_REPAIRED or quotes > MOST_QUOTES or depth > DEEPEST:
        return None
    try:
        # Of a bracket alone it makes an empty object, which would be a reply.
        return (
            repair_json(CUT_SCALAR.sub("", text.rstrip()), return_objects=True, skip_json_loads=True) or None
        )
    except (ValueError, RecursionError, OverflowError):
        return None


def _no_constant(name: str) -> Any:
    raise BadReply(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant, strict=False)
"""Takes line ends inside strings as they are."""


def _as_model(found: dict[str, Any], model: type[ReplyT]) -> ReplyT:
    try:
        return model.model_validate(_fit_record(_unwrapped(found, model), model))
    except ValidationError as error:
        faults = [f"{_place(fault['loc'])}: {fault['msg']}" for fault in error.errors()[:3]]
        raise BadReply("; ".join(faults)) from error


def _place(location: tuple[int | str, ...]) -> str:
    """Where in the reply, on one short line: a key may be the model's own text."""
    name = ".".join(map(str, location)) or "the object"
    return "".join(letter if letter.isprintable() else "?" for letter in name[:60])


def _unwrapped(found: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The object, or the one inside it that has keys of `model`, as in `{"reply": {...}}`."""
    names = {_plain(name) for name in model.model_fields}
    inner = [value for value in found.values() if isinstance(value, dict)]
    places: list[dict[str, Any]] = [found, *(inner if len(inner) == 1 else ())]
    for each in places:
        if not found or names & {_plain(key) for key in each}:
            return each
    raise BadReply(f"the JSON object has none of the keys {', '.join(model.model_fields)}")


def _plain(key: object) -> str:
    return "".join(letter for letter in str(key).casefold() if letter.isalnum())


@cache
def _asked_fields(model: type[BaseModel]) -> frozenset[str]:
    """The fields of `model` that the JSON schema sent with a prompt has; the code fills the others."""
    return frozenset(model.model_json_schema().get("properties", ()))


# A value is brought into the form of its field where that is plain; else it is left as it is, to be refused.


def _fit_record(value: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The entries that `model` has fields for, each fitted to its field."""
    given: dict[str, Any] = {}
    for key, item in value.items():
        given.setdefault(_plain(key), item)
    fitted, asked = {}, _asked_fields(model)
    for name, each in model.model_fields.items():
        if name not in asked:
            continue  # the code's own
        item = value.get(name, given.get(_plain(name)))
        absent = name not in value and _plain(name) not in given
        nothing = item is None and type(None) not in get_args(each.annotation) and not each.is_required()
        if not absent and not nothing:
            fitted[name] = _fit(item, each.annotation, each)
    return fitted


def _fit(value: Any, kind: Any, info: FieldInfo | None = None) -> Any:
    """One value; `kind`: the type of its field."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        inner = next(each for each in args if each is not type(None))
        if value is None or (inner is not str and _is_nothing(value)):
            return None
        return _fit(value, inner, info)
    if origin is tuple:
        return _fit_items(value, args[0])
    if origin is dict and isinstance(value, dict):
        return {key: _fit(each, args[1]) for key, each in value.items()}
    if origin is Literal:
        return _fit_word(value, args)
    if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, BaseModel):
        return _fit_record(value, kind)
    if kind is str:
        return _fit_text(value)
    if kind is int and isinstance(value, str) and (found := NUMBERED.fullmatch(value.strip())):
        return int(found[1])
    return _fit_float(value, *_bounds(info)) if kind is float else value


def _fit_items(value: Any, kind: Any) -> list[Any]:
    """What of a list fits `kind`; a single value is a list of one. As it is where nothing of it fits."""
    if value is None or _is_nothing(value):
        return []
    fitted = [_fit(item, kind) for item in (value if isinstance(value, list) else [value])]
    return [item for item in fitted if _is_valid(item, kind)] or fitted


def _is_nothing(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in NOTHING


def _is_valid(item: Any, kind: Any) -> bool:
    try:
        _adapter(kind).validate_python(item)
    except ValidationError:
        return False
    return True


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _fit_text(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    # A lone surrogate has no UTF-8: it could neither be shown nor be written.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _fit_float(value: Any, low: float | None, high: float | None) -> Any:
    """A number inside the bounds. A share: above 10 and up to 100 in percent, from 2 to 10 in tenths. All
    else is clipped."""
    is_share = (low, high) == (0, 1)
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(NUMBER, text):
            value = float(text)
        elif is_share and (share := PERCENT.fullmatch(text)):
            value = float(share[1]) / 100
        elif not is_share and (seconds := SECONDS.fullmatch(text)):
            value = float(seconds[1])
        elif not is_share and (clock := CLOCK.fullmatch(text)):
            value = 3600.0 * int(clock[1] or 0) + 60.0 * int(clock[2]) + float(clock[3])
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    if is_share and 2 <= value <= 100:
        return value / (100 if value > 10 else 10)
    return low if low is not None and value < low else high if high is not None and value > high else value


def _bounds(info: FieldInfo | None) -> tuple[float | None, float | None]:
    """Lowest and highest value of a field, None where it has no bound."""
    held = info.metadata if info is not None else []
    low = next((float(each.ge) for each in held if isinstance(each, Ge)), None)  # type: ignore[arg-type]  # of numbers here
    high = next((float(each.le) for each in held if isinstance(each, Le)), None)  # type: ignore[arg-type]  # of numbers here
    return low, high


def _fit_word(value: Any, allowed: tuple[Any, ...]) -> Any:
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
