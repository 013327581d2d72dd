"""Spreadsheets, and CSV files without a column of text, as rows under their heads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from corpora.passages import Document, read_documents, read_passages, spreadsheets
from corpora.passages.spreadsheets import table_documents
from corpora.records import Problem
from rag.errors import DamagedFile, UnsupportedFile
from tests.fakes.documents import ods_parts, write_zip, xlsx_parts, xlsx_rows


def found(path: Path) -> list[tuple[str, list[str]]]:
    documents = [each for each in read_documents(path) if isinstance(each, Document)]
    return [(each.title, each.text.split("\n")) for each in documents]


def test_sheets_of_excel_have_dates_results_and_names(tmp_path: Path) -> None:
    parts = xlsx_parts(
        Costs=xlsx_rows(
            ("Budget of the workshop",),
            ("Item", "EUR", "Paid", "Sum"),
            ("Bolt | M8", 3.2, "<v>45356</v>", "<f>B3*2</f><v>6.4</v>"),
            ("Oil", 12, "", "<v>45356.5</v>"),
        ),
        Staff=xlsx_rows(("Name", "Phone"), ("Anna", "0800 1234")),
    )
    assert found(write_zip(tmp_path / "a.xlsx", parts)) == [
        (
            "Costs",
            [
                *("Budget of the workshop", "", "| Item | EUR | Paid | Sum |", "|-|-|-|-|"),
                "| Bolt \\| M8 | 3.2 | 2024-03-05 | 1900-01-06 09:36:00 |",
                "| Oil | 12 | | 2024-03-05 12:00:00 |",
            ],
        ),
        ("Staff", ["| Name | Phone |", "|-|-|", "| Anna | 0800 1234 |"]),
    ]


def test_a_sheet_of_opendocument(tmp_path: Path) -> None:
    cell = "<table:table-cell {}><text:p>{}</text:p></table:table-cell>"
    kinds = {
        "string": 'office:value-type="string"',
        "float": 'office:value-type="float" office:value="{}"',
        "date": 'office:value-type="date" office:date-value="2024-03-05"',
    }
    rows = "".join(
        f"<table:table-row>{''.join(cells)}</table:table-row>"
        for cells in (
            [cell.format(kinds["string"], text) for text in ("Item", "EUR", "Paid")],
            [
                cell.format(kinds["string"], "Bolt"),
                cell.format(kinds["float"].format(3.2), "3,20"),
                cell.format(kinds["date"], "05.03.24"),
            ],
        )
    )
    path = write_zip(tmp_path / "a.ods", ods_parts(rows))
    assert found(path) == [("", ["| Item | EUR | Paid |", "|-|-|-|", "| Bolt | 3.2 | 2024-03-05 |"])]


@pytest.mark.parametrize(("suffix", "mark"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_a_table_without_a_column_of_text(tmp_path: Path, suffix: str, mark: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text("\n".join(mark.join(cells) for cells in (["Item", "EUR"], ["Bolt", "3"], [], ["Oil"])))
    assert found(path) == [("", ["| Item | EUR |", "|-|-|", "| Bolt | 3 |", "| Oil | |"])]


def test_questions_and_answers_are_one_table(tmp_path: Path) -> None:
    path = tmp_path / "faq.csv"
    path.write_text('question,answer\n"Why, then?","Because\nof rain."\n')
    assert found(path) == [("", ["| question | answer |", "|-|-|", "| Why, then? | Because of rain. |"])]


def test_a_first_row_of_data_names_no_columns() -> None:
    (document,) = table_documents("", [["1", "Anna"], ["2", "Ben"]])
    assert document.text == "| 1 | Anna |\n| 2 | Ben |"


def test_a_far_cell_without_a_value_makes_no_sheet_large(tmp_path: Path) -> None:
    rows = xlsx_rows(("Item", "EUR"), ("Bolt", 3)) + '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    (sheet,) = found(write_zip(tmp_path / "a.xlsx", xlsx_parts(S=rows)))
    assert sheet[1] == ["| Item | EUR |", "|-|-|", "| Bolt | 3 |"]


@pytest.mark.parametrize("empty", ["", '<row r="9"><c r="XFD9" s="1"/></row>'], ids=["no cells", "formatted"])
def test_a_sheet_without_values_takes_nothing_from_the_others(tmp_path: Path, empty: str) -> None:
    full = xlsx_rows(("Item", "EUR"), ("Bolt", 3))
    sheets = found(write_zip(tmp_path / "a.xlsx", xlsx_parts(S=full, T=empty)))
    assert sheets == [("S", ["| Item | EUR |", "|-|-|", "| Bolt | 3 |"])]


def test_a_table_of_many_columns_is_read_in_groups_of_them(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    names = [f"Question {at}" for at in range(3000)]
    path.write_text(f"Name,{','.join(names)}\n" + f"Anna,{','.join(f'yes {at}' for at in range(3000))}\n")
    passages = [each.text for each in read_passages(path) if not isinstance(each, Problem)]
    assert all(text.startswith("| Name | Question") and "\n| Anna | yes" in text for text in passages)
    assert {cell for text in passages for cell in re.findall(r"Question \d+", text)} == set(names)


@pytest.mark.parametrize(
    "rows", ["frame,label\n0,1\n1,0\n", "0.1;2e-5;nan\n3;4;5\n", "file,score\nimg_001.png,0.5\nb/c-2.jpg,1\n"]
)
def test_a_table_of_numbers_alone_is_left_out(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(rows)
    with pytest.raises(UnsupportedFile, match="a table of numbers alone, left out; save it as XLSX"):
        found(path)


def test_each_passage_of_a_long_table_has_its_heads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheets, "PIECE", 3000)
    path = tmp_path / "a.csv"
    path.write_text("Item,EUR\n" + "".join(f"Bolt of size {at},{at}\n" for at in range(300)))
    assert len(found(path)) > 1
    passages = [each for each in read_passages(path) if not isinstance(each, Problem)]
    assert all(each.text.startswith("| Item | EUR |\n|-|-|\n| Bolt") for each in passages)
    assert sum(each.text.count("| Bolt") for each in passages) >= 300


def test_a_file_that_is_no_spreadsheet_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(DamagedFile, match=r"a\.xlsx: cannot be read"):
        found(tmp_path / "a.xlsx")
