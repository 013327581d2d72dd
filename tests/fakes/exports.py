"""Sources and timelines for tests of exports, made without files."""

from fractions import Fraction
from typing import Any

from rag.export.planning import plan_timeline
from rag.export.records import Select, Source, Timeline
from rag.export.timecode import can_drop, frame_number

HOUR_SECONDS = 3600
RATES = {
    "23.976": Fraction(24000, 1001),
    "25": Fraction(25),
    "29.97 DF": Fraction(30000, 1001),
    "30": Fraction(30),
    "50": Fraction(50),
    "59.94": Fraction(60000, 1001),
}


def source(path: str = "/v/talk.mp4", rate: Fraction = RATES["25"], *, hour: int = 0, **facts: Any) -> Source:
    """An hour of video with stereo sound; `hour`: the hour that its timecode starts at, 0 for none.

    Drop-frame at the rates that have it, where it has a timecode.
    """
    drop = bool(hour) and can_drop(rate)
    given = {
        "frames": round(HOUR_SECONDS * rate),
        "first": frame_number(hour, 0, 0, 0, rate, drop),
        "drop": drop,
        "timecoded": bool(hour),
        "width": 1920,
        "height": 1080,
        "channels": 2,
        "sample_rate": 48000,
    }
    return Source(path, rate, **{**given, **facts})


def timeline(*sources: Source, handles: float = 0.0, **fields: Any) -> Timeline:
    """Three windows of each source: 12.5-17.5, 61.2-61.25 and 0-2 seconds."""
    windows = ((12.5, 17.5), (61.2, 61.25), (0.0, 2.0))
    selects = [
        Select(each.path, "5f0c2a", *window, **{"query": "a red car", "score": 0.5, **fields})
        for each in sources
        for window in windows
    ]
    return plan_timeline(selects, {each.path: each for each in sources}, "cars", handles)
