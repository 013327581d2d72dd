"""A reply as text: the JSON that a role answers with, and the ways in which models get it slightly wrong."""

from __future__ import annotations

import json
import random
from typing import Any

from eval.simulated_model.dials import Dials, draw
from eval.simulated_model.request import Request
from eval.workbench.seeds import stream

APOLOGY = "I'm sorry, but I can't help with identifying what happens in these images."
GERMAN = "Auf den Bildern und im Text ist zu sehen, wonach gefragt wird."
UNKNOWN_ROLE = "This message names no step that I know."
FORM_SLIPS = ("trailing_comma", "prose", "code_fence", "number_as_text", "extra_field", "refusal")
"""What a server that enforces a JSON schema makes impossible."""
FREE_FORM_SLIPS = ("trailing_comma", "prose", "code_fence", "refusal")
"""What one that enforces JSON of any schema makes impossible."""
CONTENT_SLIPS = ("extra_entry", "unknown_keyword", "other_language")


def slips_of(request: Request, dials: Dials, seed: int) -> tuple[str, ...]:
    """Which slips the reply to this request has; the same request, the same slips."""
    impossible = {"json_schema": FORM_SLIPS, "json_object": FREE_FORM_SLIPS}.get(request.structured, ())
    return tuple(
        name
        for name in (*FORM_SLIPS, *CONTENT_SLIPS)
        if name not in impossible and draw("slip", seed, name, request.digest) < getattr(dials, name)
    )


def reply_text(
    reply: dict[str, Any], request: Request, dials: Dials, seed: int
) -> tuple[str, tuple[str, ...]]:
    """The reply's text, and the slips that are in it."""
    rng = stream("slip", seed, request.digest)
    slips = slips_of(request, dials, seed)
    if "refusal" in slips:
        return APOLOGY, ("refusal",)
    made = []
    for name, change in (
        ("extra_entry", _extra_entry),
        ("unknown_keyword", _unknown_keyword),
        ("other_language", _other_language),
        ("number_as_text", _number_as_text),
        ("extra_field", _extra_field),
    ):
        if name in slips and change(reply, rng):
            made.append(name)
    text = json.dumps(reply, ensure_ascii=False)
    if "trailing_comma" in slips:
        text = f"{text[:-1]},}}"
        made.append("trailing_comma")
    if "code_fence" in slips:
        text = f"```json\n{text}\n```"
        made.append("code_fence")
    if "prose" in slips:
        text = f"Sure, here is what I found.\n{text}\nI hope this helps!"
        made.append("prose")
    return text, tuple(made)


def _lists(reply: dict[str, Any]) -> list[list[Any]]:
    """The lists of a reply that have an entry, those within its objects too, in order."""
    found = []
    for value in reply.values():
        if isinstance(value, list) and value:
            found.append(value)
        elif isinstance(value, dict):
            found += _lists(value)
    return found


def _extra_entry(reply: dict[str, Any], rng: random.Random) -> bool:
    lists = _lists(reply)
    if not lists:
        return False
    chosen = rng.choice(lists)
    last = chosen[-1]
    chosen.append(f"{last} again" if isinstance(last, str) else last)
    return True


def _unknown_keyword(reply: dict[str, Any], rng: random.Random) -> bool:
    """A keyword or a number that was not given."""
    lists = [one for one in _lists(reply) if isinstance(one[0], int | str)]
    if lists:
        chosen = rng.choice(lists)
        chosen.append(97 if isinstance(chosen[0], int) else "the colour of the sky")
    return bool(lists)


def _other_language(reply: dict[str, Any], rng: random.Random) -> bool:  # noqa: ARG001 (as the others)
    """Every sentence in German."""
    free = [name for name, value in reply.items() if isinstance(value, str) and value.count(" ") > 2]
    reply.update(dict.fromkeys(free, GERMAN))
    return bool(free)


def _number_as_text(reply: dict[str, Any], rng: random.Random) -> bool:
    places: list[tuple[Any, Any]] = []

    def walk(holder: Any) -> None:
        for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(value, dict | list):
                walk(value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                places.append((holder, key))

    walk(reply)
    if not places:
        return False
    holder, key = rng.choice(places)
    holder[key] = str(holder[key])
    return True


def _extra_field(reply: dict[str, Any], rng: random.Random) -> bool:
    reply[rng.choice(("notes", "certainty", "language"))] = "none"
    return True
