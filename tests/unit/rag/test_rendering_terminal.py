"""What leaves the program: for a person safe, quoted and fitting its width; as JSON key by key."""

import dataclasses
import json
import math
import shlex
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.escaping import visible
from corpora.records import Clip, Evidence, Passage, Problem
from rag._cli.progress import open_progress
from rag.citations import nearest
from rag.records import (
    Answer,
    PassageCitation,
    PassageHit,
    Question,
    ScoreCurve,
    ScoredOption,
    VideoCitation,
    VideoHit,
)
from rag.rendering.shapes import curve_shape, plain, search_shape, to_json
from rag.rendering.terminal import (
    answer_lines,
    byte_count,
    citation_lines,
    clock,
    counted_each,
    duration,
    hit_lines,
    show_command,
    span,
)


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("日本語 – ü 👩‍🔬", "日本語 – ü 👩‍🔬"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("right\u202eleft", "right\\u202eleft"),
        (b"caf\xe9.mp4".decode("utf-8", "surrogateescape"), "caf\\xe9.mp4"),
    ],
)
def test_visible(given_text: str, shown: str) -> None:
    assert visible(given_text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_visible_text_is_one_encodable_line(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(char) == "Cc" for char in shown)


def test_numbers_for_people() -> None:
    assert [clock(s) for s in (0, 59.99, 61, 3723.5)] == ["00:00", "00:59", "01:01", "1:02:03"]
    lengths = ", ".join(map(duration, (0.04, 9.96, 59.4, 200, 7500)))
    assert lengths == "0.0 s, 10 s, 59 s, 3 min 20 s, 2 h 05 min"
    sizes = ", ".join(map(byte_count, (0, 512, 1500, 91_600_000, 1.5e12)))
    assert sizes == "0 B, 512 B, 1.5 kB, 91.6 MB, 1.5 TB"
    assert span(12.5, 17.5) == "12.5-17.5 s (00:12-00:17)"
    assert span(0, 100) == "0-100 s (00:00-01:40)"
    assert counted_each(search=1, video=1, token=0) == "1 search, 1 video, 0 tokens"
    assert counted_each(search=2) == "2 searches"


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("talks/webb.mp4", "talks/webb.mp4@12.5-17.5"),
        ("it's 100%.mp4", "it's 100%.mp4@12.5-17.5"),
        ("new\nline.mp4", "0123abcd@12.5-17.5"),
    ],
)
def test_show_command_comes_back_from_a_shell(path: str, what: str) -> None:
    citation = VideoCitation(path, "0123abcd", 12.5, 17.5, 1.0)
    assert shlex.split(show_command(citation)) == ["rag", "show", what]
    assert shlex.split(show_command(citation, ["my lib"])) == ["rag", "show", "--library", "my lib", what]


def test_an_address_is_shown_by_a_library_that_was_named_or_not_at_all() -> None:
    cited = VideoCitation("https://videos.example/watch?v=a", "5c9f", 1.0, 6.0, 0.5)
    assert not any("rag show" in line for line in citation_lines(cited, number=1))
    assert "rag show --library L 5c9f@1-6" in "\n".join(citation_lines(cited, number=1, libraries=["L"]))


def test_a_cited_passage_is_shown_where_it_is_quoted() -> None:
    text = f"{'Other things are said first. ' * 20}The bolt takes 110 Nm. More follows."
    cited = PassageCitation("a.md", "p", "", text, 1.0)
    (_, beginning, _), (_, quoted, _) = (
        list(citation_lines(cited, quotations, number=1)) for quotations in ([], ["The bolt takes 110 Nm."])
    )
    assert "Other things" in beginning
    assert "“… The bolt takes 110 Nm. More follows.”" in quoted


def test_a_passage_is_named_with_its_pages() -> None:
    for title, pages, name, where in (
        ("Manual", (12,), "Manual, page 12  (m.pdf)", "“Manual” on page 12 of m.pdf"),
        ("Manual", (12, 13, 14), "Manual, pages 12-14  (m.pdf)", "“Manual” on pages 12-14 of m.pdf"),
        ("Manual", (), "Manual  (m.pdf)", "“Manual” in m.pdf"),
        ("", (12,), "Page 12  (m.pdf)", "page 12 of m.pdf"),
        ("", (), "m.pdf", "m.pdf"),
    ):
        cited = PassageCitation("m.pdf", "p", title, "Text.", 1.0, pages)
        assert next(citation_lines(cited, number=1)) == f"[1] {name}"
        assert nearest([cited]) == f"Nearest is {where}."
        hit = PassageHit("m.pdf", Passage("p", "d", title, "Text.", pages), 0.5)
        assert next(hit_lines([hit])) == f" 1. {name}"


def test_where_nothing_matches_there_is_no_confidence() -> None:
    why = "The best answer found has confidence 0.25, below 0.30: “twice”."
    answer = Answer(Question("q", "How often?"), None, "Not sure.", 0.0, why, False, best_confidence=0.25)
    assert list(answer_lines(answer)) == ["Not sure.", "", why]


def test_of_an_option_a_passage_is_shown_where_it_was_decided() -> None:
    said = "The bolts are set to 25 Nm."
    cited = PassageCitation("a.md", "p", "", f"Page 25. {'Other things are said. ' * 20}{said}", 1.0)
    options = Question("q", "?", ("25", "110"))
    answer = Answer(options, "A", "25", 0.9, f"(A) is nearest to “{said}”.", True, (cited,))
    assert f"“… {said}”" in "\n".join(answer_lines(answer))


