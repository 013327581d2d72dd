"""Subtitles and descriptions beside a video."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from corpora.records import SubtitleTrack
from corpora.sidecar_names import subtitle_track
from corpora.video.records import TimedText
from corpora.video.sidecars import merge_sidecars, read_document, read_sidecar
from corpora.video.subtitles import Cues, parse_subtitles

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Hello</i> {\\an8}there,
second line

2
00:00:03.000 --> 00:00:04.000 X1:10 X2:20
Déjà vu
"""


def shown(parsed: Cues) -> list[str]:
    return [f"{cue.start:g}-{cue.end:g} {' | '.join(cue.lines)}" for cue in parsed.cues]


@pytest.mark.parametrize(
    ("name", "text", "cues"),
    [
        ("a.srt", SRT, ["1-2.5 Hello there, | second line", "3-4 Déjà vu"]),
        (
            "a.srt",
            "WEBVTT\n\nNOTE --> 1\n\n00:01.000 --> 00:03.000\nPress File --> Open.\n--> Then wait.\n",
            ["1-3 Press File --> Open. | --> Then wait."],
        ),
        *(
            (
                "a.srt",
                f"1\n00:00:01,000 --> 00:00:04,000\nMoved:\n{line}\n\n2\n00:05 --> 00:06\nGo.\n",
                [f"1-4 Moved: | {line}", "5-6 Go."],
            )
            for line in ("5 --> 6", "3 -> 4 apples", "12:30 --> 14:00 lunch", "Noon --> 12:30")
        ),
        *(
            ("a.srt", f"1\n{line}\nOne\\Ntwo<br>three", ["1-3.5 One two three"])
            for line in (
                "00:00:01,000 –> 00:00:03,500",
                "00:00:01,000 → 00:00:03,500",
                "00: 00: 01, 000 -> 00: 00: 03, 500",
                "00：00：01，000 --> 00：00：03，500",
            )
        ),
        ("a.srt", "1\n\n00:01 --> 00:02\n\none\n\n\n\n2\n\n00:03 --> 00:04\n\ntwo", ["1-2 one", "3-4 two"]),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<ruby>漢<rt>kan</rt></ruby>&lrm;字", ["1-2 漢字"]),
        ("a.ass", "[Events]\n" + "Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,Glow\n" * 2, ["1-2 Glow"]),
        ("a.srt", "00:01 --> 00:02\none\n00:03 --> 00:04\ntwo", ["1-2 one", "3-4 two"]),
        (
            "a.srt",
            "00:00:01,000 --> 00:00:04,000\nA\n\nB\n00:00:05,000 --> 00:00:06,000\nYo\n",
            ["1-4 A | B", "5-6 Yo"],
        ),
        (
            "a.srt",
            "00:05 --> 00:05\nflash\n\n00:01 --> 00:09\nlong\n\n00:02 --> 00:03\nshort\n",
            ["1-9 long", "2-3 short", "5-6 flash"],
        ),
        (
            "a.vtt",
            "WEBVTT\n\nNOTE 1\n00:01.000 --> 00:02.000\nOne.\n\nMore of it.\n\nNOTE a comment\n\n"
            "and more of that\n\nSTYLE-2\n00:03.000 --> 00:04.000\nTwo.\n\n"
            "REGIONAL\n00:05.000 --> 00:06.000\nThree.\n",
            ["1-2 One. | More of it.", "3-4 Two.", "5-6 Three."],
        ),
        (
            "a.vtt",
            "WEBVTT - title\nKind: captions\n\nNOTE a comment\nwith --> arrow\n\nSTYLE\n"
            "::cue { color: red }\n\nintro\n00:01.000 --> 00:02.000 align:start line:0\n"
            "<v.loud Mary Ann>Fish &amp; <b>chips</b></v>\n\n"
            "1:00:00.250 --> 1:00:01.000\n<c.yellow>late <00:59:00.000>bird</c>\n",
            ["1-2 Mary Ann: Fish & chips", "3600.25-3601 late bird"],
        ),
        (
            "a.vtt",
            "WEBVTT\n\n00:00.000 --> 00:02.000\n \nhello<00:00:01.000><c> world</c>\n\n"
            "00:02.000 --> 00:02.010\nhello world\n \n\n00:02.010 --> 00:04.000\nhello world\n"
            "next<c> words</c>\n\n00:04.000 --> 00:04.010\nnext words\n\n",
            ["0-2 hello world", "2.01-4 next words"],
        ),
        ("a.vtt", "[Script Info]\n[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,a\n", ["1-2 a"]),
    ],
)
def test_cues_of_every_form(name: str, text: str, cues: list[str]) -> None:
    parsed = parse_subtitles(name, text)
    assert (shown(parsed), parsed.skipped) == (cues, 0)


