"""Answering from what is perceived and read: the roles answer_choice and answer_open.

No answer of any query is known here. Each option is put into the question, and the one that the perceived
facts and the given words support best is taken; where they support none, one is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eval.simulated_model.dials import draw
from eval.simulated_model.language import Clause, agreement, clause_of, concepts, done, setting
from eval.simulated_model.perception import Perception, View
from eval.simulated_model.questions import (
    LEAST_AGREEMENT,
    Asked,
    all_facts,
    around,
    events_of,
    fact_scores,
    text_scores,
    understand,
)
from eval.simulated_model.request import Block, Request, listed_options
from eval.workbench.catalogue import kind
from rag.words import content_words, lexical_overlap, numbers, word_set

NEVER_NULL = "never null"


@dataclass(frozen=True, slots=True)
class Support:
    """What speaks for one option or answer."""

    score: float
    source: str = ""
    """Name of the block that it rests on."""
    passage: str = ""
    why: str = ""


def answer_choice(request: Request, perception: Perception) -> dict[str, Any]:
    """The option that is supported best; a guess, or none where that is allowed, where none is."""
    options = listed_options(request.get("options"))
    asked = understand(request.get("question"))
    views = [perception.view(block) for block in request.numbered("window")]
    passages = request.numbered("passage")
    supports = option_supports(asked, options, views, passages, perception)
    order = sorted(
        options,
        key=lambda label: (-supports[label].score, draw("guess", perception.seed, request.digest, label)),
    )
    nothing: dict[str, Any] = {"choice": None, "windows": [], "passages": []}
    if not order:
        return {**nothing, "confidence": 0.0, "explanation": "There is no option."}
    best = supports[order[0]]
    others = [supports[label].score for label in order[1:]]
    known = best.score >= LEAST_AGREEMENT / 2 and best.score > max(others, default=0.0)
    must = any(NEVER_NULL in word for word in (request.words.get("otherwise", ""), request.system))
    if not known and not must:
        reason = "Nothing in the material decides between the options."
        return {**nothing, "confidence": 0.1, "explanation": reason}
    confidence = min(0.98, 0.55 + best.score - max(others, default=0.0)) if known else 1 / len(order)
    return {
        "choice": order[0],
        "confidence": round(max(0.05, confidence), 3),
        "explanation": best.why if known else "The material does not show it; this one seems likeliest.",
        "windows": _cited(best.source, "window") if known else [],
        "passages": _cited(best.passage, "passage") if known else [],
    }


def _cited(name: str, kind_: str) -> list[int]:
    return [int(name.rsplit(" ", 1)[1])] if name.startswith(f"{kind_} ") else []


def option_supports(
    asked: Asked,
    options: Mapping[str, str],
    views: Sequence[View],
    passages: Sequence[Block],
    perception: Perception,
) -> dict[str, Support]:
    """By label."""
    rule = {
        "statement": _statements,
        "order": _orders,
        "events": _counts,
        "parts": _counts,
        "announced": _announced,
        "next": _said_next,
        "text": _texts,
    }.get(asked.asks, _events)
    found = rule(asked, options, views, passages, perception)
    return {label: found.get(label, Support(0.0)) for label in options}


_Found = dict[str, Support]


def _events(asked: Asked, options: Mapping[str, str], views: Sequence[View], *_: Any) -> _Found:
    """Each option as the thing or the action of the asked event."""
    facts = all_facts(views)
    found = {}
    for label, option in options.items():
        said = clause_of(option)
        if asked.asks == "thing":
            clause = replace(asked.clause, kind_id=said.kind_id)
        else:
            clause = replace(said, kind_id=asked.clause.kind_id, agent=asked.clause.agent)
        scores = fact_scores(asked, facts, clause)
        known = [
            (score if _decides(asked, fact.clause) else 0.0, at)
            for at, (score, fact) in enumerate(zip(scores, facts, strict=True))
        ]
        best, at = max(known, key=lambda row: (row[0], -row[1]), default=(0.0, -1))
        if best > 0:
            fact = facts[at]
            why = f"At {fact.start:.1f} s {fact.clause.agent or 'a person'} {done(fact.clause, option)}."
            found[label] = Support(
                best, fact.source, "", why if asked.asks == "thing" else f"It is seen: {option}."
            )
    return found


def _decides(asked: Asked, clause: Clause) -> bool:
    """Whether a fact says what is asked for at all."""
    return (
        clause.kind_id is not None if asked.asks in ("thing", "statement") else clause.action_id is not None
    )


def _statements(
    asked: Asked,
    options: Mapping[str, str],
    views: Sequence[View],
    passages: Sequence[Block],
    perception: Perception,
) -> _Found:
    """The passage about the object that was seen, and the statement that it makes."""
    facts = all_facts(views)
    scores = fact_scores(asked, facts, asked.clause)
    things: dict[str, tuple[float, str]] = {}
    for score, fact in zip(scores, facts, strict=True):
        thing = fact.clause.kind_id
        if thing and score > things.get(thing, (0.0, ""))[0]:
            things[thing] = (score, fact.source)
    about = [(block, _subject(block), content_words(block.text)) for block in passages]
    found = {}
    for label, option in options.items():
        best = Support(0.0)
        for block, thing, words in about:
            said = _said(option, block.text, words)
            misread = perception.dials.reading <= draw("compare", perception.seed, option, block.text)
            if misread:
                said *= 0.9
            seen, source = things.get(thing or "", (0.0, ""))
            # Without the object only the passage speaks, for each object as much as for any other.
            score = max(0.0, said - 0.5) * (0.2 + seen)
            if score > best.score:
                why = (
                    f"The object is the {kind(thing).name}, of which it is said so."
                    if thing
                    else "A text says so."
                )
                best = Support(score, source, block.name, why)
        found[label] = best
    return found


def _subject(block: Block) -> str | None:
    """The object that a passage is about."""
    title = block.text.splitlines()[0] if block.text else ""
    return clause_of(title).kind_id or clause_of(block.text).kind_id


def _said(option: str, text: str, words: Sequence[str]) -> float:
    """How far a text says a statement, in [0, 1]: its words, its numbers, and whether it is denied."""
    wanted = content_words(option)
    share = lexical_overlap(wanted, set(words))
    here = set(numbers(text))
    amounts = numbers(option)
    if amounts and not set(amounts) <= here:
        share *= 0.8
    denied = bool(re.search(r"\b(?:not|never|no)\b", option))
    near = _nearest_sentence(wanted, text)
    if denied != bool(re.search(r"\b(?:not|never|no)\b", near)):
        share *= 0.85
    return share


def _nearest_sentence(wanted: Sequence[str], text: str) -> str:
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return max(sentences, key=lambda one: lexical_overlap(wanted, word_set(one)))


def _orders(asked: Asked, options: Mapping[str, str], views: Sequence[View], *_: Any) -> _Found:
    facts = all_facts(views)
    times = {}
    for label, option in options.items():
        clause = clause_of(option)
        fit = [fact for fact in facts if agreement(fact.clause, clause) > 0.75]
        if fit:
            best = max(fit, key=lambda fact: agreement(fact.clause, clause))
            times[label] = (best.start, best.source)
    if not times:
        return {}
    last = asked.words.lower() == "last"
    ranked = sorted(times, key=lambda label: times[label][0], reverse=last)
    return {
        label: Support(
            0.9 / (1 + at), times[label][1], "", f"It happens {asked.words} of those that are seen."
        )
        for at, label in enumerate(ranked)
    }


def _counts(asked: Asked, options: Mapping[str, str], views: Sequence[View], *_: Any) -> _Found:
    number = _count(asked, views)
    found = {}
    for label, option in options.items():
        values = numbers(option)
        if values:
            gap = abs(values[0] - number)
            found[label] = Support(
                0.8 / (1 + gap), views[0].block.name if views else "", "", f"I count {number}."
            )
    return found


def _count(asked: Asked, views: Sequence[View]) -> int:
    if asked.asks == "events":
        return len(events_of(all_facts(views), replace(asked.clause, agent=None)))
    return _parts_in(asked, views)


def _parts_in(asked: Asked, views: Sequence[View]) -> int:
    """Stretches of frames in the asked scene, and announcements of it where no frame is known."""
    frames = sorted((frame for view in views for frame in view.frames), key=lambda frame: frame.time)
    number, inside = 0, False
    for frame in frames:
        here = bool(asked.setting & frame.setting)
        number += here and not inside
        inside = here
    said = {
        text.text
        for view in views
        for text in view.texts
        if _PART.search(text.text) and asked.setting & setting(text.text)
    }
    return max(number, len(said))


_PART = re.compile(r"\bpart (\d+)\b|^(\d+) ", re.IGNORECASE)


def _announced(asked: Asked, options: Mapping[str, str], views: Sequence[View], *_: Any) -> _Found:
    found: _Found = {}
    for view in views:
        for text in view.texts:
            match = _PART.search(text.text)
            if not match:
                continue
            where = setting(text.text) | view.setting_at(text.start, text.end + 4)
            score = around(asked, where)
            for label, option in options.items():
                if (
                    numbers(option)[:1] == (float(match[1] or match[2]),)
                    and score > found.get(label, Support(0)).score
                ):
                    found[label] = Support(score, view.block.name, "", f"It is said: {text.text}")
    return found


def _said_next(asked: Asked, options: Mapping[str, str], views: Sequence[View], *_unused: Any) -> _Found:
    spoken = sorted(
        {
            (text.start, text.text): view for view in views for text in view.texts if text.kind != "screen"
        }.items(),
        key=lambda row: row[0],
    )
    lines = [text for (_, text), _ in spoken]
    first = next((at for at, line in enumerate(lines) if _same(line, asked.words)), None)
    found: _Found = {}
    for label, option in options.items():
        for place, ((_, line), view) in enumerate(spoken):
            if first is not None and place > first and _same(option, line):
                found[label] = Support(
                    0.95 - 0.1 * min(place - first - 1, 6), view.block.name, "", f"It is said: {line}"
                )
                break
    return found


def _same(one: str, other: str) -> bool:
    plain, wanted = " ".join(content_words(one)), " ".join(content_words(other))
    return bool(wanted) and (wanted in plain or plain in wanted) and set(numbers(other)) <= set(numbers(one))


def _texts(
    asked: Asked, options: Mapping[str, str], views: Sequence[View], passages: Sequence[Block], _: Perception
) -> _Found:
    """Options as words that are shown, said or written somewhere."""
    found: _Found = {}
    for label, option in options.items():
        for view in views:
            for text in view.texts:
                if _same(text.text, option):
                    score = around(asked, view.setting_at(text.start, text.end))
                    if score > found.get(label, Support(0)).score:
                        found[label] = Support(score, view.block.name, "", f"It is there: “{text.text}”.")
        for block in passages:
            score = 0.6 * _said(option, block.text, content_words(block.text))
            if score > found.get(label, Support(0)).score:
                found[label] = Support(score, "", block.name, "A passage says so.")
        if label not in found and any(concepts(option) & view.setting for view in views):
            found[label] = Support(0.3, views[0].block.name, "", "The frames show it.")
    return found


def answer_open(request: Request, perception: Perception) -> dict[str, Any]:
    """A short answer; empty where nothing was perceived or read that is one."""
    asked = understand(request.get("question"))
    views = [perception.view(block) for block in request.numbered("window")]
    text, support = open_answer(asked, views, request.numbered("passage"))
    return {
        "text": text,
        "confidence": round(min(0.97, max(0.05, support.score)), 3),
        "explanation": support.why or "The material does not hold the answer.",
        "windows": _cited(support.source, "window"),
        "passages": _cited(support.passage, "passage"),
    }


def open_answer(asked: Asked, views: Sequence[View], passages: Sequence[Block] = ()) -> tuple[str, Support]:
    """An answer in words, and what it rests on."""
    facts = all_facts(views)
    if asked.asks in ("thing", "action"):
        scores = fact_scores(asked, facts, asked.clause)
        known = [(score, at) for at, score in enumerate(scores) if _decides(asked, facts[at].clause)]
        best, at = max(known, key=lambda row: (row[0], -row[1]), default=(0.0, -1))
        if best >= LEAST_AGREEMENT:
            clause = facts[at].clause
            words = kind(str(clause.kind_id)).name if asked.asks == "thing" else done(clause)
            return words, Support(best, facts[at].source, "", f"At {facts[at].start:.1f} s it is seen.")
        return "", Support(0.0)
    if asked.asks in ("events", "parts"):
        count = _count(asked, views)
        return str(count), Support(0.5, views[0].block.name if views else "", "", f"I count {count}.")
    for score, text, view in text_scores(asked, views)[:1]:
        if score >= 0.25:
            return text.text, Support(score, view.block.name, "", f"It is there: “{text.text}”.")
    wanted = content_words(asked.text)
    best_passage = max(
        passages, key=lambda block: lexical_overlap(wanted, word_set(block.text)), default=None
    )
    if best_passage is not None and lexical_overlap(wanted, word_set(best_passage.text)) >= 0.5:
        said = _nearest_sentence(wanted, best_passage.text.partition("Text: ")[2] or best_passage.text)
        return said, Support(0.5, "", best_passage.name, "A passage says it.")
    return "", Support(0.0)
