"""The four question texts (EgoFact, C.2.2 and the examples of C.3)."""

from __future__ import annotations

import re
from functools import cache

from eval.tasks.egofact.records import EventStructure, Position

_ARTICLE = r"(?:(?:the|a|an|some|one|his|her|their|its|another) )?"


def event_with(event: EventStructure, filler: str) -> str | None:
    """The event's sentence with `filler` for its object and the object's article.

    An empty filler leaves the gap that a question asks for. None where the
    sentence does not name the object as `patient` has it, exactly once.
    """
    if not event.patient:
        return None
    pattern = re.compile(rf"(?<![\w'-]){_ARTICLE}{re.escape(event.patient)}(?![\w'-])", re.IGNORECASE)
    found = pattern.findall(event.rewritten)
    if len(found) != 1:
        return None
    return " ".join(pattern.sub(lambda _: filler, event.rewritten).split())


def asked_clause(event: EventStructure) -> str | None:
    """ "the camera wearer plugs into the wall socket"."""
    return event_with(event, "")


def question_text(
    description: str, target: EventStructure, anchor: EventStructure | None, position: Position, hops: int
) -> str | None:
    """C.2.2: "In a video that shows D. Before E, what is the object that the agent acts on?".

    None where no question about the target's object can be put.
    """
    clause = asked_clause(target)
    if clause is None:
        return None
    asked = "what is the object that" if hops == 1 else "which statement is true about the object that"
    shown = f"In a video that shows {description}"
    if anchor is None:
        return f"{shown}, {asked} {clause}?"
    return f"{shown}. {position.capitalize()} {anchor.rewritten.rstrip('. ')}, {asked} {clause}?"


def option_text(activity: str, statement: str) -> str:
    """C.2.5, step 4: "When doing this. The object does that."."""
    said = statement.strip().rstrip(".")
    return f"When {activity.strip().rstrip('.')}. {said[:1].upper()}{said[1:]}."


def names_object(text: str, name: str) -> bool:
    """Whether a text says a name, in the singular or with an s."""
    return _named(name).search(text) is not None


@cache
def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?:s|es)?(?![\w-])", re.IGNORECASE)