@pytest.mark.parametrize(
    ("name", "text", "cues"),
    [
        # Neither the line of letters O nor what is said then is text of the cue before.
        ("a.srt", "1\n00:01 --> 00:02\nOne.\n\n2\nOO:OO:O3,000 --> OO:OO:O4,000\nTwo.\n", ["1-2 One."]),
        (
            "a.ass",
            "[Script Info]\nTitle: x\n[V4+ Styles]\nFormat: Name\n[Events]\n"
            "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
            "Dialogue: 0,0:00:01.50,0:00:02.00,D,Ann,0,0,0,,{\\i1}One{\\i0}, two\\Nthree\\hfour\n"
            "Comment: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,not said\n"
            "Dialogue: 0,0:00:03.00,0:00:04.00,D,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}\n"
            "Dialogue: 0,0:00:04.00,0:00:05.00,D,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}Hello\\Nthere\n"
            "Dialogue: 0,0:00:05.00,0:00:06.00,D,,0,0,0,,Hi {\\an8\\p2}m 0 0{\\p0} there{\\p1}m 1 1\n"
            "Dialogue: 0,broken\n",
            ["1.5-2 Ann: One, two | three four", "4-5 Hello | there", "5-6 Hi there"],
        ),
    ],
)
def test_a_cue_that_cannot_be_understood_is_counted(name: str, text: str, cues: list[str]) -> None:
    parsed = parse_subtitles(name, text)
    assert (shown(parsed), parsed.skipped) == (cues, 1)


@pytest.mark.parametrize("mark", [".tr", ".Turkish.forced", " [tr]"])
def test_the_language_of_a_name_decides_between_encodings(tmp_path, mark: str) -> None:
    path = tmp_path / f"video{mark}.srt"
    path.write_bytes("00:01.000 --> 00:02.000\nİyi şanslar.\n".encode("cp1254"))
    assert [text.text for text in read_sidecar(str(path)).texts] == ["İyi şanslar."]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *[("a.fr-CA.forced.srt", "French, forced"), ("a_es_AR.srt", "Spanish")],
        *[("a.nn-NO.srt", "Norwegian"), ("a.zh-Hant-TW.srt", "Chinese"), ("a.hi.srt", "Hindi")],
        ("a.hi.sdh.srt", "Hindi, for the hearing impaired"),
        ("a.en.hi.srt", "English, for the hearing impaired"),
        ("a.eu.hi.srt", "eu, for the hearing impaired"),
        ("a.English [SDH].srt", "English, for the hearing impaired"),
        ("a_ger_cc.vtt", "German, for the hearing impaired"),
        ("a.Foreign.deu.ass", "German, forced"),
        ("a.forced.sdh.en.ttml", "English, forced, for the hearing impaired"),
        *[("a.Brazilian Portuguese (2).srt", "Portuguese"), ("a.srt", ""), ("a.2.srt", "")],
    ],
)
def test_what_a_name_says_of_subtitles(name: str, said: str) -> None:
    track = subtitle_track(name, ["a.mp4", "A"])
    assert (str(track), track.source) == (said, name[1:])
    assert str(subtitle_track(f"Learn German-US{name[1:]}", ["LEARN German-us"])) == said, "of the video"


@pytest.mark.parametrize(("last", "rate"), [("12", 25), ("24", 25), ("29", 30), ("59", 60), ("60", 100)])
def test_times_in_frames_are_read_at_the_rate_that_has_them(tmp_path, last: str, rate: int) -> None:
    path = tmp_path / "video.srt"
    path.write_text(f"1\n00:00:01:05 --> 00:00:02:{last}\nOne.\n\n2\n00:00:03:500 --> 00:00:04,500\nTwo.\n")
    found = read_sidecar(str(path))
    assert [(text.start, text.end) for text in found.texts] == [
        pytest.approx((1 + 5 / rate, 2 + int(last) / rate), abs=1e-3),
        (3.5, 4.5),
    ]
    assert found.notes == (f"video.srt: its times are in frames; {rate} a second are assumed",)


