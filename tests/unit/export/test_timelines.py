"""Timelines: timecode against ST 12-1, and exports that OpenTimelineIO reads back to the frame."""

import sys
from fractions import Fraction
from io import StringIO
from itertools import pairwise
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import opentimelineio as otio
import pytest
from lxml import etree

from rag.errors import ExtraMissing
from rag.export.edl import render_edl, render_markers
from rag.export.fcpxml import render_fcpxml
from rag.export.otio import render_otio
from rag.export.planning import plan_timeline
from rag.export.records import Select, Timeline
from rag.export.timecode import convert_number, read_timecode, timecode
from tests.fakes.exports import RATES, source, timeline

EVERY_RATE = pytest.mark.parametrize("rate", RATES.values(), ids=RATES)
HOSTILE = (
    *(
        '/v/it\'s "a" <b> & c.mp4',
        "/v/new\nline\r\x1b[31m.mp4",
        b"/v/caf\xe9 \xff.mp4".decode("utf-8", "surrogateescape"),
    ),
    *("/v/a very long name of a file.mp4", "/v/a very long name of another.mp4", "/v/001 AX 00:00:00:00.mp4"),
    *(
        "/v/  .mp4",
        "/v/日本語 \u202etxt\ufffe.mp4",
        "/w/a very long name of a file.mp4",
        "/v/BL.mp4",
        "/v/|M:x |D:9.mp4",
    ),
)
# The elements and attributes that are written, with their models of FCPXML 1.10.
DTD = """
<!ELEMENT fcpxml (resources?, event*)>
<!ATTLIST fcpxml version CDATA #FIXED "1.10">
<!ELEMENT resources (asset | format)*>
<!ELEMENT format EMPTY>
<!ATTLIST format id ID #REQUIRED name CDATA #IMPLIED frameDuration CDATA #IMPLIED width CDATA #IMPLIED
  height CDATA #IMPLIED>
<!ELEMENT asset (media-rep+)>
<!ATTLIST asset id ID #REQUIRED name CDATA #IMPLIED start CDATA #IMPLIED duration CDATA #IMPLIED
  hasVideo CDATA #IMPLIED format IDREF #IMPLIED hasAudio CDATA #IMPLIED videoSources CDATA #IMPLIED
  audioSources CDATA #IMPLIED audioChannels CDATA #IMPLIED audioRate CDATA #IMPLIED>
<!ELEMENT media-rep EMPTY>
<!ATTLIST media-rep kind (original-media | proxy-media) "original-media" src CDATA #REQUIRED>
<!ELEMENT event (project)*>
<!ATTLIST event name CDATA #IMPLIED>
<!ELEMENT project (sequence)>
<!ATTLIST project name CDATA #IMPLIED>
<!ELEMENT sequence (spine)>
<!ATTLIST sequence format IDREF #REQUIRED duration CDATA #IMPLIED tcStart CDATA #IMPLIED
  tcFormat (DF | NDF) #IMPLIED audioLayout (mono | stereo | surround) #IMPLIED
  audioRate (32k | 44.1k | 48k | 88.2k | 96k | 176.4k | 192k) #IMPLIED>
<!ELEMENT spine (asset-clip)*>
<!ELEMENT asset-clip (note?, conform-rate?, marker*, metadata?)>
<!ATTLIST asset-clip ref IDREF #REQUIRED offset CDATA #IMPLIED name CDATA #IMPLIED start CDATA #IMPLIED
  duration CDATA #IMPLIED format IDREF #IMPLIED tcFormat (DF | NDF) #IMPLIED>
<!ELEMENT conform-rate EMPTY>
<!ATTLIST conform-rate scaleEnabled (0 | 1) "1"
  srcFrameRate (23.98 | 24 | 25 | 29.97 | 30 | 60 | 47.95 | 48 | 50 | 59.94) #IMPLIED>
<!ELEMENT note (#PCDATA)>
<!ELEMENT marker EMPTY>
<!ATTLIST marker start CDATA #REQUIRED duration CDATA #IMPLIED value CDATA #REQUIRED note CDATA #IMPLIED>
<!ELEMENT metadata (md*)>
<!ELEMENT md EMPTY>
<!ATTLIST md key CDATA #REQUIRED value CDATA #IMPLIED>
"""


def _ranges(track: otio.schema.Track) -> list[tuple[float, float]]:
    return [
        (clip.source_range.start_time.value, clip.source_range.duration.value) for clip in track.find_clips()
    ]


def _expected(planned: Timeline) -> list[tuple[int, int]]:
    """First frame by the source's timecode, and length."""
    return [(cut.source.first + cut.first, cut.last - cut.first) for cut in planned.cuts]


def test_a_list_of_several_rates_has_one() -> None:
    slow, fast = source("/v/a.mp4", RATES["25"], hour=1), source("/v/b.mp4", RATES["59.94"], hour=2)
    planned = timeline(slow, slow, fast)
    assert (planned.rate, planned.drop) == (25, False)
    assert [note.split(":")[0] for note in planned.recounted] == ["b.mp4"]
    listed = otio.adapters.read_from_string(render_edl(planned), "cmx_3600", rate=25)
    ranges = _ranges(listed.tracks[0])
    assert ranges[:6] == _expected(planned)[:6]
    # 12.5 s after 02:00:00;00, of 25 frames.
    assert read_timecode("02:00:12:12", Fraction(25)) == (ranges[6][0], False)
    assert ranges[6][1] in (125, 126)
    conformed = [
        clip.find("conform-rate")
        for clip in ElementTree.fromstring(render_fcpxml(planned)).iter("asset-clip")
    ]
    assert [each is not None and each.attrib for each in conformed[5:7]] == [
        False,
        {"scaleEnabled": "0", "srcFrameRate": "59.94"},
    ]
    made = otio.adapters.read_from_string(render_otio(planned), "otio_json")
    assert _ranges(made.tracks[0]) == _expected(planned)


