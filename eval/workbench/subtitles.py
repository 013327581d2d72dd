"""Lines of text as a subtitle stream of a file that PyAV writes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

# Every encoder of FFmpeg takes its lines as those of an ASS file, and wants the head of one.
ASS_HEADER = b"""[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, \
Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, \
MarginR, MarginV, Encoding
Style: Default,Arial,16,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,10,10,10,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def add_subtitles(out: Any, codec: str = "mov_text") -> Any:
    """An English subtitle stream of an open container; times in it are milliseconds."""
    stream = out.add_stream(codec)
    stream.codec_context.subtitle_header = ASS_HEADER
    stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
    stream.metadata["language"] = "eng"
    return stream


def subtitle_packet(stream: Any, start: float, end: float, text: str) -> Any:
    """The text during [start, end), seconds of the file, as a packet of a stream of `add_subtitles`."""
    from av.subtitles.subtitle import SubtitleSet

    at, length = round(start * 1000), round((end - start) * 1000)
    event = "0,0,Default,,0,0,0,," + text.replace("\n", "\\N")
    words = SubtitleSet.create(text=event.encode(), start=0, end=length, pts=at * 1000)
    packet = stream.codec_context.encode_subtitle(words)
    packet.stream, packet.time_base = stream, Fraction(1, 1000)
    packet.pts = packet.dts = at
    packet.duration = length
    return packet
