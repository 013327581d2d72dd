"""Ego4D's narrations into event structures, by rules."""

from __future__ import annotations

import pytest

from eval.tasks.egofact.construction.narrations import parse_narration


def test_the_papers_own_example():
    found = parse_narration("#C C wearer picks the cellphone from the table", 1.0, 2.5)
    assert found is not None
    assert found.rewritten == "the camera wearer picks up the cellphone from the table"
    assert (found.agent, found.action) == ("camera wearer", "pick")
    assert (found.patient, found.patient_canonical) == ("cellphone", "cellphone")
    assert found.patient_location == "table"
    assert (found.patient_destination, found.instrument, found.event_location) == (None, None, None)
    assert found.window == (1.0, 2.5)


@pytest.mark.parametrize(
    ("text", "rewritten", "agent", "action", "canonical", "slots"),
    [
        (
            "#C C Rinses spoons…",
            "the camera wearer rinses the spoons",
            "camera wearer",
            "rinse",
            "spoon",
            (None, None, None, None),
        ),
        (
            "#C C plugs the drill into the socket with his left hand",
            "the camera wearer plugs the drill into the socket with the left hand",
            "camera wearer",
            "plug",
            "drill",
            (None, "socket", "left hand", None),
        ),
        (
            "#O A lady Y washes a plate in the sink #unsure",
            "the woman washes the plate in the sink",
            "woman",
            "wash",
            "plate",
            (None, None, None, "sink"),
        ),
        (
            "#O A man X walks in the door.",
            "the man walks in the door",
            "man",
            "walk",
            "",
            (None, None, None, "door"),
        ),
        (
            "#C C puts down the cup on the table",
            "the camera wearer puts down the cup on the table",
            "camera wearer",
            "put",
            "cup",
            (None, "table", None, None),
        ),
        (
            "#C C carries scissors",
            "the camera wearer carries the scissors",
            "camera wearer",
            "carry",
            "scissors",
            (None, None, None, None),
        ),
    ],
)
def test_narrations_are_read_into_slots(text, rewritten, agent, action, canonical, slots):
    found = parse_narration(text, 0.0, 1.5)
    assert found is not None
    assert (found.rewritten, found.agent, found.action) == (rewritten, agent, action)
    assert found.patient_canonical == canonical
    assert slots == (
        found.patient_location,
        found.patient_destination,
        found.instrument,
        found.event_location,
    )


@pytest.mark.parametrize(
    "text", ["", "#unsure", "#C C", "#Summary C tidied up", "#O ", "#C C 3 7", "#O #unsure"]
)
def test_lines_without_an_event_are_none(text):
    assert parse_narration(text, 0.0, 1.5) is None
