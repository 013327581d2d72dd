"""Pages as they are laid out."""

import re
from collections.abc import Sequence
from itertools import chain

import pytest

from corpora.passages.page_layout import RecognizedPage, TextLine, joined, page_text, page_texts


def pieces(page: str, stream: str = "") -> list[TextLine]:
    """The words of a page between wide blanks, in letters of 10 x 16 points, in the order of `stream`."""
    found = [
        TextLine(match.start() * 10, row * 24, match.end() * 10, row * 24 + 16, match[0])
        for row, line in enumerate(page.split("\n"))
        for match in re.finditer(r"\S+(?: {1,2}\S+)*", line)
    ]
    return sorted(found, key=lambda piece: stream.find(piece.text)) if stream else found


def laid_out(page: str, stream: str = "") -> str:
    return page_text(pieces(page, stream)).strip()


def _lines(page: str) -> list[str]:
    return [line for line in laid_out(page).split("\n") if line]


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        (
            "  Flow     Head     Power\n l/min        m         W\n    10     32.5       180\n"
            "   120     8.25     1,250",
            [
                *("| Flow | Head | Power |", "|-|-|-|", "| l/min | m | W |", "| 10 | 32.5 | 180 |"),
                "| 120 | 8.25 | 1,250 |",
            ],
        ),
        (
            "Colour    Red\nWeight    25 kg\nHeight    1 | 2 m",
            ["| Colour | Red |", "| Weight | 25 kg |", "| Height | 1 \\| 2 m |"],
        ),
        (
            "Code     Cause\n\nE10      The tank is\nwater    empty.\n\nE11      It is hot.\n\n"
            "E12      The lid is\n         open.\n\nNever\nopen\nit.",
            [
                *("| Code | Cause |", "| E10 water | The tank is empty. |"),
                *("| E11 | It is hot. |", "| E12 | The lid is open. |"),
                *("Never", "open", "it."),
            ],
        ),
        (
            "A    1\nB    2\nC    3\n\nNext chapter\n\nIt begins here.",
            ["| A | 1 |", "| B | 2 |", "| C | 3 |", "Next chapter", "It begins here."],
        ),
        ("1 Safety . . . . . . . . 4\nText.", ["1 Safety 4", "Text."]),
        *(
            (
                f"{mark}     Open the lid.\n{mark}     Fill the tank to\n       its mark.\n{mark}     End.",
                [f"{mark} Open the lid.", f"{mark} Fill the tank to its mark.", f"{mark} End."],
            )
            for mark in ("•", "-", "1.", "(a)")
        ),
    ],
)
def test_columns_are_rows_and_the_marks_of_a_list_are_none(page: str, lines: list[str]) -> None:
    assert _lines(page) == lines


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


def test_running_heads_and_feet_are_left_out_and_sentences_go_on() -> None:
    pages = [
        *("Pump P-30\n\nFill it before\n\nPage 1 of 4", "Pump P-30\n\nthe first use.\n\nPage 2 of 4"),
        *("Pump P-30\n\nPump P-30\nis quiet.\n\nPage 3 of 4", "\n"),
    ]
    assert joined(pages)[0] == "Pump P-30\n\nFill it before\nthe first use.\n\nis quiet."


def test_of_what_ends_many_pages_the_last_stays_but_for_the_page_number() -> None:
    pages = [f"Chapter of {name}.\n\nCall 0800 1234\n\nPump manual {at}" for at, name in enumerate("abc", 3)]
    assert joined(pages)[0] == "\n\n".join(f"Chapter of {name}.\n\nCall 0800 1234" for name in "abc")
    pages = [f"Chapter of {name}.\n\nCall 0800 1234" for name in "abc"]
    assert joined(pages)[0] == "Chapter of a.\n\nChapter of b.\n\nChapter of c.\n\nCall 0800 1234"


@pytest.mark.parametrize(
    "pages",
    [
        [f"| E{at} | Part {at} |\n| F{at} | Part {at + 1} |" for at in range(4)],
        [f"Day {at}: {at * at} km\n\nWalk to town {'abcd'[at]}." for at in range(4)],
        [f"Step {at}\n\nPress button {'abcd'[at]}." for at in range(4)],
    ],
)
def test_what_differs_by_more_than_the_number_of_the_page_is_kept(pages: list[str]) -> None:
    assert joined(pages)[0] == "\n\n".join(pages)


def test_a_line_that_goes_on_is_of_the_paragraph_before_it() -> None:
    text = "The pump is filled with oil\nof the grade that its plate\n\nnames.\nIt runs.\n\nDrain it."
    assert laid_out(text) == text.replace("plate\n\n", "plate\n")


