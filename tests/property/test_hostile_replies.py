"""Mutated replies to every role: a reply that the code behind the role can rely on, or `BadReply`."""

import json
import random
import string
from collections.abc import Callable
from typing import Any

import pytest

from eval.tasks.egofact.construction.roles import BUILD_ROLES
from eval.tasks.egofact.scorer import CHECK_CAPTION
from eval.tasks.egofact.solvers.graph import EXTRACT_ENTITIES
from rag.reasoners.llm.reasoner import read_reply
from rag.reasoners.protocol import BadReply
from rag.reasoners.roles import ROLES
from rag.reasoners.roles.material import labels
from rag.reasoners.roles.questions import MOST_KEYWORDS
from tests.fakes.scripted_roles import exchanges

REPLIES = 100
"""Of each role. One edit is in 1 of 16 to 1 of 100 replies, alone or with others."""
ALL_ROLES = (*ROLES.values(), *BUILD_ROLES, CHECK_CAPTION, EXTRACT_ENTITIES)

VALUES = [
    *(None, True, False, 0, 1, -1, 3, 7, 85, 0.5, -0.25, 1e308, -1e308, 10**30, 1e-320),
    *("", " ", "A", "(b)", "Option C.", "none", "null", "yes", "3", "85%", "0,5", "1:02:03", "12.5 s"),
    *("window 1", "NaN", "\x00\x07", "\ud800", "鏡は硝子", "Не стекло", "🪞", "x" * 5000, "[1, 2", "{}"),
    *("```", "</think>"),
    *([], {}, [[]], [None], [1, 1, 2], [-5, 99], ["", " ", "mirror", "MIRROR"], {"A": "x", "Z": ["y"]}),
    *({"start": 5, "end": 2}, {"start": -9, "end": 999, "reason": "r", "description": "d"}),
    {"start": "0:05", "end": "0:09", "reason": "r", "description": "d"},
]
TEXTS = [
    *("", " ", "null", "[]", "{}", "{", "}", "[[[[", "I'm sorry, but I can't help with that.", "NaN"),
    *(
        "<think>It may be",
        "Lo siento, no puedo ayudar con eso.",
        "\x00\xff\xfe\x01",
        "<html><body>502</body></html>",
    ),
    *('{"a": ' * 300, "{" * 3000, '{"error": {"message": "overloaded"}}', "Answer: B", "答えはBです。"),
]


