"""A manual of many pages with a text layer: what is cited of it names the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rag import Library, PassageCitation
from rag.rendering.terminal import answer_lines, hit_lines
from tests.fakes.command import run_rag
from tests.fakes.documents import write_pdf
from tests.fakes.library_dump import dump

PARTS = ("pump", "cover", "filter", "belt", "valve", "lamp", "brake", "hose", "spring", "wheel")
LAST = 40
FACTS = {
    7: "The torque of the wheel bolts is 110 Nm.",
    23: "The coolant is changed every four years.",
    LAST: "The warranty lasts thirty months.",
}
ACROSS = 31
"""The page with the first half of a sentence, which ends on the next one."""
BOLTS = "What is the torque of the wheel bolts?"


def page(number: int) -> str:
    part = PARTS[number % len(PARTS)]
    lines = ["Service manual"]
    lines += [f"Step {number}.{n}: loosen the {part} and look at its seal." for n in range(1, 8)]
    lines += ["", FACTS[number]] if number in FACTS else []
    if number == ACROSS:
        lines += ["", "The tank of the emergency generator holds"]
    if number == ACROSS + 1:
        lines[1:1] = ["eighteen litres of fuel.", ""]
    return "\n".join([*lines, f"Page {number}"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("manual")
    (made / "corpus").mkdir()
    pages = [page(number) if number != 12 else "" for number in range(1, LAST + 1)]
    write_pdf(made / "corpus/manual.pdf", pages, title="Manual")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_OCR__MODE", "off")
        assert run_rag(made, "index", "corpus", "--library", "lib").returncode == 0
    return made


def test_an_answer_names_its_page(folder: Path) -> None:
    with Library.open(folder / "lib") as library:
        for question, said, pages in (
            (BOLTS, "110 Nm", (7,)),
            ("How often is the coolant changed?", "four years", (23,)),
            ("How long does the warranty last?", "thirty months", (LAST,)),
            (
                "How many litres of fuel does the emergency generator hold?",
                "generator holds eighteen",
                (ACROSS, ACROSS + 1),
            ),
        ):
            answer = library.ask(question)
            assert said in answer.text
            cited = answer.citations[0]
            assert isinstance(cited, PassageCitation)
            assert cited.title == "Manual"
            assert cited.pages == pages  # of what is quoted: its passage holds about two of these short pages
            first, last = cited.pages[0], cited.pages[-1]
            name = f"pages {first}-{last}" if last > first else f"page {first}"
            assert any(line.startswith(f"[1] Manual, {name}  (") for line in answer_lines(answer))
            resolved = library.resolve(cited.passage_id)
            assert isinstance(resolved, PassageCitation)
            assert set(cited.pages) <= set(resolved.pages)
            assert len(resolved.pages) <= 3


def test_every_command_names_it(folder: Path) -> None:
    (cited, *_) = json.loads(run_rag(folder, "ask", BOLTS, "--library", "lib").stdout)["citations"]
    (found, *_) = json.loads(run_rag(folder, "search", BOLTS, "--library", "lib").stdout)["results"]
    shown = json.loads(run_rag(folder, "show", cited["citation"], "--library", "lib").stdout)["citation"]
    assert cited["pages"] == [7]
    assert 7 in found["pages"]
    assert found["pages"] == shown["pages"]
    with Library.open(folder / "lib") as library:
        lines = list(hit_lines(library.search(BOLTS)))
        assert lines[0].startswith(" 1. Manual, page")
    nearest = json.loads(run_rag(folder, "ask", "Who painted the ceiling?", "--library", "lib").stdout)
    assert re.search(r"Nearest is “.+” on pages? [\d-]+ of manual\.pdf\.$", nearest["answer"]["explanation"])


def test_no_page_number_is_encoded_or_searched(folder: Path) -> None:
    rows = [json.loads(line) for line in dump(folder / "lib") if '"table": "passages"' in line]
    assert len(rows) > 10
    assert not any("page" in row["words"].lower() for row in rows if 1 not in row["pages"])