def test_answer_with_options_and_citations() -> None:
    answer = Answer(
        Question("q", "What is used?", ("a drill", "a lamp")),
        "B",
        "a lamp",
        0.75,
        "The subtitle names a lamp.",
        True,
        (
            VideoCitation("v.mp4", "id", 2, 7, 0.9, (Evidence("id", 3, 4, "asr", "switch\nthe lamp on"),)),
            PassageCitation("n.md", "p9", "Lamps", "A lamp gives light. " * 50, 0.4),
        ),
        (ScoredOption("A", "a drill", 0.25), ScoredOption("B", "a lamp", 0.75)),
    )
    lines = list(answer_lines(answer, width=60))
    assert lines[0] == "B. a lamp"
    assert lines[1].startswith("confidence 0.75")
    assert "  A. a drill  █████                 0.25" in lines
    assert "> B. a lamp   ███████████████       0.75" in lines
    assert "[1] v.mp4  2-7 s (00:02-00:07)" in lines
    assert "    recognized speech 00:03  “switch the lamp on”" in lines
    assert "    rag show v.mp4@2-7" in lines
    nearly = list(answer_lines(dataclasses.replace(answer, confidence=0.9969), width=60))
    assert nearly[1].startswith("confidence 0.99")  # as a refusal rounds; 1.00 is said of no quotation
    scored = (ScoredOption("A", "a drill", 0.0931), ScoredOption("B", "a lamp", 0.9069))
    nearly = list(answer_lines(dataclasses.replace(answer, confidence=0.9069, options=scored), width=60))
    assert nearly[1].startswith("confidence 0.90")
    assert [line[-4:] for line in nearly[3:5]] == ["0.09", "0.90"]
    assert "[2] Lamps  (n.md)" in lines
    assert "    rag show p9" in lines


def test_hits_below_the_threshold_come_last_and_are_said_to_be_only_the_nearest() -> None:
    clip = Clip("c", "id", 0, 30)
    hits = [
        VideoHit(f"{name}.mp4", "id", 2, 7, clip, 0.9, relevance=relevance)
        for name, relevance in {"a": 0.99, "b": 0.1, "c": 0.3}.items()
    ]
    assert list(hit_lines(hits, threshold=0.3)) == [
        " 1. a.mp4  2-7 s (00:02-00:07)  relevance 0.99",
        " 2. c.mp4  2-7 s (00:02-00:07)  relevance 0.30",
        "only the nearest, with a relevance below 0.30:",
        " 3. b.mp4  2-7 s (00:02-00:07)  relevance 0.10",
    ]
    hits[2] = dataclasses.replace(hits[2], relevance=1.0)
    order = "In order of all rankings together; the relevance is that of each hit by itself."
    assert list(hit_lines(hits, threshold=0.3))[-1] == order
    assert list(hit_lines(hits[1:2], threshold=0.3)) == [" 1. b.mp4  2-7 s (00:02-00:07)  relevance 0.10"]


@pytest.mark.usefixtures("tiny_text")
def test_events_have_the_share_the_file_and_the_stage(capsys) -> None:
    with open_progress(events=True) as progress:
        progress.start(25.0, 3)
        progress.file("/x/a.mp4")
        progress.advance(5.0)
        progress.problem(Problem("/x/\udce9.mp4", "not a video", "skipped"))
        progress.file("/x/b.mp4")
        progress.advance(15.0)
        progress.file("/x/c.md")
        progress.advance(5.0)
    rows = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(row["event"], row.get("stage"), row.get("files_begun")) for row in rows] == [
        ("progress", "prepare", 0),
        ("progress", "index", 1),
        ("problem", None, None),
        ("progress", "index", 2),
        ("progress", "index", 3),
        ("progress", "finish", 3),
    ]
    assert (rows[3]["share"], rows[3]["file"]) == (0.2, "/x/b.mp4")
    assert (rows[4]["share"], rows[5]["share"]) == (0.8, 1.0)
    assert rows[2]["path"] == "/x/\udce9.mp4"


def test_a_curve_keeps_its_peaks_when_it_is_thinned() -> None:
    times, scores = np.arange(1000) / 2, np.zeros(1000)
    scores[[3, 500, 999]] = 1.0, 2.0, 3.0
    shape = curve_shape(ScoreCurve("frames", times, scores), 10)
    assert len(shape["times"]) == 10
    assert shape["times"] == sorted(shape["times"])
    assert {(1.5, 1.0), (250.0, 2.0), (499.5, 3.0)} <= set(zip(shape["times"], shape["scores"], strict=True))
    assert len(curve_shape(ScoreCurve("frames", times, scores), 5000)["times"]) == 1000
    assert curve_shape(ScoreCurve("text", times[:0], scores[:0]), 2) == {
        "of": "text",
        "times": [],
        "scores": [],
    }


def test_names_that_are_not_utf8_survive_as_ascii_json() -> None:
    name = b"caf\xe9\n.mp4".decode("utf-8", "surrogateescape")
    text = to_json(search_shape("x", [VideoHit(name, "v", 0, 5, Clip("c", "v", 0, 30), 1.0)]))
    assert text.isascii()
    assert "\n" not in text
    back = json.loads(text)["results"][0]["path"]
    assert back.encode("utf-8", "surrogateescape") == b"caf\xe9\n.mp4"


def test_numbers_that_json_lacks_never_leave() -> None:
    assert plain({"a": math.nan, "b": math.inf}) == {"a": None, "b": None}
    with pytest.raises(ValueError, match="JSON compliant"):
        to_json({"a": math.nan})
