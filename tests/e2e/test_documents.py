"""Questions over a few documents and the bundled sentence encoder: other words, misspelled ones, scans."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfWriter

from rag import Library
from rag.indexing import index
from rag.records import SearchFilter
from rag.rendering.terminal import answer_lines, hit_lines
from rag.retrieval.ranking import MOST_JUDGED, judged_by_sentence
from rag.retrieval.spelling import respelled
from rag.settings import load_settings
from rag.store.reading import EVERYTHING
from tests.fakes.command import run_rag
from tests.fakes.documents import page_image, write_pdf, write_scans
from tests.fakes.library_dump import dump

CABIN = """# Lake cabin: notes for guests

The key is in the small box next to the woodshed; the combination is 7302. Turn on the main water valve
under the kitchen sink before anything else. In winter, leave the taps dripping at night so that the pipes
don't freeze. Firewood is stacked behind the sauna. Open the damper fully before you light the stove.

The rowing boat belongs to the neighbours, who let us use it until sunset. The nearest shop is in
Hallstavik, eleven kilometres away, and it shuts at six on weekdays and at three on Saturdays.
Rubbish is collected on Thursday mornings; carry the bins to the gate the evening before.
"""
ESPRESSO = """# Espressomaschine Barista 300

Spülen Sie den Wassertank mit frischem Wasser aus und füllen Sie ihn bis zur MAX-Markierung.
Mahlen Sie 18 Gramm Bohnen in das Doppelsieb. Drücken Sie das Kaffeemehl mit etwa 15 Kilogramm Kraft an.
Die Extraktion dauert 25 bis 30 Sekunden. Die Garantie beträgt drei Jahre ab Kaufdatum.
"""
MIRROR = "The mirror of the telescope is made of borosilicate glass."
TEXTS = {
    "cabin.md": CABIN,
    "espresso.md": ESPRESSO,
    "mirror.txt": MIRROR,
    "museum.md": "# Museum\n\nAn annual pass for the museum costs 45 EUR.\n",
    "boiler.md": "# Boiler\n\nThe guarantee of the boiler lasts five years.\n\n"
    "Daniel Osei is the compliance officer.\n",
    "water.md": "# Water\n\nThe water has 20 mg of nitrates, sulfate and propane.\n",
}
PARTS = ("pump", "cover", "filter", "belt", "valve", "lamp", "brake", "hose", "spring", "wheel")
LAST, ACROSS = 40, 31
"""A sentence begins on the page `ACROSS` and ends on the next one."""
FACTS = {
    7: "The torque of the wheel bolts is 110 Nm.",
    23: "The coolant is changed every four years.",
    LAST: "The warranty lasts thirty months.",
}
BOLTS = "What is the torque of the wheel bolts?"
OF_CABIN = SearchFilter(paths=("cabin.md", "espresso.md"))


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
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("documents")
    (made / "corpus").mkdir()
    for name, text in TEXTS.items():
        (made / "corpus" / name).write_text(text, encoding="utf-8")
    pages = [page(number) if number != 12 else "" for number in range(1, LAST + 1)]
    write_pdf(made / "corpus/manual.pdf", pages, title="Manual")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_OCR__MODE", "off")
        assert run_rag(made, "index", "corpus", "--library", "lib").returncode == 0
    return made


@pytest.fixture(scope="module")
def library(folder: Path) -> Iterator[Library]:
    with Library.open(folder / "lib") as opened:
        yield opened


def test_a_passage_is_as_relevant_as_its_sentence(library: Library) -> None:
    retriever, question = library.engine.new_retriever(), "What is the code for getting the key?"
    (found,) = retriever.find_passages(question, 1)
    (judged,) = judged_by_sentence([found], question, retriever.text_encoder)
    assert found.relevance < library.settings.search.threshold < judged.relevance
    assert "7302" in library.ask(question).text
    many = judged_by_sentence([found] * (MOST_JUDGED + 2), question, retriever.text_encoder)
    assert many == [judged, *[replace(judged, nearest="")] * (MOST_JUDGED - 1), found, found]


def test_a_refusal_quotes_the_nearest_sentences_with_their_places(library: Library) -> None:
    answer = library.ask("Who may borrow the dinghy?", where=OF_CABIN)
    assert not answer.matched
    boat = "The rowing boat belongs to the neighbours, who let us use it until sunset."
    assert f"Nearest come “{boat}” in cabin.md; “" in answer.explanation
    assert answer.citations == ()
    unknown = library.ask("Who painted the ceiling?", where=SearchFilter(paths=("manual.pdf",)))
    assert re.search(r"Nearest is “.+” on pages? [\d-]+ of manual\.pdf\.$", unknown.explanation)


def test_a_german_manual_answers_german_questions(library: Library) -> None:
    assert "15 Kilogramm" in library.ask("Wie fest drücke ich das Kaffeemehl an?").text
    assert "18 Gramm" in library.ask("Wie viel Gramm Bohnen brauche ich?").text


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("How much is an anual pass for the musem?", {"anual": "annual", "musem": "museum"}),
        ("How long is the gaurantee of the Boyler?", {"gaurantee": "guarantee", "boyler": "boiler"}),
        # Words that are spelled as others spell them, or that nothing in the library is like.
        ("How much is the router for the museums?", {}),
        ("How much is the bolr of the museum, and who is Guaran?", {}),
        ("How much is a triceratops for the museum?", {}),
        # Words of another meaning, both spelled right.
        ("How much nitrite or sulfite has the water, and how much propene?", {}),
        ("How much is the annualing of a guaranteeship for boilerwork?", {}),
        # In another language a word has forms that the library may not have.
        ("Darf ich in Musees ohne Boilers gehen?", {}),
    ],
)
def test_words_are_read_as_the_library_spells_them(
    library: Library, text: str, spelling: dict[str, str]
) -> None:
    assert respelled(text, library.engine.new_retriever(), EVERYTHING) == spelling


def test_a_misspelled_question_is_answered_and_says_so(folder: Path) -> None:
    asked = "who is the complience oficer"
    done = json.loads(run_rag(folder, "ask", asked, "--library", "lib").stdout)
    assert done["question"] == asked
    assert "Daniel Osei" in done["answer"]["text"]
    read = "“complience” was read as “compliance”. “oficer” was read as “officer”."
    assert done["answer"]["explanation"].endswith(read)


def test_an_answer_names_its_page(library: Library) -> None:
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
        assert cited.title == "Manual"
        assert cited.pages == pages  # of what is quoted: its passage holds about two of these short pages
        first, last = cited.pages[0], cited.pages[-1]
        name = f"pages {first}-{last}" if last > first else f"page {first}"
        assert any(line.startswith(f"[1] Manual, {name}  (") for line in answer_lines(answer))
        resolved = library.resolve(cited.passage_id)
        assert set(cited.pages) <= set(resolved.pages)
        assert len(resolved.pages) <= 3


def test_every_command_names_it(folder: Path, library: Library) -> None:
    (cited, *_) = json.loads(run_rag(folder, "ask", BOLTS, "--library", "lib").stdout)["citations"]
    (found, *_) = json.loads(run_rag(folder, "search", BOLTS, "--library", "lib").stdout)["results"]
    shown = json.loads(run_rag(folder, "show", cited["citation"], "--library", "lib").stdout)["citation"]
    assert cited["pages"] == [7]
    assert 7 in found["pages"]
    assert found["pages"] == shown["pages"]
    assert next(iter(hit_lines(library.search(BOLTS)))).startswith(" 1. Manual, page")


def test_no_page_number_is_encoded_or_searched(folder: Path) -> None:
    rows = [json.loads(line) for line in dump(folder / "lib") if '"table": "passages"' in line]
    rows = [row for row in rows if row["pages"]]
    assert len(rows) > 10
    assert not any("page" in row["words"].lower() for row in rows if 1 not in row["pages"])


def test_llamaindex_retrieves_a_passage_and_answers_with_its_source(library: Library) -> None:
    from rag.llamaindex import LibraryQueryEngine, LibraryRetriever  # two seconds in each of pytest's workers

    asked = "What is the mirror of the telescope made of?"
    best, *_ = LibraryRetriever(library, kind="passage", top_k=1).retrieve("a telescope's mirror")
    response = LibraryQueryEngine(library=library).query(asked)
    chosen = LibraryQueryEngine(library=library, options=("steel", "borosilicate glass")).query(asked)
    assert best.text == MIRROR
    assert best.metadata["path"].endswith("mirror.txt")
    assert "glass" in str(response)
    assert response.metadata["matched"]
    assert [node.metadata["path"].endswith("mirror.txt") for node in response.source_nodes] == [True]
    assert chosen.metadata["choice"] == "B"


PUMP = "The fuel pump\n\nThe fuel pump is behind the left cover.\nIt is removed with its seal."
ROWS = (
    "Part\tThread\tTorque",
    "Wheel bolts\tM12\t110 Nm",
    "Drain plug\tM14\t35 Nm",
    "Spark plug\tM10\t12 Nm",
)
TORQUES = "\n".join(["Tightening torques", "", *ROWS])


def write_manual(path: Path) -> None:
    """A page of text, a fax, a blank page and one that is turned."""
    blank = Image.new("L", (1654, 2339), 252)
    pages = ["Oil is filled in at the yellow cap.", page_image(PUMP).convert("1"), blank]
    writer = PdfWriter(clone_from=write_scans(path, [*pages, page_image(TORQUES).rotate(90, expand=True)]))
    writer.pages[3].rotation = 90
    writer.write(path)


def test_a_scanned_manual_is_asked(tmp_path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write_manual(corpus / "manual.pdf")
    settings = load_settings(
        flags={"library": tmp_path / "library", "encoder.image": "none", "ocr.mode": "on"}
    )
    report = index([corpus], settings=settings)
    assert (report.passages, report.problems) == (3, [])
    with Library.open(settings=settings) as library:
        for question, answer, page in (
            ("What is the torque of the wheel bolts?", "110 Nm", 4),
            ("Where is the fuel pump?", "behind the left cover", 2),
            ("Where is oil filled in?", "yellow cap", 1),
        ):
            found = library.ask(question)
            assert answer in found.text
            citation = found.citations[0]
            assert citation.path == str(corpus / "manual.pdf")
            assert (citation.title, citation.pages) == ("", (page,))
