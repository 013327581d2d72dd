"""Pages as they are laid out."""

from __future__ import annotations

import pytest

from corpora.passages.page_layout import ColumnsOfProse, joined, laid_out


def _lines(page: str) -> list[str]:
    return [line for line in laid_out(page).split("\n") if line]


def test_numbers_on_the_right_stand_below_their_heads() -> None:
    lines = ["  Flow     Head     Power", " l/min        m         W", "    10     32.5       180"]
    page = "\n".join([*lines, "   120     8.25     1,250"])
    rows = ["| Flow | Head | Power |", "|-|-|-|", "| l/min | m | W |", "| 10 | 32.5 | 180 |"]
    assert _lines(page) == [*rows, "| 120 | 8.25 | 1,250 |"]


def test_a_list_of_two_columns_has_no_heads() -> None:
    assert _lines("Colour    Red\nWeight    25 kg\nHeight    1 | 2 m") == [
        *("| Colour | Red |", "| Weight | 25 kg |", "| Height | 1 \\| 2 m |")
    ]


@pytest.mark.parametrize("mark", ["•", "-", "1.", "(a)"])
def test_the_marks_of_a_list_are_no_column(mark: str) -> None:
    page = f"{mark}     Open the lid.\n{mark}     Fill the tank up to\n       its mark.\n{mark}     Close it."
    assert _lines(page) == [
        f"{mark} Open the lid.",
        f"{mark} Fill the tank up to its mark.",
        f"{mark} Close it.",
    ]


def test_rows_with_blank_lines_between_them_have_cells_of_several_lines() -> None:
    page = (
        "Code     Cause\n\nE10      The tank is\nwater    empty.\n\nE11      It is hot.\n\n"
        "E12      The lid is\n         open."
    )
    assert _lines(page) == [
        *("| Code | Cause |", "| E10 water | The tank is empty. |"),
        *("| E11 | It is hot. |", "| E12 | The lid is open. |"),
    ]


@pytest.mark.parametrize(
    "page",
    [
        "The   notation   to   access   the   type\nof  the  above  definition   is   a   name.",
        "Name    Anna\nNever open the lid while the machine is hot.\nAge    31",
        "value1    INTEGER\nvalue2    BOOLEAN",
    ],
)
def test_a_gap_by_chance_makes_no_table(page: str) -> None:
    assert _lines(page) == [" ".join(line.split()) for line in page.split("\n")]


def test_what_follows_a_table_is_no_row_of_it() -> None:
    page = "A    1\nB    2\nC    3\n\nNext chapter\n\nIt begins here."
    assert _lines(page)[2:] == ["| C | 3 |", "Next chapter", "It begins here."]


def test_prose_in_columns_is_refused() -> None:
    line = "the machine is cleaned with warm water"
    with pytest.raises(ColumnsOfProse):
        laid_out("\n".join(f"{line}     {line}" for _ in range(4)))


def test_dots_lead_to_the_number_of_a_page() -> None:
    assert _lines("1 Safety . . . . . . . . 4\nText.") == ["1 Safety 4", "Text."]


def test_running_heads_and_feet_are_left_out_and_sentences_go_on() -> None:
    pages = [
        *("Pump P-30\n\nFill it before\n\nPage 1 of 4", "Pump P-30\n\nthe first use.\n\nPage 2 of 4"),
        *("Pump P-30\n\nPump P-30\nis quiet.\n\nPage 3 of 4", "\n"),
    ]
    assert joined(pages) == "Fill it before\nthe first use.\n\nis quiet."


def test_pages_of_one_line_each_are_kept() -> None:
    assert joined(["Step 1", "Step 2", "Step 3"]) == "Step 1\n\nStep 2\n\nStep 3"
