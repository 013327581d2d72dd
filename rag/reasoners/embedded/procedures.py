"""Questions about a procedure that a passage lists: all its steps, or one by its number.

A list is that of a question where the heading above it, or the title, has all words of the task: "How do I
bleed a radiator?" and "How to bleed a radiator".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag.reasoners.embedded.sentences import ITEM, sections
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.relevance import content_words, lexical_overlap

SURE = 0.8
"""Confidence of steps below a heading that has all words of the task."""
LEAST_STEPS = 2

_NAMED = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ALL = re.compile(
    r"^(?:how (?:do|does|can|should|could|would) (?:i|you|we|one)|how to|"
    r"what are (?:all )?the (?:steps|instructions) (?:to|for|of|in|when))\s+(?P<task>.+)$",
    re.IGNORECASE,
)
_ONE = re.compile(
    rf"\b(?:(?P<named>{'|'.join(_NAMED)}|last|final) step|(?P<nth>\d+)(?:st|nd|rd|th) step|"
    r"step (?P<number>\d+))\s+(?:of|to|in|for|when)\s+(?P<task>.+)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AskedSteps:
    """What a question asks of a procedure: all steps in order, or the one."""

    steps: tuple[str, ...]
    passage: int
    """Into `Reading.passages`."""


def asked_steps(reading: Reading) -> AskedSteps | None:
    """None for a question about no procedure, and where no passage lists it or it has no such step."""
    question = reading.question.text.strip().rstrip("?.! ")
    every, one = _ALL.match(question), _ONE.search(question)
    found = one or every
    task = content_words(found["task"]) if found else []
    if not task:
        return None
    lists = [
        (not numbered, index, steps)
        for index, read in enumerate(reading.passages)
        for heading, steps, numbered in _lists(read)
        if lexical_overlap(task, set(content_words(heading))) == 1
    ]
    # What is needed is often listed above the steps, which then are numbered.
    _, index, steps = min(lists, default=(True, 0, ()))
    if one and steps:
        place = _place(one)
        steps = steps[place:][:1]
    return AskedSteps(steps, index) if steps else None


def steps_open(reading: Reading) -> OpenAnswer | None:
    """An open question's steps, numbered where they are all; None as `asked_steps`."""
    asked = asked_steps(reading)
    if asked is None:
        return None
    numbered = (f"{number}. {step}" for number, step in enumerate(asked.steps, start=1))
    return OpenAnswer(
        text=asked.steps[0] if len(asked.steps) == 1 else " ".join(numbered),
        confidence=SURE,
        explanation=f"As the passage “{reading.passages[asked.passage].passage.title}” lists it.",
        passages=(asked.passage,),
    )


def _place(one: re.Match[str]) -> int:
    """Of a step in its list; -1 for the last."""
    if one["named"]:
        name = one["named"].lower()
        return _NAMED.index(name) if name in _NAMED else -1
    return max(0, int((one["nth"] or one["number"])[:6]) - 1)


def _lists(read: ReadPassage) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Of each list the title with the heading above it, its items, and whether they are numbered."""
    for heading, body in sections(read.passage.text):
        items: list[list[str]] = []
        numbered = True
        for line in [*body.split("\n"), ""]:
            if item := ITEM.match(line):
                items.append([line[item.end() :].strip()])
                numbered = numbered and item[0].strip(" (.)").isdigit()
            elif items and line.strip():
                items[-1].append(line.strip())
        if len(items) >= LEAST_STEPS:
            yield f"{read.passage.title} {heading}", tuple(" ".join(item) for item in items), numbered