@pytest.mark.parametrize(
    ("page", "stream"),
    [
        # A box beside the text.
        (
            "Tip            The pump is filled with water before its\n"
            "Keep water     first use, because running it dry damages\n"
            "near.          the seal of the motor within a few seconds.",
            "The pump is filled with water before its first use, because running it dry damages "
            "the seal of the motor within a few seconds. Tip Keep water near.",
        ),
        # Names of rows at the bottom of their cells.
        (
            "Code    Cause\n        The tank is empty or the pump has\nE1      lost its water.\n"
            "        The outlet is closed or the hose is\nE2      too long.",
            "Code Cause E1 The tank is empty or the pump has lost its water. "
            "E2 The outlet is closed or the hose is too long.",
        ),
        # The last lines of a second column.
        (
            "The pump is filled with water before     the seal of the motor in seconds.\n"
            "its first use, because dryness harms",
            "The pump is filled with water before its first use, because dryness harms "
            "the seal of the motor in seconds.",
        ),
    ],
)
def test_what_comes_column_by_column_is_not_read_across(page: str, stream: str) -> None:
    assert laid_out(page, stream).split("\n") == [piece.text for piece in pieces(page, stream)]


@pytest.mark.parametrize("between", [" ", "\n"])
def test_a_table_that_comes_row_by_row_is_one(between: str) -> None:
    rows = [(f"E{at}", f"The tank number {at} is empty or leaks a lot.") for at in range(3)]
    stream = between.join(between.join(row) for row in rows)
    page = "\n".join("     ".join(row) for row in rows)
    assert laid_out(page, stream).strip() == "\n".join(f"| {code} | {text} |" for code, text in rows)


def test_pages_of_one_line_each_are_kept() -> None:
    assert joined(["Step 1", "Step 2", "Step 3"]) == ("Step 1\n\nStep 2\n\nStep 3", [0, 8, 16])


def test_a_form_whose_labels_come_first_is_read_across() -> None:
    labels = ("Name", "Address", "Work")
    texts = ("Anna Smith", "12 High Street, York, North Yorkshire", "Engineer for pumps and their valves")
    page = "\n".join(f"{label:12}{text}" for label, text in zip(labels, texts, strict=True))
    rows = [f"| {label} | {text} |" for label, text in zip(labels, texts, strict=True)]
    assert laid_out(page, "\n".join([*labels, *texts])).strip().split("\n") == rows


def test_more_columns_than_a_page_has_are_no_table() -> None:
    line = "x    " * 300
    assert laid_out("\n".join([line] * 3)) == "\n".join([" ".join(["x"] * 300)] * 3)


# What OCR finds, in whatever order.


def line(text: str, left: float, row: float) -> TextLine:
    """In letters of 10 x 16 pixels, on rows of 24."""
    return TextLine(left, row * 24, left + 10 * len(text), row * 24 + 16, text)


def text_of(*lines: TextLine) -> str:
    """Whatever order they are found in."""
    orders = (lines, lines[::-1], (*lines[::2], *lines[1::2]))
    texts = {tuple(page_texts([RecognizedPage(1, order)])) for order in orders}
    ((_, text),) = texts.pop()
    assert not texts
    return text


def test_lines_from_top_to_bottom_and_pieces_of_a_line_together() -> None:
    second = [line("never on", 100, 1), line("a hot engine.", 195, 1.1)]
    assert text_of(line("Fill the tank,", 100, 0), *second) == "Fill the tank,\nnever on a hot engine."


def test_a_wider_space_begins_a_paragraph() -> None:
    found = [line(f"Line {row}.", 100, row) for row in (0, 1, 2, 4, 5, 6)]
    assert text_of(*found) == "Line 0.\nLine 1.\nLine 2.\n\nLine 4.\nLine 5.\nLine 6."


def columns(starts: Sequence[float], first: int, last: int) -> list[list[TextLine]]:
    return [
        [
            line(f"column {at} has a line with the number {row}", left, row + at * 0.4)
            for row in range(first, last)
        ]
        for at, left in enumerate(starts)
    ]


def test_a_heading_across_columns_parts_them() -> None:
    head = line("The whole of the fuel system and how it is to be cleaned and tested", 150, 0)
    middle = line("The whole of the brakes and how they are to be bled and then tested", 150, 9)
    above, below = columns((100, 600), 1, 8), columns((100, 600), 10, 17)
    found = [head, *chain(*above), middle, *chain(*below)]
    assert text_of(*found).split("\n") == [each.text for each in found]


def test_blank_pages_have_no_text() -> None:
    pages = [RecognizedPage(number, tuple(lines)) for number, lines in ((1, []), (2, [line("Text.", 0, 0)]))]
    assert page_texts(pages) == [(2, "Text.")]
    assert page_texts([]) == []