def test_malformed_cues_are_skipped_and_counted(tmp_path) -> None:
    path = tmp_path / "video.srt"
    path.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\ngood\n\n"
        "2\n00:00:xx,000 --> 00:00:03,000\nbad time\n\n"
        "3\n00:00:09,000 --> 00:00:04,000\nbackwards\n\n"
        "4\n00:00:05,000 --> 00:00:06,000\n\n\n"
        "00:00:07,000 --> 00:00:08,000\nno number, and\n\na blank line inside\n"
    )
    found = read_sidecar(str(path))
    assert [(text.start, text.end, text.text) for text in found.texts] == [
        (1.0, 2.0, "good"),
        (7.0, 8.0, "no number, and a blank line inside"),
    ]
    assert found.notes == ("video.srt: 2 malformed cues skipped",)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (b"", "video.srt: empty subtitle file"),
        (b" \n\n", "video.srt: empty subtitle file"),
        (b"just a text", "video.srt: no usable subtitles in it"),
        (bytes(range(256)) * 40, "video.srt: no usable subtitles in it"),
    ],
)
def test_a_useless_file_is_reported(tmp_path, content: bytes, note: str) -> None:
    path = tmp_path / "video.srt"
    path.write_bytes(content)
    found = read_sidecar(str(path))
    assert found.texts == ()
    assert found.notes == (note,)


def info(tmp_path, content: Any) -> Path:
    path = tmp_path / "video.info.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_info_json(tmp_path) -> None:
    path = info(
        tmp_path,
        {
            "title": "A  video\ud800",
            "description": "line one\r\nline two",
            "tags": ["one", "two", "one", 3],
            "categories": ["Howto"],
            "language": "en",
            "duration": 30,
            "chapters": [
                {"title": "Intro", "start_time": 0, "end_time": 10.0},
                {"title": "Open end", "start_time": 10},
                {"title": "Last", "start_time": 20.5},
                {"title": "", "start_time": 21, "end_time": 22},
                {"title": "backwards", "start_time": 9, "end_time": 3},
                "nonsense",
            ],
        },
    )
    found = read_sidecar(str(path))
    assert (found.title, found.description, found.language) == ("A video", "line one\nline two", "en")
    assert found.tags == ("one", "two", "Howto")
    assert found.texts == (
        TimedText(0.0, 10.0, "chapter", "Intro"),
        TimedText(10.0, 20.5, "chapter", "Open end"),
        TimedText(20.5, 21.0, "chapter", "Last"),
    )
    assert found.notes == ()


@pytest.mark.parametrize("content", ["{", "[1]", "[" * 100_000, ""])
def test_bad_info_json_is_reported(tmp_path, content: str) -> None:
    (note,) = read_sidecar(str(info(tmp_path, content))).notes
    assert note in ("video.info.json: not valid JSON", "video.info.json: not a JSON object")


def test_the_same_line_in_two_files_counts_once(tmp_path) -> None:
    for name in ("video.srt", "video.en.srt"):
        (tmp_path / name).write_text("00:01 --> 00:02\nsame\n")
    assert len(merge_sidecars([read_sidecar(str(path)) for path in tmp_path.iterdir()]).texts) == 1


def test_cues_of_two_languages_are_whole_sentences(tmp_path) -> None:
    times = "00:01 --> 00:02\n{}\n\n00:02 --> 00:03\n{}\n\n00:03 --> 00:04\n{}\n"
    (tmp_path / "a.en.srt").write_text(times.format("The bolts need", "25 Nm.", "Then stop."))
    (tmp_path / "a.de.srt").write_text(times.format("Die Schrauben brauchen", "25 Nm.", "Dann Schluss."))
    merged = merge_sidecars([read_sidecar(str(path)) for path in sorted(tmp_path.iterdir())])
    assert [(text.start, text.end, text.text) for text in merged.texts] == [
        (1, 3, "Die Schrauben brauchen 25 Nm."),
        (1, 3, "The bolts need 25 Nm."),
        (3, 4, "Dann Schluss."),
        (3, 4, "Then stop."),
    ]
    assert [text.track.language for text in merged.texts if text.track] == ["de", "en", "de", "en"]
    assert merged.tracks == (SubtitleTrack("a.de.srt", "de"), SubtitleTrack("a.en.srt", "en"))


