"""Reading a reply: whatever is around the object, and nothing that is none."""

import json

import pytest

from rag.reasoners.llm.replies import parse_reply
from rag.reasoners.protocol import BadReply, Reply
from rag.reasoners.roles.answers import OpenAnswer
from rag.reasoners.roles.judge import Verdict
from rag.reasoners.roles.questions import AnchorEvent
from rag.reasoners.roles.watching import Timeline, TimelineEvent


class One(Reply):
    """Of one required number, so that nothing can be left out."""

    a: int


def read(text: str, model: type[Reply] = One) -> Reply:
    return parse_reply(text, model)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '```json\n{"a": 1}\n```',
        'Sure! The answer is B.\n{"a": 1}\nI hope that (C) helps.',
        '<think>{"a": 7} or so?</think>\n{"a": 1}',
        '<|channel|>analysis<|message|>{"a": 7}<|end|><|channel|>final<|message|>{"a": 1}',
        '{"reply": {"a": 1}}',
        '{"a": 1} {"a": ',
    ],
)
def test_the_object_is_found_whatever_surrounds_it(text):
    assert read(text) == One(a=1)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1,}', "{'a': 1}", '{"a": 1', '{"a": 1 // one\n}', '{"a": "1"}', '{"a": 1, "b": "an extra key"}'],
)
def test_what_is_harmless_is_repaired(text):
    # A bare number at the very end may go on, so there the text is closed before it is read.
    text = f"{text}, " if text.endswith(": 1") else text
    assert read(text) == One(a=1)


def test_a_model_fills_no_field_that_it_was_not_asked_for():
    text = '{"is_correct": true, "rule": "exact", "score": 1.0, "reason": "the same"}'
    assert read(text, Verdict) == Verdict(is_correct=True, reason="the same")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *[("", "empty"), ("The answer is B.", "no JSON object"), ("{choice: A}", "none of the keys a")],
        *[('{"a": NaN}', "NaN"), ('{"a": 1', "does not parse"), ('{"a": ' * 100_000, "nested too deeply")],
    ],
)
def test_anything_else_is_a_bad_reply(text, why):
    with pytest.raises(BadReply, match=why):
        read(text)


@pytest.mark.parametrize("position", ["After", "after the event"])
def test_an_allowed_word_is_known_in_any_spelling(position):
    text = json.dumps({"description": "x", "position": position})
    assert read(text, AnchorEvent) == AnchorEvent(description="x", position="after")


@pytest.mark.parametrize(
    ("value", "confidence"),
    [
        *[('"0.5"', 0.5), ('"50%"', 0.5), ("1", 1.0), ('" .5 "', 0.5)],
        *[("85", 0.85), ('"85"', 0.85), ("100", 1.0), ("7", 0.7)],
        *[("-0.1", 0.0), ("1.2", 1.0), ("1e300", 1.0)],
    ],
)
def test_a_share_is_read_as_text_too(value, confidence):
    text = f'{{"text": "x", "confidence": {value}, "explanation": null}}'
    assert read(text, OpenAnswer) == OpenAnswer(text="x", confidence=confidence, explanation="")


@pytest.mark.parametrize("value", ["null", '"high"', "[0.1, 0.2]"])
def test_an_ambiguous_share_is_refused(value):
    with pytest.raises(BadReply, match="confidence"):
        read(f'{{"text": "x", "confidence": {value}, "explanation": ""}}', OpenAnswer)


def test_lists_take_one_value_and_no_value_and_leave_out_what_is_none():
    whole = {"start": 1.0, "end": 2.0, "description": "x"}
    one = TimelineEvent(start=1, end=2, description="x")
    for events in (whole, [whole]):
        assert read(json.dumps({"events": events}), Timeline) == Timeline(events=(one,))
    for events in (None, [], "none"):
        assert read(json.dumps({"events": events}), Timeline) == Timeline()
    odd = json.dumps({"events": [whole, {"start": 5}, {**whole, "end": "?"}, 7]})
    assert read(odd, Timeline) == Timeline(events=(one,))
    with pytest.raises(BadReply, match=r"events\.0\.end"):
        read(json.dumps({"events": [{"start": 5, "description": "x"}]}), Timeline)


@pytest.mark.parametrize("end", ['"12.5 s"', '"00:12.5"'])
def test_times_are_read_as_text_too(end):
    text = f'{{"events": [{{"start": 0, "end": {end}, "description": "x"}}]}}'
    assert read(text, Timeline) == Timeline(events=(TimelineEvent(start=0, end=12.5, description="x"),))


def test_a_cut_number_is_left_out_and_not_completed():
    text = '{"events": [{"start": 1, "end": 2, "description": "x"}, {"description": "y", "start": 5, "end": 1'
    assert read(text, Timeline) == Timeline(events=(TimelineEvent(start=1, end=2, description="x"),))
    with pytest.raises(BadReply, match="confidence"):
        read('{"text": "x", "explanation": "", "confidence": 0.', OpenAnswer)
