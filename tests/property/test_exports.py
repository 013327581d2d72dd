"""Exported windows at any time and rate: cut at the nearest frames, and read back as written."""

from fractions import Fraction
from xml.etree import ElementTree

import opentimelineio as otio
from hypothesis import given
from hypothesis import strategies as st

from rag.export.edl import render_edl
from rag.export.fcpxml import render_fcpxml
from rag.export.otio import render_otio
from rag.export.planning import plan_timeline
from rag.export.records import Select
from rag.export.text import one_line
from rag.export.timecode import STANDARD_RATES, can_drop, read_timecode, standard_rate, timecode
from tests.fakes.exports import HOUR_SECONDS, source

RATES = st.sampled_from(STANDARD_RATES)
LISTED = st.sampled_from([rate for rate in STANDARD_RATES if rate <= 60 and round(rate) not in (48,)])
WINDOWS = st.tuples(st.floats(0, HOUR_SECONDS - 61), st.floats(0.001, 60))
HOURS = st.integers(0, 22)


@given(st.lists(st.tuples(WINDOWS, RATES, HOURS), min_size=1, max_size=4), st.floats(0, 20))
def test_cuts_are_at_the_nearest_edges_of_frames(
    rows: list[tuple[tuple[float, float], Fraction, int]], handles: float
) -> None:
    sources = {
        f"/v/{n}.mp4": source(f"/v/{n}.mp4", rate, hour=hour) for n, (_, rate, hour) in enumerate(rows)
    }
    selects = [
        Select(path, "", start, start + length)
        for path, ((start, length), *_) in zip(sources, rows, strict=True)
    ]
    planned = plan_timeline(selects, sources, handles=handles)
    record = 0
    for cut in planned.cuts:
        rate, select = cut.source.rate, cut.select
        assert 0 <= cut.first <= cut.mark < cut.mark_end <= cut.last <= cut.source.frames
        assert abs(Fraction(select.start) - cut.mark / rate) <= 1 / (2 * rate)
        assert (
            abs(Fraction(select.end) - cut.mark_end / rate) <= 1 / (2 * rate) or cut.mark_end == cut.mark + 1
        )
        assert cut.record == record
        # Counted in another rate it may begin and end within a frame of the timeline.
        assert abs(cut.length / planned.rate - (cut.last - cut.first) / rate) < 2 / planned.rate
        record += cut.length
    root = ElementTree.fromstring(render_fcpxml(planned))
    for cut, clip, marker in zip(planned.cuts, root.iter("asset-clip"), root.iter("marker"), strict=True):
        assert seconds(clip, "offset") * planned.rate == planned.start + cut.record
        assert seconds(clip, "duration") * planned.rate == cut.length
        assert seconds(clip, "start") * cut.source.rate == cut.source.first + cut.first
        assert seconds(marker, "start") * cut.source.rate == cut.source.first + cut.mark


def seconds(element: ElementTree.Element, key: str) -> Fraction:
    """A time of FCPXML."""
    return Fraction(element.get(key, "").removesuffix("s"))


@given(LISTED, WINDOWS, HOURS)
def test_a_list_and_a_timeline_are_read_back_as_written(
    rate: Fraction, window: tuple[float, float], hour: int
) -> None:
    recording = source(rate=rate, hour=hour)
    planned = plan_timeline([Select(recording.path, "", window[0], sum(window))], {recording.path: recording})
    (cut,) = planned.cuts
    assert planned.drop == (hour > 0 and can_drop(rate))
    listed = otio.adapters.read_from_string(render_edl(planned), "cmx_3600", rate=float(rate))
    made = otio.adapters.read_from_string(render_otio(planned), "otio_json")
    assert [track.name for track in listed.tracks] == ["V", "A1"]
    assert made.global_start_time.value == planned.start
    for track in (*listed.tracks, *made.tracks):
        (clip,) = track
        assert clip.source_range.start_time.value == recording.first + cut.first
        assert clip.source_range.duration.value == cut.last - cut.first == cut.length


@given(RATES, st.integers(0, 10**7), st.booleans())
def test_timecode_names_one_frame(rate: Fraction, number: int, drop: bool) -> None:
    drop = drop and read_timecode("00:00:00;00", rate) == (0, True)
    day = read_timecode("23:59:59" + (";" if drop else ":") + str(-(-rate // 1) - 1), rate)
    assert read_timecode(timecode(number, rate, drop), rate) == (number % (day[0] + 1), drop)


@given(st.fractions(Fraction(1, 100), 1000, max_denominator=3_000_000))
def test_every_rate_has_a_standard_rate(rate: Fraction) -> None:
    assert standard_rate(rate) in STANDARD_RATES


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_names_are_one_line_of_unicode(text: str) -> None:
    shown = one_line(text)
    assert shown.encode().decode() == shown
    assert len(shown.splitlines()) <= 1
    ElementTree.fromstring(ElementTree.tostring(ElementTree.Element("a", b=shown)))