TTML = """<?xml version="1.0" encoding="UTF-16"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter"
  ttp:frameRate="25" ttp:tickRate="10000000"><head><metadata>no</metadata></head>
<body begin="1s"><div><p begin="00:00:01.500" end="00:00:02.500">One<br/> <span>and&amp;
  two</span></p>
<p begin="3s" dur="500ms">Three&nbsp;&eacute;</p><p begin="50f" end="00:00:03:05">Frames</p>
<p begin="40000000t" end="5s"> </p><p begin="x" end="5s">bad</p>
<p><span begin="6s" end="7s">Spans</span> <span begin="7s" end="8s">apart</span></p></div></body></tt>"""


@pytest.mark.parametrize("suffix", ["ttml", "dfxp", "srt"])
def test_ttml(tmp_path, suffix: str) -> None:
    path = tmp_path / f"video.{suffix}"
    path.write_bytes(TTML.encode("utf-16"))
    found = read_sidecar(str(path))
    assert [(text.start, text.end, text.text) for text in found.texts] == [
        (2.5, 3.5, "One and& two"),
        (3.0, 4.2, "Frames"),
        (4.0, 4.5, "Three é"),
        (7.0, 8.0, "Spans"),
        (8.0, 9.0, "apart"),
    ]
    assert found.notes == (f"video.{suffix}: 1 malformed cue skipped",)


def test_ttml_in_sequence(tmp_path) -> None:
    path = tmp_path / "video.ttml"
    path.write_text(
        '<tt xmlns="http://www.w3.org/ns/ttml"><body timeContainer="seq"><div begin="1s" timeContainer="seq">'
        '<p dur="2s">One</p><p begin="1s" dur="2s">Two</p></div><div><p begin="1s" end="2s">Three</p>'
        '<p begin="1s" end="4s">Four</p></div><div dur="9s"/>'
        '<p timeContainer="seq"><span dur="1s">Five</span><span dur="1s">Six</span></p></body></tt>'
    )
    assert [(text.start, text.end, text.text) for text in read_sidecar(str(path)).texts] == [
        *((1, 3, "One"), (4, 6, "Two"), (7, 8, "Three"), (7, 10, "Four"), (19, 20, "Five"), (20, 21, "Six"))
    ]


def test_ttml_of_any_depth_is_read(tmp_path) -> None:
    """And of any number of blocks within blocks, soon."""
    blocks = "<div>" * 50_000 + "</div>" * 50_000
    spans = "<span>" * 3_000 + "deep" + "</span>" * 3_000
    path = tmp_path / "video.ttml"
    path.write_text(
        '<!DOCTYPE tt><tt xmlns="http://www.w3.org/ns/ttml"><body>'
        f'{blocks}<p begin="1s" end="2s">Oil it.{spans}</p></body></tt>'
    )
    started = time.process_time()
    assert [text.text for text in read_sidecar(str(path)).texts] == ["Oil it."]
    assert time.process_time() - started < 5


def test_ttml_that_is_cut_off_is_read_up_to_there(tmp_path) -> None:
    path = tmp_path / "video.ttml"
    path.write_text(TTML[: TTML.index("Frames")].replace("UTF-16", "UTF-8"))
    found = read_sidecar(str(path))
    assert [text.text for text in found.texts][:2] == ["One and& two", "Three é"]
    assert found.notes == ("video.ttml: 1 malformed cue skipped",)


def test_speech_without_a_video_is_cut_at_pauses_and_never_inside_a_sentence_that_ends(tmp_path) -> None:
    lines = ["It leaks. First we close", "the valve at the wall. Then"] * 12
    cues = [f"{at // 60:02}:{at % 60:02}.000 --> {at // 60:02}:{at % 60 + 1:02}.000\n" for at in range(26)]
    path = tmp_path / "talk.vtt"
    path.write_text("WEBVTT\n\n" + "\n\n".join(map(str.__add__, cues, [*lines, "water runs", "out"])))
    (document,) = read_document(str(path))
    assert document.text == " ".join([*lines, "water runs", "out"])
    endless = [f"{'word ' * 20}{at}" for at in range(6)]
    path.write_text("WEBVTT\n\n" + "\n\n".join(map(str.__add__, cues, endless)))
    (document,) = read_document(str(path))
    assert document.text.count("\n\n") == 1
