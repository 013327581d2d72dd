"""Reading a reply: whatever is around the object, and nothing that is none."""

from __future__ import annotations

import json

import pytest

from rag.reasoners.llm.reasoner import first_object, parse_reply
from rag.reasoners.protocol import BadReply
from rag.reasoners.roles.anchor_event import AnchorEvent
from rag.reasoners.roles.answer_choice import ANSWER_CHOICE, ChosenOption
from rag.reasoners.roles.answer_open import ANSWER_OPEN, OpenAnswer
from rag.reasoners.roles.reading import sample_reading
from rag.reasoners.roles.samples import CHOICE, OPEN


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '  {"a": 1}\n',
        '```json\n{"a": 1}\n```',
        'Sure! The answer is B.\n{"a": 1}\nI hope that (C) helps.',
        '{"a": 1} {"a": 2}',
        '<think>{"a": 7} or so?</think>\n{"a": 1}',
    ],
)
def test_the_first_object_is_found_whatever_is_around_it(text):
    assert first_object(text) == {"a": 1}


def test_braces_and_quotes_inside_strings_do_not_end_it():
    assert first_object('{"a": "}\\"{", "b": {"c": "{"}} }') == {"a": '}"{', "b": {"c": "{"}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>hm</think>", "empty"),
        ("The answer is B.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ('{"a": 1', "does not parse"),
        ("{choice: A}", "does not parse"),
        ("{'a': 1}", "does not parse"),
        ('{} {"a": ', None),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1, "a": 2}', "repeats a key"),
        ('{"a": ' * 100_000, "nested too deeply"),
    ],
)
def test_anything_else_is_a_bad_reply(text, why):
    if why is None:
        assert first_object(text) == {}
        return
    with pytest.raises(BadReply, match=why):
        first_object(text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"description": "x", "position": "During"}', "position"),
        ('{"position": "after"}', "description"),
        ('{"description": ""}', "description"),
        ('{"description": 7}', "description"),
        ('{"description": "x", "extra": 1}', "extra"),
    ],
)
def test_a_reply_outside_the_schema_names_the_key(text, where):
    with pytest.raises(BadReply, match=where):
        parse_reply(text, AnchorEvent)


def test_the_name_of_an_unknown_key_stays_short_and_on_one_line():
    with pytest.raises(BadReply) as caught:
        parse_reply(json.dumps({"description": "x", "\x1b[2J\n" + "k" * 10_000: 1}), AnchorEvent)
    assert str(caught.value).startswith("?[2J?kkkk")
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize("value", ['"0.5"', "true", "85", "null"])
def test_values_are_not_coerced(value):
    with pytest.raises(BadReply, match="confidence"):
        parse_reply(f'{{"text": "x", "confidence": {value}, "explanation": ""}}', OpenAnswer)


def chosen(**changes) -> ChosenOption:
    return ChosenOption(**{"choice": "A", "confidence": 0.9, "explanation": "seen", **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"choice": None},
        {"choice": "C"},
        {"windows": (1, 0), "passages": (0,)},
        {"scores": (0.2, 0.3, 0.5)},
    ],
)
def test_a_sound_choice_passes(changes):
    assert ANSWER_CHOICE.check(sample_reading(CHOICE), chosen(**changes)) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"choice": "D"}, "'D' is no label; it must be one of A, B, C or null"),
        ({"choice": "a"}, "is no label"),
        ({"choice": "(A)"}, "is no label"),
        ({"choice": ""}, "is no label"),
        ({"choice": "It is made of glass."}, "is no label"),
        ({"windows": (2,)}, r"windows cites \[2\]; there are only 0 to 1"),
        ({"windows": (-1,)}, "windows cites"),
        ({"passages": (7,)}, "passages cites"),
        ({"windows": (1, 1)}, "twice"),
        ({"scores": (0.5, 0.5)}, "3 probabilities"),
        ({"scores": (0.5, 0.7, -0.2)}, "3 probabilities"),
        ({"scores": (0.5, 0.5, 0.5)}, "3 probabilities"),
    ],
)
def test_a_false_choice_or_citation_is_a_bad_reply(changes, why):
    with pytest.raises(BadReply, match=why):
        ANSWER_CHOICE.check(sample_reading(CHOICE), chosen(**changes))


def test_an_open_answer_cites_only_what_was_read():
    answer = OpenAnswer(text="glass", confidence=1, explanation="", windows=(0,))
    ANSWER_OPEN.check(sample_reading(OPEN), answer)
    with pytest.raises(BadReply, match="passages cites"):
        ANSWER_OPEN.check(sample_reading(OPEN), answer.model_copy(update={"passages": (2,)}))
