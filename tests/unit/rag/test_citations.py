"""A citation must prove what it is cited for: which comes first, and which seconds it has."""

from dataclasses import replace

import pytest

from corpora.passages.chunking import chunk
from corpora.passages.document import PageStart, make_document
from corpora.records import Clip, Evidence, EvidenceKind, Passage
from localization.windows import Window
from rag.citations import citation_window, cite, nearest, place_of_text
from rag.reasoners.examples import sample_reading
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.reading import ReadWindow
from rag.records import PassageCitation, Question, VideoCitation, pages_with
from rag.retrieval import RetrievedClip, RetrievedPassage
from rag.retrieval.ranking import RelevantSpan

CUES = [
    (0.21, 4.26, "This is the telescope"),
    (4.26, 8.35, "in the largest cleanroom"),
    (8.35, 12.47, "at Goddard."),
]


def read(*texts: Evidence, at: tuple[float, float] = (0.0, 5.0)) -> ReadWindow:
    return ReadWindow("/f.mp4", "f", Clip("f:0", "f", 0.0, 30.0), Window("f", *at, 1.0), 1.0, texts)


def said(start: float, end: float, text: str, kind: EvidenceKind = "subtitle") -> Evidence:
    return Evidence("f", start, end, kind, text)


@pytest.mark.parametrize("at", [(0.0, 5.0), (6.0, 11.0), (20.0, 25.0)])
@pytest.mark.parametrize(
    ("quotation", "first", "last"),
    [
        ("in the largest cleanroom at Goddard.", 1, 2),
        ("telescope in the largest", 0, 1),
        ("cleanroom", 1, 1),
        ("THE  TELESCOPE in the largest cleanroom at", 0, 2),
    ],
)
def test_the_window_covers_whole_cues_wherever_in_them_the_words_are(
    at: tuple[float, float], quotation: str, first: int, last: int
) -> None:
    start, end = citation_window(read(*(said(*cue) for cue in CUES), at=at), [quotation])
    spoken = (CUES[first][0], CUES[last][1])
    assert start <= spoken[0]
    assert spoken[1] <= end
    assert end - start == pytest.approx(max(5.0, spoken[1] - spoken[0]))


def test_text_that_stays_on_the_screen_is_proven_by_part_of_it() -> None:
    window = read(said(6.0, 30.0, "TORQUE 110 Nm", "ocr"), at=(0.0, 5.0))
    start, end = citation_window(window, ["Torque 110 Nm"])
    assert start >= 6.0
    assert end - start == 5.0


def test_a_window_that_two_clips_have_at_their_border_is_cited_once() -> None:
    one = read(said(28.0, 32.0, "The mirror is gold."), at=(27.0, 32.0))
    other = replace(one, clip=Clip("f:1", "f", 30.0, 60.0))
    reading = replace(sample_reading(Question("q", "What is it?")), windows=(one, other), passages=())
    answer = OpenAnswer(text="The mirror is gold.", confidence=0.9, windows=(0, 1))
    (citation,) = cite(reading, answer)
    assert (citation.start, citation.end) == (27.0, 32.0)


def test_what_holds_the_quotation_comes_first() -> None:
    reading = sample_reading(Question("q", "What rusts?"))
    other, steel = reading.passages
    row = replace(steel, passage=replace(steel.passage, text="Steel | rusts"))
    reply = OpenAnswer(text=steel.passage.text, confidence=0.9, windows=(0,), passages=(0, 1))
    assert [one.path for one in cite(reading, reply)] == [steel.path, reading.windows[0].path, other.path]
    of_row = reply.model_copy(
        update={"text": "Metal Steel, rusts", "explanation": "Quoted from a row (“Steel | rusts”)."}
    )
    cited = cite(replace(reading, passages=(other, row)), of_row)
    assert [one.path for one in cited] == [steel.path, reading.windows[0].path, other.path]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("made of glass", ["videos/0.mp4", "texts/0.txt"]),
        ("a dog", ["videos/0.mp4", "videos/1.mp4", "texts/0.txt", "texts/1.txt"]),
        (" ", []),
    ],
    ids=["what holds its words", "else all", "no answer"],
)
def test_an_answer_that_names_nothing_cites_what_it_was_made_of(text: str, paths: list[str]) -> None:
    reading = sample_reading(Question("q", "What is it?"))
    assert [one.path for one in cite(reading, OpenAnswer(text=text, confidence=0.9))] == paths
    asked = sample_reading(Question("q", "What is it?", ("x", text)))
    chosen = ChosenOption(choice="B" if paths else None, confidence=0.9, windows=(9,))
    assert [one.path for one in cite(asked, chosen)] == paths