def edited(value: Any, rng: random.Random) -> Any:
    """The value with one part of it replaced, left out, repeated, wrapped or put in disorder."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        edit = rng.randrange(6)
        if edit == 0:
            return {name: each for name, each in value.items() if name != key}
        if edit == 1:
            return {**value, rng.choice(["extra", key.upper(), f" {key}", "鏡"]): rng.choice(VALUES)}
        if edit == 2:
            return {name.title() if name == key else name: each for name, each in value.items()}
        return {**value, key: edited(value[key], rng)}
    if isinstance(value, list | tuple) and rng.random() < 0.85:
        items = list(value)
        edit = rng.randrange(5)
        if edit == 0:
            return items * rng.randint(2, 40)
        if edit == 1:
            return [*items, *rng.choices(VALUES, k=rng.randint(1, 4))]
        if edit == 2:
            return items[::-1][: rng.randint(0, 3)]
        if items:
            at = rng.randrange(len(items))
            return [*items[:at], edited(items[at], rng), *items[at + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return rng.choice([-value, value + 40, value * 100, str(value), f"{value} s", 10**25 + value])
    if isinstance(value, str) and rng.random() < 0.3:
        return rng.choice([value.upper(), f"({value})", f"{value}\n{value}", [value], {"text": value}])
    return rng.choice(VALUES)


def garbled(text: str, rng: random.Random) -> str:
    """The text with something around it, in it or cut off."""
    at = rng.randrange(len(text) + 1)
    return rng.choice(
        [
            lambda: f"```json\n{text}\n```",
            lambda: f"Sure! Here it is:\n{text}\nI hope that helps {{or not}}.",
            lambda: f"<think>Is it {text}?</think>{text}",
            lambda: text[:at],
            lambda: text[:at] + rng.choice(string.printable) * rng.randint(1, 3) + text[at:],
            lambda: text[:at] + text[at + rng.randint(1, 5) :],
            lambda: text.replace("}", ",}").replace("]", ",]"),
            lambda: text.replace('"', "'"),
            lambda: text.replace(": ", " = "),
            lambda: json.dumps({"reply": text}),
            lambda: f'{{"result": {text}}}',
            lambda: f"[{text}, {text}]",
            lambda: text.replace("true", "True").replace("null", "None"),
            lambda: text.encode("utf-8", "replace").decode("utf-16", "replace"),
            lambda: rng.choice(TEXTS),
            lambda: f"{rng.choice(TEXTS)} {text}",
        ]
    )()


def hostile(reply: dict[str, Any], rng: random.Random) -> str:
    value: Any = reply
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 8])):
        value = edited(value, rng)
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    return garbled(text, rng) if rng.random() < 0.4 else text


def said(texts: Any) -> bool:
    """None of them is blank, and none comes twice."""
    return all(text.strip() for text in texts) and len({text.casefold() for text in texts}) == len(texts)


def known(numbers: Any, count: int) -> bool:
    return all(0 <= number < count for number in numbers) and len(set(numbers)) == len(numbers)


def inside(spans: Any, view: Any) -> bool:
    return all(view.start <= span.start < span.end <= view.end for span in spans)


def cites(reading: Any, reply: Any) -> bool:
    return known(reply.windows, len(reading.windows)) and known(reply.passages, len(reading.passages))


def located(request: Any, reply: Any) -> bool:
    place = (
        reply.windows if request.target == "windows" else reply.frame is not None or not request.view.times
    )
    return (
        inside(reply.windows, request.view)
        and len(reply.windows) <= request.max_windows
        and known([] if reply.frame is None else [reply.frame], len(request.view.times))
        and (bool(place) if reply.relevant else not (reply.windows or reply.frame is not None))
        and (reply.relevant or not request.must_choose)
    )


def chosen(reading: Any, reply: Any) -> bool:
    names = labels(len(reading.question.options))
    sound = len(reply.scores) == len(names) and min(reply.scores) >= 0 and abs(sum(reply.scores) - 1) <= 0.01
    choice = reply.choice in names if reply.choice is not None or reading.must_choose else True
    return choice and (not reply.scores or sound) and cites(reading, reply)


def decomposed(question: Any, reply: Any) -> bool:
    names = {*labels(len(question.options))}
    facets = {facet.name: facet for facet in reply.facets}
    few = all(len(words) <= MOST_KEYWORDS for words in reply.option_keywords.values())
    return few and {*facets} == {"question", *names} and bool(reply.general_semantic_query.strip())


def planned(request: Any, reply: Any) -> bool:
    tried = {tried.query.casefold() for tried in request.tried}
    missing = {part.text.casefold() for part in reply.sub_questions if part.status == "missing"}
    return (
        said(reply.search_queries)
        and len(reply.search_queries) <= request.max_queries
        and not tried & {query.casefold() for query in reply.search_queries}
        and (bool(reply.search_queries) or missing <= tried)
        and known([] if reply.focus is None else [reply.focus], len(reply.sub_questions))
    )


def in_order(view: Any, reply: Any) -> bool:
    starts = [event.start for event in reply.events]
    return inside(reply.events, view) and starts == sorted(starts)


def observed(request: Any, reply: Any) -> bool:
    words = {word.casefold() for facet in request.facets for word in facet.keywords}
    return {word.casefold() for word in reply.missing} <= words and said(reply.missing)


def rewritten(question: Any, reply: Any) -> bool:
    queries = (reply.visual_query, *reply.passage_queries)
    return len(queries) == 1 + (len(question.options) or 1) and all(query.strip() for query in queries)


INVARIANTS: dict[str, Callable[[Any, Any], bool]] = {
    "anchor_event": lambda _, reply: bool(reply.description.strip()),
    "answer_choice": chosen,
    "answer_open": cites,
    "answer_unaided": cites,
    "decompose_facets": decomposed,
    "extract_keywords": lambda _, reply: said(reply.keywords),
    "imagine_queries": lambda asked, reply: said(reply.queries) and 0 < len(reply.queries) <= asked.count,
    "judge": lambda _, reply: reply.rule != "model" or reply.score == reply.is_correct,
    "locate": located,
    "match_frame": lambda asked, reply: (reply.image_match is None) == (asked.reference is None),
    "observe": observed,
    "plan": planned,
    "rewrite_question": rewritten,
    "search_step": lambda asked, reply: said(reply.queries) and known(reply.open, len(asked.results)),
    "select_candidates": lambda asked, reply: (
        known(reply.selected, len(asked.candidates)) and len(reply.selected) <= asked.top_k
    ),
    "summarize": lambda _, reply: bool(reply.summary.strip()) or not reply.relevant,
    "timeline": in_order,
    "timeline_keywords": lambda _, reply: all(1 <= value <= 10 for value in reply.keywords.values()),
    "write_statements": lambda _, reply: said((reply.fact, *reply.counterfacts)),
    "check_choice": lambda asked, reply: reply.choice in labels(len(asked.question.options)),
}
"""What the code behind a role relies on, beyond the types of a reply."""


def test_every_role_that_filters_has_an_invariant():
    assert {role.name for role in ALL_ROLES if role.sanitize is not None} == {*INVARIANTS}


@pytest.mark.slow
@pytest.mark.parametrize("role", ALL_ROLES, ids=lambda role: role.name)
def test_a_mutated_reply_is_sound_or_refused(role):
    rng = random.Random(role.name)
    examples = list(exchanges(role).values())
    sent = role.reply.model_json_schema()["properties"]
    usable = 0
    for _ in range(REPLIES):
        request, sound = rng.choice(examples)
        text = hostile(sound.model_dump(mode="json", include={*sent}), rng)
        try:
            reply = read_reply(role, request, text)
        except BadReply as error:
            fault = str(error)
        else:
            usable, fault = usable + 1, ""
        assert len(fault) < 600, text
        if fault:
            continue
        assert type(reply) is role.reply, text
        assert role.reply.model_validate_json(reply.model_dump_json(), strict=True) == reply, text
        assert role.sanitize is None or role.sanitize(request, reply) == reply, text
        assert INVARIANTS.get(role.name, lambda *_: True)(request, reply), (text, reply)
    # Of these mutations most are harmless; a role that refuses them all reads nothing.
    assert usable > REPLIES / 8
