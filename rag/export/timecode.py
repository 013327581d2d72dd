"""Standard frame rates, SMPTE timecode (ST 12-1), and windows of seconds as whole frames."""

from __future__ import annotations

import math
import re
from fractions import Fraction

STANDARD_RATES = (
    *(Fraction(24000, 1001), Fraction(24), Fraction(25), Fraction(30000, 1001), Fraction(30)),
    *(Fraction(48000, 1001), Fraction(48), Fraction(50), Fraction(60000, 1001), Fraction(60)),
    *(Fraction(100), Fraction(120000, 1001), Fraction(120)),
)
"""Frames a second that programs for editing know, ascending."""
FASTEST_TIMELINE = 60
"""Timecode has two digits for the frame, and no timeline of these formats is faster."""
EQUAL_RATES = Fraction(1, 2000)
"""Two rates that differ by a smaller share are one: 29.97 and 30 differ by twice as much."""
ROUNDING = Fraction(1, 2000)
"""Seconds. Times in JSON are rounded to milliseconds, so a time this near to a frame's edge is the edge."""

_TIMECODE = re.compile(r"(\d{2}):(\d{2}):(\d{2})([:;.,])(\d{2,3})")


def standard_rate(rate: Fraction) -> Fraction:
    """The standard rate that is nearest to `rate` or to a whole multiple of it; the lowest of equals.

    A multiple shows each frame several times: 12.5 becomes 25, 15 becomes 30.
    """

    def distance(standard: Fraction) -> Fraction:
        return abs(standard / (rate * max(1, round(standard / rate))) - 1)

    distances = {standard: distance(standard) for standard in STANDARD_RATES}
    nearest = max(min(distances.values()), EQUAL_RATES / 10)
    return next(standard for standard, far in distances.items() if far <= nearest)


def timeline_rate(rate: Fraction) -> Fraction:
    """`rate`, halved until it is no more than 60: 119.88 becomes 59.94, 100 becomes 50."""
    while rate > FASTEST_TIMELINE:
        rate /= 2
    return rate


def nominal(rate: Fraction) -> int:
    """The frames that timecode counts in a second: 30 for 29.97."""
    return math.ceil(rate)


def rate_text(rate: Fraction) -> str:
    """`23.98`, `25`, `29.97`."""
    return f"{float(rate):.2f}".rstrip("0").rstrip(".")


def can_drop(rate: Fraction) -> bool:
    """Whether drop-frame timecode exists at a rate: 29.97, and multiples of it."""
    return rate.denominator == 1001 and nominal(rate) % 30 == 0


def read_timecode(text: str, rate: Fraction) -> tuple[int, bool] | None:
    """Number of the frame that `text` names, and whether it is drop-frame; None where it names none.

    `;`, `.` and `,` before the frame mean drop-frame, at rates that have it.
    """
    match = _TIMECODE.fullmatch(text.strip())
    if match is None:
        return None
    hours, minutes, seconds, frame = (int(match[group]) for group in (1, 2, 3, 5))
    if hours > 23 or minutes > 59 or seconds > 59 or frame >= nominal(rate):
        return None
    drop = match[4] != ":" and can_drop(rate)
    return frame_number(hours, minutes, seconds, frame, rate, drop), drop


def frame_number(hours: int, minutes: int, seconds: int, frame: int, rate: Fraction, drop: bool) -> int:
    """Number of the frame with this timecode.

    Drop-frame leaves out the first two numbers (four at 59.94) of each minute but every tenth.
    """
    whole = hours * 60 + minutes
    dropped = _dropped(rate) * (whole - whole // 10) if drop else 0
    return (whole * 60 + seconds) * nominal(rate) + frame - dropped


def split_timecode(number: int, rate: Fraction, drop: bool) -> tuple[int, int, int, int]:
    """Hours, minutes, seconds and frame of a frame number; after 24 hours it starts at 0 again."""
    if drop:
        left_out = _dropped(rate)
        minute = nominal(rate) * 60 - left_out
        tens, rest = divmod(number, minute * 10 + left_out)
        # The first minute of ten drops nothing.
        number += left_out * (9 * tens + max(0, rest - left_out) // minute)
    seconds, frame = divmod(number, nominal(rate))
    return seconds // 3600 % 24, seconds // 60 % 60, seconds % 60, frame


def timecode(number: int, rate: Fraction, drop: bool) -> str:
    """`01:00:00:00`; drop-frame `01:00:00;00`."""
    hours, minutes, seconds, frame = split_timecode(number, rate, drop)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}{';' if drop else ':'}{frame:02d}"


def convert_number(number: int, rate: Fraction, drop: bool, to: Fraction) -> tuple[int, bool]:
    """The frame of rate `to` with the same hours, minutes and seconds, and whether it is drop-frame.

    A source keeps its clock when a list counts it in another rate; the frame within the second is
    rounded down.
    """
    if to == rate:
        return number, drop
    hours, minutes, seconds, frame = split_timecode(number, rate, drop)
    kept = drop and can_drop(to)
    frame = frame * nominal(to) // nominal(rate)
    if kept and minutes % 10 and not seconds:
        frame = max(frame, _dropped(to))
    return frame_number(hours, minutes, seconds, frame, to, kept), kept


def cut_frames(start: float, end: float, rate: Fraction) -> tuple[int, int]:
    """[first, last) frames between the edges of frames that are nearest to [start, end) seconds.

    Always one frame at least. Where a window ends, one that adjoins it begins: they share no frame.
    """
    first, last = (math.floor(Fraction(time) * rate + Fraction(1, 2)) for time in (start, end))
    return first, max(first + 1, last)


def _dropped(rate: Fraction) -> int:
    return nominal(rate) // 15
