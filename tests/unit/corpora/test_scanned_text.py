"""Lines that OCR found on pages, in the order of reading."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from corpora.passages.page_layout import RecognizedPage, TextLine, page_texts


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


def page_of(number: int, *texts: str) -> RecognizedPage:
    return RecognizedPage(number, tuple(line(text, 100, row) for row, text in enumerate(texts)))


def test_lines_from_top_to_bottom_and_pieces_of_a_line_together() -> None:
    second = [line("never on", 100, 1), line("a hot engine.", 195, 1.1)]
    assert text_of(line("Fill the tank,", 100, 0), *second) == "Fill the tank,\nnever on a hot engine."


def test_a_wider_space_begins_a_paragraph() -> None:
    found = [line(f"Line {row}.", 100, row) for row in (0, 1, 2, 4, 5, 6)]
    assert text_of(*found) == "Line 0.\nLine 1.\nLine 2.\n\nLine 4.\nLine 5.\nLine 6."


def test_a_table_is_read_by_rows() -> None:
    rows = [("Part", "Thread", "Torque"), ("Wheel bolts", "M12", "110 Nm"), ("Drain plug", "M14", "35 Nm")]
    rows.append(("Cylinder head bolts", "M10", "40 Nm"))
    cells = [
        line(cell, left, row)
        for row, own in enumerate(rows)
        for cell, left in zip(own, (100, 400, 600), strict=True)
    ]
    assert text_of(*cells).split("\n") == [
        *("| Part | Thread | Torque |", "|-|-|-|"),
        "| Wheel bolts | M12 | 110 Nm |",
        "| Drain plug | M14 | 35 Nm |",
        "| Cylinder head bolts | M10 | 40 Nm |",
    ]


def columns(starts: Sequence[float], first: int, last: int, shift: float = 0) -> list[list[TextLine]]:
    return [
        [
            line(f"column {at} has a line with the number {row}", left, row + at * shift)
            for row in range(first, last)
        ]
        for at, left in enumerate(starts)
    ]


def test_columns_of_prose_are_read_one_after_the_other() -> None:
    for shift in (0.0, 0.4):
        left, right = columns((100, 600), 0, 8, shift)
        assert text_of(*left, *right).split("\n") == [each.text for each in (*left, *right)]
    three = columns((100, 600, 1100), 0, 8)
    assert text_of(*chain(*three)).split("\n") == [each.text for own in three for each in own]


def test_a_heading_across_columns_parts_them() -> None:
    head = line("The whole of the fuel system and how it is to be cleaned and tested", 150, 0)
    middle = line("The whole of the brakes and how they are to be bled and then tested", 150, 9)
    above, below = columns((100, 600), 1, 8), columns((100, 600), 10, 17)
    found = [head, *chain(*above), middle, *chain(*below)]
    assert text_of(*found).split("\n") == [each.text for each in found]


def test_running_heads_and_page_numbers_stay_once() -> None:
    pages = [page_of(n, "Workshop manual", f"Step {n} is done by hand.", str(n)) for n in range(1, 7)]
    texts = page_texts(pages)
    assert texts[0] == (1, "Workshop manual\nStep 1 is done by hand.")
    assert texts[3] == (4, "Step 4 is done by hand.")


def test_blank_pages_have_no_text() -> None:
    assert page_texts([RecognizedPage(1, ()), page_of(2, "Text."), RecognizedPage(3, ())]) == [(2, "Text.")]
    assert page_texts([]) == []