@pytest.mark.parametrize(
    ("quotations", "pages"),
    [
        (["The bolt takes 45 Nm."], (3,)),
        (["Wear gloves. Sharpen"], (2, 3)),
        (["Start here.", "The bolt takes 45 Nm."], (1, 3)),
        (["It is not there."], (1, 2, 3)),
    ],
)
def test_pages_are_those_of_what_is_quoted(quotations: list[str], pages: tuple[int, ...]) -> None:
    parts = ["Start here.", "Check the cap. Wear gloves.", "Sharpen it. The bolt takes 45 Nm."]
    text, starts = "", []
    for number, part in enumerate(parts, 1):
        starts.append(PageStart(len(text), number))
        text += f"{part}\n\n"
    document = make_document("Mower", text.strip(), pages=starts)
    assert document is not None
    (passage,) = chunk(document)
    assert pages_with(passage, quotations) == pages
    assert pages_with(replace(passage, page_starts=()), quotations) == (1, 2, 3)


@pytest.mark.parametrize(
    ("path", "pages", "place"),
    [
        ("/c/a.pdf", (3, 4, 5), "“It is dry.” on pages 3-5 of a.pdf"),
        ("/c/a.srt", (3724, 3729), "“It is dry.” at 1:02:04-1:02:09 of a.srt"),
        ("/c/a.srt", (125,), "“It is dry.” at 02:05 of a.srt"),
        ("/c/a.txt", (), "“It is dry.” in a.txt"),
    ],
)
def test_the_place_of_a_text_is_its_page_or_when_it_is_said(
    path: str, pages: tuple[int, ...], place: str
) -> None:
    cited = PassageCitation(path, "p", "", "It is dry.", 1.0, pages)
    assert place_of_text("It is dry.", cited) == place


def test_a_photograph_is_named_without_times() -> None:
    clip = Clip("f:0", "f", 0.0, 0.04)
    seen = RetrievedClip(clip, "/coffee.png", "f", 1.0, 0.2, 0.2, ())
    read = replace(
        seen, image_relevance=0.1, spans=(RelevantSpan(said(0.0, 0.04, "LIGHTHOUSE TOURS", "ocr"), 0.2),)
    )
    cited = VideoCitation("/coffee.png", "f", 0.0, 0.04, 1.0, ())
    assert nearest([seen]) == nearest([cited]) == "Nearest is coffee.png."
    assert nearest([read]) == "Nearest is “LIGHTHOUSE TOURS” in coffee.png."
    assert place_of_text("LIGHTHOUSE TOURS", cited) == "“LIGHTHOUSE TOURS” in coffee.png"


def test_of_a_clip_the_text_that_is_nearest_is_named_else_that_of_a_passage() -> None:
    passage = Passage("p", "d", "Loans", "Books are lent for weeks.", ())
    near = RetrievedPassage(passage, "/all.csv", 1.0, 0.1, nearest="Books are lent for weeks.")
    spans = (
        RelevantSpan(said(1.0, 3.0, "This is the telescope."), 0.1),
        RelevantSpan(said(4.0, 6.5, "It is gold."), 0.2),
    )
    spoken, seen = (
        RetrievedClip(Clip("f:0", "f", 0.0, 30.0), "/f.mp4", "f", 1.0, relevance, image, spans)
        for relevance, image in ((0.2, 0.1), (0.25, 0.25))
    )
    assert nearest([spoken, near]) == "Nearest is “It is gold.” at 4.0-6.5 s of f.mp4."
    where = "Nearest is 0.0-30.0 s of f.mp4"
    named = replace(spoken, path="/clip_014.mp4", spans=(RelevantSpan(said(0, 30, "clip 014", "tag"), 0.2),))
    assert nearest([named]) == "Nearest is 0.0-30.0 s of clip_014.mp4."
    assert nearest([seen, near]) == f"{where}."
    assert nearest([seen, replace(near, nearest="")]) == f"{where}."
