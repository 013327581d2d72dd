"""Questions about a procedure that a passage lists: all its steps, or one by its number.

A list is that of a question where the heading above it, or the title, has all words of the task: "How do I
bleed a radiator?" and "How to bleed a radiator"; or the sentence that leads to it, "To bleed a radiator,
follow these steps:". What is listed without numbers may be tools: there the heading has no other words. A
list that is cut between passages of one document is put together again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.reasoners.embedded.question_forms import ORDINALS, Form, bare
from rag.reasoners.embedded.sections import ITEM, sections
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.words import codes, content_words, lexical_overlap, split_sentences, word_set

SURE = 0.8
"""Confidence of steps below a heading that has all words of the task."""
UNSURE = 0.3
"""Confidence of a sentence below which the prose below a heading is given although the sentence has all words
of the task."""
LEAST_STEPS = 2
MOST_DESCRIBED = 8
"""Sentences of prose that are given."""
LEAST_NAMED = 2
"""Words of a heading that has no others than the task, its first among them: "Filling the system" of "fill
the heating system"."""
_OF_STEPS = word_set("step instruction procedure follow proceed")
"""What the heading of a list without numbers may say beside the task."""


@dataclass(frozen=True, slots=True)
class AskedSteps:
    """What a question asks of a procedure: all steps in order, or the one."""

    steps: tuple[str, ...]
    passages: tuple[int, ...]
    """Into `Reading.passages`: those that list them."""


@dataclass(slots=True)
class _List:
    """A list, or the part of one that a passage has."""

    passage: int
    heading: str
    indent: int
    first: int
    """Number of its first item; 0 where items have none."""
    last: int
    items: list[str]
    lead: str = ""
    """The sentence above it, where that ends with a colon."""
    below: str = ""
    """Paragraphs below the last item: of that item only where another follows."""

    def take(self, number: int, indent: int, text: str) -> bool:
        """Add an item, or one nested in the last item to that; False for an item of another list."""
        # Markdown may number each item 1.
        follows = number - self.last in (0, 1) if self.first else not (number or self.below)
        if follows and indent <= self.indent:
            self.items[-1] += self.below
            self.items.append(text)
            self.last = number
        elif not self.below and (indent > self.indent or (self.first and not number)):
            self.items[-1] += f" {text}"
        else:
            return False
        self.below = ""
        return True


def asked_steps(reading: Reading) -> AskedSteps | None:
    """None for a question about no procedure, and where no passage lists it or it has no such step."""
    question = bare(reading.question.text)
    every, one = Form.ALL_STEPS.search(question), Form.ONE_STEP.search(question)
    found = one or every or Form.CHANGES.search(question)
    task = content_words(found["task"]) if found else []
    if found is None or not task:
        return None
    lists = [each for index, read in enumerate(reading.passages) for each in _lists(index, read)]
    released = codes(found["task"])
    about = [
        each
        for each in lists
        if ((one or every) and _is_about(task, each, reading))
        or (released and released <= codes(each.heading))
    ]
    # What is needed is often listed above the steps, which then are numbered.
    best = min(about, key=lambda each: (each.first != 1, not each.first, each.passage), default=None)
    if best is None or (every and best.first > 1):
        return None
    steps = _whole(best, lists, reading)
    if len(steps) < LEAST_STEPS:
        return None
    if one:
        place = _place(one, best.first or 1)
        steps = steps[place:][:1] if place >= -1 else []
    texts, passages = tuple(text for text, _ in steps), {passage for _, passage in steps}
    return AskedSteps(texts, tuple(sorted(passages))) if steps else None


def steps_open(reading: Reading) -> OpenAnswer | None:
    """An open question's steps, numbered where they are all; None as `asked_steps`."""
    asked = asked_steps(reading)
    if asked is None:
        return None
    numbered = (f"{number}. {step}" for number, step in enumerate(asked.steps, start=1))
    title = reading.passages[asked.passages[0]].passage.title
    return OpenAnswer(
        text=asked.steps[0] if len(asked.steps) == 1 else " ".join(numbered),
        confidence=SURE,
        explanation=f"As the passage “{title}” lists it." if title else "As a passage lists it.",
        passages=asked.passages,
    )


