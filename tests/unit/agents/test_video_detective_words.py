"""An open answer of VideoDetective: whole sentences, and evidence by the kind it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from corpora.records import Evidence
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.evidence import pack_citations, read_packs, texts_of
from rag.agents.video_detective.features import VideoFeatures
from rag.agents.video_detective.records import DetectiveSettings, Pack, Words
from rag.citations import quoted_texts
from rag.library import Library
from rag.reasoners.roles.answer_choice import ChosenOption
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.records import Question, VideoCitation
from tests.fakes.detective_world import open_world

CUES = tuple(
    Evidence("v", start, start + 2.0, "subtitle", text)
    for start, text in (
        (10.0, "Good morning."),
        (12.0, "Before you close the lid,"),
        (14.5, "wipe the rim with a dry"),
        (17.0, "cloth so that it seals."),
        (19.5, "Then let it rest."),
        (40.0, "Far away."),
    )
)
SCREEN = Evidence("v", 15.0, 16.0, "ocr", "STEP 3")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_world(tmp_path_factory.mktemp("words")) as opened:
        yield opened


@pytest.fixture(scope="module")
def material(library: Library) -> VideoFeatures:
    return replace(VideoDetective(library).features("workshop"), texts=(*CUES, SCREEN))


def pack(start: float, end: float, kind: str = "subtitle", text: str = CUES[2].text) -> Pack:
    source = "caption" if kind == "caption" else "asr"
    words = Words(text, source, kind, 0.5, "question", start, end)  # type: ignore[arg-type]  # by name
    return Pack(0, start, end, (start,), words, 0.5, True)


def test_a_sentence_is_whole_where_the_pack_cuts_it(material: VideoFeatures) -> None:
    held = texts_of(material, pack(14.5, 16.0))
    assert [text.text for text in held if text.kind == "subtitle"] == [cue.text for cue in CUES[1:4]]


def test_what_is_said_and_read_keeps_its_kind_beside_a_caption(material: VideoFeatures) -> None:
    held = texts_of(material, pack(14.5, 16.0, "caption", "Seems to show a jar."))
    assert {text.kind for text in held} == {"subtitle", "ocr", "caption"}
    assert [text.text for text in held if text.kind == "caption"] == ["Seems to show a jar."]
    assert texts_of(material, replace(pack(14.5, 16.0), words=None)) == ()


def test_speech_without_stops_is_not_followed(material: VideoFeatures) -> None:
    many = tuple(Evidence("v", 3.0 * at, 3.0 * at + 2, "asr", f"line {at} and") for at in range(100))
    held = texts_of(replace(material, texts=many), pack(150.0, 160.0, "asr"))
    assert [text.start for text in held] == [150.0, 153.0, 156.0, 159.0]


def test_a_long_pack_keeps_texts_near_its_best_line(material: VideoFeatures) -> None:
    many = tuple(Evidence("v", 3.0 * at, 3.0 * at + 2, "asr", f"Line {at}.") for at in range(100))
    best = replace(pack(0.0, 300.0), words=Words("Line 50.", "asr", "asr", 0.5, "question", 150.0, 152.0))
    held = texts_of(replace(material, texts=many), best)
    assert len(held) == 32
    assert Evidence("v", 150.0, 152.0, "asr", "Line 50.") in held


def test_an_answer_is_cited_by_what_it_quotes() -> None:
    answer = "Before you close the lid, wipe the rim with a dry cloth so that it seals."
    assert quoted_texts([answer], (*CUES, SCREEN)) == CUES[1:4]
    assert quoted_texts(["Something else.", ""], CUES) == ()


def test_of_a_pack_that_is_the_whole_video_the_quotation_is_cited(material: VideoFeatures) -> None:
    whole = replace(pack(0.0, 45.0), words=Words(CUES[4].text, "asr", "subtitle", 0.5, "q", 19.5, 21.5))

    def span(reply: ChosenOption | OpenAnswer, *options: str) -> tuple[float, float]:
        asked = Question("q", "What?", options)
        reading = read_packs(asked, material, [whole], "a jar", None, must_choose=False)
        (cited,) = pack_citations(reading, reply)
        return cited.start, cited.end

    assert span(OpenAnswer(text=CUES[4].text, confidence=0.5, explanation="", windows=(0,))) == (19.5, 21.5)
    assert span(OpenAnswer(text="A jar.", confidence=0.5, explanation="", windows=(0,))) == (0.0, 45.0)
    for explanation, expected in (
        (f"A is nearest to what the video says: “{CUES[4].text}”.", (19.5, 21.5)),
        ("The frames fit it best.", (0.0, 45.0)),
    ):
        choice = ChosenOption(choice="A", confidence=0.5, explanation=explanation, windows=(0,))
        assert span(choice, "rest", "wipe") == expected


def test_a_citation_reaches_the_lines_that_it_quotes(library: Library, material: VideoFeatures) -> None:
    """Of a sentence that the pack cuts; and where one segment has several packs of even frames."""
    reading = read_packs(
        Question("q", "What?"), material, [pack(14.5, 16.0)], "a jar", None, must_choose=False
    )
    said = OpenAnswer(
        text=" ".join(cue.text for cue in CUES[1:4]), confidence=0.5, explanation="", windows=(0,)
    )
    (cited,) = pack_citations(reading, said)
    assert (cited.start, cited.end, cited.evidence) == (12.0, 19.0, CUES[1:4])
    even = DetectiveSettings(sampling="uniform", frames_per_node=2)
    found = VideoDetective(library, even).investigate("workshop", Question("q", "Which?", ("a", "b")))
    packs = found.selected.packs
    assert [one.end for one in packs[:-1]] == [one.start for one in packs[1:]]
    assert len({one.node for one in packs}) < len(packs)
    assert all(one.words.start < one.end and one.words.end > one.start for one in packs if one.words)


def test_a_window_ends_with_the_video(material: VideoFeatures) -> None:
    end = material.video.duration
    packs = [pack(end - 2.0, end + 0.9), pack(0.0, 2.0)]
    reading = read_packs(Question("q", "What?"), material, packs, "a jar", None, must_choose=False)
    assert [(read.window.start, read.window.end) for read in reading.windows] == [
        (end - 2.0, end),
        (0.0, 2.0),
    ]


def test_an_open_answer_quotes_speech_and_says_so(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = VideoDetective(library)
    video = agent.features("workshop")
    spoken = tuple(replace(text, kind="subtitle", text=f"{text.text}.") for text in video.texts)
    monkeypatch.setattr(agent, "features", lambda _: replace(video, texts=spoken))
    found = agent.investigate("workshop", Question("q", "Which part is the kettle of?"))
    assert found.answer.text in {text.text for text in spoken}
    assert "the subtitles" in found.answer.explanation
    cited = [one for one in found.answer.citations if isinstance(one, VideoCitation)]
    assert cited
    assert {text.kind for one in cited for text in one.evidence} == {"subtitle"}


def test_evidence_of_a_look_keeps_its_kind(library: Library) -> None:
    found = VideoDetective(library).investigate("workshop", Question("q", "Which part is the kettle of?"))
    kinds = {look.words.kind for look in found.looks if look.words is not None}
    assert kinds <= {"asr", "subtitle", "ocr", "caption"}
    assert kinds
