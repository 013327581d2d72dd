"""Whatever a narration says, its structure can be asked about or is none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eval.tasks.egofact.construction.narrations import parse_narration
from eval.tasks.egofact.construction.questions import asked_clause

WORDS = st.sampled_from(
    [
        *("#C", "#O", "#unsure", "C", "wearer", "A", "man", "X", "lady", "the", "a", "picks", "puts"),
        *("washes", "up", "down", "on", "in", "from", "with", "into", "his", "her", "left", "hand"),
        *("table", "cup", "spoons", "knives", "glass", ",", ".", "...", "3", "ü"),
    ]
)


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_a_structure_is_one_tidy_sentence(text):
    found = parse_narration(text, 0.0, 1.5)
    if found is None:
        return
    assert found.rewritten == " ".join(found.rewritten.split())
    assert found.rewritten.startswith(f"the {found.agent} ")
    assert bool(found.patient) == bool(found.patient_canonical)
    assert found.patient in found.rewritten
    clause = asked_clause(found)
    if clause is not None:
        assert clause == " ".join(clause.split())


@given(st.text(max_size=60))
def test_no_text_breaks_it(text):
    found = parse_narration(text, 0.0, 1.5)
    assert found is None or (found.start, found.end) == (0.0, 1.5)
