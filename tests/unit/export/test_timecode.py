"""Rates, timecode and cut points against ST 12-1 and OpenTimelineIO."""

from __future__ import annotations

from fractions import Fraction

import opentimelineio as otio
import pytest

from rag.export.timecode import (
    STANDARD_RATES,
    convert_number,
    cut_frames,
    read_timecode,
    seconds_text,
    standard_rate,
    timecode,
    timeline_rate,
)

NTSC, DOUBLE = Fraction(30000, 1001), Fraction(60000, 1001)


@pytest.mark.parametrize(
    ("measured", "standard"),
    [
        (Fraction(87169000, 2905633), 30),
        (Fraction("29.965"), NTSC),
        (Fraction(179, 6), NTSC),
        (Fraction("23.98"), Fraction(24000, 1001)),
        (Fraction(25, 2), 25),
        (Fraction(10), 30),
        (Fraction(15), 30),
        (Fraction("14.985"), NTSC),
        (Fraction(1), 24),
        (Fraction(240), 120),
    ],
)
def test_the_nearest_standard_rate(measured: Fraction, standard: Fraction) -> None:
    assert standard_rate(measured) == standard


def test_standard_rates_stay_and_fast_ones_are_halved_for_timelines() -> None:
    assert [standard_rate(rate) for rate in STANDARD_RATES] == list(STANDARD_RATES)
    assert timeline_rate(Fraction(120000, 1001)) == DOUBLE
    assert (timeline_rate(Fraction(100)), timeline_rate(Fraction(60))) == (50, 60)


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


def test_dropped_numbers() -> None:
    assert timecode(1799, NTSC, True) == "00:00:59;29"
    assert timecode(1800, NTSC, True) == "00:01:00;02"
    assert timecode(17982, NTSC, True) == "00:10:00;00"
    assert timecode(3600, DOUBLE, True) == "00:01:00;04"
    assert timecode(1800, NTSC, False) == "00:01:00:00"


def test_what_is_no_timecode_of_the_rate() -> None:
    rate = Fraction(25)
    assert read_timecode("01:00:00;00", rate) == (90000, False)
    for text in ("", "01:00:00:25", "24:00:00:00", "00:60:00:00", "1 hour", "01:00:00"):
        assert read_timecode(text, rate) is None


def test_another_rate_keeps_the_clock() -> None:
    number, drop = convert_number(108000 + 15, NTSC, False, Fraction(25))
    assert (timecode(number, Fraction(25), drop), drop) == ("01:00:00:12", False)
    number, drop = convert_number(107892, NTSC, True, DOUBLE)
    assert timecode(number, DOUBLE, drop) == "01:00:00;00"
    number, drop = convert_number(1800, NTSC, True, DOUBLE)
    assert timecode(number, DOUBLE, drop) == "00:01:00;04"


def test_a_cut_contains_its_window() -> None:
    assert cut_frames(12.5, 17.5, Fraction(25)) == (312, 438)
    assert cut_frames(12.52, 17.48, Fraction(25)) == (313, 437)
    # Frame 100 of 29.97 is shown at 3.336666..., which JSON rounds up.
    assert cut_frames(3.337, 3.37, NTSC) == (100, 101)
    assert cut_frames(1.0, 1.0001, Fraction(25)) == (25, 26)


def test_seconds_are_rounded_as_a_whole() -> None:
    assert seconds_text(59.9996) == "00:01:00.000"
    assert seconds_text(3661.5) == "01:01:01.500"
