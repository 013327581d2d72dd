"""From what a model said to what a role gives: strict, and with an error it can mend."""

from __future__ import annotations

import json
import math
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rag.reasoners.protocol import BadReply

Reply = TypeVar("Reply", bound=BaseModel)

# Reasoning models that have no channel of their own put their thinking in front of the reply.
THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)

LONGEST_INT = 300
"""Digits, with the sign; a float holds 308, and Python reads no more than 4,300."""


def parse_reply(text: str, model: type[Reply]) -> Reply:
    """The first JSON object in `text` as `model`, without any coercion; else `BadReply`."""
    found = first_object(text)
    try:
        return model.model_validate_json(json.dumps(found), strict=True)
    except RecursionError as error:
        raise BadReply("the JSON is nested too deeply") from error
    except ValidationError as error:
        faults = [f"{_place(fault['loc'])}: {fault['msg']}" for fault in error.errors()[:3]]
        raise BadReply("; ".join(faults)) from error


def first_object(text: str) -> dict[str, Any]:
    """The first balanced JSON object, whatever stands around it (prose, a code fence); else `BadReply`.

    Numbers outside JSON (NaN, Infinity), numbers that no float can hold, and repeated keys are refused.
    """
    text = THINKING.sub("", text)
    start = text.find("{")
    if start < 0:
        raise BadReply("there is no JSON object in the reply" if text.strip() else "the reply is empty")
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_float, parse_int=_int
    )
    try:
        found, _ = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise BadReply(f"the JSON does not parse: {error.msg} at character {error.pos - start}") from error
    except RecursionError as error:
        raise BadReply("the JSON is nested too deeply") from error
    result: dict[str, Any] = found
    return result


def _place(location: tuple[int | str, ...]) -> str:
    """Where in the reply, on one short line: an unknown key is the model's own text."""
    name = ".".join(map(str, location)) or "the object"
    return "".join(letter if letter.isprintable() else "?" for letter in name[:60])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise BadReply("the JSON object repeats a key")
    return dict(pairs)


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
