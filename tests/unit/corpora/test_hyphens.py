"""Words that a line end has cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.passages import Document, read_documents
from corpora.passages.document import PageStart
from corpora.passages.hyphens import join_words
from tests.fakes.documents import write_pdf


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("The tempera-\nture rises.", "The temperature\nrises."),
        ("a two-\nhour drive", "a two-hour\ndrive"),
        ("Der Kugel-\nschreiber liegt da.", "Der Kugelschreiber\nliegt da."),
        ("Die Tempe\u2010\n  ratur.", "Die Temperatur."),
        ("TEMPERA-\nTURE", "TEMPERATURE"),
        ("the Anglo-\nSaxon house", "the Anglo-Saxon\nhouse"),
        ("a mother-in-\nlaw", "a mother-in-law"),
        ("The wheelbarrow: a wheel-\nbarrow.", "The wheelbarrow: a wheelbarrow."),
        ("An e-mail: e-\nmail it.", "An e-mail: e-mail\nit."),
        ("fore-\nand aft", "fore-\nand aft"),
        ("He said -\nthen he left, 10-\n20 of them.", "He said -\nthen he left, 10-\n20 of them."),
        ("a-b\nc - d", "a-b\nc - d"),
    ],
)
def test_a_cut_word_is_whole_and_a_hyphen_of_its_own_stays(text: str, joined: str) -> None:
    assert join_words(text)[0] == joined


def test_words_cut_in_files_of_text_and_pdf_are_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Below this tempera-\r\nture the two-\r\nhour test ends.\r\n")
    lines = "Below this tempera-\nture the two-\nhour test en-"
    write_pdf(tmp_path / "b.pdf", [lines, "ergizes the pump."])
    for path in tmp_path.iterdir():
        (document,) = read_documents(path)
        assert isinstance(document, Document)
        assert document.text.startswith("Below this temperature\nthe two-hour\ntest en")
    (document,) = read_documents(tmp_path / "b.pdf")
    assert isinstance(document, Document)
    assert document.text.endswith("energizes\nthe pump.")
    assert document.pages == (PageStart(0, 1), PageStart(document.text.index("ergizes"), 2))