def described_open(reading: Reading, quoted: OpenAnswer) -> OpenAnswer | None:
    """The prose below a heading that has all words of the task and no others; None where none has it, and
    where a sentence is quoted that has them too."""
    every = Form.ALL_STEPS.search(bare(reading.question.text))
    task = word_set(every["task"]) if every else set()
    said = quoted.confidence >= UNSURE and task <= word_set(quoted.text)
    for index, read in enumerate(reading.passages):
        for heading, body in sections(read.passage.text):
            if task and task == word_set(heading) - _OF_STEPS and not said:
                sentences = split_sentences(" ".join(body.split()))[:MOST_DESCRIBED]
                if len(sentences) >= LEAST_STEPS:
                    return OpenAnswer(
                        text=" ".join(sentences),
                        confidence=SURE,
                        explanation=f"What is written below “{heading}”.",
                        passages=(index,),
                    )
    return None


def _place(one: re.Match[str], first: int) -> int:
    """Of a step in a list that begins with number `first`; -1 for the last, less where the list lacks it."""
    name = (one["named"] or "").lower()
    if name in ("last", "final"):
        return -1
    number = ORDINALS.index(name) + 1 if name else int((one["nth"] or one["number"])[:6])
    return number - first if number >= first else -2


def _is_about(task: Sequence[str], each: _List, reading: Reading) -> bool:
    title, heading = content_words(reading.passages[each.passage].passage.title), content_words(each.heading)
    beside = set(heading) - {*task, *title} - _OF_STEPS
    lead = set(content_words(each.lead))
    leads = bool(lead) and lexical_overlap(task, {*title, *heading, *lead}) == 1
    if leads and (lead <= {*task, *title, *_OF_STEPS} or (each.first > 0 and lead & _OF_STEPS)):
        return True
    named = len(heading) >= LEAST_NAMED and set(heading) <= set(task) and task[0] in heading
    whole = lexical_overlap(task, {*title, *heading}) == 1
    return each.first > 0 if named else whole and (each.first > 0 or not beside)


def _whole(begun: _List, lists: list[_List], reading: Reading) -> list[tuple[str, int]]:
    """The items of a list, each with its passage, and those with which other passages continue it."""
    steps = [(item, begun.passage) for item in begun.items]
    doc_ids = [read.passage.doc_id for read in reading.passages]
    for other in sorted(lists, key=lambda each: each.first):
        place = other.first - begun.first
        if (
            begun.first
            and 0 < place <= len(steps) < place + len(other.items)
            and other.heading in ("", begun.heading)
            and other.passage != begun.passage
            and doc_ids[other.passage] == doc_ids[begun.passage]
        ):
            steps[place:] = [(item, other.passage) for item in other.items]
    return steps


def _lists(index: int, read: ReadPassage) -> Iterator[_List]:
    for heading, body in sections(read.passage.text):
        lists: list[_List] = []
        apart = ended = False
        said = ""
        for line in body.split("\n"):
            indent, text = len(line) - len(line.lstrip()), line.strip()
            if item := ITEM.match(line):
                mark, text = item[0].strip(" \t(.)"), line[item.end() :].strip()
                number = int(mark) if mark.isdecimal() else 0
                if not (lists and lists[-1].take(number, indent, text)):
                    lists.append(_List(index, heading, indent, number, number, [text], _lead(said)))
                said = ""
            elif lists and text and apart and indent <= lists[-1].indent:
                lists[-1].below += f" {text}"
            elif lists and text:
                lists[-1].items[-1] += f" {text}"
            apart = not text or (apart and not item)
            if text and not item:
                said = text if ended else f"{said} {text}"
            ended = not text
        yield from lists


def _lead(paragraph: str) -> str:
    return split_sentences(paragraph)[-1] if paragraph.endswith(":") else ""
