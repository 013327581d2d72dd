"""Sloppy replies to each role: what is excess is left out, and only what has no meaning is refused."""

from dataclasses import replace
from typing import Any

import pytest

from eval.tasks.egofact.construction.roles import CHECK_CHOICE
from rag.reasoners.examples import BARE, CHOICE, VIEW, sample_reading
from rag.reasoners.protocol import BadReply, Role
from rag.reasoners.roles.answers import ANSWER_CHOICE
from rag.reasoners.roles.material import label_of
from rag.reasoners.roles.questions import DECOMPOSE_FACETS, REWRITE_QUESTION
from rag.reasoners.roles.searching import PLAN, SEARCH_STEP, SubQuestion
from rag.reasoners.roles.watching import LOCATE, TIMELINE, Located, LocatedWindow, LocateRequest
from tests.fakes.scripted_roles import exchanges

A, B, C = CHOICE.options


def example(role: Role[Any, Any], name: str | None = None) -> tuple[Any, Any]:
    """The request of that name, or the first, and a sound reply."""
    found = exchanges(role)
    return found[name] if name else next(iter(found.values()))


def window(start: float, end: float) -> dict[str, Any]:
    return {"start": start, "end": end, "reason": "x"}


def event(start: float, end: float) -> dict[str, Any]:
    return {"start": start, "end": end, "description": "x"}


FILTERED = [
    (
        ANSWER_CHOICE,
        None,
        {"windows": (0, 7, -1, 1, 0), "passages": (9,)},
        {"windows": (0, 1), "passages": ()},
    ),
    (ANSWER_CHOICE, None, {"choice": B.upper()}, {"choice": "B"}),
    (ANSWER_CHOICE, None, {"choice": "N/A"}, {"choice": None}),
    (ANSWER_CHOICE, None, {"scores": (1.0, 1.0, 2.0)}, {"scores": (0.25, 0.25, 0.5)}),
    (ANSWER_CHOICE, None, {"scores": (0.5, 0.7, -0.2)}, {"scores": ()}),
    (
        DECOMPOSE_FACETS,
        "choice",
        {
            "option_keywords": {"(a)": ("one", "one", " "), "Z": ("two",), "C": tuple("uvwxyz")},
            "semantic_queries": {"B": "", "none": "x"},
        },
        {"option_keywords": {"A": ("one",), "C": tuple("uvwxy")}, "semantic_queries": {"B": B}},
    ),
    (
        LOCATE,
        "windows",
        {
            "relevant": True,
            "windows": (window(41, 50), window(9, 8), window(30, 99), *[window(at, 20) for at in (1, 2, 3)]),
        },
        {
            "windows": tuple(
                LocatedWindow(start=at, end=end, reason="x") for at, end in ((30, 40), (1, 20), (2, 20))
            )
        },
    ),
    (LOCATE, "frame", {"relevant": False, "frame": 2}, {"relevant": True, "frame": 2}),
    (
        PLAN,
        "later",
        {
            "sub_questions": (SubQuestion(text="x", status="solved"), SubQuestion(text="y")),
            "search_queries": ("TELESCOPE mirror", "maker", "", "maker", "optics", "third"),
            "focus": 9,
        },
        {"search_queries": ("maker", "optics"), "focus": 1},
    ),
    (REWRITE_QUESTION, "q1", {"passage_queries": ("one",)}, {"passage_queries": ("one", B, C)}),
    (REWRITE_QUESTION, "q2", {"passage_queries": ("one", "two")}, {"passage_queries": ("one",)}),
]


@pytest.mark.parametrize(
    ("role", "name", "given", "wanted"), FILTERED, ids=lambda value: getattr(value, "name", None)
)
def test_what_is_excess_is_left_out(role, name, given, wanted):
    request, sound = example(role, name)
    sloppy = role.reply.model_validate({**sound.model_dump(), **given})
    clean = role.sanitize(request, sloppy)
    assert clean != sloppy
    assert clean == sloppy.model_copy(update=wanted)
    assert role.sanitize(request, clean) == clean


def test_events_come_clipped_and_in_order():
    request, _ = example(TIMELINE)
    events = (event(20, 30), event(35, 60), event(50, 60), event(5, 5), event(0, 10), event(20, 30))
    clean = TIMELINE.sanitize(request, TIMELINE.reply.model_validate({"events": events}))
    assert [(one.start, one.end) for one in clean.events] == [(0, 10), (20, 30), (35, 40)]


@pytest.mark.parametrize(
    ("role", "name", "given", "why"),
    [
        (ANSWER_CHOICE, None, {"choice": "D"}, "'D' is no label; it must be one of A, B, C or null"),
        (LOCATE, "windows", {"relevant": True, "windows": ()}, "windows is empty"),
        (LOCATE, "frame", {"frame": 4}, "one of 0 to 3"),
        (SEARCH_STEP, "first", {"queries": (" ",)}, "queries is empty"),
        (SEARCH_STEP, "last", {"queries": ("one more",), "open": ()}, "name results in open"),
        (CHECK_CHOICE, None, {"choice": "F"}, "choice must be one of A, B, C"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_has_no_meaning_left_is_refused(role, name, given, why):
    request, sound = example(role, name)
    reply = role.reply.model_validate({**sound.model_dump(), **given})
    with pytest.raises(BadReply, match=why):
        role.sanitize(request, reply)


def test_a_choice_or_a_place_that_must_be_given_is_not_filled_in():
    reading = replace(sample_reading(CHOICE), must_choose=True)
    reply = example(ANSWER_CHOICE)[1].model_copy(update={"choice": None})
    with pytest.raises(BadReply, match="must not be null"):
        ANSWER_CHOICE.sanitize(reading, reply)
    nowhere = Located(relevant=False, confidence=0.5)
    with pytest.raises(BadReply, match="windows is empty"):
        LOCATE.sanitize(LocateRequest("x", VIEW, must_choose=True), nowhere)
    assert LOCATE.sanitize(LocateRequest("x", BARE), nowhere) == nowhere


@pytest.mark.parametrize(
    ("given", "label"),
    [
        *[
            (text, "B")
            for text in (" b", "[b].", "The correct answer is: B.", "**B**", "B. a cup", '"a cup."')
        ],
        *[(text, None) for text in ("", "E", "A, B", "A) a cup", "cup", "B, but maybe C", "same")],
    ],
)
def test_an_option_is_named_by_its_label_or_its_text(given, label):
    assert label_of(given, ("A lamp b", "A cup", "same", "Same")) == label