def test_a_silent_video_leaves_a_gap_in_the_sound() -> None:
    planned = timeline(source("/v/a.mp4", channels=0, sample_rate=0), source("/v/b.mp4"))
    made = otio.adapters.read_from_string(render_otio(planned), "otio_json")
    video, audio = made.tracks
    assert [type(item).__name__ for item in audio] == ["Gap"] * 3 + ["Clip"] * 3
    assert video.duration() == audio.duration()
    assert [
        asset.get("hasAudio") for asset in ElementTree.fromstring(render_fcpxml(planned)).iter("asset")
    ] == ["0", "1"]
    assert [line.split()[2] for line in render_edl(planned).splitlines() if line[:3].isdigit()] == [*"VVVBBB"]


def test_hostile_names_stay_names() -> None:
    sources = [source(path) for path in HOSTILE]
    planned = timeline(*sources, name="line one\n* LOC: 9 |M:x |D:9 ]]> --> &", note="=1\n\n001  X V C")
    made = otio.adapters.read_from_string(render_otio(planned), "otio_json")
    urls = [clip.media_reference.target_url for clip in made.tracks[0].find_clips()]
    assert [unquote_to_bytes(url.removeprefix("file://")) for url in urls[::3]] == [
        path.encode("utf-8", "surrogateescape") for path in HOSTILE
    ]
    listed = otio.adapters.read_from_string(render_edl(planned), "cmx_3600", rate=25)
    assert _ranges(listed.tracks[0]) == _expected(planned)
    text = render_fcpxml(planned)
    dtd, parsed = etree.DTD(StringIO(DTD)), etree.fromstring(text.encode())
    assert dtd.validate(parsed), dtd.error_log
    assert [rep.get("src") for rep in parsed.iter("media-rep")] == urls[::3]
    markers = [line for line in render_markers(planned).splitlines() if "|C:" in line]
    assert len(markers) == len(planned.cuts)
    assert all(line.count("|") == 3 for line in markers)


def test_markers_of_one_video_are_at_its_own_places() -> None:
    lines = render_markers(timeline(source(hour=10), handles=5.0, note="why")).splitlines()
    assert lines[3:8] == [
        "001  001      V     C        10:00:00:00 10:00:00:01 10:00:00:00 10:00:00:01  ",
        "why |C:ResolveColorBlue |M:a red car |D:50",
        "",
        "002  001      V     C        10:00:12:13 10:00:12:14 10:00:12:13 10:00:12:14  ",
        "why |C:ResolveColorBlue |M:a red car |D:125",
    ]
    assert "01:00:12:13" in render_markers(timeline(source()))


@EVERY_RATE
@pytest.mark.parametrize("ends", [(10.0, 15.0, 20.0), (10.01, 15.017, 15.04), (3.337, 3.4, 61.21)])
def test_selects_that_adjoin_share_no_frame(rate: Fraction, ends: tuple[float, float, float]) -> None:
    """On a timeline of their rate; and on one of 25 frames, which has most selects."""
    talk, other = source(rate=rate, hour=1), source("/v/other.mp4")
    selects = [Select(talk.path, "5f0c2a", start, end) for start, end in pairwise(ends)]
    for beside in ([], [Select(other.path, "", place, place + 1) for place in (0, 5, 9)]):
        planned = plan_timeline([*selects, *beside], {talk.path: talk, other.path: other})
        events = [line.split() for line in render_edl(planned).splitlines() if line[:3].isdigit()]
        assert events[0][5] == events[1][4]
        assert events[0][7] == events[1][6]


NTSC, DOUBLE = Fraction(30000, 1001), Fraction(60000, 1001)


def test_without_opentimelineio_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "opentimelineio", None)
    with pytest.raises(ExtraMissing, match=r"\[export\]"):
        render_otio(timeline(source()))
    assert "talk.mp4" in render_edl(timeline(source()))


@pytest.mark.parametrize("rate", [NTSC, DOUBLE])
def test_drop_frame_is_that_of_opentimelineio(rate: Fraction) -> None:
    minutes = (0, 1, 2, 9, 10, 11, 59, 60, 61, 600)
    numbers = {
        round(m * 60 * rate) + step for m in minutes for step in (-3, -2, -1, 0, 1, 2, 5) if m or step > 0
    }
    for number in numbers:
        text = timecode(number, rate, True)
        time = otio.opentime.RationalTime(number, float(rate))
        assert text == otio.opentime.to_timecode(time, float(rate), drop_frame=True)
        assert read_timecode(text, rate) == (number, True)


def test_another_rate_keeps_the_clock() -> None:
    number, drop = convert_number(108000 + 15, NTSC, False, Fraction(25))
    assert (timecode(number, Fraction(25), drop), drop) == ("01:00:00:12", False)
    number, drop = convert_number(107892, NTSC, True, DOUBLE)
    assert timecode(number, DOUBLE, drop) == "01:00:00;00"
    number, drop = convert_number(1800, NTSC, True, DOUBLE)
    assert timecode(number, DOUBLE, drop) == "00:01:00;04"
